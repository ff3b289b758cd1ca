import { describe, expect, test } from "vitest";
import { compareCitation } from "../../../src/research/paper-lookups/compare-citation.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";

const paper = { title: "Touch in Robot Hands", authors: ["Guy Paré", "Bo Lee"], date: "2024-05-01" };
const record = (over: Partial<PaperRecord> = {}): PaperRecord => ({
  id: "x",
  url: "https://example.org",
  pdf_url: null,
  source: "Crossref",
  abstract: null,
  identifiers: {},
  title: "Touch in robot hands.",
  authors: ["Paré, G."],
  date: "2024",
  ...over,
});
const compare = (...records: (PaperRecord | undefined)[]) =>
  compareCitation(
    paper,
    records.map((each, index) => ({ source: `S${index}`, ...(each === undefined ? {} : { record: each }) })),
  );

describe("a citation", () => {
  test("agrees with a record in other spelling, with a subtitle, and of the year before or after", () => {
    expect(compare(record(), record({ title: "Touch in Robot Hands: A Survey", date: "2025-01" }))).toEqual({
      matched_by: ["S0", "S1"],
      differs: [],
      unknown_to: [],
    });
  });

  test.each([
    ["the title", { title: "Vision in Flying Robots" }, "S0: the title is “Vision in Flying Robots”"],
    ["the authors", { authors: ["Zoe Zimmer"] }, "S0: the first author is Zoe Zimmer"],
    ["the year", { date: "1999-01-01" }, "S0: the year is 1999"],
  ])("differs where %s does, with what the service says", (_, over, says) => {
    expect(compare(record(over))).toEqual({ matched_by: [], differs: [says], unknown_to: [] });
  });

  test("is told apart from one that a service does not know, and from one that nobody answered for", () => {
    expect(compare(undefined)).toEqual({ matched_by: [], differs: [], unknown_to: ["S0"] });
    expect(compare()).toBeUndefined();
    expect(compareCitation({ authors: ["A"] }, [{ source: "S0" }])).toBeUndefined();
  });
});
