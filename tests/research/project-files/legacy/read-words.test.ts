import { describe, expect, it } from "vitest";
import { readRrdShape } from "../../../../src/research/project-files/legacy/read-rrd.js";

/** What stands in a paper, and at the top, once it was read. */
const ofPaper = (fields: object) =>
  (
    readRrdShape({ phase: "ANALYSIS", papers_pool: [{ id: "a", title: "A", status: "pending", ...fields }] }).value as {
      papers_pool: object[];
    }
  ).papers_pool[0] as Record<string, unknown>;
const ofTop = (fields: object) =>
  readRrdShape({ phase: "ANALYSIS", papers_pool: [], ...fields }).value as Record<string, unknown>;

/** Each row: what words mean, or undefined for words that are not known; and the words. */
type Words = [unknown, string[]][];

const words = (field: string, read: (word: string) => unknown, unknownIs: (word: string) => unknown, table: Words) =>
  it.each(table)(`${field}: %j is meant by %j`, (meaning, given) => {
    expect(given.map((word) => [word, read(word)])).toEqual(
      given.map((word) => [word, meaning === undefined ? unknownIs(word) : meaning]),
    );
  });
const asItIs = (word: string) => word;

describe("words that are met, and what they mean", () => {
  words("phase", (phase) => ofTop({ phase })["phase"], asItIs, [
    [
      "DISCOVERY",
      [
        "Discovery",
        "discover",
        "discovering",
        "search",
        "searching",
        "init",
        "initial",
        "start",
        "not started",
        "planning",
      ],
    ],
    [
      "ANALYSIS",
      [
        "analysis",
        "analyse",
        "analyze",
        "analysing",
        "analyzing",
        "analyses",
        "reading",
        "report",
        "reporting",
        "review",
        "synthesis",
      ],
    ],
    ["IDEATION", ["ideation", "ideate", "ideating", "ideas", "product-ideation", "Product Ideas"]],
    ["COMPLETE", ["complete", "completed", "done", "finished", "end"]],
    [
      undefined,
      [
        "research",
        "restart",
        "starting",
        "analyse more",
        "preview",
        "reviewed",
        "my ideas",
        "ideas 2",
        "undone",
        "ended",
        "done it",
        "",
      ],
    ],
  ]);
  words("status", (status) => ofPaper({ status })["status"], asItIs, [
    [
      "pending",
      [
        "Pending",
        "todo",
        "to do",
        "new",
        "queued",
        "unread",
        "discovered",
        "not started",
        "not analyzed",
        "not-analysed",
        "open",
      ],
    ],
    ["analyzing", ["Analyzing", "analysing", "in progress", "in analysis", "reading", "started", "under analysis"]],
    ["presented", ["PRESENTED", "present", "accepted", "accept", "recommended", "selected", "approved"]],
    [
      "rejected",
      ["REJECTED", "reject", "excluded", "discarded", "skipped", "skip", "duplicate", "not relevant", "irrelevant"],
    ],
    [
      "insights_extracted",
      ["extract insight", "extract insights", "insight", "insights", "insight extracted", "insights only", "extracted"],
    ],
    [
      undefined,
      [
        "news",
        "not new",
        "reopen",
        "opened",
        "not reading",
        "started late",
        "represent",
        "present it",
        "unaccepted",
        "approved by",
      ],
    ],
    [
      undefined,
      ["not excluded", "rejected by", "rejection", "irrelevant now", "my insights", "extracted by", "analyse", ""],
    ],
  ]);
  words("status of a paper that was read", (status) => ofPaper({ status, decision: "REJECT" })["status"], asItIs, [
    [
      "rejected",
      [
        "analysed",
        "Analyzed",
        "done",
        "complete",
        "completed",
        "scored",
        "evaluated",
        "reviewed",
        "read",
        "finished",
        "processed",
        " decided ",
      ],
    ],
    [undefined, ["unread by me", "ready", "not done", "done it", "redone", "analyzed?", "undecided", "decided by"]],
  ]);
  words(
    "decision",
    (decision) => ofPaper({ status: null, decision })["status"],
    () => "pending",
    [
      ["presented", ["PRESENT", "presented", " Present it"]],
      ["rejected", ["REJECT", "rejected", " reject: too old"]],
      ["insights_extracted", ["EXTRACT_INSIGHTS", "extract", "Insights only", " insight"]],
      [undefined, ["do not PRESENT", "not rejected", "no insights", "unextracted", ""]],
    ],
  );
  words("priority", (priority) => ofPaper({ priority })["priority"], asItIs, [
    [5, ["critical", "very high", "Highest", "HIGH", "5", "5/5"]],
    [3, ["Medium", "normal", "moderate", " 3 "]],
    [1, ["low", "Lowest", "very-low"]],
    [null, ["n/a", "unknown"]],
    [
      undefined,
      [
        "higher",
        "not high",
        "lower",
        "very medium",
        "moderately",
        "below",
        "low-ish",
        "abnormal",
        "3/4",
        "constructor",
      ],
    ],
  ]);
  words(
    "read_depth",
    (read_depth) => ofPaper({ read_depth })["read_depth"],
    () => undefined,
    [
      ["full", ["Full", "full text", "FULLTEXT", "full-text of the PDF", "pdf", "complete", "whole paper", "entire"]],
      ["partial", ["Partial", "part of it", "partly", "some sections", "excerpts"]],
      ["abstract", ["Abstract", "abstract only", "summary", "metadata only"]],
      [
        undefined,
        [
          "not full text",
          "no pdf",
          "incomplete",
          "the whole",
          "a part",
          "in some",
          "no abstract",
          "my summary",
          "fully",
          "",
        ],
      ],
    ],
  );
  words(
    "strategic_focus",
    (strategic_focus) =>
      (ofTop({ mission: { strategic_focus } })["mission"] as Record<string, unknown>)["strategic_focus"],
    asItIs,
    [
      ["balanced", ["Balanced", "balance", "none", "default", "equal"]],
      ["market_creation", ["Market-Creation", "market", "blue ocean", "create market"]],
      ["defensibility", ["Defensibility", "defensible", "defense", "defence", "moat"]],
      ["speed", ["SPEED", "fast", "quick", "time to market", "time to PoC"]],
      [
        "balanced",
        [
          "supermarket",
          "markets",
          "create market now",
          "no defence",
          "offense",
          "moats",
          "fastest",
          "breakfast",
          "quickly",
          "fun",
        ],
      ],
    ],
  );
});

