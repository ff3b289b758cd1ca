import { expect, test } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { type FlowRow, flowCounts, total } from "../../../src/research/derived/flow-counts.js";
import { withOverride, withOverrides } from "../../../src/research/derived/overrides.js";
import type { DiscoveryResult } from "../../../src/research/generated/result-discovery.js";
import type { Criterion, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { mergeTwo, separateRecord } from "../../../src/research/overview/same-work.js";
import { allRecords, searchedDuplicates } from "../../../src/research/overview/all-records.js";
import type { Listing } from "../../../src/research/search/result-list.js";
import { withAdded } from "../../../src/research/papers/records/added-papers.js";
import { prismaCsv } from "../../../src/research/papers/export/prisma.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { stateAfter } from "../../../src/research/units/reset.js";
import { parseRrd } from "../../../src/research/project-files/rrd-file.js";
import { prismaFlow } from "../../../src/research/report/prisma-flow.js";
import { acceptDiscovery } from "../../../src/research/units/screening/judge-batch.js";
import { checkedAnswers } from "../../../src/research/units/screening/screen-by-criteria.js";
import { nextBatch } from "../../../src/research/units/screening/screening-batch.js";
import { newUpdate, withUpdateOpen } from "../../../src/research/update/opening.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { folded } from "../../support/projects/folded.js";
import { paper, scoresOfAll } from "../../support/projects/research.js";
import { document, libraryOf, now, page, wanting } from "../../support/projects/searched-library.js";
import fc from "../../support/runner/fast-check.js";

const criteria: Criterion[] = [
  { id: "c1", kind: "include", text: "about hands" },
  { id: "c2", kind: "exclude", text: "an editorial" },
];
const titles = ["On alpha hands", "On beta eyes", "Editorial", "On gamma knees", "Old page"];

/** What may happen to a project; `at` chooses the record, `how` what becomes of it. */
const command = fc.record({
  does: fc.constantFrom(
    ...([
      "batch",
      "batch",
      "read",
      "read",
      "decide",
      "decide",
      "join",
      "part",
      "screen parted",
      "screen parted",
      "reset paper",
      "reset discovery",
    ] as const),
    ...(["add", "add a text", "file gone", "file new", "update", "by hand", "conflict", "finish", "criteria"] as const),
  ),
  at: fc.nat(40),
  how: fc.nat(40),
});

const firstBatch = { does: "batch", at: 0, how: 0 } as const;

const readings: Partial<Paper>[] = [
  { status: "presented", decision: "PRESENT" },
  { status: "insights_extracted", decision: "EXTRACT_INSIGHTS" },
  { status: "rejected", decision: "REJECT" },
  { status: "rejected", decision: "REJECT", excluded_by: "c1", held_scores: nested(3) },
  { status: "rejected", decision: "REJECT", excluded_by: "c1", held_scores: nested(3), read_depth: "abstract" },
  { status: "waiting", decision: null, held_scores: nested(3) },
  { status: "rejected", decision: "REJECT", retracted: true },
  { status: "not_retrieved", decision: null, not_retrieved: { reason: "a scan", cure: "ocrmypdf", tried: "" } },
];
function nested(points: number) {
  const { execution, strategic: blue_ocean } = scoresOfAll(points);
  return { execution, blue_ocean };
}

/** Each stage of a row gives out what came in, and nothing is counted below nothing. */
function expectRow(row: FlowRow): void {
  expect(total(row.identified)).toBe(row.duplicates + total(row.removed) + row.screened + row.notScreened);
  expect(row.screened).toBe(total(row.excluded) + row.conflicts + row.sought);
  expect(row.sought).toBe(row.assessed + row.notRetrieved + row.notRead);
  expect(row.assessed).toBe(row.presented + row.insights + total(row.rejected) + row.waiting);
  for (const count of [...row.identified.values(), ...row.removed.values(), row.notScreened, row.notRead])
    expect(count).toBeGreaterThanOrEqual(0);
}

function expectFlow(rrd: Rrd, { isCut }: { readonly isCut: boolean }): void {
  const { searched, other } = flowCounts(rrd);
  // Each record is in one place.
  const ids = [...rrd.papers_pool, ...(rrd.excluded ?? [])].map(({ id }) => id);
  expect(ids.length).toBe(new Set(ids).size);
  // What a person decides or joins stays where it came from, and nothing is lost unless it is taken out of the file.
  const isAdded = (each: object): boolean => "added" in each || ("before" in each && isAdded(each.before as object));
  const added = total(other.identified) - (other.identified.get("folder:papers") ?? 0);
  expect(added).toBe([...rrd.papers_pool, ...(rrd.excluded ?? [])].filter(isAdded).length);
  if (!isCut) expect(searched.removed.get("no longer among the records") ?? 0).toBe(0);
  for (const row of [searched, other]) expectRow(row);
  const { duplicates_removed: merged = 0 } = rrd.statistics?.discovery_metrics?.flow ?? {};
  const excluded = (row: FlowRow) => row.duplicates + total(row.excluded) + total(row.removed);
  const beside = [
    ...["not screened: the search ended before them", "no longer among the records"],
    "not read: the search ended before them",
  ];
  const gone = beside.reduce(
    (sum, reason) => sum + (searched.removed.get(reason) ?? 0) + (other.removed.get(reason) ?? 0),
    0,
  );
  // What is excluded unread by a person, or by its abstract alone, left by title and abstract, and stays in the pool.
  const byTitle = rrd.papers_pool.filter(
    ({ override, analysis, status, read_depth: depth }) =>
      (override?.decision === "exclude" && analysis == null) || (status === "rejected" && depth === "abstract"),
  ).length;
  // What a person has parted is not screened yet.
  const parted = (rrd.excluded ?? []).filter(
    ({ id, duplicate_of: of, before }) =>
      before === undefined && rrd.apart?.some((pair) => pair.includes(id) && pair.includes(of ?? "")) === true,
  ).length;
  expect(excluded(searched) + excluded(other) - merged - gone).toBe((rrd.excluded?.length ?? 0) - parted + byTitle);
  expect(searched.sought + searched.conflicts + other.sought + other.conflicts).toBe(rrd.papers_pool.length - byTitle);
  if (rrd.phase === "COMPLETE") expect([searched.notScreened, searched.notRead, other.notRead]).toEqual([0, 0, 0]);
  // The picture and the export say the same.
  const { steps, other: others, counts } = prismaFlow(rrd);
  for (const row of [steps, others])
    for (const [index, { box }] of row.entries()) {
      const above = row[index - 1];
      if (above !== undefined) expect(box.count).toBe(above.box.count - (above.sideBox?.count ?? 0));
    }
  expectExport(prismaCsv({ counts, reasons: [], otherReasons: [], sources: [] }));
  expect(counts.new_studies).toBe((steps.at(-1)?.box.count ?? 0) + (others.at(-1)?.box.count ?? 0));
  const said = rrd.statistics?.discovery_metrics?.flow?.full_text;
  if (said !== undefined) expect(said.not_read).toBe(searched.notRead + other.notRead);
  expect(parseRrd(JSON.stringify(rrd), "rrd.json").problems).toBeUndefined();
}

/** The export has the records of the flow: as many of each source, as many duplicates, as many that were not screened. */
function expectRecords(rrd: Rrd, listings: readonly Listing[]): void {
  const { searched, other } = flowCounts(rrd);
  const records = allRecords(rrd, [], { listings });
  const at = (...stages: string[]) => records.filter(({ outcome }) => stages.includes(outcome.stage)).length;
  const ended = searched.removed.get("not screened: the search ended before them") ?? 0;
  expect(at("duplicate")).toBe(searched.duplicates + other.duplicates);
  expect(at("not screened")).toBe(searched.notScreened + ended);
  expect(records.length).toBe(total(searched.identified) + total(other.identified));
}

/** The rows of the exported table add up, whatever is open. */
function expectExport(table: string): void {
  const rows = table.split("\r\n").map((row): [string, number] => [row.split(",")[0] ?? "", Number(/\d+$/.exec(row))]);
  const sum = (...names: string[]) =>
    rows.reduce((total, [name, count]) => total + (names.includes(name) ? count : 0), 0);
  const unscreened = ["duplicates", "excluded_automatic", "excluded_other", "records_not_screened"];
  expect(sum("database_results")).toBe(sum(...unscreened, "records_screened"));
  expect(sum("records_screened")).toBe(sum("records_excluded", "records_waiting", "dbr_sought_reports"));
  expect(sum("dbr_sought_reports")).toBe(sum("dbr_notretrieved_reports", "dbr_not_read", "dbr_assessed"));
  expect(sum("website_results", "organisation_results")).toBe(sum("other_not_sought", "other_sought_reports"));
  expect(sum("other_sought_reports")).toBe(sum("other_notretrieved_reports", "other_not_read", "other_assessed"));
  const left = ["dbr_excluded", "dbr_waiting", "other_excluded", "other_waiting"];
  expect(sum("dbr_assessed", "other_assessed")).toBe(sum(...left, "new_studies"));
}

test.each([
  ["without criteria", []],
  ["with criteria", criteria],
])("begun %s, the flow of a project adds up whatever was done to it", async (_, firstCriteria) => {
  // Some have the DOI of a document, of another list's record, or of one with another title.
  const doi = fc.option(
    fc.nat(2).map((index) => ({ identifiers: { doi: `10.5555/${index}` } })),
    { nil: {} },
  );
  const pages = (source: string) =>
    fc.array(
      fc
        .tuple(fc.nat(5), fc.constantFrom(...titles), fc.constantFrom("1990-05-01", "2026-01-01", undefined), doi)
        .map(([index, title, date, known]) => ({
          ...page(`https://example.org/${index}`, title, date, source),
          ...("identifiers" in known ? { ...known, id: `doi_${known.identifiers.doi.replace("/", "_")}` } : {}),
        })),
      { maxLength: 8 },
    );
  const drawn = fc.record({
    One: pages("One"),
    Two: pages("Two"),
    files: fc.array(fc.tuple(fc.constantFrom(...titles), doi), { maxLength: 4 }),
    target: fc.constantFrom(2, 8),
    from: fc.constantFrom(undefined, "2025-06-01", "2026-02-01"),
    commands: fc
      .tuple(fc.boolean(), fc.array(command, { maxLength: 14 }))
      .map(([isSearched, drawn]) => (isSearched ? [firstBatch, firstBatch, ...drawn] : drawn)),
    answers: fc.infiniteStream(fc.constantFrom("yes" as const, "no" as const, "unclear" as const)),
    judgements: fc.infiniteStream(fc.constantFrom("kept", "dropped", "passed over")),
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ One, Two, files, target, from, commands, answers, judgements }) => {
      const documents: PaperRecord[] = files.map(([title, known], index) => ({
        ...document(`doc_${index}`, title),
        ...known,
      }));
      const searched = libraryOf(documents, { One, Two });
      let listings: readonly Listing[] = [];
      const library: typeof searched = {
        ...searched,
        async search(rrd, names) {
          const session = await searched.search(rrd, names);
          ({ listings } = session);
          return session;
        },
      };
      const plain = wanting(["folder:papers", "One", "Two"], target);
      let rrd: Rrd = {
        ...plain,
        requirements: {
          ...plain.requirements,
          ...(firstCriteria.length === 0 ? {} : { criteria: firstCriteria }),
          ...(from === undefined ? {} : { published_from: from }),
        },
      };
      let asked = firstCriteria;
      let unit = 0;
      let isCut = false;
      let isGoneUnnoticed = false;
      let hasDocuments = files.length > 0;
      const pick = <Item>(items: readonly Item[], at: number): Item | undefined =>
        items[at % Math.max(items.length, 1)];
      const withPaper = (id: string, set: Partial<Paper>): Rrd => ({
        ...rrd,
        papers_pool: rrd.papers_pool.map((each) => (each.id === id ? { ...each, ...set } : each)),
      });
      const done: Record<(typeof commands)[number]["does"], (at: number, how: number) => Promise<Rrd> | Rrd> = {
        async batch() {
          if (rrd.phase !== "DISCOVERY") return rrd;
          unit += 1;
          isGoneUnnoticed = false;
          const batch = await nextBatch(rrd, library);
          const said = batch.candidates.map(({ id, title }) => ({
            id,
            as: judgements.next().value as string,
            criteria: Object.fromEntries(
              asked.map((each) => [each.id, { answer: answers.next().value ?? "unclear", quote: title }]),
            ),
          }));
          const of = (wanted: string) => said.filter(({ as }) => as === wanted);
          const result: DiscoveryResult = {
            unit: `discovery-${unit}`,
            papers: [],
            sources: [],
            kept: of("kept").map(({ id, criteria: given }) => ({ id, criteria: given })),
            dropped: of("dropped").map(({ id, criteria: given }) => ({ id, reason: "It is not.", criteria: given })),
          };
          const judging = { iteration: unit, agent: "scripted", at: new Date(now()) };
          const judged = acceptDiscovery(
            rrd,
            result.unit,
            result,
            batch,
            judging,
            await checkedAnswers(rrd, result, batch),
          );
          if ("reasons" in judged) throw new Error(judged.reasons.join("; "));
          return folded(rrd, judged.changes);
        },
        read(at, how) {
          const one = pick(
            rrd.papers_pool.filter(({ status }) => status === "pending"),
            at,
          );
          if (one === undefined) return rrd;
          const read = { analysis: { summary: "It works." }, iteration: 9, read_depth: "full" as const };
          const set = pick(readings, how) ?? {};
          return withPaper(one.id, set.status === "not_retrieved" ? set : { ...read, ...set });
        },
        decide(at, how) {
          const one = pick([...rrd.papers_pool, ...(rrd.excluded ?? [])], at);
          const decision = how % 2 === 0 ? "include" : "exclude";
          if (one === undefined || (decision === "include" && "retracted" in one && one.retracted === true)) return rrd;
          const criterion = how % 3 === 0 && asked.length > 0 ? { criterion: "c2" } : {};
          return withOverrides(withOverride(rrd, one.id, { decision, why: "So it is.", ...criterion }));
        },
        join(at, how) {
          const all = [...rrd.papers_pool, ...(rrd.excluded ?? [])];
          const [one, other] = [pick(all, at), pick(all, how)];
          return one === undefined || other === undefined
            ? rrd
            : mergeTwo(rrd, one.id, other.id, "it", new Map(), searchedDuplicates(rrd, { listings })).rrd;
        },
        part(at) {
          const known = searchedDuplicates(rrd, { listings });
          const one = pick([...(rrd.excluded ?? []).filter(({ stage }) => stage === "duplicate"), ...known.merged], at);
          if (one === undefined) return rrd;
          return separateRecord(rrd, "id" in one ? one.id : one.key, "it", known).rrd;
        },
        async "screen parted"(at, how) {
          rrd = derive(await done.part(at, how), []);
          return done.batch(at, how);
        },
        async "reset paper"(at) {
          const one = pick(rrd.papers_pool, at);
          return one === undefined ? rrd : (await stateAfter("it", { paper: one.id }, rrd, [])).newState;
        },
        "reset discovery": async () => (await stateAfter("it", { unit: "discovery" }, rrd, [])).newState,
        add: (at) => ({
          ...rrd,
          papers_pool: rrd.papers_pool.some(({ id }) => id === `added_${at}`)
            ? rrd.papers_pool
            : [...rrd.papers_pool, paper(`added_${at}`, { added: true })],
        }),
        "add a text"(at) {
          const one = pick(rrd.papers_pool, at);
          if (one === undefined) return rrd;
          const record = document(`text_${at}`, one.title);
          return withAdded(rrd, [{ reference: "g.pdf", record }]).rrd;
        },
        "file gone"(at) {
          isGoneUnnoticed = true;
          // After an update, the counts of the first search stay.
          isCut ||= (rrd.updates ?? []).length > 0;
          documents.splice(at % Math.max(documents.length, 1), 1);
          return rrd;
        },
        "file new"(at, how) {
          hasDocuments = true;
          documents.push(document(`doc_${at + 10}`, titles[how % titles.length] as string));
          return rrd;
        },
        update() {
          if (rrd.phase === "DISCOVERY") return rrd;
          isCut ||= isGoneUnnoticed;
          const window = { since: "2026-01-01", until: "2026-03-01", sources: {}, failed: {} };
          const update = newUpdate({ rrd, ledger: [] }, window as never, now());
          return withUpdateOpen(
            {
              ...rrd,
              updates: (rrd.updates ?? []).map((each) => ({ ...each, closed_at: "2026-03-01T00:00:00.000Z" })),
            },
            update,
          );
        },
        "by hand"(at) {
          isCut = true;
          return { ...rrd, papers_pool: rrd.papers_pool.filter((_each, index) => index !== at) };
        },
        conflict(at) {
          const one = pick(
            rrd.papers_pool.filter(({ status, added }) => status === "pending" && added !== true),
            at,
          );
          const by = (role: "reader-1" | "reader-2", decision: "include" | "exclude") => ({
            by: role,
            role,
            decision,
            reason: "Hm.",
          });
          return one === undefined
            ? rrd
            : withPaper(one.id, {
                status: "waiting",
                readings: [by("reader-1", "include"), by("reader-2", "exclude")],
              });
        },
        // What was screened, and what was not, stays so.
        criteria() {
          asked = asked.length === 0 ? criteria : [];
          const after = derive({ ...rrd, requirements: { ...rrd.requirements, criteria: asked } }, []);
          const entered = ({ searched, other }: ReturnType<typeof flowCounts>) => [searched.screened, other.sought];
          expect(entered(flowCounts(after))).toEqual(entered(flowCounts(rrd)));
          return after;
        },
        finish: () =>
          rrd.phase === "DISCOVERY" || rrd.papers_pool.some(({ status }) => status === "pending")
            ? rrd
            : { ...rrd, phase: "COMPLETE" },
      };
      for (const { does, at, how } of commands) {
        try {
          rrd = derive(await done[does](at, how), []);
        } catch (error) {
          // What can't be done is said, and changes nothing.
          if (!(error instanceof ExpectedError)) throw error;
        }
        expectFlow(rrd, { isCut });
        const isSearched = ["batch", "add a text", "join", "part", "screen parted"].includes(does);
        if (isSearched && !isCut && !hasDocuments && listings.length > 0) expectRecords(rrd, listings);
      }
    }),
    { numRuns: 200 },
  );
});
