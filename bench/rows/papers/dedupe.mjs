// How well records of one work are found, on sets in which people said which are one. `--data` names a folder of such
// sets, or one of them: records_pre_merged.csv and merged_record_ids.csv, as bib-dedupe has them; and, where present,
// bib-dedupe-test-cases.json with labelled pairs. RR_MISSED=1 prints each pair that was decided wrongly, and why.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { csvRows } from "../../csv.mjs";
import { thousands } from "../../measure.mjs";

const [recordsFile, mergedFile, casesFile] = [
  "records_pre_merged.csv",
  "merged_record_ids.csv",
  "bib-dedupe-test-cases.json",
];

export const row = {
  name: "dedupe",
  what: "records of one work found in labelled sets: precision, recall and F1 by removed records, and by pairs",
  hold: "P ≥ 0.998, R ≥ 0.98 by removed records; labelled pairs all",
  command: "npm run bench -- dedupe --data <folder>",
  async run({ data } = {}) {
    if (data === undefined) return { ours: "not measured: name a folder with --data" };
    const sets = [data, ...(existsSync(data) ? readdirSync(data).map((name) => join(data, name)) : [])].filter((set) =>
      existsSync(join(set, recordsFile)),
    );
    if (sets.length === 0) return { ours: `not measured: ${data} holds no set with ${recordsFile}` };
    const { merge, compare, features, authors } = await load({
      merge: "src/research/papers/dedup/merge-records.ts",
      compare: "src/research/papers/dedup/same-work.ts",
      features: "src/research/papers/dedup/match-features.ts",
      authors: "src/research/papers/authors.ts",
    });
    const recordOf = recordsWith(authors.authorsOf);
    const why = (a, b) => compare.compareRecords(features.matchFeaturesOf(a), features.matchFeaturesOf(b));
    const scores = sets.map((set) => ({ name: basename(set), ...scoreOf(set, recordOf, merge.mergeRecords, why) }));
    const all = { name: `all ${sets.length}`, removed: sum(scores, "removed"), pairs: sum(scores, "pairs") };
    const lines = [...scores, ...(sets.length > 1 ? [all] : [])].map(
      ({ name, count, companions, removed, pairs }) =>
        `${name}${count === undefined ? "" : ` (${thousands(count)})`}: ${shown(removed)}; pairs ${shown(pairs)}${companions ? `; ${companions} of the removed are companion reports` : ""}`,
    );
    return { ours: [...lines, ...labelledPairs(data, recordOf, why)].join("<br>") };
  },
};

function scoreOf(folder, recordOf, mergeRecords, why) {
  const records = csvRows(readFileSync(join(folder, recordsFile), "utf8")).map(recordOf);
  const groups = csvRows(readFileSync(join(folder, mergedFile), "utf8")).map(({ merged_ids: ids }) => ids.split(";"));
  const workOf = new Map(groups.flatMap((ids, index) => ids.map((id) => [id, index])));
  const { works, merges } = mergeRecords(records, []);
  const ours = works.map(({ mergedFrom }) => mergedFrom.map(({ id }) => id));
  const oursOf = new Map(ours.flatMap((ids, index) => ids.map((id) => [id, index])));
  const byId = new Map(records.map((record) => [record.id, record]));
  if (process.env.RR_MISSED !== undefined)
    for (const [kind, pairs] of [
      ["missed", groups.flatMap(pairsOf).filter(([a, b]) => oursOf.get(a) !== oursOf.get(b))],
      ["false", ours.flatMap(pairsOf).filter(([a, b]) => !isOne(workOf, a, b))],
    ])
      for (const [a, b] of pairs) {
        const two = [byId.get(a), byId.get(b)];
        console.error(JSON.stringify({ set: basename(folder), kind, why: why(...two), records: two }));
      }
  return {
    count: records.length,
    companions: merges.filter(({ companion }) => companion !== undefined).length,
    removed: scored(
      ours.reduce((count, ids) => count + ids.length - worksIn(ids, workOf), 0),
      ours.reduce((count, ids) => count + ids.length - 1, 0),
      groups.reduce((count, ids) => count + ids.length - 1, 0),
    ),
    pairs: scored(
      ours.flatMap(pairsOf).filter(([a, b]) => isOne(workOf, a, b)).length,
      ours.flatMap(pairsOf).length,
      groups.flatMap(pairsOf).length,
    ),
  };
}

/** `right`: found and true; `found`: all found; `there`: all that are true. */
const scored = (right, found, there) => ({ right, found, there });

const sum = (scores, name) =>
  scored(...["right", "found", "there"].map((part) => scores.reduce((all, score) => all + score[name][part], 0)));

function shown({ right, found, there }) {
  const [precision, recall] = [found === 0 ? 1 : right / found, there === 0 ? 1 : right / there];
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return `P ${precision.toFixed(4)}, R ${recall.toFixed(4)}, F1 ${f1.toFixed(4)} (${right} of ${there}; ${found - right} wrong)`;
}

/** How many works the records are of which were put together as one; the others of each were removed rightly. */
const worksIn = (ids, workOf) => new Set(ids.map((id) => workOf.get(id) ?? id)).size;

const isOne = (workOf, a, b) => workOf.has(a) && workOf.get(a) === workOf.get(b);

const pairsOf = (ids) => ids.flatMap((a, index) => ids.slice(index + 1).map((b) => [a, b]));

function labelledPairs(folder, recordOf, why) {
  const path = join(folder, casesFile);
  if (!existsSync(path)) return [];
  const { cases } = JSON.parse(readFileSync(path, "utf8"));
  const wrong = cases.filter(
    ({ record_a: a, record_b: b, expected_duplicate: wanted }) =>
      why(recordOf({ ...a, ID: "a" }), recordOf({ ...b, ID: "b" })).same !== wanted,
  );
  const ids = wrong.length === 0 ? "" : ` (wrong: ${wrong.map(({ id }) => id).join(", ")})`;
  return [`labelled pairs ${cases.length - wrong.length} of ${cases.length}${ids}`];
}

/** A row as a source client would give it. */
const recordsWith = (authorsOf) => (row) => {
  const { ID: id, title = "", author = "", year = "", journal, booktitle, volume, number, issue, pages, doi } = row;
  const said = Object.entries({ venue: journal || booktitle, volume, issue: number || issue, pages });
  return {
    id,
    title,
    url: `https://records.test/${id}`,
    pdf_url: null,
    authors: authorsOf(author),
    date: year === "" ? null : String(year),
    source: "set",
    abstract: row.abstract || null,
    identifiers: doi ? { doi: doi.toLowerCase() } : {},
    ...Object.fromEntries(said.filter(([, value]) => value)),
  };
};