describe("names of scores", () => {
  const scores = (score_breakdown: object) => ofPaper({ score_breakdown })["score_breakdown"];
  const nameOfDimension = (name: string) => Object.keys(scores({ [name]: 3 }) as object)[0];
  const nameOfTotal = (name: string) => Object.keys(scores({ [name]: 10 }) as object)[0];
  const nameOfRubric = (name: string) => Object.keys(scores({ [name]: { novelty: 3 } }) as object)[0];
  words("dimension", nameOfDimension, asItIs, [
    ["novelty", ["Novelty", "novelty_score", "Novelty points", "1. novelty"]],
    ["feasibility", ["Feasibility", "feasibilityScore"]],
    ["time_to_poc", ["timeToPoc", "Time-to-PoC", "time_to_poc_score"]],
    ["value_market", ["Value/Market", "market_value", "Market Value Score", "value"]],
    ["defensibility", ["DEFENSIBILITY"]],
    ["adoption", ["Adoption", "adoption_readiness"]],
    ["market_creation", ["marketCreation"]],
    ["first_mover_window", ["first mover window", "First-Mover"]],
    ["network_effects", ["Network Effects", "network/data effects"]],
    ["strategic_clarity", ["strategicClarity"]],
    [
      undefined,
      [
        "scorenovelty",
        "novelty_score_why",
        "novel",
        "points",
        "score",
        "my adoption",
        "why",
        "constructor",
        "__proto__x",
      ],
    ],
  ]);
  words("total", nameOfTotal, asItIs, [
    [
      "execution_total",
      ["execution", "exec", "executionScore", "Execution Total", "exec points", "execution_scores", "exec_rubric"],
    ],
    [
      "blue_ocean_total",
      [
        "blue_ocean",
        "Blue Ocean Score",
        "blueOceanTotal",
        "strategic",
        "strategic_points",
        "strategic scores",
        "blue-ocean rubric",
      ],
    ],
    [
      "combined_total",
      ["combined", "total", "overall", "combined_score", "Total Score", "overallTotal", "total_scores"],
    ],
    [
      undefined,
      [
        "execution_time",
        "re-execution",
        "my exec",
        "executive",
        "blue ocean depth",
        "a blue ocean",
        "strategic fit",
        "not strategic",
      ],
    ],
    [undefined, ["total_cost", "subtotal", "overall_view", "recombined", "combined_why"]],
  ]);
  words("rubric", nameOfRubric, asItIs, [
    ["execution", ["execution", "exec", "execution_scores", "Execution Rubric"]],
    ["blue_ocean", ["blue_ocean", "blueOcean", "strategic", "Strategic Points"]],
    [undefined, ["total", "combined", "overall_scores", "execution_time", "novelties"]],
  ]);

  const all = { novelty: 4, market_creation: 3, execution_total: 4, blue_ocean_total: 3, combined_total: 7, mine: 1 };
  it.each<[string, object | null, unknown]>([
    ["what has our names stays", all, all],
    [
      "null is no total",
      { combined: null, execution_total: null, overall: null, total: null },
      { combined: null, execution_total: null, overall: null, total: null },
    ],
    [
      "null under the name of a rubric is that rubric",
      { exec: null, strategic: null, novelty: 2 },
      { blue_ocean: null, novelty: 2 },
    ],
    [
      "a list under another name of a rubric holds its points",
      { exec: [{ name: "Novelty", score: 2 }] },
      { execution: { novelty: 2 } },
    ],
    [
      "null under our name for a total stays",
      { blue_ocean_total: null, combined_total: null },
      { blue_ocean_total: null, combined_total: null },
    ],
    ["a list is no total", { total: [1], overall: [] }, { total: [1], overall: [] }],
    ["an object under a total's name is no total", { total_score: { novelty: 2 } }, { total_score: { novelty: 2 } }],
    [
      "a total out of its whole",
      { execution: "19/30", strategic: "11/20", total: "30/50" },
      { execution_total: 19, blue_ocean_total: 11, combined_total: 30 },
    ],
    [
      "a total out of another whole is left blank",
      { execution_total: "19/20", blue_ocean_total: "11/30", combined_total: true },
      { execution_total: null, blue_ocean_total: null, combined_total: null },
    ],
    [
      "a number under a rubric's name that has its total is left out",
      { execution_score: 19, execution: 19, blue_ocean_total: 3, blue_ocean: "3" },
      { execution_total: 19, blue_ocean_total: 3 },
    ],
    ["of two names for one dimension the first counts", { "Value/Market": 4, value: 2 }, { value_market: 4, value: 2 }],
    [
      "a point out of five",
      { novelty: "4/5", feasibility: "3 points", adoption: { score: 2 } },
      { novelty: 4, feasibility: 3, adoption: 2 },
    ],
    ["no scores", null, null],
  ])("%s: %j", (_, given, expected) =>
    expect(ofPaper({ score_breakdown: given })["score_breakdown"]).toStrictEqual(expected),
  );

  it.each<[string, unknown[], unknown]>([
    [
      "of dimensions",
      [
        { dimension: "Novelty", score: 4 },
        { name: "adoption", score: "3/5" },
        { criterion: "Value", points: 2 },
      ],
      { novelty: 4, adoption: 3, value_market: 2 },
    ],
    [
      "with a reason at each",
      [{ dimension: "novelty", name: "x", why: "new" }],
      { novelty: { dimension: "novelty", name: "x", why: "new" } },
    ],
    ["of rubrics", [{ name: "Execution", novelty: 4 }], { execution: { name: "Execution", novelty: 4 } }],
    ["of nothing", [], {}],
  ])("in a list %s: %j", (_, given, expected) =>
    expect(ofPaper({ score_breakdown: given })["score_breakdown"]).toStrictEqual(expected),
  );
  it.each([
    [[{ score: 4 }]],
    [[{ dimension: 7, score: 4 }]],
    [["novelty"]],
    [[{ dimension: "novelty", score: 4 }, null]],
  ])("a list without names stays, for the schema to name: %j", (given) =>
    expect(ofPaper({ score_breakdown: given })["score_breakdown"]).toBe(given),
  );
});
