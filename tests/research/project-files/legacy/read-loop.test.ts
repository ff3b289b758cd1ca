import { describe, expect, it } from "vitest";
import { areReadAs, inOrder, shape } from "./reading-rows.js";

describe("of the loop", () => {
  const seen = { iteration: 3, unit: "discovery", outcome: "refused" };
  areReadAs("loop", [
    inOrder("in order", {
      iteration: 0,
      done: false,
      error: null,
      observations: [seen],
      limits: { max_usd: 0.5 },
      steering: [{ id: "s", text: "x" }],
    }),
    ["what is no object", "odd", null],
    ["a list", [seen], null],
    [
      "whatever is odd is left out",
      {
        iteration: "3",
        done: "no",
        observations: seen,
        limits: null,
        rch_metrics: [1],
        stagnation_count: -1,
        stagnation_since: 1.5,
        mine: null,
      },
      { mine: null },
    ],
    [
      "texts",
      { error: 7, loop_type: ["a", "b"], history_summary: { a: 1 } },
      { error: "7", loop_type: "a; b", history_summary: "a: 1" },
    ],
    inOrder("counts in order", { stagnation_count: 0, stagnation_since: 4, done: true, history_summary: null }),
    ...["accepted", "refused", "failed"].map((outcome) =>
      inOrder("every outcome", { observations: [{ ...seen, outcome }] }),
    ),
    [
      "what other tools kept under this name",
      {
        observations: [
          null,
          "x",
          [],
          { ...seen, iteration: 0 },
          { ...seen, iteration: "3" },
          { ...seen, iteration: -1 },
          { ...seen, unit: 7 },
          { ...seen, outcome: "odd" },
          seen,
        ],
      },
      { observations: [seen] },
    ],
    [
      "odd parts of an observation",
      {
        observations: [
          { ...seen, failure: 1, said: null, digest: [], answer: {}, sketch: 2, left: "yes", signs: "a", mine: 7 },
          { ...seen, left: false, signs: ["a", 7, null, "b"] },
        ],
      },
      {
        observations: [
          { ...seen, mine: 7 },
          { ...seen, signs: ["a", "b"] },
        ],
      },
    ],
    inOrder("an observation with all parts", {
      observations: [
        { ...seen, failure: "a", said: "b", digest: "c", answer: "d", sketch: "e", left: true, signs: ["f"] },
      ],
    }),
    inOrder("metrics in order", {
      rch_metrics: {
        compressions: 1,
        total_chars_before: 2,
        total_chars_after: 0,
        total_tokens_saved: -3,
        last_compression_ratio: 0.5,
        history_size_trend: [1, 0],
        last_iteration: 4,
        historian_tokens: 5,
        historian_cost_usd: 0,
        historian_estimated: true,
      },
    }),
    [
      "odd metrics",
      {
        rch_metrics: {
          compressions: "1",
          total_chars_before: -2,
          total_chars_after: null,
          total_tokens_saved: 0.5,
          last_compression_ratio: -0.5,
          history_size_trend: 7,
          last_iteration: 4.5,
          historian_tokens: {},
          historian_cost_usd: "0",
          historian_estimated: false,
        },
      },
      { rch_metrics: {} },
    ],
    [
      "odd sizes",
      { rch_metrics: { history_size_trend: [1, "2", 3] } },
      { rch_metrics: { history_size_trend: [1, 3] } },
    ],
    [
      "odd limits",
      {
        limits: {
          max_usd: "1",
          max_tokens: -1,
          max_minutes: null,
          max_iterations: Number.POSITIVE_INFINITY,
          target_papers: 20.5,
        },
      },
      { limits: { target_papers: 20.5 } },
    ],
    [
      "a line of steering",
      { steering: "Look at robots." },
      { steering: [{ id: "Look at robots.", text: "Look at robots." }] },
    ],
    [
      "several",
      { steering: ["a", { text: "b" }] },
      {
        steering: [
          { id: "a", text: "a" },
          { id: "b", text: "b" },
        ],
      },
    ],
    ["an object", { steering: { id: "s", text: "a" } }, { steering: [{ id: "s", text: "a" }] }],
    ["false", { steering: false }, { steering: [] }],
    ["null", { steering: null }, {}],
    [
      "the first forty characters are its id",
      { steering: ["x".repeat(39) + "yz"] },
      { steering: [{ id: `${"x".repeat(39)}y`, text: `${"x".repeat(39)}yz` }] },
    ],
    [
      "an id that is none",
      { steering: [{ text: "a", at: "then", id: 7, mine: 1 }] },
      { steering: [{ mine: 1, id: "a", at: "then", text: "a" }] },
    ],
    ["a time that is none", { steering: [{ text: "a", at: 7 }] }, { steering: [{ id: "a", text: "a" }] }],
    [
      "what holds no text is left out",
      { steering: ["  ", 7, null, { id: "s" }, { id: "s", text: 7 }, { text: " " }, { id: "t", text: "" }] },
      { steering: [{ id: "t", text: "" }] },
    ],
    inOrder("steering in order", { steering: [{ id: "s", text: "a", at: 7, mine: 1 }] }),
  ]);
  it("steering that is left out is told once", () => {
    expect(shape({ loop: { steering: [7, "a"] } }).told).toEqual([
      "/loop/steering/0 is 7, read as if it were not there",
      '/loop/steering/1 is "a", read as {"id":"a","text":"a"}',
    ]);
  });
});
