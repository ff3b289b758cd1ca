import { describe, expect, test } from "vitest";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import type {
  Agent,
  AgentEvent,
  LoopEvent,
  LoopOptions,
  Outcome,
  Tell,
  Verdict,
  Workflow,
} from "../../../src/engine/loop/types.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import { named, unit } from "./runs.js";
import { alone } from "../../support/processes/alone.js";

const end: AgentEvent = { type: "end", message: "done" };

/** Units `u0` to `u<count - 1>`, any of which may be done beside the others; the last one alone. */
function manyUnits(
  count: number,
  outcomeOf: (unit: string, failed: boolean) => Outcome | Verdict = () => ({ outcome: "accepted", summary: "" }),
) {
  const done = new Set<string>();
  let iteration = 0;
  let folding = 0;
  const seen = { mostFolding: 0, order: [] as string[] };
  const all = Array.from({ length: count }, (_, index) => unit(`u${index}`));
  const workflow: Workflow<ReadonlySet<string>> = {
    name: "many",
    load: async () => new Set(done),
    next: (state, busy) => {
      const left = all.filter(({ id }) => !state.has(id) && !busy.some((each) => each.id === id));
      const [first] = left;
      if (first === undefined) return busy.length > 0 ? "wait" : { verdict: "complete", reason: "All done." };
      return first === all.at(-1) && busy.length > 0 ? "wait" : first;
    },
    progress: (state) => ({ done: state.size, total: count }),
    brief: async (_state, { id }) => {
      iteration += 1;
      const access = { web: false, read: false, everything: false };
      return { brief: { iteration, text: id, tokens: 1, workspace: "/nowhere", access }, context: undefined };
    },
    accept: async (_state, { id }, ended) => {
      folding += 1;
      seen.mostFolding = Math.max(seen.mostFolding, folding);
      await new Promise((resolve) => setTimeout(resolve, 1));
      folding -= 1;
      const failure = "run" in ended ? ended.run.failure : undefined;
      const outcome: Outcome | Verdict = failure === undefined ? outcomeOf(id, false) : { outcome: "failed", failure };
      if ("outcome" in outcome && outcome.outcome === "accepted") done.add(id);
      seen.order.push(id);
      return outcome;
    },
  };
  return { workflow, seen };
}

/** An agent whose runs wait until the test lets them end. */
function heldAgent(name = "held") {
  const atWork = new Map<string, () => void>();
  const seen = { most: 0, aborted: 0 };
  const agent: Agent = {
    ...named(name),
    async *run({ text }, { signal }) {
      yield { type: "text", text: `at ${text}` };
      const aborted = await new Promise<boolean>((resolve) => {
        atWork.set(text, () => resolve(false));
        seen.most = Math.max(seen.most, atWork.size);
        if (signal.aborted) resolve(true);
        signal.addEventListener("abort", () => resolve(true));
      });
      atWork.delete(text);
      if (aborted) seen.aborted += 1;
      yield aborted ? { type: "end", message: "", failure: { kind: "aborted", message: "It was aborted." } } : end;
    },
  };
  const release = (id: string) => atWork.get(id)?.();
  return { agent, seen, atWork, release };
}

type Settings = Partial<Omit<LoopOptions, "tell">>;

/** Runs the loop to its end; what `meanwhile` does happens over and over beside it. */
async function drain(
  workflow: Workflow<ReadonlySet<string>>,
  agent: Agent,
  over: Settings = {},
  meanwhile: () => void = () => {},
) {
  const never = new AbortController().signal;
  const clock = over.clock ?? fakeClock();
  const { events, tell } = listener(clock);
  const timer = setInterval(meanwhile, 1);
  try {
    const options = { stopConditions: [], finish: never, abort: never, ...over, clock, tell };
    return { verdict: await runLoop(workflow, agent, { ...alone(agent), ...options }), events };
  } finally {
    clearInterval(timer);
  }
}

