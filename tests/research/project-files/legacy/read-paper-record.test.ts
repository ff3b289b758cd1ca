import { describe, expect, it } from "vitest";
import { areReadAs, inOrder, shape } from "./reading-rows.js";

describe("of a paper's record", () => {
  const record = (fields: object) => {
    const { read, told } = shape({ papers_pool: [{ id: "p1", title: "P", status: "pending", ...fields }] });
    const {
      id: _id,
      title: _title,
      status: _status,
      ...others
    } = (read["papers_pool"] as Record<string, unknown>[])[0] as Record<string, unknown>;
    return { others, told: told.map((change) => change.replace("/papers_pool/0/", "")) };
  };
  const update = { type: "retraction", source: "Crossref", date: "2026-01-02", notice: "10.1/x" };
  const check = { at: "2026-01-02T00:00:00Z", checked_by: ["Crossref"], unchecked: ["OpenAlex: timed out"] };
  const claim = { claim: "It works.", quote: "it did", status: "verified" };
  const evidence = (given: unknown, expected: unknown): [object, object] => [
    { analysis: { evidence: [given] } },
    { analysis: { evidence: [expected] } },
  ];
  it.each<[object, object]>([
    [{ authors: { name: "Ada" } }, { authors: "Ada" }],
    [{ authors: { first: "Ada", last: "Author" } }, { authors: "Ada Author" }],
    [{ authors: { affiliation: "X" } }, { authors: "affiliation: X" }],
    [{ authors: "Author, Ada; Writer, Bo" }, { authors: "Author, Ada; Writer, Bo" }],
    [{ authors: ["Ada", 7] }, { authors: ["Ada", "7"] }],
    [
      { authors: null, pdf_url: [7], url: "x" },
      { authors: null, pdf_url: null, url: "x" },
    ],
    [{ notes: ["a", 7, { b: "c" }] }, { notes: "a 7 b: c" }],
    [
      { notes: 7, priority: 4, score: "n/a" },
      { notes: "7", priority: 4, score: null },
    ],
    [{ identifiers: { doi: 10.5, arxiv: null } }, { identifiers: { doi: "10.5" } }],
    [{ read_depth: 3, iteration: "2" }, {}],
    [{ iteration: 1.5, text_sha256: null, text_from: null, retracted: null, warnings: null, identifiers: null }, {}],
    [{ iteration: 1 }, { iteration: 1 }],
    [
      { iteration: -1, refusals: { iteration: 1, reasons: "Odd." } },
      { refusals: [{ iteration: 1, reasons: ["Odd."] }] },
    ],
    [{ refusals: false }, { refusals: [] }],
    [
      { score: null, score_breakdown: { combined: "many" } },
      { score: null, score_breakdown: { combined_total: null } },
    ],
    [
      { score: 7, score_breakdown: { combined: 8 } },
      { score: 7, score_breakdown: { combined_total: 8 } },
    ],
    [{ score_breakdown: { novelty: 4 } }, { score_breakdown: { novelty: 4 } }],
    [{ priority: { score: "4/5" } }, { priority: 4 }],
    [{ score_breakdown: "good" }, { score_breakdown: "good" }],
    [
      { updates: [update, { type: "version", source: "arXiv" }] },
      { updates: [update, { type: "version", source: "arXiv" }] },
    ],
    [
      {
        updates: [
          { ...update, type: 1 },
          { ...update, source: null },
          { ...update, date: null },
          { ...update, notice: 1 },
          null,
          "x",
        ],
      },
      { updates: [] },
    ],
    [{ updates: update }, {}],
    [{ updates_check: check }, { updates_check: check }],
    [
      { updates_check: { ...check, checked_by: [], unchecked: [] } },
      { updates_check: { ...check, checked_by: [], unchecked: [] } },
    ],
    [{ updates_check: { ...check, at: 1 } }, {}],
    [{ updates_check: { ...check, checked_by: "Crossref" } }, {}],
    [{ updates_check: { ...check, checked_by: ["Crossref", 1] } }, {}],
    [{ updates_check: { ...check, unchecked: null } }, {}],
    [{ updates_check: { ...check, unchecked: [null] } }, {}],
    [{ updates_check: null }, {}],
    [{ analysis: ["a", { b: 1 }] }, { analysis: { summary: "a; b: 1" } }],
    [{ analysis: null }, { analysis: null }],
    [
      { analysis: { summary: ["a", "b"], methodology: null } },
      { analysis: { summary: ["a", "b"], methodology: null } },
    ],
    [{ analysis: { summary: ["a", null, 7, { b: 1 }] } }, { analysis: { summary: ["a", "null", "7", "b: 1"] } }],
    [
      { analysis: { limitations: { few: null, more: ["x", "y"] } } },
      { analysis: { limitations: ["few: null", "more: x; y"] } },
    ],
    [
      { analysis: { commercialized: 3, market: ["blue", "red"] } },
      { analysis: { commercialized: "3", market: "blue; red" } },
    ],
    [{ analysis: { commercialized_by: false } }, { analysis: { commercialized_by: null } }],
    [
      { analysis: { commercialized_by: [{ by: "Acme" }, { name: "Bolt" }, 7] } },
      { analysis: { commercialized_by: "by: Acme, Bolt, 7" } },
    ],
    [{ analysis: { commercialized_by: { name: "Bolt" } } }, { analysis: { commercialized_by: "name: Bolt" } }],
    [
      { analysis: { commercialized_by: "Bolt", implementations_found: false } },
      { analysis: { commercialized_by: "Bolt", implementations_found: [] } },
    ],
    [{ analysis: { evidence: claim } }, { analysis: { evidence: [claim] } }],
    [
      { analysis: { evidence: "It works." } },
      { analysis: { evidence: [{ claim: "It works.", quote: "It works.", status: "could-not-check" }] } },
    ],
    [{ analysis: { evidence: 7 } }, { analysis: { evidence: 7 } }],
    evidence(7, 7),
    evidence(claim, claim),
    ...[{ outcome: "rate", compared: "A against B", direction: "up" }].map((about) =>
      evidence({ ...claim, about }, { ...claim, about }),
    ),
    ...["the rate", null, { outcome: "rate", compared: "A against B", direction: "sideways" }, { outcome: "rate" }].map(
      (about) => evidence({ ...claim, about }, claim),
    ),
    evidence({ ...claim, status: "not-in-text" }, { ...claim, status: "not-in-text" }),
    evidence({ ...claim, status: "could-not-check" }, { ...claim, status: "could-not-check" }),
    evidence({ ...claim, status: ["verified"] }, { ...claim, status: "could-not-check" }),
    evidence(
      { text: "t", excerpt: "e" },
      { text: "t", excerpt: "e", claim: "t", quote: "e", status: "could-not-check" },
    ),
    evidence(
      { text: "t", statement: "s" },
      { text: "t", statement: "s", claim: "t", quote: "t", status: "could-not-check" },
    ),
    evidence(
      { statement: "s", finding: "f", quote: "q" },
      { statement: "s", finding: "f", claim: "s", quote: "q", status: "could-not-check" },
    ),
    evidence({ finding: "f", quote: "q" }, { finding: "f", claim: "f", quote: "q", status: "could-not-check" }),
    evidence({ quote: "q" }, { claim: "q", quote: "q", status: "could-not-check" }),
    evidence({ claim: "c", text: "t" }, { claim: "c", text: "t", quote: "t", status: "could-not-check" }),
    evidence(
      { claim: "c", excerpt: "e", text: "t" },
      { claim: "c", excerpt: "e", text: "t", quote: "e", status: "could-not-check" },
    ),
    evidence(
      { finding: "f", quote: "q", status: "verified" },
      { finding: "f", quote: "q", status: "verified", claim: "f" },
    ),
    evidence({ claim: "c", status: "verified" }, { claim: "c", status: "verified", quote: "c" }),
    evidence({ claim: 7, quote: 8 }, { claim: 7, quote: 8, status: "could-not-check" }),
  ])("%j is read as %j", (given, expected) => {
    const { others, told } = record(given);
    expect(others).toEqual(expected);
    expect(Object.keys(others)).toEqual(Object.keys(expected));
    if (JSON.stringify(given) === JSON.stringify(expected)) expect(told).toEqual([]);
    else expect(told).not.toEqual([]);
  });

  it("what follows from other fields is told at its own place", () => {
    expect(
      shape({
        papers_pool: [
          { id: 7, score_breakdown: { combined: 8 } },
          { id: true, title: null, status: "done", score: 1 },
        ],
      }),
    ).toEqual({
      read: {
        phase: "ANALYSIS",
        papers_pool: [
          { id: "7", score_breakdown: { combined_total: 8 }, title: "7", score: 8, status: "pending" },
          { id: true, title: null, status: "insights_extracted", score: 1 },
        ],
      },
      told: [
        '/papers_pool/0/id is 7, read as "7"',
        '/papers_pool/0/score_breakdown/combined is "combined", read as "combined_total"',
        '/papers_pool/0/title is missing, read as "7"',
        "/papers_pool/0/score is missing, read as 8",
        '/papers_pool/0/status is missing, read as "pending"',
        '/papers_pool/1/status is "done", read as "insights_extracted"',
      ],
    });
  });
  it("a word for a priority is told once, with its number", () => {
    expect(record({ priority: "High" }).told).toEqual(['priority is "High", read as 5']);
  });
  it.each<[object, unknown]>([
    [{ status: null, analysis: {} }, "insights_extracted"],
    [{ status: null, analysis: null, score: 7 }, "pending"],
    [{ status: null, decision: 7 }, "pending"],
    [{ status: "analyzed", analysis: null, score: null }, "pending"],
    [{ status: "analyzed", analysis: {}, score: null }, "insights_extracted"],
    [{ status: "analyzed", analysis: null, score: 7 }, "insights_extracted"],
    [{ status: "analyzed", decision: "PRESENT" }, "presented"],
    [{ status: ["analyzed"], decision: "PRESENT" }, ["analyzed"]],
    [{ status: "pending", decision: "PRESENT" }, "pending"],
  ])("the status follows from what was done where it says no more: %j", (fields, status) => {
    const { read } = shape({ papers_pool: [{ id: "p", title: "P", ...fields }] });
    expect((read["papers_pool"] as Record<string, unknown>[])[0]?.["status"]).toEqual(status);
  });
  it.each([[null], ["p1"], [7], [[]]])("what is no record stays, for the schema to name: %j", (given) => {
    const { read, told } = shape({ papers_pool: [given] });
    expect(read["papers_pool"]).toEqual([given]);
    expect(told).toEqual([]);
  });
});

