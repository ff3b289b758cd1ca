// How soon screening finds the relevant records where the order learns from what was kept and dropped: a simulation on
// reviews whose records people labelled. `--data` names a folder of CSV files with the columns title, abstract and
// label_included, as ASReview's datasets have them.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { csvRows } from "../../csv.mjs";
import { ms, thousands } from "../../measure.mjs";

/** Searches that each review is begun with: every time another included record is the one that the person knows. */
const starts = 5;
/** Records a batch, or one of so many of all records where that is more. */
const minBatch = 10;
const batches = 100;

export const row = {
  name: "screening",
  what: "screening in batches, in the order that learns: work saved at 95 % recall (WSS@95), recall at 10 % and 20 % screened; where the stopping rule ends it",
  hold: "WSS@95 ≥ 0.45; the rule keeps its promise in ≥ 95 % of the runs; 10,000 records ordered in ≤ 3 s of processor time",
  command: "npm run bench -- screening --data <folder>",
  async run({ data } = {}) {
    if (data === undefined) return { ours: "not measured: name a folder with --data" };
    const files = !existsSync(data)
      ? []
      : statSync(data).isDirectory()
        ? readdirSync(data)
            .filter((name) => name.endsWith(".csv"))
            .map((name) => join(data, name))
        : [data];
    const { rank, rule } = await load({
      rank: "src/research/screening/screening-order.ts",
      rule: "src/research/screening/stopping-rule.ts",
    });
    const reviews = files.map((file) => readReview(file)).filter(({ records }) => records.length > 0);
    if (reviews.length === 0) return { ours: `not measured: ${data} holds no CSV file with label_included` };
    const scores = reviews.map((review) => ({ ...review, ...simulate(review, rank.makeRanking, rule.recallBound) }));
    const all = { name: `mean of ${scores.length}`, ...meanOf(scores) };
    const lines = [...scores, ...(scores.length > 1 ? [all] : [])].map(
      ({ name, records, wanted, ...score }) =>
        `${name}${records === undefined ? "" : ` (${wanted.size} of ${thousands(records.length)})`}: ${shown(score)}`,
    );
    return { ours: [...lines, orderTime(reviews, rank.makeRanking)].join("<br>") };
  },
};

function readReview(file) {
  const rows = csvRows(readFileSync(file, "utf8")).filter(({ label_included: label }) => /^[01]$/.test(label ?? ""));
  const records = rows.map(({ title = "", abstract = "" }, index) => recordOf(index, title, abstract));
  const wanted = new Set(records.filter((_, index) => rows[index].label_included === "1").map(({ id }) => id));
  return { name: basename(file, ".csv"), records: wanted.size === 0 ? [] : records, wanted };
}

const recordOf = (index, title, abstract) => ({
  id: `record_${index}`,
  title,
  url: `https://records.test/${index}`,
  pdf_url: null,
  authors: [],
  date: null,
  source: "set",
  abstract: abstract === "" ? null : abstract,
  identifiers: {},
});

const worksOf = (records) => records.map((record) => ({ record, provenance: { mergedFrom: [record], places: [] } }));

/** What the rule promises: so much of what is relevant, with so much confidence. */
const asked = { target: 0.95, confidence: 0.95 };
/** With which the status says what is likely by now. */
const evenOdds = 0.5;

/**
 * Each simulation begins as a person does who knows one paper: its title is what is sought, and it is the first that is
 * kept.
 */
function simulate({ records, wanted }, ranking, recallBound) {
  const known = [...wanted];
  const some = Math.min(starts, known.length);
  const runs = Array.from({ length: some }, (_, start) => known[Math.floor(((start + 0.5) * known.length) / some)]);
  return meanOf(runs.map((seed) => runOf(records, wanted, seed, ranking, recallBound)));
}

function runOf(records, wanted, seed, ranking, recallBound) {
  const description = records.find(({ id }) => id === seed).title;
  const order = ranking(worksOf(records), { keywords: [], description, today: "2026-01-01" }, []);
  const decided = new Map([[seed, true]]);
  const size = Math.max(minBatch, Math.ceil(records.length / batches));
  const screened = [];
  let found = 1;
  let at95;
  let stopped;
  let likely;
  const curve = [1];
  while (decided.size < records.length) {
    const waiting = order(records.map(({ id }) => decided.get(id))).filter(({ record }) => !decided.has(record.id));
    const batch = waiting.slice(0, size);
    const kept = batch.filter(({ record }) => wanted.has(record.id)).length;
    for (const { record } of batch) {
      decided.set(record.id, wanted.has(record.id));
      if (wanted.has(record.id)) found += 1;
      curve.push(found);
      if (at95 === undefined && found >= 0.95 * wanted.size) at95 = decided.size;
    }
    screened.push({ screened: batch.length, kept });
    const left = { earlier: 1, waiting: records.length - decided.size };
    if (stopped === undefined && recallBound(screened, left, asked).risk < 1 - asked.confidence)
      stopped = { recall: found / wanted.size, saved: 1 - decided.size / records.length };
    if (likely === undefined && recallBound(screened, left, { ...asked, confidence: evenOdds }).atLeast >= asked.target)
      likely = { recall: found / wanted.size, saved: 1 - decided.size / records.length };
    if (at95 !== undefined && stopped !== undefined && decided.size >= 0.2 * records.length) break;
  }
  const recallAt = (share) =>
    (curve[Math.min(curve.length, Math.round(share * records.length)) - 1] ?? 0) / wanted.size;
  const { recall, saved } = stopped ?? { recall: 1, saved: 0 };
  return {
    wss: 1 - (at95 ?? 1) / records.length - 0.05,
    at10: recallAt(0.1),
    at20: recallAt(0.2),
    kept: recall >= asked.target ? 1 : 0,
    recall,
    saved,
    likelyRecall: likely?.recall ?? 1,
    likelySaved: likely?.saved ?? 0,
  };
}

const meanOf = (scores) =>
  Object.fromEntries(
    ["wss", "at10", "at20", "kept", "recall", "saved", "likelyRecall", "likelySaved"].map((name) => [
      name,
      scores.reduce((sum, score) => sum + score[name], 0) / scores.length,
    ]),
  );

const percent = (share) => `${(100 * share).toFixed(1)} %`;

const shown = ({ wss, at10, at20, kept, recall, saved, likelyRecall, likelySaved }) =>
  `WSS@95 ${wss.toFixed(3)}, recall ${at10.toFixed(3)} at 10 %, ${at20.toFixed(3)} at 20 %; ` +
  `the rule stops with recall ${percent(recall)} and saves ${percent(saved)}, its promise kept in ${percent(kept)} of the runs; ` +
  `where 95 % are called likely, recall is ${percent(likelyRecall)} and ${percent(likelySaved)} are saved`;

/** How long it takes to read 10,000 records and put them in order, half of them decided. */
function orderTime(reviews, ranking) {
  const all = reviews.flatMap(({ records, wanted }) => records.map((record) => [record, wanted.has(record.id)]));
  const many = Array.from({ length: 10_000 }, (_, index) => all[index % all.length]);
  const records = many.map(([{ title, abstract }], index) => recordOf(index, `${title} ${index}`, abstract ?? ""));
  const began = process.cpuUsage();
  const works = ranking(
    worksOf(records),
    { keywords: [], description: records[0].title, today: "2026-01-01" },
    [],
  )(many.map(([, kept], index) => (index % 2 === 0 ? kept : undefined)));
  for (const { learned } of works.slice(0, 100)) learned?.();
  const { user, system } = process.cpuUsage(began);
  return `10,000 records: ${ms((user + system) / 1000)} of processor time`;
}
