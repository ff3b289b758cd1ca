import fc from "../../support/runner/fast-check.js";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { isKey } from "../../../src/research/papers/paper-record.js";
import { keysOf, namesIn, withKeys } from "../../../src/research/papers/paper-keys.js";
import { withOverride, withOverrides } from "../../../src/research/derived/overrides.js";

const lo = (id: string, more = {}) => ({ id, title: "Of shrews", authors: ["Lo, Wen"], date: "2020-05-01", ...more });

describe("keys", () => {
  test.each([
    ["surname and year, told apart by a letter", [lo("a"), lo("b"), lo("c")], ["lo2020", "lo2020b", "lo2020c"]],
    ["the entry's own where it fits", [lo("a", { key: "Lo:2020_x" })], ["Lo:2020_x"]],
    ["another where it does not", [lo("a", { key: "10.1000/x" }), lo("b", { key: "x" })], ["lo2020", "lo2020b"]],
    [
      "one that is taken, in capitals or not",
      [lo("a", { key: "LO2020" }), lo("b", { key: "lo2020" })],
      ["LO2020", "lo2020b"],
    ],
    [
      "the first words of a title without authors",
      [lo("a", { authors: [], title: "How the Shrews of 3 Islands sleep" }), lo("b", { authors: [] })],
      ["how-shrews-islands2020", "shrews2020"],
    ],
    [
      "without a year where nobody knows it",
      [lo("a", { date: null }), lo("b", { date: null }), lo("c", { authors: [], title: "Cold climate", date: null })],
      ["lo", "lo-2", "cold-climate"],
    ],
    ["what nobody can type", [{ id: "file_9a043155", title: "论文", authors: ["王小明"], date: null }], ["paper"]],
    ["never an id", [lo("lo2020"), lo("b", { key: "arxiv_1" }), lo("arxiv_1")], ["lo2020b", "lo2020c", "lo2020d"]],
  ])("are %s", (_, records, wanted) => {
    expect(keysOf(records)).toEqual(wanted);
  });

  test("are all different, never an id, of the one form, and those that are there stay", () => {
    const some = fc.option(fc.oneof(fc.string(), fc.constantFrom("lo2020", "Lo2020", "lo2020b", "a", "x1")), {
      nil: undefined,
    });
    const record = fc.record({ id: fc.constantFrom("lo2020", "lo2020b", "x1", "y"), title: fc.string(), key: some });
    fc.assert(
      fc.property(fc.array(record), (records) => {
        const given = records.map(({ key, ...each }, at) => ({
          ...each,
          id: `${each.id}${at % 7 ? at : ""}`,
          ...(key === undefined ? {} : { key }),
        }));
        const keys = keysOf(given);
        expect(new Set(keys.map((key) => key.toLowerCase())).size).toBe(keys.length);
        expect(keys.filter((key) => !isKey(key) || given.some(({ id }) => id === key))).toEqual([]);
        const kept = given.map((each, at) => ({ ...each, key: keys[at] as string }));
        expect(keysOf([...kept, lo("later")]).slice(0, -1)).toEqual(keys);
      }),
    );
  });

  test("of excluded records stay when they come back into the pool", () => {
    const rrd = withKeys({
      papers_pool: [{ ...lo("a"), status: "pending" }],
      excluded: [
        { id: "b", title: "Of moles", reason: "no shrews", stage: "screened", first_author: "Lo, Wen", year: 2020 },
      ],
    } as unknown as Rrd);
    expect([...namesIn(rrd)]).toEqual([
      ["b", "lo2020b"],
      ["a", "lo2020"],
    ]);
    const back = withOverrides(
      withOverride(rrd, "b", { decision: "include", why: "it has", at: "2026-01-01T00:00:00Z" }),
    );
    expect(back.papers_pool.map(({ id, key }) => [id, key])).toEqual([
      ["a", "lo2020"],
      ["b", "lo2020b"],
    ]);
    expect(withKeys(back)).toBe(back);
  });

  test("of a file that can't be keys are kept beside them", () => {
    const rrd = { papers_pool: [{ ...lo("a"), key: "10.1000/x", status: "pending" }] } as unknown as Rrd;
    expect(withKeys(rrd).papers_pool).toMatchObject([{ key: "lo2020", source_key: "10.1000/x" }]);
  });
});
