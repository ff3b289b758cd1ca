import { expect, test } from "vitest";
import { toSeconds, ledgerLine, roundUsd } from "../../../../src/engine/loop/run-record/ledger-line.js";
import type { AgentRun } from "../../../../src/engine/loop/types.js";
import { live, start, unit } from "../runs.js";

const at = new Date(start);
const lineOf = (run: Partial<AgentRun> = {}, prepareMs?: number) =>
  ledgerLine(unit("p1"), live(run).run, at, "accepted", prepareMs);
/** What every line says. */
const plain = {
  iteration: 2,
  at: "2026-01-01T00:00:00.000Z",
  unit: "p1",
  phase: "ANALYSIS",
  outcome: "accepted",
  agent: "claude",
  confinement: "workspace",
  duration_seconds: 0,
  tokens: { input: 0, cached: 0, output: 0, requests: 0 },
  brief_tokens: 0,
};

test("a line of the ledger says no more than is known of its iteration", () => {
  expect(lineOf()).toEqual(plain);
});

test("a line of the ledger says what a run cost and used, and who did which part of the unit", () => {
  const usage = { input: 10, cached: 5, output: 3, requests: 2, largest: 66_666 };
  const { brief } = live({}).run;
  const run = live({
    model: "opus",
    version: "2.1",
    worker: "w1",
    usage,
    endedAt: start + 1_260,
    cost_usd: 0.5,
    estimated: true,
    billing: "api",
    brief: { ...brief, prompt: "abc", tokens: 700 },
  }).run;
  expect(ledgerLine({ ...unit("p1"), role: "critic", round: 2 }, run, at, "noted", 340)).toEqual({
    ...plain,
    outcome: "noted",
    role: "critic",
    round: 2,
    model: "opus",
    agent_version: "2.1",
    prompt_sha256: "abc",
    worker: "w1",
    duration_seconds: 1.3,
    prepare_seconds: 0.3,
    tokens: { input: 10, cached: 5, output: 3, requests: 2 },
    brief_tokens: 700,
    cost_usd: 0.5,
    estimated: true,
    billing: "api",
    context: { largest_request: 66_666, window: 200_000, share: 0.333 },
  });
});

test("a clock that is set back gives no negative duration", () => {
  expect(lineOf({ endedAt: start - 5_000 }).duration_seconds).toBe(0);
});

test("a preparation of no time is told as one", () => {
  expect(lineOf({}, 0)).toEqual({ ...plain, prepare_seconds: 0 });
});

test("seconds are rounded to a tenth, US dollars to a millionth", () => {
  expect([toSeconds(1_249), toSeconds(1_250)]).toEqual([1.2, 1.3]);
  expect([roundUsd(0.1 + 0.2), roundUsd(1.000_000_4)]).toEqual([0.3, 1]);
});
