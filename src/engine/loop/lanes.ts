import pLimit from "p-limit";
import { begun, folded } from "./record/agent-run.js";
import type {
  Agent,
  AgentEvent,
  AgentRun,
  Brief,
  Failure,
  LiveIteration,
  LoopEvent,
  Review,
  RunSoFar,
  Unit,
  Watch,
} from "./types.js";
import type { Clock } from "../lib/clock.js";

/** Events that wait to be passed on before agents are made to wait: one may print a gigabyte. */
const mostWaiting = 64;

/** What an agent is started on. */
export interface Start {
  readonly agent: Agent;
  readonly unit: Unit;
  readonly brief: Brief;
  /** US dollars. */
  readonly maxUsd?: number;
  /** Milliseconds. */
  readonly maxMs?: number;
}

/** Agents at work side by side. What they say is passed on one event after the other. */
interface Lanes {
  hasRoom(): boolean;
  /** Iterations under way, as far as they have come. */
  inFlight(): readonly LiveIteration[];
  start(start: Start): void;
  /**
   * Yields what agents say until one has ended, and returns that one; or undefined at `until` (milliseconds since the epoch), or
   * at once where nothing is under way and there is nothing to wait for. Throws what an agent threw, which is a bug of ours.
   */
  listen(until?: number): AsyncGenerator<LoopEvent, LiveIteration | undefined>;
  /** Ends whatever is still at work. */
  close(): Promise<void>;
}

export interface LaneOptions {
  readonly clock: Clock;
  /** Most agents at a time. */
  readonly jobs: number;
  /** Ends a wait while nothing is under way. */
  readonly finish: AbortSignal;
  /** Ends every agent at work. */
  readonly abort: AbortSignal;
  readonly watches: readonly Watch[];
  readonly reviews?: readonly Review[];
  readonly soFar: () => RunSoFar;
}

/**
 * Tells after each event whether the model is asked again: `another`, this event belongs to a further request than the one before, or
 * `calls`, the answer calls a tool, whose result will be sent. An answer may come in several events, its use with each of them.
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
      // The calls of an answer come before its use.
      calls = newCall || (calls && !another);
      newCall = false;
      last = { requests, input };
      if (another && !calls && event.final !== true) return "another";
    }
    return newCall || (event.type === "usage" && calls) ? "calls" : undefined;
  };
}

export function openLanes({ clock, jobs, finish, abort, watches, reviews = [], soFar }: LaneOptions): Lanes {
  const limit = pLimit(jobs);
  const live = new Map<number, LiveIteration>();
  const atWork = new Map<AbortController, Promise<unknown>>();
  const waiting: LoopEvent[] = [];
  const ended: LiveIteration[] = [];
  const bugs: unknown[] = [];
  const told = new Set<string>();
  const wakers = new Set<() => void>();
  let closed = false;
  const at = () => new Date(clock.now()).toISOString();
  const wake = () => {
    for (const waker of wakers) waker();
    wakers.clear();
  };
  const change = () => new Promise<void>((resolve) => void wakers.add(resolve));
  const onAbort = () => {
    for (const controller of atWork.keys()) controller.abort(abort.reason);
  };
  abort.addEventListener("abort", onAbort);

  async function say(event: LoopEvent): Promise<void> {
    while (waiting.length >= mostWaiting && !closed) await change();
    if (!closed) waiting.push(event);
    wake();
  }

  /** Runs the agent, passing on what it says, and folds the stream into one AgentRun. */
  async function follow(
    { agent, unit, brief, maxUsd, maxMs }: Start,
    first: AgentRun,
    controller: AbortController,
  ): Promise<LiveIteration> {
    const { iteration } = brief;
    const warned = new Set<Watch>();
    let run = first;
    const more = moreRequests();
    const options = {
      signal: controller.signal,
      ...(maxUsd === undefined ? {} : { maxUsd }),
      ...(maxMs === undefined ? {} : { maxMs }),
    };
    let stopped: Failure | undefined;
    for await (const event of agent.run(brief, options)) {
      run = folded(run, event);
      live.set(iteration, { unit, run });
      await say({ type: "agent", at: at(), iteration, event });
      const goesOn = more(event);
      // An answer already given is kept, whatever it used: the alarm ends what would follow it.
      if (stopped !== undefined && goesOn) controller.abort(stopped.kind);
      if (event.type !== "usage" || event.final === true || stopped !== undefined) continue;
      const others = [...live.values()].filter((each) => each.run.iteration !== iteration);
      for (const watch of watches) {
        const { warning, end } = watch({ unit, run }, { ...soFar(), now: clock.now(), inFlight: others }) ?? {};
        if (warning !== undefined && !warned.has(watch))
          await say({ type: "notice", at: at(), level: "warning", message: warning });
        if (warning !== undefined) warned.add(watch);
        stopped ??= end;
      }
      if (stopped !== undefined && goesOn === "calls") controller.abort(stopped.kind);
    }
    const failure = run.failure?.kind === "aborted" && !abort.aborted ? (stopped ?? run.failure) : run.failure;
    const whole: LiveIteration = {
      unit,
      run: { ...run, endedAt: clock.now(), ...(failure === undefined ? {} : { failure }) },
    };
    for (const review of reviews) {
      const warning = review(whole, soFar());
      if (warning === undefined || told.has(warning)) continue;
      told.add(warning);
      await say({ type: "notice", at: at(), level: "warning", message: warning });
    }
    return whole;
  }

  return {
    hasRoom: () => live.size < jobs,
    inFlight: () => [...live.values()],
    start(start) {
      const run = begun(start.agent, start.brief, clock.now());
      const controller = new AbortController();
      if (abort.aborted) controller.abort(abort.reason);
      live.set(run.iteration, { unit: start.unit, run });
      const settled = limit(() => follow(start, run, controller)).then(
        (whole) => void ended.push(whole),
        (bug: unknown) => void bugs.push(bug),
      );
      atWork.set(controller, settled);
      void settled.then(() => {
        atWork.delete(controller);
        wake();
      });
    },
    async *listen(until) {
      const slept = new AbortController();
      let isTime = false;
      const sleep = async (time: number, signal: AbortSignal) => {
        await clock.sleep(time, signal);
        isTime = true;
        wake();
      };
      if (live.size === 0) return void (until !== undefined && (await sleep(until, finish)));
      if (until !== undefined) void sleep(until, slept.signal);
      try {
        for (;;) {
          const event = waiting.shift();
          if (event !== undefined) {
            wake();
            yield event;
            continue;
          }
          if (bugs.length > 0) throw bugs[0];
          const whole = ended.shift();
          if (whole !== undefined) {
            live.delete(whole.run.iteration);
            return whole;
          }
          if (isTime) return undefined;
          await change();
        }
      } finally {
        slept.abort();
      }
    },
    async close() {
      closed = true;
      wake();
      abort.removeEventListener("abort", onAbort);
      for (const controller of atWork.keys()) controller.abort("closed");
      await Promise.all(atWork.values());
    },
  };
}
