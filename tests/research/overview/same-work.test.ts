import { describe, expect, test } from "vitest";
import { flowCounts } from "../../../src/research/derived/flow-counts.js";
import { allRecords, searchedDuplicates } from "../../../src/research/overview/all-records.js";
import { duplicatesAmong } from "../../../src/research/overview/duplicates.js";
import { mergeTwo, separateRecord } from "../../../src/research/overview/same-work.js";
import { lookupReason } from "../../../src/research/full-text/own-record.js";
import { withKeys } from "../../../src/research/papers/paper-keys.js";
import { risOf } from "../../../src/research/papers/export/ris.js";
import { citedWorks } from "../../../src/research/papers/export/cited-work.js";
import { entryOf } from "../../../src/research/papers/records/normalise-entry.js";
import { readTagged } from "../../../src/research/papers/records/ris.js";
import { paper, rrdWith } from "../../support/projects/research.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import type { Listing } from "../../../src/research/search/result-list.js";
import { derive } from "../../../src/research/workflow/derive.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";

const some = (): Rrd =>
  withKeys({
    ...rrdWith([
      paper("a", { title: "Water for shrews in the dry season", authors: ["Lo, Wen"], date: "2020" }),
      paper("b", { title: "Water for shrews in dry seasons", authors: ["Lo, Wen"], date: "2020", venue: "J Shrews" }),
    ]),
    excluded: [
      { id: "x", title: "Of moles", reason: "no shrews", stage: "screened" },
      {
        id: "d",
        title: "Water for shrews",
        reason: "the same work as a: the same title",
        stage: "duplicate",
        duplicate_of: "a",
      },
    ],
  });
const [a, b, x, d] = ["lo2020", "lo2020b", "moles", "water-shrews"] as const;

test("a paper that is joined is a duplicate, its facts stay, and parting brings it back as it was", () => {
  const before = some();
  const { rrd } = mergeTwo(before, a, b, "shrews");
  expect(rrd.papers_pool).toMatchObject([{ id: "a", venue: "J Shrews" }]);
  expect(rrd.excluded?.at(-1)).toMatchObject({ id: "b", key: b, stage: "duplicate", duplicate_of: "a" });
  const back = separateRecord(rrd, b, "shrews").rrd;
  expect(back.papers_pool[1]).toEqual(before.papers_pool[1]);
  expect(back.excluded).toEqual(before.excluded);
});

test("an excluded record that is joined and parted is excluded as before", () => {
  const { rrd } = mergeTwo(some(), a, x, "shrews");
  expect(rrd.excluded?.find(({ id }) => id === "x")).toMatchObject({ duplicate_of: "a" });
  expect(separateRecord(rrd, x, "shrews").rrd.excluded?.find(({ id }) => id === "x")).toEqual(some().excluded?.[0]);
});

test("what code has merged is parted by a pair that the search knows, and joining takes that back", () => {
  const { rrd } = separateRecord(some(), d, "shrews");
  expect(rrd.apart).toEqual([["a", "d"]]);
  expect(mergeTwo(rrd, a, d, "shrews").rrd).toEqual(some());
});

/** The two papers with these statuses, and an insight of each. */
const decidedAs = (...statuses: Rrd["papers_pool"][number]["status"][]): Rrd => ({
  ...some(),
  papers_pool: some().papers_pool.map((one, at) => ({ ...one, status: statuses[at] ?? "pending" })),
  insights: ["a", "b"].map((id, at) => ({ id: `insight_00${at + 1}`, paper_id: id, insight: "They drink." })),
});

test("of a decided paper and one that is to be read the decided one stays, whichever is named first", () => {
  const { rrd, says } = mergeTwo(decidedAs("pending", "presented"), a, b, "shrews");
  expect(rrd.papers_pool).toMatchObject([{ id: "b", status: "presented" }]);
  expect(says).toMatch(/^lo2020 is a duplicate of lo2020b/);
});

test("two papers that were decided alike are joined, and parting brings back the reading with its insights", () => {
  const before = decidedAs("presented", "presented");
  const { rrd } = mergeTwo(before, a, b, "shrews");
  expect(rrd.papers_pool.map(({ id }) => id)).toEqual(["a"]);
  expect(rrd.insights?.map(({ paper_id }) => paper_id)).toEqual(["a"]);
  const back = separateRecord(rrd, b, "shrews").rrd;
  expect([back.papers_pool[1], back.insights]).toEqual([before.papers_pool[1], before.insights]);
});

