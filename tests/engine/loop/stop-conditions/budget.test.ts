import { describe, expect, test } from "vitest";
import {
  limitBudget,
  reviewBudget,
  spendingOf,
  watchBudget,
  withAllowance,
} from "../../../../src/engine/loop/stop-conditions/budget.js";
import { watchContext } from "../../../../src/engine/loop/stop-conditions/context-window.js";
import type { Account, RunSoFar } from "../../../../src/engine/loop/types.js";
import { accepted, failed, live, named, past, soFar, start, unit } from "../runs.js";
import { researchWords } from "../../../../src/research/project-files/words.js";

const usage = (input: number, output = 0) => ({ input, cached: 0, output, requests: 1 });
const cost = (usd: number) => past(accepted, 0, "paper_1", { cost_usd: usd, usage: usage(1000, 100) });
const nothing = { iterations: 0, tokens: 0, usd: 0, minutes: 0 };
const withAccount = (run: RunSoFar, account: Partial<Account>): RunSoFar => ({
  ...run,
  account: { spent: nothing, budget: {}, ...account },
});

describe("budgets", () => {
  test("what was used up counts every iteration, refused and failed ones too, and those under way", () => {
    const spent = spendingOf(
      [cost(1), past(failed("crashed"), 60_000, "p", { cost_usd: 0.5, startedAt: start })],
      [live({ cost_usd: 0.25 })],
      { now: start + 30_000 },
    );
    expect(spent).toEqual({ iterations: 3, tokens: 1100, usd: 1.75, minutes: 1.5 });
  });

  test("waiting for a service is no iteration used up", () => {
    expect(
      spendingOf([cost(1), past(failed("rate-limit")), past(failed("network")), past(failed("auth"))], [live({})], {
        now: start,
      }).iterations,
    ).toBe(2);
  });

  test("a run ends where its money or tokens are used up, and says which and the numbers", () => {
    expect(limitBudget(researchWords, { usd: 2 })(soFar([cost(1.5)]))).toBeUndefined();
    expect(limitBudget(researchWords, { usd: 2 })(soFar([cost(1.5), cost(0.75)]))).toMatchObject({
      verdict: "limit",
      reason: expect.stringMatching(/\$2\.00.*\$2\.25.*--max-usd/),
    });
    expect(limitBudget(researchWords, { tokens: 2000 })(soFar([cost(0), cost(0)]))).toMatchObject({
      verdict: "limit",
      reason: expect.stringMatching(/2,000 tokens.*2,200/),
    });
  });

  test("what a run used beside its iterations counts in its budget, and in what an agent is told is left", () => {
    const beside = { ...nothing, usd: 0.5, tokens: 500 };
    const run = withAccount(soFar([cost(1.5)]), { beside });
    expect(limitBudget(researchWords, { usd: 2 })(run)).toMatchObject({ reason: expect.stringContaining("$2.00") });
    expect(limitBudget(researchWords, { tokens: 1_600 })(run)).toMatchObject({ verdict: "limit" });
    expect(limitBudget(researchWords, { usd: 2.01 })(run)).toBeUndefined();
    expect(withAllowance({ usd: 3 }, () => ({ agent: named("claude") }))(run, unit("p"))).toMatchObject({ maxUsd: 1 });
  });

  test("what is under way counts before another agent is started", () => {
    expect(
      limitBudget(researchWords, { usd: 2 })({ ...soFar([cost(1.5)]), inFlight: [live({ cost_usd: 0.5 })] }),
    ).toMatchObject({ verdict: "limit" });
  });

  test.each([
    ["usd", { usd: 20 }, "budget.max_usd"],
    ["tokens", { tokens: 20 }, "budget.max_tokens"],
    ["minutes", { minutes: 20 }, "budget.max_minutes"],
    ["iterations", { iterations: 20 }, "budget.max_iterations"],
  ] as const)("a research ends where its own budget of %s is used up by all its runs", (key, budget, where) => {
    const at = (value: number) =>
      limitBudget(researchWords, {})(withAccount(soFar([]), { budget, spent: { ...nothing, [key]: value } }));
    expect(at(19)).toBeUndefined();
    expect(at(20)).toMatchObject({ verdict: "limit", reason: expect.stringContaining(where) });
  });

  test("an iteration is ended once it takes the budget beyond its limit, the others under way counted in", () => {
    const watch = watchBudget(researchWords, { usd: 2 });
    expect(watch(live({ cost_usd: 0.5 }), soFar([cost(1.5)]))).toBeUndefined();
    expect(watch(live({ cost_usd: 0.51 }), soFar([cost(1.5)]))).toMatchObject({
      end: { kind: "budget", message: expect.stringContaining("$2.01") },
    });
    expect(
      watch(live({ cost_usd: 0.3 }), { ...soFar([cost(1.5)]), inFlight: [live({ cost_usd: 0.3 })] }),
    ).toMatchObject({ end: { kind: "budget" } });
    expect(
      watchBudget(researchWords, {})(live({ usage: usage(30) }), withAccount(soFar([]), { budget: { tokens: 20 } })),
    ).toMatchObject({ end: { kind: "budget" } });
  });

  test("an iteration that a CLI's own budget ended ends the run: it would be ended again", () => {
    expect(limitBudget(researchWords, { usd: 2 })(soFar([past(failed("budget"))]))).toMatchObject({ verdict: "limit" });
  });

  test.each([
    [
      "dollars of a model without a price",
      { usd: 2 },
      { model: "m", usage: usage(10) },
      /US dollars.*claude.*what m costs/,
    ],
    [
      "dollars and tokens of one that tells nothing",
      { usd: 2, tokens: 9 },
      {},
      /US dollars and tokens.*how many tokens/,
    ],
    [
      "tokens of one that ran out of time untold",
      { tokens: 9 },
      { failure: { kind: "timeout", message: "" } },
      /tokens/,
    ],
  ] as const)("that can't be held are told of: %s", (_what, budget, run, said) => {
    expect(reviewBudget(budget)(live(run), soFar([]))).toMatch(said);
    expect(reviewBudget({})(live(run), withAccount(soFar([]), { budget }))).toMatch(said);
    expect(reviewBudget({})(live(run), soFar([]))).toBeUndefined();
  });

  test("that are held, or met an agent that did not work or has no model, are not told of", () => {
    const both = reviewBudget({ usd: 2, tokens: 9 });
    expect(both(live({ cost_usd: 0, usage: usage(10) }), soFar([]))).toBeUndefined();
    expect(both(live({ free: true }), soFar([]))).toBeUndefined();
    expect(both(live({ failure: { kind: "rate-limit", message: "" } }), soFar([]))).toBeUndefined();
  });

  test("an agent is told what is left: the smaller of the run's rest and the research's", () => {
    const choose = withAllowance({ usd: 2 }, () => ({ agent: named("claude") }));
    expect(choose(soFar([cost(1.5)]), unit("p"))).toMatchObject({ maxUsd: 0.5 });
    expect(
      choose(withAccount(soFar([cost(1.5)]), { budget: { usd: 10 }, spent: { ...nothing, usd: 9.75 } }), unit("p")),
    ).toMatchObject({ maxUsd: 0.25 });
    expect(withAllowance({}, () => ({ agent: named("claude") }))(soFar([]), unit("p"))).not.toHaveProperty("maxUsd");
  });
});