describe("of the insights", () => {
  const one = { id: "insight_001", insight: "It works." };
  areReadAs("insights", [
    inOrder("in order", [one, { ...one, paper_id: null, tags: null }]),
    inOrder("no list", "none"),
    inOrder("entries that are none, for the schema to name", [one, null, 7, []]),
    ["texts", ["It works."], [{ insight: "It works.", id: "insight_001" }]],
    ...["text", "content", "finding", "description", "key_insight", "summary", "title"].map(
      (name): [string, unknown, unknown] => [
        `its words in ${name}`,
        [{ id: "x", [name]: "It works." }],
        [{ id: "x", insight: "It works." }],
      ],
    ),
    [
      "the first of those names counts",
      [{ id: "x", title: "T", text: 7, content: "C" }],
      [{ id: "x", title: "T", text: 7, insight: "C" }],
    ],
    inOrder("words in other fields too", [{ ...one, text: "More." }]),
    inOrder("no words", [{ id: "x", insight: null, title: "T" }]),
    ["one paper in a list", [{ ...one, paper_id: [7] }], [{ ...one, paper_id: "7" }]],
    ["several papers", [{ ...one, paper_id: ["a", 7] }], [{ ...one, paper_id: null, papers: ["a", "7"] }]],
    [
      "several papers that have their own list",
      [{ ...one, paper_id: ["a"], papers: "b, c" }],
      [{ ...one, paper_id: "a", papers: ["b", "c"] }],
    ],
    [
      "several papers that have their own list",
      [{ ...one, paper_id: ["a", "d"], papers: ["b"] }],
      [{ ...one, paper_id: null, papers: ["b"] }],
    ],
    ["no paper in a list", [{ ...one, paper_id: [] }], [{ ...one, paper_id: null, papers: [] }]],
    ["a paper's number", [{ ...one, paper_id: 7 }], [{ ...one, paper_id: "7" }]],
    [
      "the next number where there is no id",
      [
        { insight: "a" },
        { id: "insight_009", insight: "b" },
        null,
        { id: null, insight: "c" },
        { id: 12, insight: "d" },
      ],
      [
        { insight: "a", id: "insight_010" },
        { id: "insight_009", insight: "b" },
        null,
        { id: "insight_011", insight: "c" },
        { id: "12", insight: "d" },
      ],
    ],
    [
      "the highest number counts, wherever it stands",
      [{ id: "insight_99", insight: "a" }, { id: "insight_3", insight: "b" }, "c", "d"],
      [
        { id: "insight_99", insight: "a" },
        { id: "insight_3", insight: "b" },
        { insight: "c", id: "insight_100" },
        { insight: "d", id: "insight_101" },
      ],
    ],
    [
      "ids of other kinds have no number",
      ["x_insight_7", "insight_7b", "insight_", "insight_x7", "insight_1234567890", "note_7"]
        .map((id) => ({ id, insight: "a" }))
        .concat({ insight: "b" } as never),
      [
        ...["x_insight_7", "insight_7b", "insight_", "insight_x7", "insight_1234567890", "note_7"].map((id) => ({
          id,
          insight: "a",
        })),
        { insight: "b", id: "insight_001" },
      ],
    ],
  ]);
  it("what is told names the field and the place", () => {
    expect(
      shape({
        insights: [
          { finding: "a", id: true },
          { ...one, paper_id: ["a", "b"] },
          { ...one, paper_id: ["a"] },
        ],
      }).told,
    ).toEqual([
      '/insights/0/finding is "finding", read as "insight"',
      "/insights/1/paper_id is a list of 2, read as null",
      '/insights/2/paper_id is a list of 1, read as "a"',
      '/insights/0/id is true, read as "insight_002"',
    ]);
  });
});