describe("agents side by side", () => {
  test("as many work as there are jobs, never more, and results are accepted one at a time", async () => {
    const { workflow, seen } = manyUnits(9);
    const { agent, seen: agents, atWork, release } = heldAgent();
    const { verdict } = await drain(workflow, agent, { jobs: 3 }, () => {
      // The one that began last ends first, and none before three are at work while there are three.
      const ids = [...atWork.keys()];
      if (ids.length === 3 || seen.order.length >= 6) release(ids.at(-1) ?? "");
    });
    expect(verdict.verdict).toBe("complete");
    expect(agents.most).toBe(3);
    expect(seen.mostFolding).toBe(1);
    expect(seen.order.toSorted()).toEqual(Array.from({ length: 9 }, (_, index) => `u${index}`));
    expect(seen.order.at(-1)).toBe("u8");
  });

  test("the allowance of iterations holds for all of them together", async () => {
    const { workflow, seen } = manyUnits(9);
    const { verdict } = await drain(workflow, named("quick"), { jobs: 3, stopConditions: [limitIterations(4)] });
    expect(verdict.verdict).toBe("limit");
    expect(seen.order).toHaveLength(4);
  });

  test("a first Ctrl+C starts no more and folds in all that are under way", async () => {
    const finish = new AbortController();
    const { workflow, seen } = manyUnits(9);
    const { agent, atWork, release } = heldAgent();
    const stop = () => (finish.signal.aborted ? { verdict: "interrupted" as const, reason: "Ctrl+C" } : undefined);
    const { verdict, events } = await drain(
      workflow,
      agent,
      { jobs: 3, stopConditions: [stop], finish: finish.signal },
      () => {
        if (atWork.size < 3) return;
        finish.abort("SIGINT");
        for (const id of [...atWork.keys()]) release(id);
      },
    );
    expect(verdict.verdict).toBe("interrupted");
    expect(seen.order).toHaveLength(3);
    expect(events.filter(({ type }) => type === "iteration-started")).toHaveLength(3);
    expect(events.filter(({ type }) => type === "iteration-ended")).toHaveLength(3);
  });

  test("a second Ctrl+C ends all of them", async () => {
    const abort = new AbortController();
    const { workflow } = manyUnits(9);
    const { agent, seen, atWork } = heldAgent();
    const stop = () => (abort.signal.aborted ? { verdict: "interrupted" as const, reason: "Ctrl+C" } : undefined);
    await drain(workflow, agent, { jobs: 3, stopConditions: [stop], abort: abort.signal }, () => {
      if (atWork.size === 3) abort.abort("SIGINT");
    });
    expect(seen.aborted).toBe(3);
  });

  test("a verdict of accepting one ends the run only after the others were folded in", async () => {
    const { workflow, seen } = manyUnits(9, (id) =>
      id === "u1" ? { verdict: "failed", reason: "The disk is full." } : { outcome: "accepted", summary: "" },
    );
    const { agent, atWork, release } = heldAgent();
    const { verdict } = await drain(workflow, agent, { jobs: 3 }, () => {
      if (atWork.size === 3) release("u1");
      if (seen.order.includes("u1")) for (const id of [...atWork.keys()]) release(id);
    });
    expect(verdict).toMatchObject({ verdict: "failed", reason: "The disk is full." });
    expect(seen.order).toEqual(["u1", "u0", "u2"]);
  });

  test("a listener with a bug leaves no agent at work", async () => {
    const { workflow } = manyUnits(9);
    const { agent, seen, atWork } = heldAgent();
    const never = new AbortController().signal;
    let begun = 0;
    const tell: Tell = async ({ type }) => {
      if (type !== "iteration-started" || (begun += 1) < 3) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new TypeError("ours");
    };
    const options = { stopConditions: [], clock: fakeClock(), finish: never, abort: never, jobs: 3, tell };
    await expect(runLoop(workflow, agent, { ...alone(agent), ...options })).rejects.toThrow("ours");
    expect(seen.aborted).toBe(2);
    expect(atWork.size).toBe(0);
  });

  test("a bug of one ends the others and goes through", async () => {
    const { workflow } = manyUnits(9);
    const { agent, seen, atWork } = heldAgent();
    const buggy: Agent = {
      ...agent,
      run: (brief, options) => {
        if (brief.text === "u2") throw new TypeError("ours");
        return agent.run(brief, options);
      },
    };
    await expect(drain(workflow, buggy, { jobs: 3 })).rejects.toThrow("ours");
    expect(seen.aborted).toBe(atWork.size + seen.aborted);
    expect(atWork.size).toBe(0);
  });

  test("an agent that prints without end waits until its words were heard: nothing piles up", async () => {
    const { workflow } = manyUnits(1);
    let said = 0;
    const loud: Agent = {
      ...named("loud"),
      async *run(_brief, { signal }) {
        for (; !signal.aborted; said += 1) yield { type: "text", text: "more" };
        yield end;
      },
    };
    const abort = new AbortController();
    const never = new AbortController().signal;
    let heard = 0;
    let release = () => {};
    const tell: Tell = async ({ type }) => {
      // A hook at work, say.
      if (type === "agent" && (heard += 1) === 10) await new Promise<void>((resolve) => (release = resolve));
    };
    const stop = () => (abort.signal.aborted ? { verdict: "interrupted" as const, reason: "" } : undefined);
    const options = { stopConditions: [stop], clock: fakeClock(), finish: never, abort: abort.signal, tell };
    const run = runLoop(workflow, loud, { ...alone(loud), ...options });
    const moment = () => new Promise((resolve) => setTimeout(resolve, 5));
    while (heard < 10) await moment();
    await moment();
    expect([heard, said]).toEqual([10, 9]);
    abort.abort("SIGINT");
    release();
    await run;
  });
});