test.each<[() => unknown, string]>([
  [() => mergeTwo(some(), a, a, "shrews"), "are one record"],
  [() => mergeTwo(some(), d, b, "shrews"), "is itself a duplicate of lo2020"],
  [() => mergeTwo(some(), a, "bats", "shrews"), "There is no paper 'bats'"],
  [() => separateRecord(some(), a, "shrews"), "lo2020 is not a duplicate"],
  [
    () => mergeTwo(decidedAs("presented", "rejected"), a, b, "shrews"),
    "lo2020 is presented and lo2020b rejected, each after a reading; say first which decision stands",
  ],
])("%s is refused with a sentence", (act, says) => {
  expect(act).toThrow(says);
});

test("every record goes out with what became of it, and our notes are not read as notes of the record", () => {
  const records = allRecords(some(), [], undefined);
  expect(records.map(({ key, outcome: { stage, duplicateOf } }) => [key, stage, duplicateOf])).toEqual([
    [a, "full text", undefined],
    [b, "full text", undefined],
    [x, "screening", undefined],
    [d, "duplicate", a],
  ]);
  const ris = risOf(citedWorks(records));
  expect(ris).toContain("N1  - research-ralph: moles; excluded, screening; no shrews\r\n");
  const entries = readTagged(ris).map((read) => ("entry" in read ? entryOf(read.entry, "1") : undefined));
  expect(entries.map((entry) => [entry?.key, entry?.publication])).toEqual(entries.map(() => ["1", undefined]));
});

test("pairs under one title are uncertain until a person settles them, and titles that share words alone are not", () => {
  const title = "Water for shrews in the dry season";
  const rrd = withKeys(
    rrdWith([
      paper("one", {
        title,
        authors: ["Lo, Wen"],
        date: "2020",
        venue: "J Shrews",
        volume: "3",
        identifiers: { pmid: "1" },
      }),
      paper("two", {
        title,
        authors: ["Lo, Wen"],
        date: "2020",
        venue: "J Shrews",
        volume: "4",
        identifiers: { pmid: "2" },
      }),
      ...[3, 4].map((region) =>
        paper(`r${region}`, {
          title: `Effects of zinc on the memory of voles: a randomised trial in region ${region}`,
          authors: ["Ng, Ann"],
          date: "2020",
          identifiers: { pmid: String(region) },
        }),
      ),
    ]),
  );
  const records = allRecords(rrd, [], undefined);
  const { uncertainPairs } = duplicatesAmong(records, rrd);
  expect(uncertainPairs.map(({ records: [first, second] }) => [first.id, second.id].toSorted())).toEqual([
    ["one", "two"],
  ]);
  expect(duplicatesAmong(records, { ...rrd, apart: [["one", "two"]] }).uncertainPairs).toEqual([]);
});

test("the reason of a duplicate names the record that it went into by its key", () => {
  const before = some();
  const [kept] = before.papers_pool;
  const rrd: Rrd = {
    ...before,
    papers_pool: [{ ...kept, id: "doi_10.5555_a.1" } as (typeof before.papers_pool)[number]],
    excluded: [
      {
        id: "e",
        title: "Water",
        stage: "duplicate",
        duplicate_of: "doi_10.5555_a.1",
        reason: "the same work as doi_10.5555_a.1: the same title",
      },
    ],
  };
  const reasons = allRecords(withKeys(rrd), [], undefined).map(({ outcome }) => outcome.reason);
  expect(reasons).toContain(`the same work as ${a}: the same title`);
});

test("what a service said of a document by its own id is part of the document, and no record beside it", () => {
  const merged = [
    { id: "doi_10.5555_a.1", source: "Crossref", url: "https://doi.org/10.5555/a.1", why: lookupReason },
    { id: "e", source: "Embase", why: "the same title" },
  ];
  const rrd = withKeys(rrdWith([paper("file_1", { found: { sources: ["folder:papers"], why: "", merged } })]));
  expect(allRecords(rrd, [], undefined).map(({ id }) => id)).toEqual(["file_1", "e"]);
});

