import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  limitBudget,
  reviewBudget,
  unlimitedAgentsWarning,
  spendingOf,
  watchBudget,
  withAllowance,
} from "../../../../src/engine/loop/stop-conditions/budget.js";
import {
  occupancyOf,
  wasContextFull,
  watchContext,
} from "../../../../src/engine/loop/stop-conditions/context-window.js";
import {
  isCounted,
  stopOnSignal,
  limitIterations,
  limitWallTime,
  countsTowardLimit,
  stopOnFiles,
} from "../../../../src/engine/loop/stop-conditions/limits.js";
import { rulesFor } from "../../../../src/engine/loop/rules-of-run.js";
import type { Account, Delay, RunSoFar, Verdict } from "../../../../src/engine/loop/types.js";
import { accepted, failed, live, named, past, refused, soFar, start, unit } from "../runs.js";
import { researchWords } from "../../../../src/research/project-files/words.js";

const minute = 60_000;
const usage = (input: number, output = 0) => ({ input, cached: 0, output, requests: 1 });
const cost = (usd: number, more = {}) =>
  past(accepted, 0, "paper_1", { cost_usd: usd, usage: usage(1000, 100), ...more });
const nothing = { iterations: 0, tokens: 0, usd: 0, minutes: 0 };
const withAccount = (run: RunSoFar, account: Partial<Account>): RunSoFar => ({
  ...run,
  account: { spent: nothing, budget: {}, ...account },
});
const reasonOf = (answer: Verdict | Delay | undefined) => answer?.reason;

