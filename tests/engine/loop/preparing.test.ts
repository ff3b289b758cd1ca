import { describe, expect, onTestFinished, test, vi } from "vitest";
import { limitIterations, limitWallTime } from "../../../src/engine/loop/stop-conditions/limits.js";
import { stopWithoutResult } from "../../../src/engine/loop/stop-conditions/stuck.js";
import { firstAvailable, stopAfterFailures } from "../../../src/engine/loop/retry.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import type {
  Agent,
  Delayed,
  StopCondition,
  LoopEvent,
  LoopOptions,
  Outcome,
  Prepared,
  RunSoFar,
  Unit,
  Verdict,
  Work,
  Workflow,
} from "../../../src/engine/loop/types.js";
import { fakeClock } from "../../support/clock.js";
import { listener } from "../../support/network/listener.js";
import { named, unit } from "./runs.js";
import { alone } from "../../support/processes/alone.js";
import { researchWords } from "../../../src/research/project-files/words.js";

type State = { readonly done: readonly string[]; readonly edits: number };
type Prepare = (unit: Unit, work: Work) => Promise<Prepared<string> | Verdict>;

const ready = async ({ id }: Unit): Promise<Prepared<string>> => ({ ready: `text of ${id}` });

/** Units `u0` to `u<count - 1>`, prepared as told, each done once it is accepted. */
function prepared(count: number, prepare: Prepare = ready, outcome: Outcome = { outcome: "accepted", summary: "" }) {
  const all = Array.from({ length: count }, (_, index) => unit(`u${index}`));
  let state: State = { done: [], edits: 0 };
  let iteration = 0;
  const seen = {
    prepared: [] as string[],
    briefed: [] as string[],
    accepted: [] as string[],
    later: [] as (readonly Delayed[])[],
    prepareMs: [] as (number | undefined)[],
  };
  const workflow: Workflow<State, Unit, string, string> = {
    name: "prepared",
    load: async () => state,
    next: ({ done }, busy, later) => {
      seen.later.push(later);
      const isPutOff = (id: string) => later.some((each) => each.unit.id === id);
      const left = all.filter(({ id }) => !done.includes(id) && !busy.some((each) => each.id === id));
      const first = left.find(({ id }) => !isPutOff(id));
      if (first !== undefined) return first;
      if (busy.length > 0) return "wait";
      return left.length > 0
        ? { verdict: "blocked", reason: later.map(({ reason }) => reason).join(" ") }
        : { verdict: "complete", reason: "All done." };
    },
    progress: ({ done }) => ({ done: done.length, total: count }),
    prepare: async (_state, one, work) => {
      seen.prepared.push(one.id);
      return await prepare(one, work);
    },
    brief: async (_state, { id }, text) => {
      seen.briefed.push(text);
      iteration += 1;
      const access = { web: false, read: false, everything: false };
      return { brief: { iteration, text: id, tokens: 1, workspace: "/nowhere", access }, context: `brief of ${id}` };
    },
    accept: async (_state, { id }, done) => {
      seen.accepted.push("run" in done ? done.context : `settled ${done.prepared}`);
      seen.prepareMs.push(done.prepareMs);
      if (outcome.outcome === "accepted") state = { ...state, done: [...state.done, id] };
      return outcome;
    },
  };
  return { workflow, seen, edit: () => (state = { ...state, edits: state.edits + 1 }) };
}

type Over = Partial<Omit<LoopOptions, "tell">> & { readonly heard?: (event: LoopEvent) => void };

async function run(workflow: Workflow<State, Unit, string, string>, agent: Agent, { heard, ...over }: Over = {}) {
  const never = new AbortController().signal;
  const clock = over.clock ?? fakeClock();
  const { events, tell: keep } = listener(clock);
  const tell: typeof keep = async (told) => {
    await keep(told);
    const last = events.at(-1);
    if (last !== undefined) heard?.(last);
  };
  const verdict = await runLoop(workflow, agent, {
    ...alone(agent),
    stopConditions: [],
    finish: never,
    abort: never,
    ...over,
    clock,
    tell,
  });
  return { verdict, events, types: events.map(({ type }) => type).filter((type) => type !== "agent") };
}

