import { describe, expect, test } from "vitest";
import { limitIterations } from "../../../src/engine/loop/guards/limits.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import type {
  Agent,
  AgentEvent,
  LoopEvent,
  Notes,
  Outcome,
  Unit,
  Verdict,
  Workflow,
} from "../../../src/engine/loop/types.js";
import { fakeClock } from "../../support/clock.js";

const unit = (id: string): Unit => ({ kind: "test", id, phase: "WORK", title: `Unit ${id}` });
const complete: Verdict = { verdict: "complete", reason: "All done." };

/** A workflow over a list of outcomes: one unit is done when its outcome is accepted. */
function listWorkflow(outcomes: Outcome[], over: Partial<Workflow<number>> = {}) {
  const notes: Notes[] = [];
  let done = 0;
  let iteration = 0;
  const workflow: Workflow<number> = {
    name: "list",
    load: async () => done,
    next: (state) =>
      state >= outcomes.filter((outcome) => outcome.outcome === "accepted").length ? complete : unit(`u${state}`),
    progress: (state) => ({ done: state, total: outcomes.length }),
    notices: () => [],
    brief: async (_state, _unit, given) => {
      notes.push(given);
      iteration += 1;
      return {
        iteration,
        text: "do it",
        tokens: 2,
        workspace: "/nowhere",
        access: { web: false, read: false, everything: false },
      };
    },
    accept: async () => {
      const outcome = outcomes[iteration - 1] ?? { outcome: "refused", reasons: ["nothing more"] };
      if (outcome.outcome === "accepted") done += 1;
      return outcome;
    },
    ...over,
  };
  return { workflow, notes };
}

function agentThatSays(...events: AgentEvent[]): Agent {
  return {
    name: "scripted",
    confinement: "workspace",
    async *run() {
      yield* events;
    },
  };
}

const end: AgentEvent = { type: "end", message: "done" };
const accepted: Outcome = { outcome: "accepted", summary: "fine" };
const refused: Outcome = { outcome: "refused", reasons: ["no number"] };

async function run(workflow: Workflow<number>, agent: Agent, options: Partial<Parameters<typeof runLoop>[2]> = {}) {
  const events: LoopEvent[] = [];
  const never = new AbortController().signal;
  const loop = runLoop(workflow, agent, { guards: [], clock: fakeClock(), finish: never, abort: never, ...options });
  for (;;) {
    const step = await loop.next();
    if (step.done === true) return { verdict: step.value, events, types: events.map((event) => event.type) };
    events.push(step.value);
  }
}

