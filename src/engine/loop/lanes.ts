import pLimit from "p-limit";
import { newRun, withEvent, workedMs } from "./run-record/agent-run.js";
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
  NewEvent,
  Unit,
  Verdict,
  Watch,
} from "./types.js";
import { awakeBetween, durationText } from "../lib/clock.js";

/** An agent to start, with its brief. */
export interface AgentStart<U extends Unit, C> {
  readonly brief: Brief;
  readonly context: C;
  readonly agent: Agent;
  readonly unit: U;
  /** Duration of the preparation in milliseconds. */
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
  /** Working time of the agent in milliseconds. */
  readonly workedMs: number;
  readonly context: C;
  readonly prepareMs?: number;
}

/** A preparation that has ended. */
export interface EndedPreparation<State, U extends Unit, P> {
  readonly unit: U;
  readonly prepared: Prepared<P> | Verdict;
  readonly prepareMs: number;
  /** The state from which it was prepared. */
  readonly preparedFrom: State;
  /** True: it was told to end before it was finished. */
  readonly wasAborted: boolean;
}

export type Ended<State, U extends Unit, P, C> = EndedRun<U, C> | EndedPreparation<State, U, P>;

/** Agents and preparations that run in parallel. Each agent occupies a lane, preparations don't. */
interface Lanes<State, U extends Unit, P, C> {
  /**
   * Whether one more agent may be started. Each unit under preparation reserves a free lane, because the workflow chose
   * it first.
   */
  hasRoom(): boolean;
  /**
   * Whether one more unit may be prepared: one for each free lane, or one in advance if no lane is free. No unit is
   * prepared while an unconfined agent runs, because the agent could forge what the preparation reads.
   */
  hasRoomToPrepare(): boolean;
  /** The iterations under way, with their current progress. */
  inFlight(): readonly LiveIteration[];
  /** Number of units under preparation. */
  preparing(): number;
  /** Units on which an agent or a preparation works. */
  busy(): readonly U[];
  start(start: AgentStart<U, C>): void;
  /** Starts a preparation. `preparedFrom`: the state from which `work` prepares the unit. */
  prepare(unit: U, preparedFrom: State, work: (signal: AbortSignal) => Promise<Prepared<P> | Verdict>): void;
  /** Aborts all preparations. */
  endPreparations(): void;
  /**
   * Waits until a run or a preparation has ended, and returns it. Returns undefined at `until` (milliseconds since the
   * epoch); every second while no agent works, so that stop conditions are checked; and at once if nothing is under
   * way. Rethrows an error of an agent or a preparation, which is a bug.
   */
  next(until?: number): Promise<Ended<State, U, P, C> | undefined>;
  /** The other runs that have ended since `next` returned one, in order. Each is returned only once. */
  others(): EndedRun<U, C>[];
  /** Ends all agents and preparations, and resolves after they have ended. */
  close(): Promise<void>;
}

export interface LaneOptions extends Omit<Required<LoopOptions>, "stopConditions" | "choose"> {
  /** The progress of the run up to now. */
  readonly soFar: () => RunSoFar;
}

/**
 * Returns a function that is called with each event of an agent and says whether the model gets another request.
 * "new-request": the event belongs to a new request. "calls-tool": the answer calls a tool, so a request with the
 * result of the tool will follow. Undefined: neither is known. One answer may come in several events, each with its
 * usage.
 */
function createRequestTracker(): (event: AgentEvent) => "new-request" | "calls-tool" | undefined {
  let lastUsage = { requests: 0, input: 0 };
  let hasNewCall = false;
  let callsTool = false;
  return (event) => {
    if (event.type === "tool") hasNewCall = true;
    if (event.type === "usage") {
      const { requests, input } = event.usage;
      const isNewRequest = requests > lastUsage.requests || input > lastUsage.input;
      // The tool calls of an answer come before its usage.
      callsTool = hasNewCall || (callsTool && !isNewRequest);
      hasNewCall = false;
      lastUsage = { requests, input };
      if (isNewRequest && !callsTool && event.final !== true) return "new-request";
    }
    return hasNewCall || (event.type === "usage" && callsTool) ? "calls-tool" : undefined;
  };
}