/** A promise, and how to keep it. */
function promise() {
  let keep = () => {};
  const kept = new Promise<void>((resolve) => (keep = resolve));
  return { kept, keep };
}

/** An agent whose work on a unit lasts until `work` is over. */
const working = (work: (unit: string, signal: AbortSignal) => Promise<void>): Agent => ({
  ...named("working"),
  async *run({ text }, { signal }) {
    await work(text, signal);
    yield { type: "end", message: "" };
  },
});

const started = (events: readonly LoopEvent[]) => events.filter(({ type }) => type === "iteration-started").length;

describe("a unit is prepared before it is briefed", () => {
  test("and told of, with what a preparation brings handed to the brief, and what a brief knew to its acceptance", async () => {
    const clock = fakeClock();
    const slow: Prepare = async (one) => (clock.advance(1500), await ready(one));
    const { workflow, seen } = prepared(1, slow);
    const { verdict, events, types } = await run(workflow, named("claude"), { clock });
    expect(verdict.verdict).toBe("complete");
    expect(types).toEqual([
      "run-started",
      "preparing",
      "prepared",
      "iteration-started",
      "iteration-ended",
      "run-ended",
    ]);
    expect(events[1]).toMatchObject({ type: "preparing", unit: "u0", phase: "ANALYSIS", title: "Paper u0" });
    expect(events[2]).toMatchObject({ type: "prepared", unit: "u0", outcome: "ready", duration_seconds: 1.5 });
    expect(seen).toMatchObject({ briefed: ["text of u0"], accepted: ["brief of u0"], prepareMs: [1500] });
  });

  test("the next one while an agent is at work on the one before, also with one lane, and no more than one ahead", async () => {
    const second = promise();
    const { workflow, seen } = prepared(3, async (one) => {
      if (one.id === "u1") second.keep();
      return await ready(one);
    });
    // Reading the first unit takes until the second is prepared: with look-ahead broken this never ends.
    const ahead: string[][] = [];
    const agent = working(async (id) => {
      await second.kept;
      await new Promise((resolve) => setTimeout(resolve, 5));
      ahead.push([id, ...seen.prepared]);
    });
    await run(workflow, agent);
    expect(ahead).toEqual([
      ["u0", "u0", "u1"],
      ["u1", "u0", "u1", "u2"],
      ["u2", "u0", "u1", "u2"],
    ]);
  });

  test("as many at a time as there are free lanes", async () => {
    let most = 0;
    let now = 0;
    const { workflow } = prepared(9, async (one) => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setTimeout(resolve, 2));
      now -= 1;
      return await ready(one);
    });
    await run(workflow, named("claude"), { jobs: 3 });
    expect(most).toBe(3);
  });

  test("once, also where a refused unit goes before it and holds the one lane while it is prepared again", async () => {
    const { workflow, seen } = prepared(2);
    let refused = 0;
    const { accept } = workflow;
    const refusing: typeof workflow = {
      ...workflow,
      accept: async (...given) =>
        (refused += 1) === 1 ? { outcome: "refused", reasons: ["once"] } : await accept(...given),
    };
    const agent = working(() => new Promise((resolve) => setTimeout(resolve, 2)));
    const { verdict } = await run(refusing, agent);
    expect([verdict.verdict, seen.prepared, seen.briefed]).toEqual([
      "complete",
      ["u0", "u1", "u0"],
      ["text of u0", "text of u0", "text of u1"],
    ]);
  });

  test.each([1, 2])(
    "and a stop or a pause is seen while only %i units are prepared, and ends that at once",
    async (jobs) => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const paused: Verdict = { verdict: "blocked", reason: "Paused by the file PAUSE." };
      let isPaused = false;
      const { workflow, seen } = prepared(
        jobs,
        (_, { signal }) =>
          new Promise((resolve) => {
            const reason = "The run is ending.";
            signal.addEventListener("abort", () => resolve({ later: { until: 0, reason } }));
          }),
      );
      const going = run(workflow, named("claude"), { jobs, stopConditions: [() => (isPaused ? paused : undefined)] });
      await vi.advanceTimersByTimeAsync(60_000);
      isPaused = true;
      await vi.advanceTimersByTimeAsync(1_000);
      const { verdict, events } = await going;
      expect(verdict).toEqual(paused);
      expect(seen).toMatchObject({ prepared: jobs === 1 ? ["u0"] : ["u0", "u1"], briefed: [] });
      expect(events.filter(({ type }) => type === "prepared")).toEqual(
        Array.from({ length: jobs }, () => expect.objectContaining({ outcome: "aborted" })),
      );
    },
  );

  test("but not while an unconfined agent works: what it changes is put back, and files of a preparation with it", async () => {
    const { workflow, seen } = prepared(2);
    const atWork: string[][] = [];
    const agent = working(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      atWork.push([...seen.prepared]);
    });
    await run(workflow, { ...agent, confinement: "unconfined" });
    expect(atWork).toEqual([["u0"], ["u0", "u1"]]);
  });

  test("also while an unconfined agent works on another machine, where it can't reach this folder", async () => {
    const begun = promise();
    const { workflow, seen } = prepared(3, async (one) => {
      if (one.id === "u1") await begun.kept;
      return await ready(one);
    });
    const ahead: boolean[] = [];
    const distant: Agent = {
      ...named("distant"),
      async *run({ text }) {
        yield { type: "begun", worker: "w1", confinement: "unconfined", transcript: "w1:1" };
        const isThere = () => seen.prepared.includes("u2");
        for (let turn = 0; text !== "u2" && !isThere() && turn < 1000; turn += 1) await new Promise(setImmediate);
        ahead.push(isThere());
        yield { type: "end", message: "" };
      },
    };
    const heard = (event: LoopEvent) => event.type === "agent" && event.event.type === "begun" && begun.keep();
    await run(workflow, distant, { jobs: 2, heard });
    expect(ahead).toEqual([true, true, true]);
  });

  test("while what agents say is passed on", async () => {
    const said = promise();
    const { workflow } = prepared(2, async (one) => {
      if (one.id === "u1") await said.kept;
      return await ready(one);
    });
    const agent = working(async () => undefined);
    const { verdict } = await run(workflow, agent, { heard: (event) => event.type === "agent" && said.keep() });
    expect(verdict.verdict).toBe("complete");
  });

  test("again where its brief calls it stale, from the state as it is then", async () => {
    const { workflow, seen, edit } = prepared(1);
    let stale = 0;
    const { brief } = workflow;
    const edited = {
      ...workflow,
      prepare: async (...given: Parameters<NonNullable<typeof workflow.prepare>>) => {
        const answer = await workflow.prepare?.(...given);
        if (stale === 0) edit();
        return answer as Prepared<string>;
      },
      brief: async (...given: Parameters<typeof brief>) =>
        (stale += 1) === 1 ? ("stale" as const) : await brief(...given),
    };
    const { verdict } = await run(edited, named("claude"));
    expect([verdict.verdict, seen.prepared, seen.accepted]).toEqual(["complete", ["u0", "u0"], ["brief of u0"]]);
  });

  test("and is called stale only where the state has changed: anything else is a bug", async () => {
    const { workflow } = prepared(1);
    await expect(run({ ...workflow, brief: async () => "stale" }, named("claude"))).rejects.toThrow(
      "prepared calls u0 stale although the state it was prepared from has not changed",
    );
  });

  test("and a verdict of its preparation ends the run once what is under way was accepted", async () => {
    const full: Verdict = { verdict: "failed", reason: "The disk is full." };
    const ended = promise();
    const { workflow, seen } = prepared(3, async (one) => (one.id === "u1" ? full : await ready(one)));
    const { verdict, events } = await run(
      workflow,
      working(() => ended.kept),
      { heard: (event) => event.type === "prepared" && event.outcome === "failed" && ended.keep() },
    );
    expect(verdict).toEqual(full);
    expect(seen.accepted).toEqual(["brief of u0"]);
    expect(events).toContainEqual(expect.objectContaining({ type: "prepared", outcome: "failed", unit: "u1" }));
  });

  test("and a bug in its preparation goes through, with no agent left at work", async () => {
    let aborted = 0;
    const { workflow } = prepared(2, async (one) => {
      if (one.id === "u1") throw new TypeError("ours");
      return await ready(one);
    });
    const agent = working(
      (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => ((aborted += 1), resolve()))),
    );
    await expect(run(workflow, agent)).rejects.toThrow("ours");
    expect(aborted).toBe(1);
  });
});