describe("of records of three databases with one DOI", () => {
  const record = (database: string, title: string): PaperRecord => ({
    id: "doi_10.5555_a",
    title,
    url: "https://doi.org/10.5555/a",
    pdf_url: null,
    authors: ["Lo, Wen"],
    date: "2020",
    source: database,
    database,
    abstract: null,
    identifiers: { doi: "10.5555/a" },
  });
  const listings: Listing[] = ["PubMed", "Embase", "Scopus"].map((source) => ({
    source,
    step: 0,
    status: "ok",
    asked: `${source}.ris`,
    records: [record(source, "Water for shrews in the dry season")],
  }));
  const flow = { identified: { PubMed: 1, Embase: 1, Scopus: 1 }, duplicates_removed: 2, not_screened: 0 };
  const started = rrdWith([paper("doi_10.5555_a", { title: "Water for shrews", authors: ["Lo, Wen"], date: "2020" })]);
  const screened = withKeys({
    ...started,
    requirements: { ...started.requirements, target_papers: 3 },
    phase: "COMPLETE",
    statistics: { discovery_metrics: { flow, exhausted: "every list was read" } },
  });
  const keysOf = (rrd: Rrd) =>
    allRecords(rrd, [], { listings }).map(({ key, source, outcome }) => [key, source, outcome.duplicateOf]);
  const part = (rrd: Rrd, name: string) => separateRecord(rrd, name, "shrews", searchedDuplicates(rrd, { listings }));

  test("each is parted by the key that exports give it, and joined again", () => {
    const before = keysOf(screened);
    const [key, otherKey] = before.slice(1).map(([name]) => String(name)) as [string, string];
    expect([key, otherKey]).toEqual(["lo2020b", "lo2020c"]);
    const { rrd, says } = part(screened, key);
    expect(says).toBe("lo2020b is another work than lo2020; the next run screens it by itself.");
    expect(rrd.phase).toBe("DISCOVERY");
    expect(rrd.statistics?.discovery_metrics).toMatchObject({ flow: { duplicates_removed: 1, not_screened: 1 } });
    expect(keysOf(rrd)).toEqual([before[0], [key, before[1]?.[1], undefined], [otherKey, expect.anything(), "lo2020"]]);
    const id = allRecords(rrd, [], { listings })[1]?.id ?? "";
    const { rrd: joined } = mergeTwo(rrd, "lo2020", key, "shrews", new Map([[key, id]]));
    expect(keysOf(joined)).toEqual(before);
    expect(joined.statistics?.discovery_metrics).toMatchObject({ flow });
  });

  test("the key of the record that stays parts none of several, and says their keys", () => {
    expect(() => part(screened, "lo2020")).toThrow(/name one of them: lo2020b \(\w+\), lo2020c \(\w+\)\.$/);
  });

  /** The numbers of duplicates in the flow and of records that are not screened. */
  const countsOf = (rrd: Rrd) => {
    const { searched, other } = flowCounts(rrd);
    return [searched.duplicates + other.duplicates, rrd.statistics?.discovery_metrics?.flow?.not_screened];
  };
  const known = (rrd: Rrd) => searchedDuplicates(rrd, { listings });

  test("a part of an earlier version, which counted nothing, is taken back without a count", () => {
    const id = part(screened, "lo2020b").rrd.apart?.[0]?.[1] ?? "";
    const earlier: Rrd = { ...screened, apart: [["doi_10.5555_a", id]] };
    for (const duplicates of [known(earlier), {}])
      expect(mergeTwo(earlier, "lo2020", id, "shrews", new Map(), duplicates).rrd).toEqual(screened);
  });

  test("a text of a paper is no record of the lists, so parting and joining it changes no count", () => {
    const merged = [{ id: "file_1", source: "folder", url: "file:///w/shrews.md", why: "the same doi" }];
    const found = { sources: ["PubMed"], why: "", merged };
    const before = { ...screened, papers_pool: screened.papers_pool.map((each) => ({ ...each, found })) };
    const { rrd, says } = part(before, "file_1");
    expect(says).toBe("file_1 is another work than lo2020; the lists don't hold it, so no run screens it.");
    expect(rrd).toEqual({ ...before, apart: [["doi_10.5555_a", "file_1"]] });
    expect(mergeTwo(rrd, "lo2020", "file_1", "shrews", new Map(), known(rrd)).rrd).toEqual(before);
  });

  test("a listed record is parted by its id as by its key", () => {
    const other: Listing[] = listings
      .slice(0, 2)
      .map((listing, index) => ({
        ...listing,
        records: listing.records.map((each) => (index === 1 ? each : { ...each, id: "pmid_1" })),
      }));
    const merged = [{ id: "pmid_1", source: "Embase", url: "https://doi.org/10.5555/a", why: "the same doi" }];
    const found = { sources: ["PubMed"], why: "", merged };
    const before = {
      ...screened,
      papers_pool: screened.papers_pool.map((each) => ({ ...each, found })),
      statistics: {
        discovery_metrics: { flow: { identified: { PubMed: 1, Embase: 1 }, duplicates_removed: 1, not_screened: 0 } },
      },
    };
    const duplicates = searchedDuplicates(before, { listings: other });
    const { rrd } = separateRecord(before, "pmid_1", "shrews", duplicates);
    expect(rrd).toEqual(separateRecord(before, duplicates.merged[0]?.key ?? "", "shrews", duplicates).rrd);
    expect(countsOf(rrd)).toEqual([0, 1]);
    const now = searchedDuplicates(rrd, { listings: other });
    expect(countsOf(mergeTwo(rrd, "lo2020", "pmid_1", "shrews", new Map(), now).rrd)).toEqual([1, 0]);
  });

  const moles = paper("m", { title: "Of moles", authors: ["Ng, Ann"], date: "2021" });
  const withMoles = withKeys({
    ...screened,
    papers_pool: [...screened.papers_pool, moles],
    statistics: {
      discovery_metrics: {
        flow: { identified: { PubMed: 2, Embase: 1, Scopus: 1 }, duplicates_removed: 2, not_screened: 0 },
      },
    },
  });

  test.each([
    ["ng2021", "lo2020b"],
    ["lo2020b", "ng2021"],
  ])("a parted record that is joined to a third one before it is screened counts once: %s, %s", (first, second) => {
    const parted = part(withMoles, "lo2020b").rrd;
    expect(countsOf(parted)).toEqual([1, 1]);
    const { rrd, says } = mergeTwo(parted, first, second, "shrews", new Map(), known(parted));
    expect(says).toContain("lo2020b is a duplicate of ng2021;");
    expect(countsOf(rrd)).toEqual([2, 0]);
    expect(rrd.papers_pool).toHaveLength(2);
    const back = part(rrd, "lo2020b");
    expect(back.says).toBe("lo2020b is another work again; the next run screens it by itself.");
    expect([countsOf(back.rrd), back.rrd.excluded]).toEqual([[1, 1], parted.excluded]);
  });

  test("two parted records that are not screened yet are not joined", () => {
    const first = part(withMoles, "lo2020b").rrd;
    const [one, other] = [first.excluded?.[0], { ...first.excluded?.[0], id: "other", key: "lo2020x" }];
    const rrd = {
      ...first,
      excluded: [one, other],
      apart: [...(first.apart ?? []), ["doi_10.5555_a", "other"]],
    } as Rrd;
    expect(() => mergeTwo(rrd, "lo2020b", "lo2020x", "shrews")).toThrow(
      "lo2020b is not screened yet, so nothing is joined to it; the next run screens it by itself.",
    );
  });

  test("a record that is parted again is excluded once, and keeps its key", () => {
    const [{ separateAs: id = "" } = {}] = known(screened).merged;
    const exclusion = part(screened, "lo2020b").rrd.excluded?.[0];
    // It was parted from another record of the search first.
    const earlier = { ...screened, excluded: [{ ...exclusion, duplicate_of: "z" }], apart: [["z", id]] } as Rrd;
    const { key } = known(earlier).merged.find(({ separateAs }) => separateAs === id) ?? {};
    expect(() => mergeTwo(earlier, "lo2020", "lo2020b", "shrews", new Map(), known(earlier))).toThrow(
      "lo2020b is the same work as lo2020 in the search; separate it first",
    );
    const { rrd } = part(earlier, key ?? "");
    expect(rrd.excluded).toEqual([exclusion]);
    expect(rrd.apart).toEqual([
      ["z", id],
      ["doi_10.5555_a", id],
    ]);
  });

  test("a record that was screened under the same id stays excluded", () => {
    const [{ separateAs: id = "" } = {}] = known(screened).merged;
    const dropped = { id, key: "lo2020x", title: "Water", reason: "no shrews", stage: "screened" as const };
    expect(part({ ...screened, excluded: [dropped] }, "lo2020b").rrd.excluded).toContainEqual(dropped);
  });

  test("taking one part back leaves the other parts of the record", () => {
    const { rrd } = part(screened, "lo2020b");
    const id = rrd.apart?.[0]?.[1] ?? "";
    const twice: Rrd = { ...rrd, apart: [["z", id], ...(rrd.apart ?? [])] };
    const joined = mergeTwo(twice, "lo2020", "lo2020b", "shrews", new Map([["lo2020b", id]]), known(twice)).rrd;
    expect(joined.apart).toEqual([["z", id]]);
    expect(countsOf(joined)).toEqual(countsOf(screened));
    const other = mergeTwo(twice, "z", "lo2020b", "shrews", new Map([["lo2020b", id]]), known(twice)).rrd;
    expect(other).toEqual(rrd);
  });

  test("a full pool is said", () => {
    const requirements = { ...screened.requirements, target_papers: 1 };
    expect(part({ ...screened, requirements }, "lo2020b").says).toContain("run shrews -p 2 --force' screens it");
  });
});

test("a parted duplicate that was screened since is one record with its first key, and joins like any other", () => {
  const { rrd } = separateRecord(some(), d, "shrews");
  const { key: _, ...screened } = paper("d", { title: "Water for shrews" });
  const after = derive({ ...rrd, format: 1, papers_pool: [...rrd.papers_pool, screened] } as Rrd, []);
  expect(after.excluded?.map(({ id }) => id)).toEqual(["x"]);
  expect(after.papers_pool.at(-1)).toMatchObject({ id: "d", key: d });
  const { rrd: joined } = mergeTwo(after, a, d, "shrews");
  expect(joined.excluded?.at(-1)).toMatchObject({ id: "d", duplicate_of: "a" });
  expect(flowCounts(joined).searched.duplicates).toBe(1);
});
