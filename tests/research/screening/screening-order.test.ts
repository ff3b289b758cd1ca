import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Listing } from "../../../src/research/search/result-list.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { planSearch } from "../../../src/research/search/search-plan.js";
import { candidatesOf, candidatesText } from "../../../src/research/search/candidates.js";
import { ageOf, makeRanking, rankWorks } from "../../../src/research/screening/screening-order.js";

const paper = (id: string, title: string, more: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: [`Ada ${id}`],
  date: "2026-10-01",
  source: "arXiv",
  abstract: null,
  identifiers: { doi: `10.1000/${id}` },
  ...more,
});
const listing = (source: string, records: readonly PaperRecord[], seed?: string): Listing => ({
  step: 0,
  source,
  asked: "tactile grasping",
  status: "ok",
  records: records.map((record) => ({ ...record, source })),
  ...(seed === undefined ? {} : { seed }),
});
const wanted = {
  keywords: ["tactile grasping", "soft robots"],
  focus_area: "robotics",
  time_window_days: 365,
  historical_lookback_days: 1000,
  today: "2026-11-22",
};
const fitting = paper("a", "Tactile grasping with soft robots", { citations: { count: 12, source: "OpenAlex" } });
const near = paper("b", "Grasps felt by a tactile robot hand");
const far = paper("c", "A history of lighthouses");

describe("planSearch", () => {
  it("asks every keyword in the recent window before any keyword in the time before it", () => {
    const steps = planSearch(wanted, { target: 10, today: "2026-11-22", sources: ["arXiv"] });
    expect(steps.map((step) => (step.kind === "search" ? step.queries : []))).toEqual([
      ["tactile grasping", "soft robots"].map((terms) => ({
        terms,
        from: "2025-11-22",
        until: "2026-11-22",
        most: 15,
      })),
      ["tactile grasping", "soft robots"].map((terms) => ({
        terms,
        from: "2024-02-26",
        until: "2025-11-21",
        most: 15,
      })),
    ]);
  });

  it("adds the field to a keyword of one word, and asks nothing where there is nothing to ask", () => {
    const [step] = planSearch(
      { keywords: ["touch"], focus_area: "robotics" },
      { target: 1, today: "2026-11-22", sources: ["arXiv"] },
    );
    expect(step).toMatchObject({ queries: [{ terms: "touch robotics", most: 10 }] });
    expect(planSearch({ keywords: [] }, { target: 1, today: "2026-11-22", sources: ["arXiv"] })).toEqual([]);
    expect(planSearch(wanted, { target: 1, today: "2026-11-22", sources: [] })).toEqual([]);
  });
});

describe("candidatesOf", () => {
  it("puts what several lists have high up before what one has at its top", () => {
    const { works } = candidatesOf([listing("arXiv", [far, near]), listing("OpenAlex", [near])], []);
    expect(works.map((work) => work.record.id)).toEqual(["b", "c"]);
    expect(works[0]?.provenance.places.map(({ source, rank }) => [source, rank]).toSorted()).toEqual([
      ["OpenAlex", 0],
      ["arXiv", 1],
    ]);
  });

  it("gives the same bytes for the same answers", () => {
    const listings = [listing("arXiv", [fitting, near]), listing("OpenAlex", [near, far, fitting])];
    const again = JSON.parse(JSON.stringify(listings)) as Listing[];
    expect(candidatesText([], candidatesOf(again, []))).toBe(candidatesText([], candidatesOf(listings, [])));
  });

  it("is written as in the projects of before, whose recorded hash a replay compares with", () => {
    const preprint = { ...near, id: "arxiv_2401.12345", identifiers: { arxiv: "2401.12345v2" }, venue: "arXiv" };
    const later = { ...near, kind: "published", volume: "3", abstract: "A hand that feels.", retracted: true } as const;
    const listings = [listing("arXiv", [preprint, fitting, far]), listing("Crossref", [later], "a")];
    const steps = planSearch(wanted, { target: 10, today: "2026-11-22", sources: ["arXiv"] });
    const pool = candidatesOf(listings, []);
    expect(pool.merges).toHaveLength(1);
    expect(createHash("sha256").update(candidatesText(steps, pool)).digest("hex")).toBe(
      "02442d4f257fe43182a409d71d45313ce236330cc35dd2c7e3fb659a14c37b3d",
    );
  });
});