test("an agent is given the minutes of work that the research has left, and its share where others are at work", () => {
  const choose = withAllowance({}, () => ({ agent: named("claude") }));
  const left = withAccount(soFar([]), { budget: { minutes: 30 }, spent: { ...nothing, minutes: 20 } });
  expect(choose(left, unit("p"))).toMatchObject({ maxMs: 600_000 });
  expect(choose({ ...left, now: start + 120_000, inFlight: [live({})] }, unit("p"))).toMatchObject({ maxMs: 240_000 });
  expect(choose(withAccount(soFar([]), { budget: { iterations: 30 } }), unit("p"))).not.toHaveProperty("maxMs");
});

describe("the context", () => {
  const at = (largest: number, window?: number) =>
    watchContext(live({ usage: { ...usage(0), largest }, ...(window === undefined ? {} : { window }) }), soFar([]));

  test("is no matter below 30 % of the window, warned of from there, closed at 40 %", () => {
    expect(at(59_999)).toBeUndefined();
    expect(at(60_000)).toEqual({ warning: expect.stringContaining("30 %") });
    expect(at(79_999)).toHaveProperty("warning");
    expect(at(80_000)).toMatchObject({ end: { kind: "context", message: expect.stringContaining("40 %") } });
  });

  test("is only warned of in classic mode, however full it is", () => {
    const { brief } = live({}).run;
    const classic = { ...brief, access: { ...brief.access, everything: true } };
    expect(watchContext(live({ brief: classic, usage: { ...usage(0), largest: 190_000 } }), soFar([]))).toEqual({
      warning: expect.stringContaining("95 %"),
    });
  });

  test("is measured against the model's own window", () => {
    expect(at(300_000, 1_000_000)).toHaveProperty("warning");
    expect(at(80_000, 1_000_000)).toBeUndefined();
  });

  test("is not judged where the CLI does not tell requests apart", () => {
    expect(watchContext(live({ usage: usage(5_000_000) }), soFar([]))).toBeUndefined();
  });
});