test("what keeps the state from being read is how the run ends, not the preparation that failed by it", async () => {
  const gone: Verdict = { verdict: "failed", reason: "The project folder is gone." };
  const { workflow } = prepared(1, async () => ({ verdict: "failed", reason: "The search can't be written." }));
  let loads = 0;
  const load = async () => ((loads += 1) === 1 ? { done: [], edits: 0 } : gone);
  expect((await run({ ...workflow, load }, named("claude"))).verdict).toEqual(gone);
});

test("the first preparation that can't be made is how the run ends, whatever comes after it", async () => {
  const [first, ...others] = ["u0", "u1"].map((id): Verdict => ({ verdict: "failed", reason: `No ${id}.` }));
  const { workflow } = prepared(2, async ({ id }) => (id === "u0" ? first : others[0]) as Verdict);
  let loads = 0;
  const load = async () => ((loads += 1) < 3 ? { done: [], edits: 0 } : (others[0] as Verdict));
  expect((await run({ ...workflow, load }, named("claude"), { jobs: 2 })).verdict).toEqual(first);
});

test("verifying is told to end with the run, and can tell a person what it does", async () => {
  const abort = new AbortController();
  const { workflow } = prepared(2, async (one) => (one.id === "u0" ? { settled: "by code" } : await ready(one)));
  const signals: AbortSignal[] = [];
  const accept: typeof workflow.accept = async (state, one, done, work) => {
    signals.push(work.signal);
    await work.tell({ type: "notice", level: "info", message: "The tests run." });
    return await workflow.accept(state, one, done, work);
  };
  const { events } = await run({ ...workflow, accept }, named("claude"), { abort: abort.signal });
  expect(events.filter(({ type }) => type === "notice")).toHaveLength(2);
  abort.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

describe("a unit that can't be prepared for now", () => {
  const busyFor = (times: number, ms: number, clock: { now(): number }): Prepare => {
    let tries = 0;
    return async (one) =>
      one.id === "u0" && (tries += 1) <= times
        ? { later: { until: clock.now() + ms, reason: "arxiv.org is busy." } }
        : await ready(one);
  };

  test("is put off and told to next, others go first, and it is tried again once its time has come", async () => {
    const clock = fakeClock();
    const { workflow, seen } = prepared(3, busyFor(1, 60_000, clock));
    const agent = working(async () => clock.advance(60_000));
    const { verdict, events } = await run(workflow, agent, { clock });
    expect(verdict.verdict).toBe("complete");
    expect(seen.accepted).toEqual(["brief of u1", "brief of u0", "brief of u2"]);
    expect(seen.later).toContainEqual([
      { unit: unit("u0"), until: fakeClock().now() + 60_000, reason: "arxiv.org is busy." },
    ]);
    expect(events).toContainEqual({
      type: "prepared",
      at: "2026-01-01T00:00:00.000Z",
      unit: "u0",
      title: "Paper u0",
      outcome: "later",
      duration_seconds: 0,
      until: "2026-01-01T00:01:00.000Z",
      reason: "arxiv.org is busy.",
    });
  });

  test("is what the run is blocked by when nothing else is left", async () => {
    const clock = fakeClock();
    const { workflow, seen } = prepared(2, busyFor(9, 60_000, clock));
    const { verdict } = await run(workflow, named("claude"), { clock });
    expect(verdict).toEqual({ verdict: "blocked", reason: "arxiv.org is busy." });
    expect(seen.accepted).toEqual(["brief of u1"]);
  });

  test("makes no agent wait: a fetch that failed is no failure of an agent", async () => {
    const clock = fakeClock();
    const begin = clock.now();
    const agent = named("claude");
    const { workflow } = prepared(4, busyFor(9, 3_600_000, clock));
    const { types } = await run(workflow, agent, {
      clock,
      stopConditions: [stopAfterFailures],
      choose: firstAvailable([agent], 7_200_000),
    });
    expect(types).not.toContain("waiting");
    expect(clock.now()).toBe(begin);
  });
});

describe("a unit that code alone settles", () => {
  const settling: Prepare = async ({ id }) => (id === "u0" ? { settled: "nothing to judge" } : await ready(unit(id)));

  test("is accepted once, without a brief, an agent or an iteration", async () => {
    const { workflow, seen } = prepared(2, settling);
    const last: RunSoFar[] = [];
    const { verdict, types, events } = await run(workflow, named("claude"), {
      stopConditions: [(soFar) => void last.push(soFar)],
    });
    expect(verdict.verdict).toBe("complete");
    expect(seen).toMatchObject({
      prepared: ["u0", "u1"],
      briefed: ["text of u1"],
      accepted: ["settled nothing to judge", "brief of u1"],
    });
    expect(types.filter((type) => type === "iteration-started")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "prepared")).toMatchObject([
      { unit: "u0", outcome: "settled" },
      { unit: "u1", outcome: "ready" },
    ]);
    expect(last.at(-1)?.iterations).toEqual([]);
  });

  test("is followed by the next one at once, while an agent is at work on another", async () => {
    const { workflow, seen } = prepared(3, async (one) =>
      one.id === "u1" ? { settled: "nothing to judge" } : await ready(one),
    );
    let isBeside = false;
    const agent = working(async (id) => {
      if (id === "u2") isBeside = !seen.accepted.includes("brief of u0");
      for (let turn = 0; id === "u0" && !isBeside && turn < 1000; turn += 1) await new Promise(setImmediate);
    });
    expect((await run(workflow, agent, { jobs: 2 })).verdict.verdict).toBe("complete");
    expect([isBeside, seen.accepted.toSorted()]).toEqual([
      true,
      ["brief of u0", "brief of u2", "settled nothing to judge"],
    ]);
  });

  test("and again although the state is as it was, is a bug", async () => {
    const { workflow } = prepared(1, settling, { outcome: "accepted", summary: "" });
    const forgetful = { ...workflow, accept: async () => ({ outcome: "accepted", summary: "" }) as Outcome };
    await expect(run(forgetful, named("claude"))).rejects.toThrow(
      "prepared settles u0 again although the state has not changed",
    );
  });

  test("and again and again while the state changes otherwise, is a bug too: no limit counts it", async () => {
    const { workflow, edit } = prepared(1, settling);
    let times = 0;
    const forgetful = {
      ...workflow,
      accept: async (): Promise<Outcome> => {
        times += 1;
        edit();
        return { outcome: "accepted", summary: "" };
      },
    };
    await expect(run(forgetful, named("claude"))).rejects.toThrow("prepared settled u0 3 times and names it again");
    expect(times).toBe(3);
  });

  test("is prepared again where the state has changed meanwhile, and folded only as it is then", async () => {
    const { workflow, seen, edit } = prepared(2, settling);
    let isStale = true;
    const asked: Workflow<State, Unit, string, string> = {
      ...workflow,
      prepare: async (state, one, work) => {
        const prepared = await settling(one, work);
        seen.prepared.push(`${one.id} of ${state.edits}`);
        if (isStale) edit();
        return prepared;
      },
      accept: async (state, one, done, work) => {
        if (!("prepared" in done) || !isStale) return await workflow.accept(state, one, done, work);
        isStale = false;
        return "stale";
      },
    };
    expect((await run(asked, named("claude"))).verdict.verdict).toBe("complete");
    expect(seen.prepared.slice(0, 2)).toEqual(["u0 of 0", "u0 of 1"]);
    expect(seen.accepted).toEqual(["settled nothing to judge", "brief of u1"]);
  });

  test("and is called stale although nothing has changed, is a bug", async () => {
    const { workflow } = prepared(1, settling);
    await expect(run({ ...workflow, accept: async () => "stale" as const }, named("claude"))).rejects.toThrow(
      "calls u0 stale although the state it was prepared from has not changed",
    );
  });

  test("ends the run where it can't be accepted", async () => {
    const full: Verdict = { verdict: "failed", reason: "The disk is full." };
    const { workflow } = prepared(1, settling);
    expect((await run({ ...workflow, accept: async () => full }, named("claude"))).verdict).toEqual(full);
  });
});

describe("the rules of a run", () => {
  test.each([1, 3])("count what is prepared to the allowance of iterations, with %i agents", async (jobs) => {
    const { workflow, seen } = prepared(20);
    const { verdict, events } = await run(workflow, named("claude"), { jobs, stopConditions: [limitIterations(8)] });
    expect(verdict.verdict).toBe("limit");
    expect(started(events)).toBe(8);
    expect(seen.prepared).toHaveLength(8);
  });

  test("are told how many units are prepared besides the one they are asked about", async () => {
    const counts = new Set<number>();
    const note: StopCondition = ({ preparing = 0 }) => void counts.add(preparing);
    const { workflow } = prepared(6);
    await run(workflow, named("claude"), { jobs: 3, stopConditions: [note] });
    expect([...counts].toSorted()).toEqual([0, 1, 2, 3]);
  });

  test("end a run of refusals as stuck after as many as without any preparation", async () => {
    const stopConditions = [stopWithoutResult(researchWords), limitIterations(100)];
    const of = async (change: (workflow: Refusing) => Refusing) =>
      await run(change(prepared(1, ready, { outcome: "refused", reasons: ["no"] }).workflow), named("claude"), {
        stopConditions,
      });
    type Refusing = ReturnType<typeof prepared>["workflow"];
    const without = await of(({ prepare: _, ...rest }) => rest);
    const withIt = await of((workflow) => workflow);
    expect([without.verdict.verdict, withIt.verdict]).toEqual(["stuck", without.verdict]);
    expect(started(withIt.events)).toBe(started(without.events));
    expect(started(withIt.events)).toBeLessThanOrEqual(20);
  });

  test("that end it end what is prepared ahead too, once no agent is at work", async () => {
    const aborted: string[] = [];
    const slow: Prepare = async (one, { signal }) => {
      if (one.id === "u0") return await ready(one);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      aborted.push(one.id);
      return { later: { until: 1e15, reason: "It was busy." } };
    };
    const { workflow, seen } = prepared(3, slow);
    const paused: StopCondition = ({ iterations }) =>
      iterations.length > 0 ? { verdict: "blocked", reason: "It is paused." } : undefined;
    const { verdict } = await run(workflow, named("claude"), { stopConditions: [paused] });
    expect(verdict).toEqual({ verdict: "blocked", reason: "It is paused." });
    expect({ aborted, accepted: seen.accepted }).toEqual({ aborted: ["u1"], accepted: ["brief of u0"] });
  });

  test("are asked again once no agent is at work: what they say of those at work is not how the run ends", async () => {
    const { workflow, seen } = prepared(3);
    const alwaysOne: StopCondition = ({ inFlight = [] }) =>
      inFlight.length > 0 ? { verdict: "blocked", reason: "One is at work." } : undefined;
    const { verdict } = await run(workflow, named("claude"), { jobs: 2, stopConditions: [alwaysOne] });
    expect(verdict.verdict).toBe("complete");
    expect(seen.accepted).toEqual(["brief of u0", "brief of u1", "brief of u2"]);
  });

  test("that limit the iterations let what is prepared be worked on first", async () => {
    const { workflow, seen } = prepared(3, async (one) => (await Promise.resolve(), await ready(one)));
    const { verdict } = await run(workflow, named("claude"), { stopConditions: [limitIterations(1)] });
    expect(verdict.verdict).toBe("limit");
    expect(seen.accepted).toEqual(["brief of u0"]);
  });

  test("keep what was ready though it was cut short, and say so", async () => {
    const finish = new AbortController();
    const whole: Prepare = async (one) => (finish.abort("SIGINT"), await ready(one));
    const { workflow } = prepared(2, whole);
    const interrupted: StopCondition = () =>
      finish.signal.aborted ? { verdict: "interrupted", reason: "Ctrl+C.", signal: "SIGINT" } : undefined;
    const { events } = await run(workflow, named("claude"), { stopConditions: [interrupted], finish: finish.signal });
    expect(events.filter(({ type }) => type === "prepared")).toMatchObject([{ unit: "u0", outcome: "ready" }]);
  });

  test("let no verdict of a preparation that was cut short stand for the run's", async () => {
    const finish = new AbortController();
    const cut: Prepare = async (_one, { signal }) => {
      finish.abort("SIGINT");
      await new Promise<void>((resolve) =>
        signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve()),
      );
      return { verdict: "failed", reason: "The network is away." };
    };
    const { workflow } = prepared(2, cut);
    const interrupted: StopCondition = () =>
      finish.signal.aborted ? { verdict: "interrupted", reason: "Ctrl+C.", signal: "SIGINT" } : undefined;
    const { verdict, events } = await run(workflow, named("claude"), {
      stopConditions: [interrupted],
      finish: finish.signal,
    });
    expect(verdict.verdict).toBe("interrupted");
    expect(events.filter(({ type }) => type === "prepared")).toMatchObject([{ outcome: "aborted" }]);
  });

  test("start no agent where a person stops the run while its brief is made", async () => {
    const finish = new AbortController();
    const { workflow, seen } = prepared(2, ready);
    const briefly: typeof workflow = {
      ...workflow,
      brief: (...given) => {
        finish.abort("SIGINT");
        return workflow.brief(...given);
      },
    };
    const stop: StopCondition = () =>
      finish.signal.aborted ? { verdict: "interrupted", reason: "Ctrl+C" } : undefined;
    const stopConditions = [stopAfterFailures, stop];
    const { verdict, events } = await run(briefly, named("claude"), { stopConditions, finish: finish.signal });
    expect(verdict.verdict).toBe("interrupted");
    expect(seen.accepted).toEqual([]);
    expect(events.filter(({ type }) => type === "iteration-started")).toEqual([]);
  });

  test("end what is prepared ahead with the first Ctrl+C, and fold in what an agent has done", async () => {
    const finish = new AbortController();
    const ended = promise();
    const { workflow, seen } = prepared(5, async (one, { signal }) => {
      if (one.id === "u0") return await ready(one);
      // A fetch that would last for ever; without look-ahead's end the run would not end either.
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
        finish.abort("SIGINT");
      });
      ended.keep();
      return { later: { until: Number.MAX_SAFE_INTEGER, reason: "It was cut short." } };
    });
    const stop: StopCondition = () =>
      finish.signal.aborted ? { verdict: "interrupted", reason: "Ctrl+C" } : undefined;
    const { verdict, events } = await run(
      workflow,
      working(() => ended.kept),
      { stopConditions: [stop], finish: finish.signal },
    );
    expect(verdict.verdict).toBe("interrupted");
    expect(seen.accepted).toEqual(["brief of u0"]);
    expect(seen.prepared).toEqual(["u0", "u1"]);
    expect(events).toContainEqual(expect.objectContaining({ type: "prepared", unit: "u1", outcome: "aborted" }));
    expect(seen.later.flat()).toEqual([]);
  });

  test("end a preparation with the run's time, and ask the stop conditions then", async () => {
    const clock = fakeClock();
    const abort = new AbortController();
    const { workflow } = prepared(1, async (_, { signal }) => {
      clock.advance(60_000);
      abort.abort("time");
      expect(signal.aborted).toBe(true);
      return { later: { until: clock.now(), reason: "The run is ending." } };
    });
    const { verdict } = await run(workflow, named("claude"), {
      clock,
      stopConditions: [limitWallTime(60_000)],
      abort: abort.signal,
    });
    expect(verdict.verdict).toBe("limit");
  });
});