describe("rankWorks", () => {
  it("puts the better fit first, however the source ordered them, and says what its priority rests on", () => {
    const ranked = rankWorks(
      candidatesOf([listing("arXiv", [far, near, fitting]), listing("OpenAlex", [fitting])], []).works,
      wanted,
      [],
    );
    expect(ranked.map(({ record }) => record.id)).toEqual(["a", "b", "c"]);
    expect(ranked[0]).toMatchObject({
      priority: 5,
      why: "matches 2 of 2 keywords (tactile grasping, soft robots); in 2 of 2 sources' first ten; 52 days old; cited 12 times",
    });
    expect(ranked[2]?.why).toContain("matches no keyword as a whole");
  });

  it("finds a keyword in other forms of its words", () => {
    const [ranked] = rankWorks(
      candidatesOf([listing("arXiv", [paper("d", "A soft robot that grasps by tactile sense")])], []).works,
      wanted,
      [],
    );
    expect(ranked?.why).toContain("matches 2 of 2 keywords");
  });

  it("puts the recent one first of two that fit alike", () => {
    const old = paper("old", fitting.title, { date: "2024-03-01", authors: ["Bo Elder"] });
    const fresh = paper("new", fitting.title, { date: "2026-11-01", authors: ["Cy Younger"] });
    const ranked = rankWorks(candidatesOf([listing("arXiv", [old, fresh])], []).works, wanted, []);
    expect(ranked.map(({ record }) => record.id)).toEqual(["new", "old"]);
  });

  it("reads a year or a month as its first day, and no date as none", () => {
    expect([
      ageOf("2026-11-20", "2026-11-22"),
      ageOf("2026-11", "2026-11-22"),
      ageOf("2026", "2026-01-03"),
      ageOf(null, "2026-01-03"),
    ]).toEqual([2, 21, 2, undefined]);
  });
});

describe("ranking under decisions", () => {
  const soft = (n: number) =>
    paper(`soft${n}`, `Silicone gripper design ${n}`, { abstract: "A pneumatic silicone gripper lifts fruit." });
  const hard = (n: number) =>
    paper(`hard${n}`, `Tactile grasping survey ${n}`, { abstract: "A survey of tactile grasping in warehouses." });
  const works = candidatesOf(
    [listing("arXiv", [...[1, 2, 3, 4, 5, 6, 7].map(hard), ...[1, 2, 3, 4, 5, 6, 7].map(soft)])],
    [],
  ).works;
  const decided = (most: number) =>
    works.map(({ record: { id } }) => (Number(id.at(-1)) > most ? undefined : id.startsWith("soft")));
  const waiting = (most: number) =>
    makeRanking(works, wanted, [])(decided(most)).filter(({ record: { id } }) => Number(id.at(-1)) > most);

  it("puts first what reads like the kept ones, whatever the words of the search say, and names the words", () => {
    const [first, , , last] = waiting(5);
    expect(first?.record.id).toMatch(/^soft/);
    expect(last?.record.id).toMatch(/^hard/);
    expect(first?.learnedReasons?.()).toMatch(/^like the kept ones: .*\b(?:silicone|gripper|pneumatic|fruit|lifts)\b/);
    expect(last?.learnedReasons?.()).toMatch(/unlike them: .*\b(?:tactile|grasping|survey|warehouses)\b/);
  });

  it("says nothing before ten decisions, or where all are of one kind", () => {
    expect(waiting(4)[0]?.record.id).toMatch(/^hard/);
    expect(waiting(4)[0]?.learnedReasons).toBeUndefined();
    const all = makeRanking(works, wanted, [])(works.map(() => false));
    expect(all.map(({ record }) => record.id)).toEqual(rankWorks(works, wanted, []).map(({ record }) => record.id));
  });

  it("takes papers that no source listed as examples too", () => {
    const elsewhere = [...[1, 2, 3, 4, 5].map(soft), ...[1, 2, 3, 4, 5].map(hard)].map(
      ({ title, abstract }, index) => ({ id: `other${index}`, title, abstract, kept: index < 5 }),
    );
    const ranked = rankWorks(works, wanted, elsewhere);
    expect(ranked).toHaveLength(works.length);
    expect(ranked[0]?.record.id).toMatch(/^soft/);
  });

  it("orders records in any script, without abstracts and with very long ones, the same each time", () => {
    const odd = ["", "触覚による把持", "… — !", "a ".repeat(20_000), "0 1 2 3"].flatMap((abstract, index) => [
      paper(`o${index}`, `触覚 ${index}`, { abstract }),
      paper(`p${index}`, `Gripper ${index}`, { abstract: abstract === "" ? null : abstract }),
    ]);
    const some = candidatesOf([listing("arXiv", odd)], []).works;
    const order = () =>
      makeRanking(
        some,
        wanted,
        [],
      )(some.map((_, index) => index % 2 === 0)).map(({ record, learnedReasons }) => [record.id, learnedReasons?.()]);
    expect(order()).toEqual(order());
    expect(order()).toHaveLength(some.length);
  });
});