/** Milliseconds between two checks of the stop conditions while only preparations run, which may take minutes. */
const pollMs = 1_000;

export function openLanes<State, U extends Unit, P, C>(options: LaneOptions): Lanes<State, U, P, C> {
  const { clock, jobs, finish, abort, tell, watches: usageWatches, reviews, soFar } = options;
  const limit = pLimit(jobs);
  const liveIterations = new Map<number, LiveIteration & { readonly unit: U }>();
  const preparations = new Map<string, { readonly unit: U; readonly controller: AbortController }>();
  const runningWork = new Map<AbortController, Promise<unknown>>();
  const endedWork: Ended<State, U, P, C>[] = [];
  const errors: unknown[] = [];
  const reportedWarnings = new Set<string>();
  const wakers = new Set<() => void>();
  let isClosed = false;
  const wakeAll = () => {
    for (const wakeUp of wakers) wakeUp();
    wakers.clear();
  };
  const nextChange = () => new Promise<void>((resolve) => void wakers.add(resolve));
  const onAbort = () => {
    for (const controller of runningWork.keys()) controller.abort(abort.reason);
  };
  const onFinish = () => endPreparations(finish.reason);
  abort.addEventListener("abort", onAbort);
  finish.addEventListener("abort", onFinish);
  const unwatch = clock.watch?.();
  let reportedSleeps = clock.sleeps?.().length ?? 0;

  /** Reports how long the machine slept, once for each sleep. */
  async function reportSleeps(): Promise<void> {
    const newSleeps = clock.sleeps?.().slice(reportedSleeps) ?? [];
    reportedSleeps += newSleeps.length;
    for (const { from, until } of newSleeps) {
      const message = `The machine slept for ${durationText(until - from)}; this time does not count as time of the run.`;
      await tellWhileOpen({ type: "notice", level: "info", message });
    }
  }

  function endPreparations(reason: unknown): void {
    for (const { controller } of preparations.values()) controller.abort(reason);
  }

  /** Reports an event; the agent waits until the event is handled. After the lanes are closed, events are dropped. */
  const tellWhileOpen = async (event: NewEvent): Promise<void> => (isClosed ? undefined : await tell(event));

  /** Runs `work` and records its result or its error. */
  function track(controller: AbortController, work: () => Promise<Ended<State, U, P, C>>): void {
    // Starts in a later microtask, so that it is registered before it can be stopped.
    const settledWork = Promise.resolve()
      .then(work)
      .then(
        (ended) => void endedWork.push(ended),
        (error: unknown) => void errors.push(error),
      );
    runningWork.set(controller, settledWork);
    void settledWork.then(() => {
      runningWork.delete(controller);
      wakeAll();
    });
  }

  /** Runs the agent, forwards its events, and reduces the stream to one AgentRun. */
  async function runAgent(
    start: AgentStart<U, C>,
    initialRun: AgentRun,
    controller: AbortController,
  ): Promise<EndedRun<U, C>> {
    const { agent, unit, brief, context, prepareMs, maxUsd, maxMs } = start;
    const { iteration } = brief;
    const warnedWatches = new Set<Watch>();
    let run = initialRun;
    const requestStateAfter = createRequestTracker();
    const runOptions = { signal: controller.signal, maxUsd, maxMs };
    let stopReason: Failure | undefined;
    for await (const event of agent.run(brief, runOptions)) {
      run = withEvent(run, event);
      liveIterations.set(iteration, { unit, run });
      await tellWhileOpen({ type: "agent", iteration, event });
      const requestState = requestStateAfter(event);
      // A complete answer is kept, whatever its cost; a watch only prevents further requests.
      if (stopReason !== undefined && requestState) controller.abort(stopReason.kind);
      if (event.type !== "usage" || event.final === true || stopReason !== undefined) continue;
      const otherIterations = [...liveIterations.values()].filter((other) => other.run.iteration !== iteration);
      for (const watch of usageWatches) {
        const { warning, end } = watch({ unit, run }, { ...soFar(), inFlight: otherIterations }) ?? {};
        if (warning !== undefined && !warnedWatches.has(watch))
          await tellWhileOpen({ type: "notice", level: "warning", message: warning });
        if (warning !== undefined) warnedWatches.add(watch);
        stopReason ??= end;
      }
      if (stopReason !== undefined && requestState === "calls-tool") controller.abort(stopReason.kind);
    }
    const failure = run.failure?.kind === "aborted" && !abort.aborted ? (stopReason ?? run.failure) : run.failure;
    const endedAt = clock.now();
    const asleepMs = endedAt - run.startedAt - awakeBetween(run.startedAt, endedAt, clock.sleeps?.());
    const ended = { ...run, endedAt, failure, ...(asleepMs > 0 ? { asleepMs } : {}) };
    await reportSleeps();
    for (const review of reviews) {
      const warning = review({ unit, run: ended }, soFar());
      if (warning === undefined || reportedWarnings.has(warning)) continue;
      reportedWarnings.add(warning);
      await tellWhileOpen({ type: "notice", level: "warning", message: warning });
    }
    return { unit, run: ended, workedMs: workedMs(ended), context, prepareMs };
  }

  return {
    hasRoom: () => liveIterations.size + preparations.size < jobs,
    hasRoomToPrepare: () =>
      preparations.size < Math.max(jobs - liveIterations.size, 1) &&
      // An agent on another machine can't change files of this one.
      ![...liveIterations.values()].some(({ run }) => run.confinement === "unconfined" && run.worker === undefined),
    inFlight: () => [...liveIterations.values()],
    preparing: () => preparations.size,
    busy: () => [...liveIterations.values(), ...preparations.values()].map(({ unit }) => unit),
    start(start) {
      const run = newRun(start.agent, start.brief, clock.now());
      const controller = new AbortController();
      if (abort.aborted) controller.abort(abort.reason);
      liveIterations.set(run.iteration, { unit: start.unit, run });
      track(controller, () => limit(() => runAgent(start, run, controller)));
    },
    prepare(unit, preparedFrom, work) {
      const controller = new AbortController();
      const abortedSignal = [finish, abort].find(({ aborted }) => aborted);
      if (abortedSignal !== undefined) controller.abort(abortedSignal.reason);
      preparations.set(unit.id, { unit, controller });
      const startedAt = clock.now();
      track(controller, async () => {
        const prepared = await work(controller.signal);
        const prepareMs = awakeBetween(startedAt, clock.now(), clock.sleeps?.());
        return { unit, prepared, prepareMs, preparedFrom, wasAborted: controller.signal.aborted };
      });
    },
    endPreparations: () => endPreparations("over"),
    async next(until) {
      await reportSleeps();
      if (liveIterations.size + preparations.size === 0)
        return void (until !== undefined && (await clock.sleep(until, finish)));
      const timer = new AbortController();
      let isTimeUp = false;
      const stopWaiting = () => {
        isTimeUp = true;
        wakeAll();
      };
      if (until !== undefined) void clock.sleep(until, timer.signal).then(stopWaiting);
      const pollTimer = liveIterations.size === 0 ? setTimeout(stopWaiting, pollMs) : undefined;
      try {
        for (;;) {
          if (errors.length > 0) throw errors[0];
          const ended = endedWork.shift();
          if (ended !== undefined) {
            if ("run" in ended) liveIterations.delete(ended.run.iteration);
            else preparations.delete(ended.unit.id);
            return ended;
          }
          if (isTimeUp) return undefined;
          await nextChange();
        }
      } finally {
        timer.abort();
        clearTimeout(pollTimer);
      }
    },
    others() {
      const runs = endedWork.filter((item) => "run" in item);
      const preparations = endedWork.filter((item) => !("run" in item));
      endedWork.splice(0, endedWork.length, ...preparations);
      for (const { run } of runs) liveIterations.delete(run.iteration);
      return runs;
    },
    async close() {
      isClosed = true;
      unwatch?.();
      abort.removeEventListener("abort", onAbort);
      finish.removeEventListener("abort", onFinish);
      for (const controller of runningWork.keys()) controller.abort("closed");
      await Promise.all(runningWork.values());
    },
  };
}
