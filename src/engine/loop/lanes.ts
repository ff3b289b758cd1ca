import pLimit from "p-limit";
import { begun, folded, workedMs } from "./run-record/agent-run.js";
import type {
  Agent,
  AgentEvent,
  AgentRun,
  Brief,
  Failure,
  LiveIteration,
  Prepared,
  LoopOptions,
  RunSoFar,
  Told,
  Unit,
  Verdict,
  Watch,
} from "./types.js";
import { awakeBetween, spanInWords } from "../lib/clock.js";
import { given } from "../lib/given.js";

/** What an agent is started on. */
export interface Start<U extends Unit, C> {
  readonly brief: Brief;
  readonly context: C;
  readonly agent: Agent;
  readonly unit: U;
  /** How long the unit's preparation took. */
  readonly prepareMs?: number;
  /** US dollars. */
  readonly maxUsd?: number;
  /** Milliseconds. */
  readonly maxMs?: number;
}

/** An agent's run that has ended. */
export interface EndedRun<U extends Unit, C> {
  readonly unit: U;
  readonly run: AgentRun;
  /** How long the agent worked. */
  readonly workedMs: number;
  readonly context: C;
  readonly prepareMs?: number;
}

/** A preparation that has ended. */
export interface EndedPreparation<State, U extends Unit, P> {
  readonly unit: U;
  readonly prepared: Prepared<P> | Verdict;
  readonly prepareMs: number;
  /** The state that it was given. */
  readonly from: State;
  /** It was ended before its time. */
  readonly aborted: boolean;
}

export type Ended<State, U extends Unit, P, C> = EndedRun<U, C> | EndedPreparation<State, U, P>;

/** Agents and preparations at work side by side. Agents take up lanes, preparations don't. */
interface Lanes<State, U extends Unit, P, C> {
  /**
   * Whether one more agent may be started. Where a lane is free, a unit under preparation holds it: it was named first.
   */
  hasRoom(): boolean;
  /**
   * Whether one more unit may be prepared: one for each free lane, and one ahead while no lane is free. None while an
   * unconfined agent runs: it could forge what a preparation reads.
   */
  hasRoomToPrepare(): boolean;
  /** Iterations under way, as far as they have come. */
  inFlight(): readonly LiveIteration[];
  /** How many units are under preparation. */
  preparing(): number;
  /** Units that an agent or a preparation is at work on. */
  busy(): readonly U[];
  start(start: Start<U, C>): void;
  /** `from`: the state that `work` was given. */
  prepare(unit: U, from: State, work: (signal: AbortSignal) => Promise<Prepared<P> | Verdict>): void;
  /** Tells preparations to end. */
  endPreparations(): void;
  /**
   * Waits until a run or a preparation has ended, and returns it; or undefined at `until` (milliseconds since the
   * epoch), each second while no agent is at work, so that a person's stop is seen, or at once where nothing is under
   * way and there is nothing to wait for. Throws what an agent or a preparation threw, which is our own bug.
   */
  next(until?: number): Promise<Ended<State, U, P, C> | undefined>;
  /** The runs that have ended besides the one that `next` returned, in their order. Each is returned once. */
  others(): EndedRun<U, C>[];
  /** Ends whatever is still at work, and resolves once it has ended. */
  close(): Promise<void>;
}

export interface LaneOptions extends Omit<Required<LoopOptions>, "stopConditions" | "choose"> {
  /** Up to this moment. */
  readonly soFar: () => RunSoFar;
}

/**
 * Says after each event whether the model is asked again. `another`: this event belongs to a new request. `calls`: the
 * answer calls a tool, whose result will be sent. An answer may come in several events, each with its usage.
 */
