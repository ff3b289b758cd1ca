import { describe } from "vitest";
import { areReadAs, inOrder } from "./reading-rows.js";

describe("of the top", () => {
  areReadAs("mission", [
    [
      "numbers and words",
      {
        blue_ocean_scoring: "yes",
        min_blue_ocean_score: "12/20",
        min_combined_score: "35 of 50",
        present_abstract_only: 0,
      },
      { blue_ocean_scoring: true, min_blue_ocean_score: 12, min_combined_score: 35, present_abstract_only: false },
    ],
    [
      "null stands for what may only be left out",
      {
        blue_ocean_scoring: null,
        min_blue_ocean_score: null,
        min_combined_score: "n/a",
        strategic_focus: null,
        present_abstract_only: null,
        mine: null,
      },
      { mine: null },
    ],
    ["another focus", { strategic_focus: 7 }, { strategic_focus: "balanced" }],
    ["a list with a focus is none", { strategic_focus: ["speed"] }, { strategic_focus: "balanced" }],
    inOrder("a focus in order", { strategic_focus: "speed" }),
    inOrder("a text", "win"),
  ]);
  areReadAs("requirements", [
    [
      "numbers, lists and times in words",
      {
        focus_area: ["a", "b"],
        keywords: "a, b",
        time_window_days: "2 weeks",
        historical_lookback_days: "5 years",
        min_score_to_present: "18/30",
      },
      {
        focus_area: "a; b",
        keywords: ["a", "b"],
        time_window_days: 14,
        historical_lookback_days: 1825,
        min_score_to_present: 18,
      },
    ],
    ["null stands for what may only be left out", { keywords: null, sources: null, target_papers: null }, {}],
    inOrder("a share of what is not known", { target_papers: "20/50", min_score_to_present: "18/50" }),
  ]);
  areReadAs("domain_glossary", [
    ["a list", [{ term: "RL", definition: "learning" }], { enabled: true, terms: { RL: "learning" } }],
    ["a line of terms", { enabled: "yes", terms: "RL, MDP" }, { enabled: true, terms: { RL: null, MDP: null } }],
    [
      "terms under other names",
      {
        enabled: null,
        terms: [
          { name: "RL", meaning: "learning" },
          { name: "MDP", description: ["a", "b"] },
          "POMDP",
          { term: 7, definition: 8, meaning: "x" },
        ],
      },
      { terms: { "7": "8", RL: "learning", MDP: "a; b", POMDP: null } },
    ],
    [
      "our names count first",
      { terms: [{ term: "A", name: "B", meaning: "m", description: "d" }] },
      { terms: { A: "m" } },
    ],
    ["meanings as lists", { terms: { RL: ["a", "b"], MDP: 7, X: null } }, { terms: { RL: "a; b", MDP: "7", X: null } }],
    inOrder("in order", { enabled: true, terms: { RL: "learning", MDP: null } }),
    inOrder("terms that are none", { terms: 7 }),
    inOrder("null", null),
  ]);
  areReadAs("open_questions", [
    ["a text", "Which robots, and where?", ["Which robots, and where?"]],
    ["a blank text", " ", []],
    ["false", false, []],
    ["an object", { question: "Why?" }, [{ question: "Why?" }]],
    ...["q", "text", "title", "description", "topic"].map((name): [string, unknown, unknown] => [
      `the question in ${name}`,
      [{ [name]: "Why?" }],
      [{ [name]: "Why?", question: "Why?" }],
    ]),
    [
      "the first of those names counts",
      [{ topic: "t", text: "x", q: 7, question: null }],
      [{ topic: "t", text: "x", q: 7, question: "x" }],
    ],
    [
      "what it is about",
      [{ question: "Why?", field: ["a", "b"], options: "yes, or no" }],
      [{ question: "Why?", field: "a; b", options: ["yes, or no"] }],
    ],
    [
      "its default",
      [{ question: "Why?", options: null, current_default: { a: 1 } }],
      [{ question: "Why?", current_default: "a: 1" }],
    ],
    inOrder("in order", [
      "Why?",
      { question: "How?", text: "x", options: ["a"], current_default: [7] },
      { question: "Where?", current_default: 7 },
    ]),
    inOrder("no question, for the schema to name", [7, { why: 1 }]),
  ]);
  areReadAs("blocked_sources", [
    ["reasons by source", { a: "403", b: true, c: false, d: null }, [{ source: "a", reason: "403" }, "b", "d"]],
    ["a line", "a, b; c", ["a", "b", "c"]],
    ["a line with reasons in brackets", "a (403, bot check); b\nc (slow) ;", ["a (403, bot check)", "b", "c (slow)"]],
    ["a list with something odd", ["a (x, y)", 7, { name: "b" }, null], ["a (x, y)", "7", "b"]],
    ["a list with something odd in brackets", [7, "("], ["7", "("]],
    inOrder("in order", ["a", { source: "b", reason: 7 }]),
    inOrder("null", null),
    inOrder("a number, for the schema to name", 7),
  ]);
  areReadAs("visited_urls", [
    [
      "a text of several",
      " https://a.org/x,y\nhttps://b.org  https://c.org ",
      ["https://a.org/x,y", "https://b.org", "https://c.org"],
    ],
    [
      "a list with something odd",
      ["https://a.org", 7, { url: "https://b.org" }],
      ["https://a.org", "7", "https://b.org"],
    ],
    ["pages as names", { "https://a.org": true, "https://b.org": false }, ["https://a.org"]],
    inOrder("in order", ["https://a.org", { url: "https://b.org" }]),
    inOrder("null", null),
  ]);
  areReadAs("excluded", [
    ["an object", { id: "a", reason: "old" }, [{ id: "a", reason: "old" }]],
    ["ids", ["a"], [{ id: "a", reason: "no reason recorded" }]],
    [
      "a reason that is none",
      [{ id: "a", reason: null, title: "A" }, { id: "b" }],
      [
        { id: "a", reason: "no reason recorded", title: "A" },
        { id: "b", reason: "no reason recorded" },
      ],
    ],
    ["a reason in a list", [{ id: "a", reason: ["old", "odd"] }], [{ id: "a", reason: "old; odd" }]],
    [
      "the id in paper_id",
      [{ title: "T", url: "u", paper_id: "p", reason: "old" }],
      [{ title: "T", url: "u", paper_id: "p", reason: "old", id: "p" }],
    ],
    ["the id in url", [{ title: "T", url: "u", reason: "old" }], [{ title: "T", url: "u", reason: "old", id: "u" }]],
    ["the id in title", [{ id: 7, title: "T", reason: "old" }], [{ id: "T", title: "T", reason: "old" }]],
    [
      "without an id, for the schema to name",
      [{ why: 1 }, 7, null],
      [{ why: 1, reason: "no reason recorded" }, 7, null],
    ],
    inOrder("in order", [{ id: "a", reason: "old", title: 7, url: "u" }]),
    inOrder("an id that is none, for the schema to name", [{ id: 7, reason: "old" }]),
    ["null", null, undefined],
    ["false", false, []],
  ]);
  areReadAs("handoff", [
    ["a word for it", { product_ideation: false }, { product_ideation: { enabled: false } }],
    [
      "numbers and words",
      {
        product_ideation: {
          enabled: "no",
          min_ideas: "3 ideas",
          max_ideas: "5",
          output_filename: 7,
          ranking_goal: ["a", "b"],
          assumed_constraints: "two people",
        },
      },
      {
        product_ideation: {
          enabled: false,
          min_ideas: 3,
          max_ideas: 5,
          output_filename: "7",
          ranking_goal: "a; b",
          assumed_constraints: { constraints: "two people" },
        },
      },
    ],
    [
      "null stands for what may only be left out",
      {
        product_ideation: {
          enabled: null,
          min_ideas: null,
          max_ideas: "n/a",
          output_filename: null,
          ranking_goal: null,
          assumed_constraints: null,
        },
      },
      { product_ideation: {} },
    ],
    [
      "constraints in a list",
      { product_ideation: { assumed_constraints: ["a"] } },
      { product_ideation: { assumed_constraints: { constraints: ["a"] } } },
    ],
    inOrder("in order", { product_ideation: { enabled: true, min_ideas: 3, assumed_constraints: { team: 2 } } }),
    inOrder("a text, for the schema to name", { product_ideation: "yes" }),
  ]);
  const span = {
    started_at: "2026-01-19T15:36:51Z",
    ended_at: null,
    duration_seconds: 7,
    papers_analyzed: 0,
    avg_seconds_per_paper: 3.5,
  };
  areReadAs("timing", [
    inOrder("in order", {
      research_started_at: null,
      discovery: span,
      analysis: span,
      ideation: null,
      complete: { ended_at: null },
    }),
    [
      "a start alone",
      { discovery: "2026-01-19 15:36", analysis: "2026-01-19", ideation: 1768837011 },
      {
        discovery: { started_at: "2026-01-19T15:36:00.000Z" },
        analysis: { started_at: "2026-01-19" },
        ideation: { started_at: "2026-01-19T15:36:51.000Z" },
      },
    ],
    ["an end alone", { complete: 1768837011 }, { complete: { ended_at: "2026-01-19T15:36:51.000Z" } }],
    [
      "what is no time",
      { research_started_at: true, analysis: [1], complete: false },
      { research_started_at: null, analysis: null, complete: null },
    ],
    [
      "durations and counts",
      {
        analysis: {
          started_at: "then",
          ended_at: "2026-01-19 15:36",
          duration_seconds: "2h",
          papers_analyzed: "7",
          avg_seconds_per_paper: "1:30:00",
        },
      },
      {
        analysis: {
          started_at: null,
          ended_at: "2026-01-19T15:36:00.000Z",
          duration_seconds: 7200,
          papers_analyzed: null,
          avg_seconds_per_paper: 5400,
        },
      },
    ],
    [
      "counts that are none",
      { analysis: { papers_analyzed: -1 }, ideation: { papers_analyzed: 1.5 } },
      { analysis: { papers_analyzed: null }, ideation: { papers_analyzed: null } },
    ],
    ["a list", [], null],
  ]);
  const checked = { at: "2026-01-19T15:36:51Z", checked: 0, not_checked: 3, demoted: ["p1"] };
  areReadAs("statistics", [
    inOrder("in order", {
      total_analyzed: 3,
      total_rejected: null,
      retraction_check: checked,
      discovery_metrics: null,
      mine: "x",
    }),
    inOrder("without a check", { retraction_check: null }),
    ...[
      { ...checked, at: 1 },
      { ...checked, checked: "3" },
      { ...checked, checked: -1 },
      { ...checked, not_checked: 1.5 },
      { ...checked, demoted: "p1" },
      { ...checked, demoted: ["p1", 7] },
      "done",
      false,
    ].map((retraction_check): [string, unknown, unknown] => ["an odd check is left out", { retraction_check }, {}]),
    inOrder("a check that demoted nothing", { retraction_check: { ...checked, demoted: [] } }),
    [
      "counts in other shapes",
      {
        total_discovered: [1, 2, 3],
        total_analyzed: "20 papers",
        total_presented: { total: 4 },
        total_rejected: true,
        total_insights: "n/a",
        total_retracted: [],
      },
      {
        total_discovered: 3,
        total_analyzed: 20,
        total_presented: 4,
        total_rejected: null,
        total_insights: null,
        total_retracted: 0,
      },
    ],
    [
      "sources in other shapes",
      {
        discovery_metrics: {
          sources_tried: "a, b",
          sources_successful: true,
          sources_blocked: { a: 1 },
          source_failure_reasons: "none",
        },
      },
      {
        discovery_metrics: {
          sources_tried: ["a", "b"],
          sources_successful: null,
          sources_blocked: ["a"],
          source_failure_reasons: null,
        },
      },
    ],
    [
      "a blocked source",
      { discovery_metrics: { sources_blocked: "a, b" } },
      { discovery_metrics: { sources_blocked: ["a, b"] } },
    ],
    [
      "a count of blocked sources",
      { discovery_metrics: { sources_blocked: 3, sources_tried: 0 } },
      { discovery_metrics: { sources_blocked: null, sources_tried: null } },
    ],
    inOrder("blocked sources in order", { discovery_metrics: { sources_blocked: [{ a: 1 }], sources_tried: null } }),
    inOrder("no blocked sources", { discovery_metrics: { sources_blocked: null } }),
    [
      "what depends on whole numbers",
      {
        discovery_metrics: {
          failures_in_a_row: { a: 1, b: "2", c: -1, d: 0, e: 0.5 },
          batches: "3",
          batches_without_new: 1.5,
          searched_for: 7,
        },
      },
      { discovery_metrics: { failures_in_a_row: { a: 1, d: 0 } } },
    ],
    inOrder("whole numbers in order", {
      discovery_metrics: { failures_in_a_row: {}, batches: 0, batches_without_new: 2, searched_for: "x" },
    }),
    [
      "failures that are no numbers",
      { discovery_metrics: { failures_in_a_row: [1] }, analysis_metrics: [], ideation_metrics: 7 },
      { discovery_metrics: {}, analysis_metrics: null, ideation_metrics: null },
    ],
  ]);
  areReadAs("refusals", [
    ["an object", { unit: "discovery", reasons: "Odd, very." }, [{ unit: "discovery", reasons: ["Odd, very."] }]],
    ["null", null, undefined],
    inOrder("in order", [{ unit: "report", iteration: 1, reasons: ["a"] }]),
  ]);
});
