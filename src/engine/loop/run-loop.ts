import { isDeepStrictEqual } from "node:util";
import { type Ended, type EndedPreparation, type EndedRun, openLanes } from "./lanes.js";
import { firstObjection, notesFor, wholeBrief } from "./notes.js";
import { withDefaults } from "./rules-of-run.js";
import type {
  Agent,
  Delay,
  Delayed,
  Done,
  LoopOptions,
  Outcome,
  Prepared,
  RunSoFar,
  Unit,
  Verdict,
  Workflow,
} from "./types.js";
import { isVerdict } from "./types.js";
import { given } from "../lib/given.js";

/** Milliseconds that a wait lasts at most before the files and the stop conditions are asked again. */
const maxWait = 5_000;

/** A unit that code settled is done; a person may want it done again, but not this often in one run. */
const maxSettled = 3;

/** A prepared unit that waits for an agent; or, where code has settled it, to be accepted. */
interface ReadyUnit<State, P> {
  readonly prepared: Exclude<Prepared<P>, { readonly later: Delay }>;
  readonly prepareMs?: number;
  /** The state that it was prepared from. */
  readonly from?: State;
}

/**
 * The loop: load → next → stop conditions → prepare → brief → run → accept, until there is a verdict.
 *
 * It knows neither papers nor CLIs: the workflow says what the work is, `choose` which agent does it, and the stop
 * conditions whether the run stops or waits. The loop writes nothing itself. What the workflow accepts,
 * engine/storage/state/fold.ts folds into the files, in this order: journal entry, state file, log entry and ledger
 * line, output files, the journal's mark, git commit. Four rules make up the rest:
 * - `next` comes before the stop conditions, so work that is done with the last allowed iteration is `complete`, not
 *   `limit`.
 * - Agents and preparations work side by side; results are accepted one after the other, and those that wait are
 *   written together.
 * - While all lanes are full, one unit ahead is prepared. A preparation is not an iteration: stop conditions count what
 *   agents ran, and not the units that code settled.
 * - After a reason to stop nothing more is started. What agents have begun is accepted first, and then everything is
 *   asked again.
 *
 * `agent`: who works first, and alone where `set` chooses nobody else. Rejects only for a fault of the workflow or of
 * this program; the workflow's `close` has been called by then, and no agent is at work.
 */