function moreRequests(): (event: AgentEvent) => "another" | "calls" | undefined {
  let last = { requests: 0, input: 0 };
  let newCall = false;
  let calls = false;
  return (event) => {
    if (event.type === "tool") newCall = true;
    if (event.type === "usage") {
      const { requests, input } = event.usage;
      const another = requests > last.requests || input > last.input;
      // The calls of an answer come before its usage.
      calls = newCall || (calls && !another);
      newCall = false;
      last = { requests, input };
      if (another && !calls && event.final !== true) return "another";
    }
    return newCall || (event.type === "usage" && calls) ? "calls" : undefined;
  };
}

/** Milliseconds between two looks at files and stop conditions while units are only prepared: that may take minutes. */
const lookMs = 1_000;

export function openLanes<State, U extends Unit, P, C>(options: LaneOptions): Lanes<State, U, P, C> {
  const { clock, jobs, finish, abort, tell, watches, reviews, soFar } = options;
  const limit = pLimit(jobs);
  const live = new Map<number, LiveIteration & { readonly unit: U }>();
  const preparations = new Map<string, { readonly unit: U; readonly controller: AbortController }>();
  const atWork = new Map<AbortController, Promise<unknown>>();
  const ended: Ended<State, U, P, C>[] = [];
  const bugs: unknown[] = [];
  const told = new Set<string>();
  const wakers = new Set<() => void>();
  let closed = false;
  const wake = () => {
    for (const waker of wakers) waker();
    wakers.clear();
  };
  const change = () => new Promise<void>((resolve) => void wakers.add(resolve));
  const onAbort = () => {
    for (const controller of atWork.keys()) controller.abort(abort.reason);
  };
  const onFinish = () => endPreparations(finish.reason);
  abort.addEventListener("abort", onAbort);
  finish.addEventListener("abort", onFinish);
  const unwatch = clock.watch?.();
  let slept = clock.sleeps?.().length ?? 0;

  /** Tells how long the machine slept, once of each sleep. */
  async function tellOfSleep(): Promise<void> {
    const unsaid = clock.sleeps?.().slice(slept) ?? [];
    slept += unsaid.length;
    for (const { from, until } of unsaid) {
      const message = `The machine slept for ${spanInWords(until - from)}; they do not count as time of the run.`;
      await say({ type: "notice", level: "info", message });
    }
  }

  function endPreparations(reason: unknown): void {
    for (const { controller } of preparations.values()) controller.abort(reason);
  }

  /** An agent waits here until its words were heard. Nobody listens any more once the lanes are closed. */
  const say = async (event: Told): Promise<void> => (closed ? undefined : await tell(event));

  /** Lets something work until it has ended or thrown. */
  function begin(controller: AbortController, work: () => Promise<Ended<State, U, P, C>>): void {
    // A turn later, so that it is known to be at work before it can be stopped.
    const settled = Promise.resolve()
      .then(work)
      .then(
        (whole) => void ended.push(whole),
        (bug: unknown) => void bugs.push(bug),
      );
    atWork.set(controller, settled);
    void settled.then(() => {
      atWork.delete(controller);
      wake();
    });
  }

  /** Runs the agent, passing on what it says, and folds the stream into one AgentRun. */
  async function follow(start: Start<U, C>, first: AgentRun, controller: AbortController): Promise<EndedRun<U, C>> {
    const { agent, unit, brief, context, prepareMs, maxUsd, maxMs } = start;
    const { iteration } = brief;
    const warned = new Set<Watch>();
    let run = first;
    const more = moreRequests();
    const runOptions = { signal: controller.signal, ...given({ maxUsd, maxMs }) };
    let stopped: Failure | undefined;
    for await (const event of agent.run(brief, runOptions)) {
      run = folded(run, event);
      live.set(iteration, { unit, run });
      await say({ type: "agent", iteration, event });
      const goesOn = more(event);
      // An answer already given is kept, whatever it used: the alarm ends what would follow it.
      if (stopped !== undefined && goesOn) controller.abort(stopped.kind);
      if (event.type !== "usage" || event.final === true || stopped !== undefined) continue;
      const others = [...live.values()].filter((each) => each.run.iteration !== iteration);
      for (const watch of watches) {
        const { warning, end } = watch({ unit, run }, { ...soFar(), inFlight: others }) ?? {};
        if (warning !== undefined && !warned.has(watch))
          await say({ type: "notice", level: "warning", message: warning });
        if (warning !== undefined) warned.add(watch);
        stopped ??= end;
      }
      if (stopped !== undefined && goesOn === "calls") controller.abort(stopped.kind);
    }
    const failure = run.failure?.kind === "aborted" && !abort.aborted ? (stopped ?? run.failure) : run.failure;
    const endedAt = clock.now();
    const asleepMs = endedAt - run.startedAt - awakeBetween(run.startedAt, endedAt, clock.sleeps?.());
    const whole = { ...run, endedAt, ...(asleepMs > 0 ? { asleepMs } : {}), ...given({ failure }) };
    await tellOfSleep();
    for (const review of reviews) {
      const warning = review({ unit, run: whole }, soFar());
      if (warning === undefined || told.has(warning)) continue;
      told.add(warning);
      await say({ type: "notice", level: "warning", message: warning });
    }
    return { unit, run: whole, workedMs: workedMs(whole), context, ...given({ prepareMs }) };
  }

  return {
    hasRoom: () => live.size + preparations.size < jobs,
    hasRoomToPrepare: () =>
      preparations.size < Math.max(jobs - live.size, 1) &&
      // On another machine it can't change files of this one.
      ![...live.values()].some(({ run }) => run.confinement === "unconfined" && run.worker === undefined),
    inFlight: () => [...live.values()],
    preparing: () => preparations.size,
    busy: () => [...live.values(), ...preparations.values()].map(({ unit }) => unit),
    start(start) {
      const run = begun(start.agent, start.brief, clock.now());
      const controller = new AbortController();
      if (abort.aborted) controller.abort(abort.reason);
      live.set(run.iteration, { unit: start.unit, run });
      begin(controller, () => limit(() => follow(start, run, controller)));
    },
    prepare(unit, from, work) {
      const controller = new AbortController();
      const over = [finish, abort].find(({ aborted }) => aborted);
      if (over !== undefined) controller.abort(over.reason);
      preparations.set(unit.id, { unit, controller });
      const startedAt = clock.now();
      begin(controller, async () => {
        const prepared = await work(controller.signal);
        const prepareMs = awakeBetween(startedAt, clock.now(), clock.sleeps?.());
        return { unit, prepared, prepareMs, from, aborted: controller.signal.aborted };
      });
    },
    endPreparations: () => endPreparations("over"),
    async next(until) {
      await tellOfSleep();
      if (live.size + preparations.size === 0) return void (until !== undefined && (await clock.sleep(until, finish)));
      const heard = new AbortController();
      let isTime = false;
      const stopWaiting = () => {
        isTime = true;
        wake();
      };
      if (until !== undefined) void clock.sleep(until, heard.signal).then(stopWaiting);
      const look = live.size === 0 ? setTimeout(stopWaiting, lookMs) : undefined;
      try {
        for (;;) {
          if (bugs.length > 0) throw bugs[0];
          const whole = ended.shift();
          if (whole !== undefined) {
            if ("run" in whole) live.delete(whole.run.iteration);
            else preparations.delete(whole.unit.id);
            return whole;
          }
          if (isTime) return undefined;
          await change();
        }
      } finally {
        heard.abort();
        clearTimeout(look);
      }
    },
    others() {
      const runs = ended.filter((each) => "run" in each);
      const preparations = ended.filter((each) => !("run" in each));
      ended.splice(0, ended.length, ...preparations);
      for (const { run } of runs) live.delete(run.iteration);
      return runs;
    },
    async close() {
      closed = true;
      unwatch?.();
      abort.removeEventListener("abort", onAbort);
      finish.removeEventListener("abort", onFinish);
      for (const controller of atWork.keys()) controller.abort("closed");
      await Promise.all(atWork.values());
    },
  };
}
