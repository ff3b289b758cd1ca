import { describe, expect, test } from "vitest";
import { isCounted, limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { firstAvailable } from "../../../src/engine/loop/retry.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import type { Agent, Workflow } from "../../../src/engine/loop/types.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import { useBuiltCli } from "./support/built.js";
import { fakeCli } from "./support/fake-cli.js";
import { alone } from "../../support/processes/alone.js";

const house = useBuiltCli();
const protocols = ["claude", "codex", "amp"] as const;

describe.concurrent("a usage limit is waited for until the stated reset, and uses up no iteration", () => {
  test.for(protocols)("%s", async (protocol, { expect }) => {
    const { run, ledger, paper, left } = house(fakeCli(protocol, "usage-limit"));
    const before = Date.now();
    // The wait would be an hour; the limit of the run itself ends it.
    const { code, verdict, events } = await run(protocol, "-i", "1", "--max-minutes", "0.25");
    expect({ code, verdict }).toMatchObject({
      code: 3,
      verdict: { verdict: "limit", reason: expect.stringContaining("The time of this run, 15 seconds, is used up") },
    });
    const [line] = ledger();
    expect(line).toMatchObject({
      unit: "first",
      outcome: "failed",
      failure: "rate-limit",
      reasons: [expect.stringContaining("has reached a limit")],
    });
    const failed = events.flatMap((event) =>
      event.type === "iteration-ended" && event.outcome.outcome === "failed" ? [event.outcome.failure] : [],
    );
    const reset = Date.parse(failed[0]?.reset_at ?? "");
    expect(reset).toBeGreaterThan(before + 50 * 60_000);
    expect(reset).toBeLessThan(Date.now() + 61 * 60_000);
    expect(events.filter((event) => event.type === "waiting")).toMatchObject([
      { reason: expect.stringContaining("has reached a limit") },
    ]);
    expect(paper("first")?.status).toBe("pending");
    expect(left()).toEqual([]);
  });
});

describe.concurrent("a refused login is blocked at once, with what to do", () => {
  test.for(protocols)("%s", async (protocol, { expect }) => {
    const { run, ledger, paper, left } = house(fakeCli(protocol, "401"));
    const { code, verdict } = await run(protocol);
    expect({ code, verdict }).toMatchObject({
      code: 5,
      verdict: { verdict: "blocked", reason: expect.stringContaining(`research-ralph doctor --probe ${protocol}`) },
    });
    expect(ledger()).toMatchObject([{ outcome: "failed", failure: "auth" }]);
    expect(paper("first")?.status).toBe("pending");
    expect(left()).toEqual([]);
  });
});

describe.concurrent("what a model says is no failure of its service", () => {
  test.for([
    ["claude", "429-in-prose"],
    ["codex", "429-in-prose"],
    ["amp", "429-in-prose"],
    ["claude", "broken-lines"],
    ["codex", "broken-lines"],
    ["amp", "broken-lines"],
  ] as const)("%s, %s: accepted", async ([protocol, mode], { expect }) => {
    const { run, ledger, left } = house(fakeCli(protocol, mode));
    const { code } = await run(protocol, "-i", "1");
    expect(code).toBe(3);
    expect(ledger()).toMatchObject([{ unit: "first", outcome: "accepted" }]);
    expect(left()).toEqual([]);
  });
});

describe.concurrent("an end that is not the protocol's own is a failure, whatever result.json holds", () => {
  test.for([
    ["claude", "error-after-the-result", "crashed"],
    ["codex", "error-after-the-result", "crashed"],
    ["amp", "error-after-the-result", "crashed"],
    ["claude", "no-result", "no-answer"],
    ["amp", "no-result", "no-answer"],
    ["codex", "no-result", "no-answer"],
  ] as const)("%s, %s: %s", async ([protocol, mode, failure], { expect }) => {
    const { run, ledger, paper, left } = house(fakeCli(protocol, mode));
    const { code } = await run(protocol, "-i", "1");
    expect(code).toBe(3);
    expect(ledger()).toMatchObject([{ outcome: "failed", failure }]);
    expect(paper("first")?.status).toBe("pending");
    expect(left()).toEqual([]);
  });
});

describe("a network that is away, on a clock that only the waits move", () => {
  const minutes = 60_000;
  const unit = { kind: "paper", id: "p1", phase: "ANALYSIS", title: "p1" };

  /** Fails with a network error until `back` minutes have passed, then works; how the run went. */
  async function outage(back: number, patience: number) {
    const clock = fakeClock();
    const start = clock.now();
    let done = false;
    let iteration = 0;
    const workflow: Workflow<object> = {
      name: "one unit",
      load: async () => ({}),
      next: () => (done ? { verdict: "complete", reason: "done" } : unit),
      brief: async () => ({
        brief: {
          iteration: (iteration += 1),
          text: "",
          tokens: 0,
          workspace: "/",
          access: { web: false, read: false, everything: false },
        },
        context: undefined,
      }),
      accept: async (_, __, ended) => {
        const failure = "run" in ended ? ended.run.failure : undefined;
        if (failure !== undefined) return { outcome: "failed", failure };
        done = true;
        return { outcome: "accepted", summary: "" };
      },
      progress: () => ({ done: 0, total: 1 }),
    };
    const agent: Agent = {
      name: "far away",
      confinement: "workspace",
      async *run() {
        const isBack = clock.now() - start >= back * minutes;
        yield isBack
          ? { type: "end", message: "Done." }
          : { type: "end", message: "", failure: { kind: "network", message: "ECONNREFUSED." } };
      },
    };
    const never = new AbortController().signal;
    const { events, tell } = listener(clock);
    const verdict = await runLoop(workflow, agent, {
      ...alone(agent),
      tell,
      stopConditions: [limitIterations(1)],
      choose: firstAvailable([agent], patience * minutes),
      clock,
      finish: never,
      abort: never,
    });
    return { verdict, events, took: (clock.now() - start) / minutes };
  }

  test("ten minutes of it are waited for, in few tries, and cost no iteration of the allowance", async () => {
    const { verdict, events, took } = await outage(10, 120);
    expect(verdict).toMatchObject({ verdict: "complete" });
    const ended = events.filter((event) => event.type === "iteration-ended");
    expect(ended.filter(({ outcome }) => outcome.outcome === "failed").length).toBeLessThanOrEqual(9);
    expect(
      ended.filter(({ outcome, usage }) =>
        isCounted({ iteration: 1, unit, agent: "a", outcome, startedAt: 0, endedAt: 0, usage }),
      ),
    ).toHaveLength(1);
    expect(took).toBeGreaterThanOrEqual(10);
    expect(took).toBeLessThan(15);
    const waits = events.flatMap((event) =>
      event.type === "waiting" ? [(Date.parse(event.until) - Date.parse(event.at)) / 1000] : [],
    );
    expect(waits.slice(0, 4)).toEqual([2, 4, 8, 16]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(300);
  });

  test("beyond the patience it is blocked, with how long it was waited", async () => {
    const { verdict } = await outage(10_000, 10);
    expect(verdict).toMatchObject({
      verdict: "blocked",
      reason: expect.stringContaining("It did not answer for 10 minutes; run again when it does."),
    });
  });
});