describe("results that wait while another is accepted", () => {
  /** Every three agents that are at work end in the same moment. */
  async function inThrees(together: Workflow<unknown>["together"], outcomeOf?: Parameters<typeof manyUnits>[1]) {
    const { workflow, seen } = manyUnits(7, outcomeOf);
    const { agent, atWork, release } = heldAgent();
    const loaded: number[] = [];
    const whole: typeof workflow = {
      ...workflow,
      load: async (tell) => {
        loaded.push(seen.order.length);
        return workflow.load(tell, false);
      },
    };
    const run = drain({ ...whole, ...(together === undefined ? {} : { together }) }, agent, { jobs: 3 }, () => {
      if (atWork.size === 3 || seen.order.length >= 6) for (const id of [...atWork.keys()]) release(id);
    });
    const { verdict, events } = await run;
    const told = events.flatMap((event) => (event.type === "iteration-ended" ? [event.unit] : []));
    return { verdict, told, seen, loaded };
  }

  test("are accepted together with it, each from the state that the one before left, and told of once written", async () => {
    let written = 0;
    const { verdict, told, seen, loaded } = await inThrees(async (work) => {
      await work();
      written += 1;
    });
    expect(verdict.verdict).toBe("complete");
    expect(written).toBe(3);
    expect(told).toEqual(seen.order);
    // Before each of them, and no other time but at the start.
    expect(loaded).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(seen.mostFolding).toBe(1);
  });

  test("wait on where the workflow takes one at a time", async () => {
    const { verdict, told, seen } = await inThrees(undefined);
    expect(verdict.verdict).toBe("complete");
    expect(told).toEqual(seen.order);
  });

  test("are accepted though another is refused or can't be; what was accepted is told", async () => {
    const full: Verdict = { verdict: "failed", reason: "The disk is full." };
    const { verdict, told, seen, loaded } = await inThrees(
      (work) => work(),
      (id) =>
        id === "u1"
          ? full
          : id === "u0"
            ? { outcome: "refused", reasons: ["no"] }
            : { outcome: "accepted", summary: "" },
    );
    expect(verdict).toEqual(full);
    expect(seen.order).toEqual(["u0", "u1", "u2"]);
    expect(told).toEqual(["u0", "u2"]);
    // What keeps the state from being read by then can't change how the run ends.
    expect(loaded).toEqual([0, 1]);
  });

  test("are not said to have ended where they could not be written", async () => {
    const full: Verdict = { verdict: "failed", reason: "The disk is full." };
    const { verdict, told, seen } = await inThrees(async (work) => {
      await work();
      return full;
    });
    expect(verdict).toEqual(full);
    expect([seen.order.length, told]).toEqual([3, []]);
  });
});