describe("the loop", () => {
  test("goes on until the workflow has a verdict", async () => {
    const { verdict, types } = await run(listWorkflow([accepted, accepted]).workflow, agentThatSays(end));
    expect(verdict).toEqual(complete);
    expect(types).toEqual([
      "run-started",
      "iteration-started",
      "agent",
      "iteration-ended",
      "iteration-started",
      "agent",
      "iteration-ended",
      "run-ended",
    ]);
  });

  test("starts no agent when there is nothing to do", async () => {
    const { verdict, types } = await run(listWorkflow([]).workflow, agentThatSays(end));
    expect(verdict.verdict).toBe("complete");
    expect(types).toEqual(["run-started", "run-ended"]);
  });

  test("finishing on the last allowed iteration is complete, not limit", async () => {
    const { verdict } = await run(listWorkflow([accepted, accepted]).workflow, agentThatSays(end), {
      guards: [limitIterations(2)],
    });
    expect(verdict.verdict).toBe("complete");
  });

  test("stops at a guard's verdict before the next agent is started", async () => {
    const { verdict, types } = await run(listWorkflow([accepted, accepted, accepted]).workflow, agentThatSays(end), {
      guards: [limitIterations(1)],
    });
    expect(verdict.verdict).toBe("limit");
    expect(types.filter((type) => type === "iteration-started")).toHaveLength(1);
  });

  test("waits as long as a guard asks, then looks again", async () => {
    const clock = fakeClock();
    const until = clock.now() + 60_000;
    const { verdict, types } = await run(listWorkflow([accepted]).workflow, agentThatSays(end), {
      clock,
      guards: [({ now }) => (now < until ? { until, reason: "busy" } : undefined)],
    });
    expect(verdict.verdict).toBe("complete");
    expect(types.slice(0, 3)).toEqual(["run-started", "waiting", "iteration-started"]);
    expect(clock.now()).toBeGreaterThanOrEqual(until);
  });

  test("looks at the files and guards again during a long wait, and announces it once", async () => {
    const clock = fakeClock();
    const until = clock.now() + 60_000;
    let asked = 0;
    const { verdict, types } = await run(listWorkflow([accepted]).workflow, agentThatSays(end), {
      clock,
      guards: [
        () => ({ until, reason: "busy" }),
        () => ((asked += 1) > 3 ? { verdict: "blocked", reason: "PAUSE" } : undefined),
      ],
    });
    expect(verdict.verdict).toBe("blocked");
    expect(clock.now()).toBeLessThan(until);
    expect(types).toEqual(["run-started", "waiting", "run-ended"]);
  });

  test("a verdict of one guard beats the delay of another", async () => {
    const { verdict, types } = await run(listWorkflow([accepted]).workflow, agentThatSays(end), {
      guards: [
        () => ({ until: Number.MAX_SAFE_INTEGER, reason: "for ever" }),
        () => ({ verdict: "blocked", reason: "a person is needed" }),
      ],
    });
    expect(verdict.verdict).toBe("blocked");
    expect(types).not.toContain("waiting");
  });

  test("tells the next brief of a unit why its last result was refused, and others nothing", async () => {
    const { workflow, notes } = listWorkflow([refused, accepted, accepted]);
    await run(workflow, agentThatSays(end));
    expect(notes).toEqual([{}, { refusal: ["no number"] }, {}]);
  });

  test("folds the agent's stream into one run: last usage, last model, the end's message", async () => {
    let seen: unknown;
    const { workflow } = listWorkflow([accepted], {
      accept: async (_state, _unit, run) => {
        seen = run;
        return { outcome: "failed", failure: { kind: "crashed", message: "stop here" } };
      },
    });
    const usage = (input: number) => ({ type: "usage" as const, usage: { input, cached: 0, output: 1, requests: 1 } });
    await run(
      workflow,
      agentThatSays({ ...usage(10), model: "m1" }, { ...usage(25), costUsd: 0.5 }, { type: "end", message: "bye" }),
      {
        guards: [limitIterations(1)],
      },
    );
    expect(seen).toMatchObject({
      iteration: 1,
      agent: "scripted",
      message: "bye",
      model: "m1",
      costUsd: 0.5,
      usage: { input: 25 },
    });
  });

  test.each(["load", "brief", "accept"] as const)("a verdict from %s ends the run with it", async (part) => {
    const broken: Verdict = { verdict: "failed", reason: "The disk is full." };
    const { workflow } = listWorkflow([accepted, accepted], { [part]: async () => broken });
    const { verdict, events } = await run(workflow, agentThatSays(end));
    expect(verdict).toEqual(broken);
    expect(events.at(-1)).toMatchObject({ type: "run-ended", verdict: broken });
  });

  test("passes on what the workflow has to tell, after loading and after accepting", async () => {
    const told = [[{ level: "warning", message: "one" }], [{ level: "info", message: "two" }]] as const;
    let asked = 0;
    const { workflow } = listWorkflow([accepted], { notices: () => told[asked++] ?? [] });
    const { events } = await run(workflow, agentThatSays(end));
    expect(events.filter((event) => event.type === "notice").map((event) => event.message)).toEqual(["one", "two"]);
  });

  test("a bug in a part of ours goes through", async () => {
    const { workflow } = listWorkflow([accepted], {
      accept: async () => {
        throw new TypeError("ours");
      },
    });
    await expect(run(workflow, agentThatSays(end))).rejects.toThrow("ours");
  });
});
