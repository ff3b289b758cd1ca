import { describe, expect, test } from "vitest";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import type {
  Agent,
  AgentEvent,
  Notes,
  Outcome,
  Unit,
  Verdict,
  Workflow,
  LiveIteration,
  LoopOptions,
  RunOptions,
  RunSoFar,
} from "../../../src/engine/loop/types.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import { newRun, withEvent } from "../../../src/engine/loop/run-record/agent-run.js";
import { openLanes, type LaneOptions } from "../../../src/engine/loop/lanes.js";
import { remembered } from "./remembered.js";
import { live, named, soFar, unit } from "./runs.js";
import { alone } from "../../support/processes/alone.js";

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
    brief: async (_state, _unit, _prepared, given) => {
      notes.push(given);
      iteration += 1;
      const access = { web: false, read: false, everything: false };
      return { brief: { iteration, text: "do it", tokens: 2, workspace: "/nowhere", access }, context: undefined };
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

type Over = Partial<Omit<LoopOptions, "tell">>;

async function run(workflow: Workflow<number>, agent: Agent, over: Over = {}) {
  const { verdict, events } = await drain(workflow, agent, over);
  return { verdict, events, types: events.map((event) => event.type) };
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

  test("sees before the next iteration what a hook changed at the end of one", async () => {
    const { workflow } = listWorkflow([accepted, accepted]);
    const types: string[] = [];
    const blocked: Verdict = { verdict: "blocked", reason: "A hook wrote so." };
    const load: typeof workflow.load = async (...args) =>
      types.includes("iteration-ended") ? blocked : await workflow.load(...args);
    const tell: LoopOptions["tell"] = async ({ type }) => void types.push(type);
    expect(await runLoop({ ...workflow, load }, agentThatSays(end), { tell })).toEqual(blocked);
    expect(types.filter((type) => type === "iteration-started")).toHaveLength(1);
  });

  test("starts no agent when there is nothing to do", async () => {
    const { verdict, types } = await run(listWorkflow([]).workflow, agentThatSays(end));
    expect(verdict.verdict).toBe("complete");
    expect(types).toEqual(["run-started", "run-ended"]);
  });

  test("finishing on the last allowed iteration is complete, not limit", async () => {
    const { verdict } = await run(listWorkflow([accepted, accepted]).workflow, agentThatSays(end), {
      stopConditions: [limitIterations(2)],
    });
    expect(verdict.verdict).toBe("complete");
  });

  test("stops at a stop condition's verdict before the next agent is started", async () => {
    const { verdict, types } = await run(listWorkflow([accepted, accepted, accepted]).workflow, agentThatSays(end), {
      stopConditions: [limitIterations(1)],
    });
    expect(verdict.verdict).toBe("limit");
    expect(types.filter((type) => type === "iteration-started")).toHaveLength(1);
  });

  test("waits as long as a stop condition asks, then looks again", async () => {
    const clock = fakeClock();
    const until = clock.now() + 60_000;
    const { verdict, types } = await run(listWorkflow([accepted]).workflow, agentThatSays(end), {
      clock,
      stopConditions: [({ now }) => (now < until ? { until, reason: "busy" } : undefined)],
    });
    expect(verdict.verdict).toBe("complete");
    expect(types.slice(0, 3)).toEqual(["run-started", "waiting", "iteration-started"]);
    expect(clock.now()).toBeGreaterThanOrEqual(until);
  });

  test("looks at the files and stop conditions again during a long wait, and announces it once", async () => {
    const clock = fakeClock();
    const until = clock.now() + 60_000;
    let asked = 0;
    const { verdict, types } = await run(listWorkflow([accepted]).workflow, agentThatSays(end), {
      clock,
      stopConditions: [
        () => ({ until, reason: "busy" }),
        () => ((asked += 1) > 3 ? { verdict: "blocked", reason: "PAUSE" } : undefined),
      ],
    });
    expect(verdict.verdict).toBe("blocked");
    expect(clock.now()).toBeLessThan(until);
    expect(types).toEqual(["run-started", "waiting", "run-ended"]);
  });

  test("a verdict of one stop condition beats the delay of another", async () => {
    const { verdict, types } = await run(listWorkflow([accepted]).workflow, agentThatSays(end), {
      stopConditions: [
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
    expect(notes.map(({ refusal }) => refusal)).toEqual([undefined, ["no number"], undefined]);
  });

  test("folds the agent's stream into one run: last usage, last model, the end's message", async () => {
    let seen: unknown;
    const { workflow } = listWorkflow([accepted], {
      accept: async (_state, _unit, done) => {
        seen = "run" in done ? done.run : undefined;
        return { outcome: "failed", failure: { kind: "crashed", message: "stop here" } };
      },
    });
    const usage = (input: number) => ({ type: "usage" as const, usage: { input, cached: 0, output: 1, requests: 1 } });
    await run(
      workflow,
      agentThatSays({ ...usage(10), model: "m1" }, { ...usage(25), cost_usd: 0.5 }, { type: "end", message: "bye" }),
      { stopConditions: [limitIterations(1)] },
    );
    expect(seen).toMatchObject({
      iteration: 1,
      agent: "scripted",
      message: "bye",
      model: "m1",
      cost_usd: 0.5,
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

  test("a bug in a part of ours goes through", async () => {
    const { workflow } = listWorkflow([accepted], {
      accept: async () => {
        throw new TypeError("ours");
      },
    });
    await expect(run(workflow, agentThatSays(end))).rejects.toThrow("ours");
  });
});
const aborted: AgentEvent = { type: "end", message: "", failure: { kind: "aborted", message: "It was aborted." } };
const usage = (input: number, more: object = {}, requests = 1): AgentEvent => ({
  type: "usage",
  usage: { input, cached: 0, output: 0, requests },
  ...more,
});
const tool: AgentEvent = { type: "tool", name: "Read", detail: "" };
const never = new AbortController().signal;

/** An agent that says these events, and ends early once it is aborted. */
const saying = (...events: AgentEvent[]): Agent & { readonly given: RunOptions[]; readonly said: AgentEvent[] } => {
  const given: RunOptions[] = [];
  const said: AgentEvent[] = [];
  return {
    ...named("saying"),
    given,
    said,
    async *run(_brief, options) {
      given.push(options);
      for (const event of events) {
        if (options.signal.aborted) return yield aborted;
        said.push(event);
        yield event;
      }
      yield options.signal.aborted ? aborted : end;
    },
  };
};

describe("a run is the fold of what its agent says", () => {
  const { brief } = live({}).run;
  const begin = (agent: Partial<Agent> = {}) =>
    newRun({ ...named("claude"), confinement: "unconfined", ...agent }, brief, 5);

  test("from nothing: no use, no words", () => {
    expect(begin()).toEqual({
      iteration: 2,
      agent: "claude",
      confinement: "unconfined",
      startedAt: 5,
      endedAt: 5,
      usage: { input: 0, cached: 0, output: 0, requests: 0 },
      brief,
      message: "",
    });
  });

  test("of an agent that costs nothing says so", () => {
    expect(begin({ free: true })).toMatchObject({ free: true });
    expect(begin()).not.toHaveProperty("free");
  });

  test("with the last use that was told, whatever comes with it, and the model of an earlier one", () => {
    const first = begin();
    const run = [usage(10, { model: "m", window: 9, billing: "subscription" }), usage(20, { final: true })].reduce(
      withEvent,
      first,
    );
    expect(run).toEqual({
      ...first,
      model: "m",
      window: 9,
      billing: "subscription",
      usage: { input: 20, cached: 0, output: 0, requests: 1 },
      digest: run.digest,
    });
  });

  test("with a cost that the CLI reports in the place of our estimate, and an estimate marked as one", () => {
    const first = begin();
    const guess = withEvent(first, usage(1, { cost_usd: 0.5, estimated: true }));
    expect(guess).toMatchObject({ cost_usd: 0.5, estimated: true });
    expect(withEvent(guess, usage(2))).toMatchObject({ cost_usd: 0.5, estimated: true });
    const reported = withEvent(guess, usage(2, { cost_usd: 0.7 }));
    expect(reported.cost_usd).toBe(0.7);
    expect(reported).not.toHaveProperty("estimated");
    expect(withEvent(reported, usage(3, { cost_usd: 0.9, estimated: true }))).toMatchObject({
      cost_usd: 0.9,
      estimated: true,
    });
  });

  test("to its end: the message, and the failure where there is one", () => {
    const first = begin();
    expect(withEvent(first, end)).toMatchObject({ message: "done" });
    expect(withEvent(first, end).failure).toBeUndefined();
    expect(withEvent(first, aborted)).toMatchObject({ message: "", failure: { kind: "aborted" } });
    expect(withEvent(first, { type: "text", text: "Hello." })).toMatchObject({
      message: "",
      digest: { first: "Hello." },
    });
  });
});

/** A workflow over so many units, each done when its outcome is accepted; `over` replaces parts of it. */
function units(count: number, over: Partial<Workflow<number>> = {}, outcomes: Outcome[] = []) {
  let done = 0;
  let iteration = 0;
  const workflow: Workflow<number> = {
    name: "units",
    load: async () => done,
    next: (state, busy) =>
      state + busy.length < count
        ? unit(`u${state + busy.length}`)
        : busy.length > 0
          ? "wait"
          : { verdict: "complete", reason: "All done." },
    progress: (state) => ({ done: state, total: count }),
    brief: async (_state, { id }) => {
      iteration += 1;
      const access = { web: false, read: false, everything: false };
      return { brief: { iteration, text: id, tokens: 7, workspace: `/nowhere/${id}`, access }, context: undefined };
    },
    accept: async () => {
      const outcome = outcomes.shift() ?? accepted;
      if (outcome.outcome === "accepted") done += 1;
      return outcome;
    },
    ...over,
  };
  return workflow;
}

async function drain(workflow: Workflow<number>, agent: Agent, over: Over = {}) {
  const clock = over.clock ?? fakeClock();
  const { events, tell } = listener(clock);
  const options = { stopConditions: [], finish: never, abort: never, ...over, clock, tell };
  return { verdict: await runLoop(workflow, agent, { ...alone(agent), ...options }), events };
}

describe("the events of a run", () => {
  test("tell what is done, by whom, how it went and how far the work is", async () => {
    const clock = fakeClock();
    const agent = named("claude");
    const slow: Agent = {
      ...agent,
      async *run() {
        yield usage(3, { cost_usd: 0.5, estimated: true });
        clock.advance(1500);
        yield end;
      },
    };
    const forecast = { iterations: 3 } as never;
    const account = { spent: { iterations: 0, tokens: 0, usd: 0, minutes: 0 }, budget: {}, forecast };
    const { events } = await drain(units(1, { account: () => account }), slow, { clock });
    const at = "2026-01-01T00:00:00.000Z";
    const later = "2026-01-01T00:00:01.500Z";
    expect(events.filter(({ type }) => type !== "agent")).toEqual([
      { type: "run-started", at, workflow: "units", agent: "claude" },
      {
        type: "iteration-started",
        at,
        iteration: 1,
        unit: "u0",
        phase: "ANALYSIS",
        title: "Paper u0",
        brief_tokens: 7,
        workspace: "/nowhere/u0",
        progress: { done: 0, total: 1 },
        agent: "claude",
        forecast,
      },
      {
        type: "iteration-ended",
        at: later,
        iteration: 1,
        unit: "u0",
        outcome: accepted,
        duration_seconds: 1.5,
        usage: { input: 3, cached: 0, output: 0, requests: 1 },
        cost_usd: 0.5,
        estimated: true,
      },
      {
        type: "run-ended",
        at: later,
        verdict: { verdict: "complete", reason: "All done." },
        progress: { done: 1, total: 1 },
      },
    ]);
    expect(events.filter(({ type }) => type === "agent")[1]).toEqual({
      type: "agent",
      at: later,
      iteration: 1,
      event: end,
    });
  });

  test("name no progress where nothing could be read", async () => {
    const broken: Verdict = { verdict: "failed", reason: "rrd.json is broken." };
    const { events } = await drain(units(1, { load: async () => broken }), named("claude"));
    expect(events).toEqual([
      expect.objectContaining({ type: "run-started" }),
      expect.objectContaining({ type: "run-ended", verdict: broken }),
    ]);
    expect(events.at(-1)).not.toHaveProperty("progress");
  });

  test("tell what goes wrong as the work is put away before the end of the run", async () => {
    const clock = fakeClock();
    const { events, tell } = listener(clock);
    const close = () => tell({ type: "notice", level: "warning", message: "at the end" });
    const agent = named("claude");
    await runLoop(units(0, { close }), agent, {
      ...alone(agent),
      stopConditions: [],
      clock,
      finish: never,
      abort: never,
      tell,
    });
    expect(events.map(({ type }) => type)).toEqual(["run-started", "notice", "run-ended"]);
  });

  test("put the work away once also where a part of it has a bug", async () => {
    let closed = 0;
    const close = async () => void (closed += 1);
    const load = () => Promise.reject(new TypeError("ours"));
    await expect(drain(units(1, { close, load }), named("claude"))).rejects.toThrow("ours");
    expect(closed).toBe(1);
  });

  test("announce another agent where no reason is given by its turn, and only where it is another", async () => {
    const second = named("second");
    const { events } = await drain(units(2), named("first"), { choose: () => ({ agent: second }) });
    expect(events.filter(({ type }) => type === "agent-changed")).toEqual([
      { type: "agent-changed", at: "2026-01-01T00:00:00.000Z", from: "first", to: "second", reason: "It is its turn." },
    ]);
  });
});

describe("before an iteration", () => {
  test("stop conditions and the choice are told the time, what is under way, the books and the memory", async () => {
    const clock = fakeClock();
    const seen: RunSoFar[] = [];
    const account = { spent: { iterations: 1, tokens: 2, usd: 3, minutes: 4 }, budget: {} };
    const memory = remembered();
    const workflow = units(2, { account: () => account, memory: () => memory });
    clock.advance(500);
    await drain(workflow, saying(usage(5, { cost_usd: 0.5 })), {
      clock,
      jobs: 2,
      stopConditions: [(run) => void seen.push(run)],
    });
    expect(seen[0]).toEqual({
      startedAt: clock.now(),
      now: clock.now(),
      sleeps: [],
      iterations: [],
      inFlight: [],
      preparing: 0,
      account,
      memory,
    });
    expect(seen[1]?.inFlight?.map((each) => each.unit.id)).toEqual(["u0"]);
  });

  test("a stop condition that knows the past is given what came of each, with its time and cost", async () => {
    let last: RunSoFar | undefined;
    const agent = saying(usage(5, { cost_usd: 0.5 }));
    await drain(units(2), agent, { stopConditions: [(run) => void (last = run)] });
    const at = Date.parse("2026-01-01T00:00:00Z");
    expect(last?.iterations).toEqual([
      {
        iteration: 1,
        unit: unit("u0"),
        agent: "saying",
        outcome: accepted,
        startedAt: at,
        endedAt: at,
        usage: { input: 5, cached: 0, output: 0, requests: 1 },
        cost_usd: 0.5,
      },
    ]);
  });

  test("the agent is given what it may cost and take, where that is limited", async () => {
    const agent = saying();
    await drain(units(1), agent, { choose: () => ({ agent, maxUsd: 0.5, maxMs: 9 }) });
    expect(agent.given[0]).toMatchObject({ maxUsd: 0.5, maxMs: 9 });
    await drain(units(1), agent);
    expect([agent.given[1]?.maxUsd, agent.given[1]?.maxMs]).toEqual([undefined, undefined]);
  });

  test("nothing is read once it is said how the run ends", async () => {
    let reads = 0;
    const full: Verdict = { verdict: "failed", reason: "The disk is full." };
    const workflow = units(3, { load: async () => (reads += 1) && 0, accept: async () => full });
    expect((await drain(workflow, saying(), { jobs: 2 })).verdict).toEqual(full);
    expect(reads).toBe(1);
  });

  test("a watch is told the run so far as a stop condition is", async () => {
    const seen: RunSoFar[] = [];
    await drain(units(2), saying(usage(1)), { watches: [(_live, run) => void seen.push(run)] });
    expect(seen.map(({ startedAt, iterations }) => [startedAt, iterations.length])).toEqual([
      [fakeClock().now(), 0],
      [fakeClock().now(), 1],
    ]);
  });

  test("a choice may be to wait, or how the run ends: no brief is made then", async () => {
    const clock = fakeClock();
    const until = clock.now() + 60_000;
    const agent = saying();
    const blocked: Verdict = { verdict: "blocked", reason: "Nobody is logged in." };
    const workflow = units(2);
    const { brief } = workflow;
    const briefed: number[] = [];
    const choose: LoopOptions["choose"] = ({ now, iterations }) =>
      iterations.length > 0 ? blocked : now < until ? { until, reason: "It is at its limit." } : { agent };
    const { verdict, events } = await drain(
      { ...workflow, brief: (...given) => (briefed.push(clock.now()), brief(...given)) },
      agent,
      { clock, choose },
    );
    expect([verdict, briefed]).toEqual([blocked, [until]]);
    expect(events.filter(({ type }) => type === "waiting")).toMatchObject([
      { until: new Date(until).toISOString(), reason: "It is at its limit." },
    ]);
  });

  test("the agent of a role that has none of its own is changed as that of all others", async () => {
    const [first, second] = [named("claude"), named("codex")];
    const workflow = units(2);
    const { next } = workflow;
    const roles: Workflow<number>["next"] = (...given) => {
      const found = next(...given);
      return typeof found === "object" && "id" in found ? { ...found, role: found.id } : found;
    };
    const { events } = await drain({ ...workflow, next: roles }, first, {
      choose: ({ iterations }) => ({ agent: iterations.length === 0 ? first : second }),
    });
    expect(events.filter(({ type }) => type === "agent-changed")).toMatchObject([{ from: "claude", to: "codex" }]);
  });

  test("a finished run that its workflow calls stale is a bug of ours: it was paid for", async () => {
    await expect(drain(units(1, { accept: async () => "stale" }), saying())).rejects.toThrow(
      "units calls the finished run of u0 stale",
    );
  });

  test("a workflow that waits for nothing is a bug of ours", async () => {
    await expect(drain(units(1, { next: () => "wait" }), saying())).rejects.toThrow(
      "units waits although nothing is under way",
    );
  });

  test("a verdict of a brief ends the run after what is under way was accepted", async () => {
    const full: Verdict = { verdict: "failed", reason: "The disk is full." };
    const workflow = units(3);
    const { brief } = workflow;
    let made = 0;
    const failing: Workflow<number> = {
      ...workflow,
      brief: async (...given) => ((made += 1) === 2 ? full : brief(...given)),
    };
    const { verdict, events } = await drain(failing, saying(), { jobs: 2 });
    expect(verdict).toEqual(full);
    expect(events.filter(({ type }) => type === "iteration-ended")).toHaveLength(1);
  });
});

describe("a wait", () => {
  test("is announced again when it lasts longer than was said, and is over when it is over", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const until = () => start + (clock.now() < start + 3_000 ? 6_000 : 9_000);
    const { events } = await drain(units(1), saying(), {
      clock,
      stopConditions: [({ now }) => (now < start + 9_000 ? { until: until(), reason: "busy" } : undefined)],
    });
    expect(events.filter(({ type }) => type === "waiting")).toEqual([
      { type: "waiting", at: "2026-01-01T00:00:00.000Z", until: "2026-01-01T00:00:06.000Z", reason: "busy" },
      { type: "waiting", at: "2026-01-01T00:00:05.000Z", until: "2026-01-01T00:00:09.000Z", reason: "busy" },
    ]);
  });

  test("looks at the files every five seconds", async () => {
    const clock = fakeClock();
    const start = clock.now();
    const looked: number[] = [];
    const load = async () => looked.push(clock.now() - start) && 0;
    await drain(
      units(0, {
        load,
        next: () => (clock.now() >= start + 12_000 ? { verdict: "complete", reason: "" } : unit("u0")),
      }),
      saying(),
      { clock, stopConditions: [({ now }) => ({ until: Math.max(start + 12_000, now), reason: "busy" })] },
    );
    expect(looked).toEqual([0, 5_000, 10_000, 12_000]);
  });

  test("of no time at all is not announced", async () => {
    let asked = 0;
    const stopCondition: NonNullable<LoopOptions["stopConditions"]>[number] = ({ now }) =>
      (asked += 1) === 1 ? { until: now, reason: "over already" } : undefined;
    const { events } = await drain(units(1), saying(), { stopConditions: [stopCondition] });
    expect(events.map(({ type }) => type)).not.toContain("waiting");
  });

  test("is none while an agent is at work and nothing else can be started", async () => {
    const stopCondition: NonNullable<LoopOptions["stopConditions"]>[number] = ({ now, inFlight = [] }) =>
      inFlight.length > 0 ? { until: now + 60_000, reason: "busy" } : undefined;
    const { events } = await drain(units(1), saying(), { jobs: 2, stopConditions: [stopCondition] });
    expect(events.map(({ type }) => type)).not.toContain("waiting");
  });

  test("of the run is none for those at work: what they say goes on, and when it is over another is started", async () => {
    const clock = fakeClock();
    const until = clock.now() + 1_000;
    let release = () => {};
    const held: Agent = {
      ...named("held"),
      async *run({ text }) {
        if (text === "u0") await new Promise<void>((resolve) => (release = resolve));
        else release();
        yield end;
      },
    };
    const stopCondition: NonNullable<LoopOptions["stopConditions"]>[number] = ({ now, inFlight = [] }) =>
      inFlight.length === 1 && now < until ? { until, reason: "busy" } : undefined;
    const { verdict, events } = await drain(units(2), held, { clock, jobs: 2, stopConditions: [stopCondition] });
    expect(verdict.verdict).toBe("complete");
    expect(events.map(({ type }) => type).filter((type) => type !== "agent")).toEqual([
      "run-started",
      "iteration-started",
      "waiting",
      "iteration-started",
      "iteration-ended",
      "iteration-ended",
      "run-ended",
    ]);
  });
});

describe("agents in their lanes", () => {
  const brief = (iteration: number) => ({ ...live({}).run.brief, iteration, text: `${iteration}` });
  const open = (over: Partial<LaneOptions> = {}) =>
    openLanes<number, Unit, undefined, undefined>({
      clock: fakeClock(),
      jobs: 1,
      finish: never,
      abort: never,
      tell: async () => undefined,
      watches: [],
      reviews: [],
      soFar: () => soFar([]),
      ...over,
    });
  type Opened = ReturnType<typeof open>;
  /** The run that ends next, or what comes instead of it. */
  async function ended(lanes: Opened, until?: number) {
    const whole = await lanes.next(until);
    return whole !== undefined && "run" in whole ? whole : undefined;
  }
  const spent = ({ run }: LiveIteration) => run.usage.input;
  const tooMuch: LaneOptions["watches"][number] = (at) =>
    spent(at) > 20 ? { end: { kind: "budget", message: "Too much." } } : undefined;
  const run = async (agent: Agent, over: Partial<LaneOptions> = {}) => {
    const { events, tell } = listener(over.clock ?? fakeClock());
    const lanes = open({ watches: [tooMuch], tell, ...over });
    lanes.start({ agent, unit: unit("u0"), brief: brief(1), context: undefined });
    const whole = await ended(lanes);
    await lanes.close();
    return { events, whole };
  };

  test("have room up to their number, until the one that ended was heard", async () => {
    const lanes = open({ jobs: 2 });
    expect([lanes.hasRoom(), lanes.inFlight()]).toEqual([true, []]);
    lanes.start({ agent: saying(), unit: unit("u0"), brief: brief(1), context: undefined });
    expect(lanes.hasRoom()).toBe(true);
    lanes.start({ agent: saying(), unit: unit("u1"), brief: brief(2), context: undefined });
    expect(lanes.hasRoom()).toBe(false);
    expect(lanes.inFlight().map((each) => [each.unit.id, each.run.iteration])).toEqual([
      ["u0", 1],
      ["u1", 2],
    ]);
    await ended(lanes);
    expect([lanes.hasRoom(), lanes.inFlight().length]).toEqual([true, 1]);
    await lanes.close();
  });

  test.each(["finish", "abort"] as const)(
    "tell a preparation that begins after the %s to end at once",
    async (which) => {
      const over = new AbortController();
      over.abort("SIGINT");
      const lanes = open({ [which]: over.signal });
      lanes.prepare(unit("u0"), 0, async ({ aborted, reason }) => ({
        verdict: "failed",
        reason: `${aborted} ${reason}`,
      }));
      expect(await lanes.next()).toMatchObject({ prepared: { reason: "true SIGINT" }, wasAborted: true });
      await lanes.close();
    },
  );

  test("with nobody at work listen for nothing, or sleep until it is time or the run is to end", async () => {
    const clock = fakeClock();
    const lanes = open({ clock });
    expect(await lanes.next()).toBeUndefined();
    expect(await lanes.next(clock.now() + 500)).toBeUndefined();
    expect(clock.now()).toBe(fakeClock().now() + 500);
    const finish = new AbortController();
    finish.abort("SIGINT");
    await open({ clock, finish: finish.signal }).next(clock.now() + 500);
    expect(clock.now()).toBe(fakeClock().now() + 500);
  });

  test("tell the end of each with its own time", async () => {
    const clock = fakeClock();
    const { whole } = await run(
      {
        ...named("slow"),
        async *run() {
          clock.advance(700);
          yield end;
        },
      },
      { clock },
    );
    expect(whole?.run).toMatchObject({
      startedAt: fakeClock().now(),
      endedAt: fakeClock().now() + 700,
      message: "done",
      failure: undefined,
    });
  });

  test("end one that calls a tool after the alarm, or asks the model again, at once", async () => {
    for (const more of [[tool], [usage(31)], [usage(30, {}, 2)]]) {
      const agent = saying(usage(30), ...more, { type: "text", text: "on and on" });
      expect((await run(agent)).whole?.run.failure).toEqual({ kind: "budget", message: "Too much." });
      expect(agent.said).toHaveLength(2);
    }
  });

  test("end one that had called a tool before the alarm with the alarm itself", async () => {
    const agent = saying(tool, usage(30), { type: "text", text: "on and on" });
    expect((await run(agent)).whole?.run.failure).toMatchObject({ kind: "budget" });
    expect(agent.said).toHaveLength(2);
    const twice = saying(usage(10), tool, usage(10), usage(30), tool, { type: "text", text: "on" });
    expect((await run(twice)).whole?.run.failure).toMatchObject({ kind: "budget" });
  });

  test("end one whose use is told again, by the calls of the same answer", async () => {
    const again = (output: number): AgentEvent => ({
      type: "usage",
      usage: { input: 5, cached: 0, output, requests: 1 },
    });
    const chatty: LaneOptions["watches"][number] = ({ run: { usage: used } }) =>
      used.output > 20 ? { end: { kind: "budget", message: "Too much." } } : undefined;
    const agent = saying(tool, again(1), again(30), { type: "text", text: "on and on" });
    expect((await run(agent, { watches: [chatty] })).whole?.run.failure).toMatchObject({ kind: "budget" });
    expect(agent.said).toHaveLength(3);
  });

  test("say nothing where a watch or a review has nothing to say, and warn later all the same", async () => {
    const watch: LaneOptions["watches"][number] = (each) => (spent(each) > 10 ? { warning: "Much." } : undefined);
    const { events } = await run(saying(usage(1), usage(11)), {
      watches: [watch, () => ({})],
      reviews: [() => undefined],
    });
    expect(events.filter(({ type }) => type === "notice")).toMatchObject([{ message: "Much." }]);
    expect((await run(saying(usage(30), tool))).events.filter(({ type }) => type === "notice")).toEqual([]);
  });

  test("end a sleep that nobody waits for any more", async () => {
    const signals: AbortSignal[] = [];
    const clock: LaneOptions["clock"] = {
      now: () => 0,
      sleep: (_until, signal) =>
        new Promise((resolve) => (signals.push(signal), signal.addEventListener("abort", () => resolve()))),
    };
    const lanes = open({ clock });
    lanes.start({ agent: saying(), unit: unit("u0"), brief: brief(1), context: undefined });
    await lanes.next(500);
    await lanes.close();
    expect(signals.map(({ aborted: over }) => over)).toEqual([true]);
  });

  test("keep an answer that was given: no tool after it, or the last word of its use", async () => {
    const answer: AgentEvent = { type: "text", text: "The answer." };
    for (const events of [
      [usage(30), answer],
      [tool, usage(5), usage(30), answer, usage(30)],
      [usage(30), usage(30), usage(40, { final: true })],
      [usage(40, { final: true }), tool],
    ]) {
      const { whole } = await run(saying(...events));
      expect(whole?.run.failure).toBeUndefined();
      expect(whole?.run.message).toBe("done");
    }
  });

  test("keep what an agent failed by itself apart from an alarm, and an abort of ours from both", async () => {
    const idle: AgentEvent = { type: "end", message: "", failure: { kind: "idle", message: "It was idle." } };
    const { whole } = await run({
      ...named("idle"),
      async *run() {
        yield usage(30);
        yield idle;
      },
    });
    expect(whole?.run.failure).toMatchObject({ kind: "idle" });
    const abort = new AbortController();
    const answer = await run(
      {
        ...named("aborted"),
        async *run() {
          yield usage(30);
          abort.abort("SIGINT");
          yield aborted;
        },
      },
      { abort: abort.signal },
    );
    expect(answer.whole?.run.failure).toMatchObject({ kind: "aborted" });
    const alone = await run({
      ...named("itself"),
      async *run() {
        yield aborted;
      },
    });
    expect(alone.whole?.run.failure).toMatchObject({ kind: "aborted" });
  });

  test("hand the reason of an abort on, also to one that is started after it", async () => {
    const abort = new AbortController();
    const reasons: unknown[] = [];
    const noting: Agent = {
      ...named("noting"),
      async *run(_brief, { signal }) {
        yield usage(1);
        reasons.push(signal.reason);
        yield end;
      },
    };
    const lanes = open({ abort: abort.signal, jobs: 2 });
    lanes.start({ agent: noting, unit: unit("u0"), brief: brief(1), context: undefined });
    abort.abort("SIGTERM");
    lanes.start({ agent: noting, unit: unit("u1"), brief: brief(2), context: undefined });
    await ended(lanes);
    await ended(lanes);
    await lanes.close();
    expect(reasons).toEqual(["SIGTERM", "SIGTERM"]);
  });

  test("tell a watch of the run so far, of the others, and its warning once while another's is still told", async () => {
    const clock = fakeClock();
    const seen: RunSoFar[] = [];
    const watch: LaneOptions["watches"][number] = (_at, run) => {
      seen.push(run);
      return { warning: "Much." };
    };
    const other: LaneOptions["watches"][number] = () => ({ warning: "Too full." });
    clock.advance(250);
    const { events } = await run(saying(usage(1), usage(1), usage(1)), { clock, watches: [watch, other] });
    expect(events.filter(({ type }) => type === "notice")).toEqual([
      { type: "notice", at: "2026-01-01T00:00:00.250Z", level: "warning", message: "Much." },
      { type: "notice", at: "2026-01-01T00:00:00.250Z", level: "warning", message: "Too full." },
    ]);
    expect(seen[0]).toEqual({ ...soFar([]), inFlight: [] });
  });

  test("tell a watch of those beside the one it is asked about, and not of itself", async () => {
    const seen: (readonly number[])[] = [];
    const lanes = open({
      jobs: 2,
      watches: [
        ({ run }, { inFlight = [] }) => void seen.push([run.iteration, ...inFlight.map((each) => each.run.iteration)]),
      ],
    });
    lanes.start({ agent: saying(usage(1)), unit: unit("u0"), brief: brief(1), context: undefined });
    lanes.start({ agent: saying(usage(1)), unit: unit("u1"), brief: brief(2), context: undefined });
    await ended(lanes);
    await ended(lanes);
    await lanes.close();
    expect(seen.toSorted()).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  test("of two alarms keep the first, and ask no watch again after it", async () => {
    let asked = 0;
    const first: LaneOptions["watches"][number] = () => ({ end: { kind: "budget", message: "First." } });
    const second: LaneOptions["watches"][number] = () => (
      (asked += 1),
      { end: { kind: "context", message: "Second." } }
    );
    const { whole } = await run(saying(usage(1), usage(1), usage(2)), { watches: [first, second] });
    expect(whole?.run.failure).toEqual({ kind: "budget", message: "First." });
    expect(asked).toBe(1);
  });

  test("say nothing more once they are closed", async () => {
    let said = 0;
    let heard = 0;
    const loud: Agent = {
      ...named("loud"),
      async *run(_brief, { signal }) {
        for (; !signal.aborted && said < 10_000; said += 1) yield { type: "text", text: "more" };
        yield end;
      },
    };
    let release = () => {};
    const tell = () => ((heard += 1), new Promise<void>((resolve) => (release = resolve)));
    const lanes = open({ tell });
    lanes.start({ agent: loud, unit: unit("u0"), brief: brief(1), context: undefined });
    while (heard === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([said, heard]).toEqual([0, 1]);
    const closed = lanes.close();
    release();
    await closed;
    expect([said <= 1, heard]).toEqual([true, 1]);
  });

  test("return what ended although time is up, and nothing at that time while all are at work", async () => {
    const clock = fakeClock();
    const abort = new AbortController();
    const held: Agent = {
      ...named("held"),
      async *run(_brief, { signal }) {
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield aborted;
      },
    };
    const lanes = open({ clock, abort: abort.signal });
    lanes.start({ agent: held, unit: unit("u0"), brief: brief(1), context: undefined });
    expect(await lanes.next(clock.now() + 300)).toBeUndefined();
    abort.abort("SIGINT");
    expect((await ended(lanes))?.unit.id).toBe("u0");
    await lanes.close();
  });
});

test("the loop leaves no listener on the signals it was given", async () => {
  const abort = new AbortController();
  let added = 0;
  let removed = 0;
  const signal = new Proxy(abort.signal, {
    get(target, key) {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        if (given[0] !== "abort") return Reflect.apply(value, target, given) as unknown;
        if (key === "addEventListener") added += 1;
        if (key === "removeEventListener") removed += 1;
        return Reflect.apply(value, target, given) as unknown;
      };
    },
  });
  await drain(units(2), saying(), { abort: signal, stopConditions: [limitIterations(9)] });
  expect([added > 0, added - removed]).toEqual([true, 0]);
});