describe("an agent at work is watched", () => {
  const tool: AgentEvent = { type: "tool", name: "Read", detail: "" };
  const usage = (input: number, more: object = {}): AgentEvent => ({
    type: "usage",
    usage: { input, cached: 0, output: 0, requests: 1 },
    ...more,
  });
  const spender = (...events: AgentEvent[]): Agent => ({
    ...named("spender"),
    async *run(_brief, { signal }) {
      for (const event of events) {
        if (signal.aborted)
          return yield { type: "end", message: "", failure: { kind: "aborted", message: "It was aborted." } };
        yield event;
      }
      yield end;
    },
  });
  const tooMuch: NonNullable<LoopOptions["watches"]>[number] = ({ run }) =>
    run.usage.input > 20
      ? { end: { kind: "budget", message: "Too much." } }
      : run.usage.input > 10
        ? { warning: "Much." }
        : undefined;
  const ended = (events: readonly LoopEvent[]) =>
    events.flatMap((event) => (event.type === "iteration-ended" ? [event] : []));

  test("a warning is told once, an alarm ends the iteration with what it had used", async () => {
    const { workflow } = manyUnits(1);
    const agent = spender(usage(11), usage(12), tool, usage(30), tool, usage(99));
    const { events } = await drain(workflow, agent, { watches: [tooMuch], stopConditions: [limitIterations(1)] });
    expect(events.filter(({ type }) => type === "notice")).toHaveLength(1);
    expect(ended(events)[0]).toMatchObject({
      outcome: { outcome: "failed", failure: { kind: "budget" } },
      usage: { input: 30 },
    });
  });

  test.each([
    ["a tool call in the same answer", [usage(30), tool]],
    ["a further request", [usage(30), usage(60), usage(61)]],
  ])("an alarm ends the iteration before what follows %s", async (_what, events) => {
    const { workflow } = manyUnits(1);
    const agent = spender(...events, usage(99));
    const all = await drain(workflow, agent, { watches: [tooMuch], stopConditions: [limitIterations(1)] });
    expect(ended(all.events)[0]).toMatchObject({ outcome: { outcome: "failed", failure: { kind: "budget" } } });
    expect(ended(all.events)[0]?.usage?.input).toBeLessThan(99);
  });

  const answer: AgentEvent = { type: "text", text: "The answer." };
  test.each([
    ["in several events", [tool, usage(8), usage(30), answer, usage(30)]],
    ["at once, without a tool", [usage(30), answer]],
  ])("an answer already given is kept, whatever it used: it may come %s", async (_how, given) => {
    const { workflow } = manyUnits(1);
    const agent = spender(...given, usage(31, { final: true }));
    const { events, verdict } = await drain(workflow, agent, { watches: [tooMuch] });
    expect(verdict.verdict).toBe("complete");
    expect(ended(events)[0]).toMatchObject({ outcome: { outcome: "accepted" }, usage: { input: 31 } });
  });

  test("what is found after an iteration is told once a run", async () => {
    const { workflow } = manyUnits(3);
    const { events } = await drain(workflow, spender(usage(1)), { reviews: [({ run }) => `Untold by ${run.agent}.`] });
    expect(ended(events)).toHaveLength(3);
    expect(events.filter(({ type }) => type === "notice")).toMatchObject([
      { level: "warning", message: "Untold by spender." },
    ]);
  });

  test("whoever has finished keeps the work, however much it used", async () => {
    const { workflow } = manyUnits(1);
    const { events, verdict } = await drain(workflow, spender(usage(99, { final: true })), { watches: [tooMuch] });
    expect(verdict.verdict).toBe("complete");
    expect(ended(events)[0]).toMatchObject({ outcome: { outcome: "accepted" }, usage: { input: 99 } });
  });
});

test("a change of agents is announced with its reason, on the way there and back", async () => {
  const { workflow } = manyUnits(3);
  const [first, second] = [named("first"), named("second")];
  const { events } = await drain(workflow, first, {
    choose: ({ iterations }) =>
      iterations.length === 1
        ? { agent: second, reason: "first is at its limit." }
        : { agent: first, reason: "first is back." },
  });
  expect(events.filter(({ type }) => type === "agent-changed")).toMatchObject([
    { from: "first", to: "second", reason: "first is at its limit." },
    { from: "second", to: "first", reason: "first is back." },
  ]);
});
