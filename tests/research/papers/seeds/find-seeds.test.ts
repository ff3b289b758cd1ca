import { describe, expect, test } from "vitest";
import {
  findSeeds,
  seedRecall,
  seedRecallText,
  type SeedCandidate,
} from "../../../../src/research/papers/seeds/find-seeds.js";
import { seedsOf } from "../../../../src/research/papers/seeds/seed.js";

const title = "Grip strength and haptic feedback after stroke in older adults";
const work = (id: string, over: Partial<SeedCandidate["record"]> = {}): SeedCandidate => ({
  record: { id, title: `Something else about ${id}`, authors: ["Ann Lee"], date: "2024", identifiers: {}, ...over },
  mergedFrom: [],
});

describe("seeds of a project", () => {
  test("may be references alone, as a person writes them by hand, and each counts once", () => {
    const seeds = seedsOf({
      seeds: [
        "https://doi.org/10.1000/ABC",
        { reference: "10.1000/abc" },
        "arXiv:2401.00010v2",
        "smith2020",
        "/etc/passwd",
      ],
    });
    expect(seeds.map(({ id, identifiers }) => [id, identifiers])).toEqual([
      ["doi_10.1000_abc", { doi: "10.1000/abc" }],
      ["arxiv_2401.00010", { arxiv: "2401.00010" }],
      [undefined, {}],
      [undefined, {}],
    ]);
    expect(seedsOf({ seeds: null })).toEqual([]);
  });

  test("are found by id, by the identifier of any merged record, and by title, authors and year", () => {
    const seeds = seedsOf({
      seeds: [
        "10.1000/abc",
        "2401.00010",
        { reference: "lee2024", title: `${title}.`, authors: ["Lee, A."], date: "2024" },
        { reference: "other", title: "A history of lighthouses in Brittany", authors: ["Kim, B."], date: "2020" },
      ],
    });
    const merged = {
      ...work("oa_1"),
      mergedFrom: [{ id: "arxiv_2401.00010", identifiers: { arxiv: "2401.00010v3" } }],
    };
    const { works, missing } = findSeeds(seeds, [
      work("doi_10.1000_abc"),
      merged,
      work("x", { title: title.toUpperCase() }),
      work("y"),
    ]);
    expect([...works].map(([id, { reference }]) => [id, reference])).toEqual([
      ["doi_10.1000_abc", "10.1000/abc"],
      ["oa_1", "2401.00010"],
      ["x", "lee2024"],
    ]);
    expect(missing.map(({ reference }) => reference)).toEqual(["other"]);
  });

  test("give a check of recall in one sentence, with what was found before", () => {
    const seeds = seedsOf({
      seeds: ["10.1000/a", "10.1000/b", { reference: "10.1000/c", not_known: "No record of it was found." }],
    });
    const recall = seedRecall(
      seeds,
      [seeds[1]].flatMap((seed) => seed ?? []),
      ["10.1000/a", "10.1000/gone"],
    );
    expect(recall).toEqual({ given: 3, found: 2, references: ["10.1000/a", "10.1000/b"] });
    expect(seedRecallText(seeds, recall, [])).toBe("found 2 of your 3; not found: 10.1000/c (no source knows it)");
    expect(seedRecallText(seeds, undefined, [])).toBe("3, not looked for yet");
    expect(seedRecallText(seeds, recall, ["doi_10.1000_a", "doi_10.1000_z"])).toContain("; screened out: 10.1000/a");
    expect(seedRecallText([], undefined, [])).toBe(undefined);
    expect(seedRecall([], [])).toBe(undefined);
  });

  test("are looked for among many works in time that grows with their number alone", () => {
    const words = "amber birch cedar dune ember fjord grove heath inlet jetty knoll lagoon marsh nook ocean pine".split(
      " ",
    );
    const named = (index: number) =>
      Array.from({ length: 7 }, (_, at) => `${words[(index >> (at * 2)) % 16]}${(index * (at + 3)) % 97}`).join(" ");
    const seeds = seedsOf({
      seeds: Array.from({ length: 3_000 }, (_, index) => ({
        reference: `k${index}`,
        title: named(index),
        authors: ["Lee, A."],
      })),
    });
    const works = Array.from({ length: 3_000 }, (_, index) => work(`w${index}`, { title: named(index * 2) }));
    expect(findSeeds(seeds, works).works.size).toBeGreaterThan(1_000);
  });
});