export async function runLoop<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  agent: Agent,
  set: LoopOptions = {},
): Promise<Verdict> {
  const options = withDefaults(agent, set);
  const { clock, stopConditions, choose, tell, finish, abort } = options;
  const unprepared: ReadyUnit<State, P> = { prepared: { ready: undefined as P } };
  const prepareUnit = workflow.prepare?.bind(workflow) ?? (async () => unprepared.prepared);
  const lanes = openLanes<State, U, P, C>({ ...options, soFar: () => ({ ...soFar, ...atNow() }) });
  const ready = new Map<string, ReadyUnit<State, P>>();
  const later = new Map<string, Delayed<U>>();
  let soFar: RunSoFar = { startedAt: clock.now(), now: clock.now(), iterations: [] };
  /** The agent that last worked, by role; "" stands for units without a role. */
  const current = new Map([["", agent.name]]);
  let waitingFor = 0;
  let state: State | undefined;
  const settledTimes = new Map<string, number>();
  let lastSettled: { readonly unit: string; readonly state: State } | undefined;
  /** Set once a part of the workflow has said how the run ends. */
  let over: Verdict | undefined;
  /** The unit that no agent could be had for. */
  let without: string | undefined;
  const atNow = () => ({ now: clock.now(), ...given({ sleeps: clock.sleeps?.() }) });

  await tell({ type: "run-started", workflow: workflow.name, agent: agent.name });
  let verdict: Verdict | undefined;
  try {
    verdict = await untilConceded();
  } finally {
    await lanes.close();
    await workflow.close?.(verdict);
  }
  await tell({ type: "run-ended", verdict, ...given({ progress: state && workflow.progress(state) }) });
  return verdict;

  async function untilConceded(): Promise<Verdict> {
    for (;;) {
      const verdict = await untilVerdict();
      const conceded = await workflow.concede?.(verdict, tell, without ?? failedLast());
      if (conceded !== "again") return conceded ?? verdict;
      soFar = { ...soFar, conceded: soFar.iterations.length };
      [over, without] = [undefined, undefined];
    }
  }

  async function untilVerdict(): Promise<Verdict> {
    for (;;) {
      if (over === undefined) await load();
      const pause = over ?? (await fillLanes(state as State));
      if (pause === "again") continue;
      // The limit of iterations counts what is being prepared, so preparations may go on.
      if (isVerdict(pause) && pause.verdict !== "limit" && lanes.inFlight().length === 0) over ??= pause;
      if (over !== undefined) lanes.endPreparations();
      if (isVerdict(pause) && lanes.busy().length === 0) return pause;
      const delay = isVerdict(pause) ? undefined : pause;
      await announce(delay);
      await take(await lanes.next(delay && Math.min(delay.until, clock.now() + maxWait)));
    }
  }

  /** The unit of the last iteration, where that failed. */
  function failedLast(): string | undefined {
    const last = soFar.iterations.at(-1);
    return last?.outcome.outcome === "failed" ? last.unit.id : undefined;
  }

  async function load(): Promise<void> {
    const loaded = await workflow.load(tell, lanes.inFlight().length > 0);
    if (isVerdict(loaded)) over = loaded;
    else state = loaded;
  }

  /** Starts agents and preparations until there is no more room, nothing to start for now, or a reason not to. */
  async function fillLanes(state: State): Promise<Verdict | Delay | "again" | undefined> {
    const [account, memory] = [workflow.account?.(state), workflow.memory?.(state)];
    for (;;) {
      const busy = lanes.busy();
      const unit = workflow.next(state, busy, putOff());
      if (unit === "wait" && busy.length === 0) throw new Error(`${workflow.name} waits although nothing is under way`);
      if (isVerdict(unit)) return unit;
      // While agents work, stop conditions wait until one of them ends; what is only prepared, they end.
      const isWait = unit === "wait" || "until" in unit;
      if (isWait && lanes.inFlight().length > 0) return unit === "wait" ? undefined : unit;
      soFar = { ...soFar, ...atNow(), inFlight: lanes.inFlight(), preparing: lanes.preparing(), account, memory };
      const objection = firstObjection(stopConditions, soFar);
      if (objection !== undefined) return objection;
      if (unit === "wait") return undefined;
      if ("until" in unit) return unit;

      const turn = workflow.prepare === undefined ? unprepared : ready.get(unit.id);
      if (turn === undefined) {
        if (!lanes.hasRoomToPrepare()) return undefined;
        await prepare(state, unit);
      } else if ("settled" in turn.prepared) {
        return (await settle(state, unit, turn.prepared.settled, turn)) ?? "again";
      } else {
        if (!lanes.hasRoom()) return undefined;
        if (busy.some(({ id }) => id === unit.id))
          throw new Error(`${workflow.name} names ${unit.id} although it is under way: 'next' has to leave out 'busy'`);
        const pause = await start(state, unit, turn.prepared.ready, turn);
        if (pause !== undefined) return pause;
      }
    }
  }

  async function prepare(state: State, unit: U): Promise<void> {
    await tell({ type: "preparing", unit: unit.id, phase: unit.phase, title: unit.title });
    lanes.prepare(unit, state, (signal) => prepareUnit(state, unit, { signal, tell }));
  }

  /** Briefs an agent and starts it; answers with the reason where that is not possible. */
  async function start(state: State, unit: U, prepared: P, turn: ReadyUnit<State, P>) {
    const choice = choose(soFar, unit);
    const isNotWaitedFor = "until" in choice && choice.isLongLimit === true && workflow.isOptional?.(unit) === true;
    if (isVerdict(choice) || isNotWaitedFor) without = unit.id;
    if (isNotWaitedFor) return { verdict: "blocked", reason: choice.reason } as const;
    if (isVerdict(choice) || "until" in choice) return choice;
    const { agent: chosen, first } = choice;
    const { role, round } = unit;
    const whose = first === undefined ? "" : (role ?? "");
    const from = current.get(whose) ?? first ?? chosen.name;
    if (chosen.name !== from)
      await tell({ type: "agent-changed", from, to: chosen.name, reason: choice.reason ?? "It is its turn." });
    current.set(whose, chosen.name);
    const { name, confinement } = chosen;
    const notes = { ...notesFor(unit, soFar), agent: { name, confinement } };
    const briefed = await workflow.brief(state, unit, prepared, notes);
    if (isVerdict(briefed)) return (over = briefed);
    // A person may have stopped the run while the brief was made: no agent is started and paid for then.
    const stopped = finish.aborted ? firstObjection(stopConditions, { ...soFar, ...atNow() }) : undefined;
    if (stopped !== undefined) return stopped;
    ready.delete(unit.id);
    if (briefed === "stale") return requireChange(unit, turn.from, state);
    const brief = wholeBrief(briefed.brief, soFar, workflow.name);
    const { iteration, tokens: brief_tokens, workspace } = brief;
    await tell({
      type: "iteration-started",
      iteration,
      unit: unit.id,
      phase: unit.phase,
      title: unit.title,
      brief_tokens,
      workspace,
      progress: workflow.progress(state),
      agent: chosen.name,
      ...given({ role, round, forecast: soFar.account?.forecast }),
    });
    lanes.start({ ...choice, brief, context: briefed.context, unit, ...given({ prepareMs: turn.prepareMs }) });
    return undefined;
  }

  /** Accepts what code alone has done. */
  async function settle(
    state: State,
    unit: U,
    prepared: P,
    { prepareMs = 0, from }: ReadyUnit<State, P>,
  ): Promise<Verdict | undefined> {
    if (lastSettled?.unit === unit.id && isDeepStrictEqual(lastSettled.state, state))
      throw new Error(`${workflow.name} settles ${unit.id} again although the state has not changed`);
    const times = settledTimes.get(unit.id) ?? 0;
    if (times >= maxSettled) throw new Error(`${workflow.name} settled ${unit.id} ${times} times and names it again`);
    ready.delete(unit.id);
    const done = { prepared, prepareMs } as Done<P, C>;
    const outcome = await workflow.accept(state, unit, done, { signal: abort, tell });
    if (outcome === "stale") return requireChange(unit, from, state);
    lastSettled = { unit: unit.id, state };
    settledTimes.set(unit.id, times + 1);
    return isVerdict(outcome) ? (over = outcome) : undefined;
  }

  /** A unit is prepared again only for another state, else it would never end. */
  function requireChange(unit: U, from: State | undefined, state: State): undefined {
    if (isDeepStrictEqual(from, state))
      throw new Error(
        `${workflow.name} calls ${unit.id} stale although the state it was prepared from has not changed`,
      );
  }

  async function take(ended: Ended<State, U, P, C> | undefined): Promise<void> {
    if (ended === undefined) return;
    if (!("run" in ended)) return await keep(ended);
    const { together } = workflow;
    await (together === undefined ? accept([ended]) : accept([ended, ...lanes.others()], together.bind(workflow)));
  }

  async function keep({ unit, prepared, prepareMs, from, aborted }: EndedPreparation<State, U, P>): Promise<void> {
    const event = { type: "prepared", unit: unit.id, title: unit.title, duration_seconds: prepareMs / 1000 } as const;
    // What was asked while the run was ending says nothing of the unit.
    if (aborted && (isVerdict(prepared) || "later" in prepared)) return await tell({ ...event, outcome: "aborted" });
    if (isVerdict(prepared)) {
      // What keeps the state from being read, such as a folder that is gone, is why the preparation failed too.
      if (over === undefined) await load();
      over ??= prepared;
      return await tell({ ...event, outcome: "failed", reason: over.reason });
    }
    if (!("later" in prepared)) {
      ready.set(unit.id, { prepared, prepareMs, from });
      return await tell({ ...event, outcome: "settled" in prepared ? "settled" : "ready" });
    }
    const { until, reason } = prepared.later;
    later.set(unit.id, { unit, until, reason });
    await tell({ ...event, outcome: "later", reason, until: new Date(until).toISOString() });
  }

  /** Accepts what agents have done, each by itself. Their end is reported once what they left is written. */
  async function accept(
    runs: readonly EndedRun<U, C>[],
    together: NonNullable<typeof workflow.together> = (work) => work(),
  ): Promise<void> {
    const accepted: (readonly [EndedRun<U, C>, Outcome])[] = [];
    const unwritten = await together(async () => {
      for (const [index, each] of runs.entries()) {
        if (index > 0 && over === undefined) await load();
        const { unit, run, context, prepareMs } = each;
        const done = { run, context, ...given({ prepareMs }) };
        const outcome = await workflow.accept(state as State, unit, done, { signal: abort, tell });
        if (outcome === "stale") throw new Error(`${workflow.name} calls the finished run of ${unit.id} stale`);
        if (isVerdict(outcome)) over ??= outcome;
        else accepted.push([each, outcome]);
      }
    });
    if (isVerdict(unwritten)) return void (over ??= unwritten);
    for (const [{ unit, run, workedMs }, outcome] of accepted) {
      const { iteration, agent, usage, cost_usd, estimated, startedAt, endedAt } = run;
      const past = { iteration, unit, agent, outcome, startedAt, endedAt, usage, ...given({ cost_usd }) };
      soFar = { ...soFar, iterations: [...soFar.iterations, past] };
      const duration_seconds = workedMs / 1000;
      await tell({
        type: "iteration-ended",
        iteration,
        unit: unit.id,
        outcome,
        duration_seconds,
        usage,
        ...given({ cost_usd, estimated }),
      });
    }
  }

  /** The units that are still put off. */
  function putOff(): Delayed<U>[] {
    for (const [id, { until }] of later) if (until <= clock.now()) later.delete(id);
    return [...later.values()];
  }

  /** Tells of a wait that was not told of yet. */
  async function announce(delay: Delay | undefined): Promise<void> {
    if (delay === undefined) return;
    if (delay.until > clock.now() && delay.until !== waitingFor)
      await tell({ type: "waiting", until: new Date(delay.until).toISOString(), reason: delay.reason });
    waitingFor = delay.until;
  }
}
