import { describe, expect, test } from "vitest";
import { firstAvailable, withinWallTime } from "../../../../src/engine/loop/retry.js";
import { rulesFor } from "../../../../src/engine/loop/rules-of-run.js";
import { runLoop } from "../../../../src/engine/loop/run-loop.js";
import { ledgerLine } from "../../../../src/engine/loop/run-record/ledger-line.js";
import { spendingOf, withAllowance } from "../../../../src/engine/loop/stop-conditions/budget.js";
import { limitWallTime } from "../../../../src/engine/loop/stop-conditions/limits.js";
import type { Agent, AgentRun, RunSoFar, NewEvent, Verdict, Workflow } from "../../../../src/engine/loop/types.js";
import { sourceRests } from "../../../../src/research/search/source-rests.js";
import { recordOfAttempt } from "../../../../src/task/workflow/kept-attempt.js";
import { fakeClock } from "../../../support/clock.js";
import { accepted, failed, live, named, past, soFar, start, unit } from "../runs.js";

const minute = 60_000;
const hour = 60 * minute;

/** The machine slept for eight hours, from ten minutes after the start. */
const night = { sleeps: [{ from: start + 10 * minute, until: start + 10 * minute + 8 * hour }] };
const morning = 8 * hour;

describe("while the machine sleeps", () => {
  test("no minutes of the run go by", () => {
    const slept = (minutes: number): RunSoFar => ({ ...soFar([], morning + minutes * minute), ...night });
    expect(limitWallTime(30 * minute)(slept(29))).toBeUndefined();
    expect(limitWallTime(30 * minute)(slept(30))).toMatchObject({ verdict: "limit" });
    const wait = { until: start + 2 * morning, reason: "busy" };
    expect(withinWallTime(30 * minute, () => wait)(slept(20))).toEqual({
      ...wait,
      until: start + morning + 30 * minute,
    });
  });

  test.each([["network"], ["rate-limit"]] as const)("no patience with a service is used up: %s", (kind) => {
    const choose = firstAvailable([named("claude")], 2 * hour);
    const away = (minutes: number): RunSoFar => ({
      ...soFar(
        [past(failed(kind), minute), past(failed(kind), morning + minutes * minute)],
        morning + minutes * minute,
      ),
      ...night,
    });
    expect(choose(away(120))).toHaveProperty("until");
    expect(choose(away(121))).toMatchObject({ verdict: "blocked" });
  });

  test("no patience with a source that searches is used up", () => {
    const clock = fakeClock();
    const rests = sourceRests({ ...clock, patienceMs: 2 * hour });
    clock.advance(hour);
    clock.suspend(8 * hour);
    expect(rests.waitingEnd(true)).toBe(clock.now() + hour);
  });

  test("agents use up no minutes of a budget, whether they are done or at work", () => {
    const over = { startedAt: start, endedAt: start + morning + 15 * minute };
    const now = { now: start + morning + 15 * minute, ...night };
    expect(spendingOf([past(accepted, 0, "p", over)], [live({ startedAt: start })], now).minutes).toBe(30);
    const account = { spent: { iterations: 0, tokens: 0, usd: 0, minutes: 0 }, budget: { minutes: 60 } };
    const asked = { ...soFar([]), ...now, account, inFlight: [live({ startedAt: start })] };
    expect(withAllowance({}, () => ({ agent: named("claude") }))(asked, unit("p"))).toMatchObject({
      maxMs: (45 * minute) / 2,
    });
  });

  test("a run loses no time: its agent's work and its limits are those of a machine that is awake, and it says so", async () => {
    const clock = fakeClock();
    const sleeper: Agent = {
      ...named("claude"),
      async *run() {
        clock.advance(5 * minute);
        clock.suspend(8 * hour);
        clock.advance(5 * minute);
        yield { type: "end", message: "done" };
      },
    };
    const runs: AgentRun[] = [];
    const access = { web: false, read: false, everything: false };
    const brief = { text: "do it", tokens: 2, workspace: "/nowhere", access };
    const workflow: Workflow<number> = {
      name: "list",
      load: async () => runs.length,
      next: (done): Verdict | ReturnType<typeof unit> =>
        done === 2 ? { verdict: "complete", reason: "All done." } : unit(`u${done}`),
      progress: (done) => ({ done, total: 2 }),
      brief: async (done) => ({ brief: { ...brief, iteration: done + 1 }, context: undefined }),
      accept: async (_, __, done) => {
        if ("run" in done) runs.push(done.run);
        return accepted;
      },
    };
    const told: NewEvent[] = [];
    const rules = rulesFor({ agents: [sleeper], maxMs: 30 * minute });
    const tell = async (event: NewEvent) => void told.push(event);
    expect(await runLoop(workflow, sleeper, { ...rules, clock, tell })).toMatchObject({ verdict: "complete" });
    for (const run of runs) {
      const line = ledgerLine(unit("u"), run, new Date(run.endedAt), "accepted");
      expect(line.duration_seconds).toBe(600);
      expect(recordOfAttempt(run, { outcome: "accepted" } as never, line.at).duration_seconds).toBe(600);
    }
    const durations = told.flatMap((event) => (event.type === "iteration-ended" ? event.duration_seconds : []));
    expect(durations).toEqual([600, 600]);
    const notices = told.flatMap((event) => (event.type === "notice" ? event.message : []));
    const says = "The machine slept for 480 minutes; this time does not count as time of the run.";
    expect(notices).toEqual([says, says]);
  });
});