describe("a person is told which limit ended the run and how to go on", () => {
  test("of iterations", () => {
    expect(limitIterations(1, researchWords)(soFar([past(accepted)]))).toEqual({
      verdict: "limit",
      cause: "iterations",
      reason: "The one iteration of this run is used up; run again to continue, or allow more with -i.",
    });
    expect(reasonOf(limitIterations(2, researchWords)(soFar([past(accepted), past(refused)])))).toBe(
      "All 2 iterations of this run are used up; run again to continue, or allow more with -i.",
    );
  });

  test("of time, in minutes to a tenth, counted from the start", () => {
    const run: RunSoFar = { startedAt: 7 * minute, now: 8.55 * minute, iterations: [] };
    expect(limitWallTime(1.55 * minute)(run)).toEqual({
      verdict: "limit",
      cause: "minutes",
      reason: "The time of this run, 1.6 minutes, is used up; run again to continue.",
    });
    expect(limitWallTime(1.55 * minute)({ ...run, startedAt: 7 * minute + 1 })).toBeUndefined();
  });

  test("of files and signals, each with a way back", () => {
    const folder = mkdtempSync(join(tmpdir(), "rr-limits-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "STOP"), "");
    expect(stopOnFiles(folder)(soFar([]))).toEqual({
      verdict: "interrupted",
      reason: `Stopped by the file ${join(folder, "STOP")}; to continue, run 'research-ralph stop --undo ${folder}', or delete the file.`,
      signal: "SIGINT",
    });
    rmSync(join(folder, "STOP"));
    writeFileSync(join(folder, "PAUSE"), "");
    expect(stopOnFiles(folder)(soFar([]))).toEqual({
      verdict: "blocked",
      reason: `Paused by the file ${join(folder, "PAUSE")}; to continue, run 'research-ralph stop --undo ${folder}', or delete the file.`,
    });
    const finish = new AbortController();
    finish.abort("SIGHUP");
    expect(stopOnSignal(finish.signal)(soFar([]))).toEqual({
      verdict: "interrupted",
      reason: "Ended by SIGHUP; nothing is lost; run again to continue.",
      signal: "SIGHUP",
    });
  });

  test("of the money and tokens of a run, its own before those of the research", () => {
    const both = withAccount(soFar([cost(2.25)]), { budget: { usd: 1 }, spent: { ...nothing, usd: 3 } });
    expect(reasonOf(limitBudget(researchWords, { usd: 2 })(both))).toBe(
      "The budget of this run, $2.00, is used up: $2.25. Run again to continue, or allow more with --max-usd.",
    );
    expect(reasonOf(limitBudget(researchWords, { tokens: 1000 })(soFar([cost(0)])))).toBe(
      "The budget of this run, 1,000 tokens, is used up: 1,100 tokens. Run again to continue, or allow more with --max-tokens.",
    );
    expect(reasonOf(limitBudget(researchWords, { usd: 9 })(both))).toBe(
      "The budget of this project, $1.00, is used up: $3.00. Raise budget.max_usd in its rrd.json to continue.",
    );
  });

  test.each([
    ["tokens", { tokens: 1999.6 }, 2000, "2,000 tokens, is used up: 2,000 tokens"],
    ["minutes", { minutes: 1.25 }, 1.26, "1.3 minutes of agents' work, is used up: 1.3 minutes of agents' work"],
    ["iterations", { iterations: 3 }, 4, "3 iterations, is used up: 4 iterations"],
  ] as const)("of a research's own budget of %s", (unit, budget, spent, said) => {
    const answer = limitBudget(
      researchWords,
      {},
    )(withAccount(soFar([]), { budget, spent: { ...nothing, [unit]: spent } }));
    expect(answer).toEqual({
      verdict: "limit",
      cause: unit,
      reason: `The budget of this project, ${said}. Raise budget.max_${unit} in its rrd.json to continue.`,
    });
  });

  test("of a CLI that ended itself for want of money, in its own words", () => {
    expect(limitBudget(researchWords, {})(soFar([past(failed("budget"))]))).toEqual({
      verdict: "limit",
      cause: "usd",
      reason: "It was budget.",
    });
    expect(limitBudget(researchWords, {})(soFar([past(failed("budget")), past(accepted)]))).toBeUndefined();
    expect(limitBudget(researchWords, {})(soFar([past(failed("crashed"))]))).toBeUndefined();
    expect(limitBudget(researchWords, {})(soFar([]))).toBeUndefined();
  });
});

describe("what counts", () => {
  test.each(["rate-limit", "network", "auth", "missing"])("%s is not the agent's fault and uses nothing up", (kind) => {
    expect(countsTowardLimit(kind)).toBe(false);
  });

  test("whatever else it failed by, or did not fail, uses the allowance up", () => {
    expect([countsTowardLimit(undefined), countsTowardLimit("timeout")]).toEqual([true, true]);
    expect([accepted, refused, failed("crashed"), failed("auth")].map((outcome) => isCounted(past(outcome)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("of an iteration under way are its minutes so far, and of a clock that went backwards none", () => {
    expect(
      spendingOf([], [live({ startedAt: start, endedAt: start + 9 * minute })], { now: start + 2 * minute }).minutes,
    ).toBe(2);
    expect(
      spendingOf([past(accepted, 0, "p", { startedAt: start + minute, endedAt: start })], [], { now: start }).minutes,
    ).toBe(0);
    expect(spendingOf([past(accepted)], [], { now: start })).toEqual({ ...nothing, iterations: 1 });
  });

  test("of a run are money and tokens alone: iterations and minutes on the clock have stop conditions of their own", () => {
    const long = past(accepted, 0, "p", { startedAt: start, endedAt: start + 99 * minute });
    expect(limitBudget(researchWords, { minutes: 1, iterations: 1 })(soFar([long, long]))).toBeUndefined();
  });

  test("of a research is what it had spent before and what is under way now", () => {
    const under = (spent: object, budget: object, run: object) =>
      limitBudget(
        researchWords,
        {},
      )({ ...withAccount(soFar([], minute), { spent: { ...nothing, ...spent }, budget }), inFlight: [live(run)] });
    expect(under({ usd: 1 }, { usd: 1.5 }, { cost_usd: 0.5 })).toBeDefined();
    expect(under({ usd: 1 }, { usd: 1.5 }, { cost_usd: 0.4 })).toBeUndefined();
    expect(under({ tokens: 90 }, { tokens: 100 }, { usage: usage(4, 6) })).toBeDefined();
    expect(under({ tokens: 90 }, { tokens: 100 }, { usage: usage(4, 5) })).toBeUndefined();
    expect(under({ minutes: 4 }, { minutes: 5 }, {})).toBeDefined();
    expect(under({ minutes: 4 }, { minutes: 5.1 }, {})).toBeUndefined();
    expect(under({ iterations: 4 }, { iterations: 5 }, {})).toBeDefined();
    expect(under({ iterations: 4 }, { iterations: 6 }, {})).toBeUndefined();
  });
});

describe("an agent at work", () => {
  test("may use a budget to its end, and is ended beyond it", () => {
    const at = (tokens: number) =>
      watchBudget(researchWords, { tokens: 50 })(live({ usage: usage(tokens) }), soFar([]));
    expect(at(50)).toBeUndefined();
    expect(at(51)).toEqual({
      end: {
        kind: "budget",
        message:
          "The budget of this run, 50 tokens, is used up: 51 tokens. Run again to continue, or allow more with --max-tokens.",
      },
    });
  });

  test("is told of no less than nothing that is left", () => {
    const choose = withAllowance({ usd: 1 }, () => ({ agent: named("claude") }));
    expect(choose(soFar([cost(3)]), unit("p"))).toMatchObject({ maxUsd: 0 });
    const minutes = withAllowance({}, () => ({ agent: named("claude") }));
    expect(
      minutes(withAccount(soFar([]), { budget: { minutes: 5 }, spent: { ...nothing, minutes: 6 } }), unit("p")),
    ).toMatchObject({ maxMs: 0 });
  });

  test("is told what is left after those beside it, in a run and in a research", () => {
    const beside = [live({ cost_usd: 0.5 })];
    const choose = (run: object) => withAllowance(run, () => ({ agent: named("claude"), reason: "It is back." }));
    expect(choose({ usd: 2 })({ ...soFar([cost(1)]), inFlight: beside }, unit("p"))).toMatchObject({
      maxUsd: 0.5,
      reason: "It is back.",
    });
    const own = withAccount(soFar([cost(1)]), { budget: { usd: 4 }, spent: { ...nothing, usd: 1.5 } });
    expect(choose({})({ ...own, inFlight: beside }, unit("p"))).toMatchObject({ maxUsd: 2 });
    expect(choose({})(withAccount(soFar([]), { budget: { usd: 4 } }), unit("p"))).toMatchObject({ maxUsd: 4 });
    expect(Object.keys(choose({})(soFar([]), unit("p")))).toEqual(["agent", "reason"]);
  });

  test.each([
    { until: start, reason: "busy" },
    { verdict: "blocked" as const, reason: "gone" },
  ])("is told nothing where none is chosen: %o", (answer) => {
    expect(withAllowance({ usd: 1 }, () => answer)(soFar([]), unit("p"))).toBe(answer);
  });
});

describe("a budget that can't be held is told of", () => {
  const told = (budget: object, run: object) => reviewBudget(budget)(live(run), soFar([]));
  const sentence = (what: string, why: string) =>
    `The budget in ${what} cannot limit claude, because it is not known ${why}: its work is not counted there; limits of iterations and minutes hold.`;

  test("with what is not known of it", () => {
    expect(told({ usd: 2 }, { usage: usage(10) })).toBe(sentence("US dollars", "what its model costs"));
    expect(told({ usd: 2 }, { usage: usage(0, 10), model: "m" })).toBe(sentence("US dollars", "what m costs"));
    expect(told({ usd: 2, tokens: 9 }, {})).toBe(sentence("US dollars and tokens", "how many tokens it used"));
    expect(told({ tokens: 9 }, { cost_usd: 1 })).toBe(sentence("tokens", "how many tokens it used"));
  });

  test("once: not by the review where the person knows it from the start", () => {
    const agents = [{ name: "claude", reportsNoUsage: true as const }, { name: "codex" }];
    const limits = "limits of iterations and minutes hold.";
    expect(unlimitedAgentsWarning({ tokens: 9 }, agents)).toBe(
      `The budget cannot limit claude, because it does not tell what it uses; ${limits}`,
    );
    const both = agents.map(({ name }) => ({ name, reportsNoUsage: true as const }));
    expect(unlimitedAgentsWarning({ tokens: 9 }, [...both, ...both])).toBe(
      `The budget cannot limit claude and codex, because they do not tell what they use; ${limits}`,
    );
    expect(unlimitedAgentsWarning({}, agents)).toBeUndefined();
    const review = reviewBudget({ usd: 2 }, new Set(["claude"]));
    expect(review(live({}), soFar([]))).toBeUndefined();
    expect(review(live({}), withAccount(soFar([]), { budget: { usd: 2 } }))).toBeUndefined();
  });

  test("only where it is set, and only of what is not told", () => {
    expect(told({ tokens: 9 }, { usage: usage(10) })).toBeUndefined();
    expect(told({ tokens: 9 }, { usage: usage(10, 10) })).toBeUndefined();
    expect(told({ usd: 2 }, { cost_usd: 0 })).toBeUndefined();
    expect(told({ minutes: 2, iterations: 2 }, {})).toBeUndefined();
  });

  test.each([
    ["idle", true],
    ["timeout", true],
    ["crashed", false],
    ["network", false],
  ] as const)("of an iteration that ended by %s: %s", (kind, isTold) => {
    expect(told({ tokens: 9 }, { failure: { kind, message: "" } }) !== undefined).toBe(isTold);
  });
});

describe("the context of a model", () => {
  test("is told with whose it is and how full, to a whole percent", () => {
    const at = (run: object) => watchContext(live(run), soFar([]));
    expect(at({ usage: { ...usage(0), largest: 61_900 }, model: "opus" })).toEqual({
      warning: "Paper paper_2 fills 30 % of the context of opus (62k of 200k tokens); at 40 % the iteration is ended.",
    });
    expect(at({ usage: { ...usage(0), largest: 90_000 } })).toEqual({
      end: {
        kind: "context",
        message:
          "claude was ended because Paper paper_2 filled 45 % of the context of claude (90k of 200k tokens); its next brief is smaller.",
      },
    });
    const { brief } = live({}).run;
    const everything = { ...brief, access: { ...brief.access, everything: true } };
    expect(at({ usage: { ...usage(0), largest: 90_000 }, brief: everything })).toEqual({
      warning: "Paper paper_2 fills 45 % of the context of claude (90k of 200k tokens).",
    });
  });

  test("is known by its largest request, against the usual window where the model's own is not told", () => {
    expect(occupancyOf({ usage: { ...usage(0), largest: 50_000 } })).toEqual({
      largest: 50_000,
      window: 200_000,
      share: 0.25,
    });
    expect(occupancyOf({ usage: { ...usage(0), largest: 50_000 }, window: 100_000 })).toEqual({
      largest: 50_000,
      window: 100_000,
      share: 0.5,
    });
    expect(occupancyOf({ usage: { ...usage(9), largest: 0 } })).toBeUndefined();
    expect(occupancyOf({ usage: usage(9) })).toBeUndefined();
  });

  test("was full from 40 % on, by the average request where no other is told", () => {
    const full = (over: object, window?: number) =>
      wasContextFull({ usage: { ...usage(0), ...over }, ...(window === undefined ? {} : { window }) });
    expect([full({ largest: 80_000 }), full({ largest: 79_999 })]).toEqual([true, false]);
    expect([full({ largest: 40_000 }, 100_000), full({ largest: 80_000 }, 1_000_000)]).toEqual([true, false]);
    const average = (requests: number) => full({ input: 150_000, output: 10_000, requests });
    expect([0, 1, 2, 3].map(average)).toEqual([true, true, true, false]);
    expect(full({ input: 5_000_000, requests: 1, largest: 10 })).toBe(false);
  });
});

describe("the rules of a run", () => {
  const settings = {
    agents: [named("claude")],
    iterations: 2,
    budget: {},
    words: researchWords,
    patienceMs: 120 * minute,
  };
  const firstOf = ({ stopConditions }: ReturnType<typeof rulesFor>, run: RunSoFar) =>
    stopConditions.map((stopCondition) => stopCondition(run)).find((answer) => answer !== undefined);

  test("stop it by file, failures, iterations, time, budget, and whatever else is given", () => {
    const folder = mkdtempSync(join(tmpdir(), "rr-rules-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const mine = () => ({ verdict: "stuck" as const, reason: "mine" });
    const rules = rulesFor({ ...settings, maxMs: 10 * minute, budget: { usd: 1 }, folder });
    expect(firstOf(rules, soFar([]))).toBeUndefined();
    expect(firstOf(rules, soFar([past(accepted), past(accepted)]))).toMatchObject({
      verdict: "limit",
      reason: expect.stringContaining("All 2 iterations"),
    });
    expect(firstOf(rules, soFar([], 10 * minute))).toMatchObject({
      verdict: "limit",
      reason: expect.stringContaining("10 minutes"),
    });
    expect(firstOf(rules, soFar([cost(1)]))).toMatchObject({
      verdict: "limit",
      reason: expect.stringContaining("$1.00"),
    });
    expect(firstOf(rules, soFar([past(failed("too-large"))]))).toMatchObject({ verdict: "failed" });
    expect(firstOf(rulesFor({ ...settings, more: [mine] }), soFar([]))).toEqual(mine());
    writeFileSync(join(folder, "PAUSE"), "");
    expect(firstOf(rules, soFar([]))).toMatchObject({ verdict: "blocked" });
    expect(firstOf(rulesFor(settings), soFar([]))).toBeUndefined();
  });

  test("end every wait with the time of the run, and let it last where none is set", () => {
    const crash = soFar([past(failed("crashed"))]);
    expect(firstOf(rulesFor({ ...settings, maxMs: 1000 }), crash)).toMatchObject({ until: start + 1000 });
    expect(firstOf(rulesFor(settings), crash)).toMatchObject({ until: start + 2000 });
    const limit = soFar([past(failed("rate-limit"))]);
    expect(rulesFor({ ...settings, maxMs: 1000 }).choose(limit, unit("p"))).toMatchObject({ until: start + 1000 });
    expect(rulesFor(settings).choose(limit, unit("p"))).toMatchObject({ until: start + 30_000 });
  });

  test("tell the agent its allowance, watch it at work, and look back at what it told", () => {
    const { choose, watches = [], reviews = [] } = rulesFor({ ...settings, budget: { usd: 2 } });
    expect(choose(soFar([cost(1.5)]), unit("p"))).toMatchObject({ agent: { name: "claude" }, maxUsd: 0.5 });
    const alarms = (run: object) =>
      watches.map((watch) => watch(live(run), soFar([]))?.end?.kind).filter((kind) => kind !== undefined);
    expect(alarms({ cost_usd: 3 })).toEqual(["budget"]);
    expect(alarms({ usage: { ...usage(0), largest: 100_000 } })).toEqual(["context"]);
    expect(reviews.map((review) => review(live({ usage: usage(1) }), soFar([])))).toEqual([
      expect.stringContaining("US dollars"),
    ]);
  });
});
