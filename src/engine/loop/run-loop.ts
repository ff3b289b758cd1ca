import { isDeepStrictEqual } from "node:util";
import { type Ended, type EndedPreparation, type EndedRun, openLanes } from "./lanes.js";
import { firstObjection, notesFor, completeBrief } from "./notes.js";
import { withDefaults } from "./rules-of-run.js";
import type {
  Agent,
  Delay,
  Delayed,
  UnitResult,
  LoopOptions,
  Outcome,
  Prepared,
  RunSoFar,
  Unit,
  Verdict,
  Workflow,
} from "./types.js";
import { isVerdict } from "./types.js";
import { withoutUndefined } from "../lib/without-undefined.js";

/** The longest wait, in milliseconds, before the files and the stop conditions are checked again. */
const maxWaitMs = 5_000;

/**
 * How many times a unit may be settled without an agent in one run. A user may cause a few repetitions; more are a bug
 * of the workflow.
 */
const maxSettledTimes = 3;

/** A prepared unit that waits for an agent, or for acceptance if it needs no agent. */
interface ReadyUnit<State, P> {
  readonly prepared: Exclude<Prepared<P>, { readonly later: Delay }>;
  readonly prepareMs?: number;
  /** The state that it was prepared from. */
  readonly preparedFrom?: State;
}

/**
 * The loop: load → next → stop conditions → prepare → brief → run → accept, until there is a verdict.
 *
 * The loop knows neither papers nor CLIs: the workflow defines the work, `choose` selects the agent, and the stop
 * conditions decide whether the run stops or waits. The loop itself writes no files. engine/storage/state/fold.ts
 * writes what the workflow accepts, in this order: journal entry, state file, log entry and ledger line, output files,
 * the mark that the journal entry is done, git commit. Four more rules:
 * - `next` is called before the stop conditions, so work that the last allowed iteration finishes is `complete`, not
 *   `limit`.
 * - Agents and preparations run in parallel; results are accepted one after the other, and waiting results are written
 *   together.
 * - While all lanes are full, one unit is prepared in advance. A preparation is not an iteration: stop conditions count
 *   the runs of agents, not the units that code settled.
 * - If there is a reason to stop, nothing more is started. Running agents finish and their results are accepted; then
 *   all conditions are checked again.
 *
 * `agent`: the first agent; the only agent if `givenOptions` chooses no other. Rejects only for a bug of the workflow
 * or of this program; before it rejects, all agents end and the workflow's `close` is called.
 */
export async function runLoop<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  agent: Agent,
  givenOptions: LoopOptions = {},
): Promise<Verdict> {
  const options = withDefaults(agent, givenOptions);
  const { clock, stopConditions, choose, tell, finish, abort } = options;
  const withoutPreparation: ReadyUnit<State, P> = { prepared: { ready: undefined as P } };
  const prepareUnit = workflow.prepare?.bind(workflow) ?? (async () => withoutPreparation.prepared);
  const lanes = openLanes<State, U, P, C>({ ...options, soFar: () => ({ ...soFar, ...timeNow() }) });
  const readyUnits = new Map<string, ReadyUnit<State, P>>();
  const delayedUnits = new Map<string, Delayed<U>>();
  let soFar: RunSoFar = { startedAt: clock.now(), now: clock.now(), iterations: [] };
  /** The last agent of each role; "" stands for units without a role. */
  const currentAgents = new Map([["", agent.name]]);
  let announcedWaitEnd = 0;
  let state: State | undefined;
  const settledTimes = new Map<string, number>();
  let lastSettled: { readonly unit: string; readonly state: State } | undefined;
  /** The verdict that ends the run; undefined while the run may go on. */
  let finalVerdict: Verdict | undefined;
  /** The unit for which no agent was available. */
  let unitWithoutAgent: string | undefined;
  const timeNow = () => ({ now: clock.now(), sleeps: clock.sleeps?.() });

  const { jobs } = options;
  await tell({ type: "run-started", workflow: workflow.name, agent: agent.name, ...(jobs > 1 ? { jobs } : {}) });
  let verdict: Verdict | undefined;
  try {
    verdict = await runWithConcessions();
  } finally {
    await lanes.close();
    await workflow.close?.(verdict);
  }
  await tell({ type: "run-ended", verdict, ...withoutUndefined({ progress: state && workflow.progress(state) }) });
  return verdict;

  async function runWithConcessions(): Promise<Verdict> {
    for (;;) {
      const verdict = await runUntilVerdict();
      const concession = await workflow.concede?.(verdict, tell, unitWithoutAgent ?? lastFailedUnit());
      if (concession !== "again") return concession ?? verdict;
      soFar = { ...soFar, conceded: soFar.iterations.length };
      [finalVerdict, unitWithoutAgent] = [undefined, undefined];
    }
  }

  async function runUntilVerdict(): Promise<Verdict> {
    for (;;) {
      if (finalVerdict === undefined) await loadState();
      const decision = finalVerdict ?? (await fillLanes(state as State));
      if (decision === "again") continue;
      // Units under preparation count toward the limit of iterations, so they are still needed after that limit.
      if (isVerdict(decision) && decision.verdict !== "limit" && lanes.inFlight().length === 0)
        finalVerdict ??= decision;
      if (finalVerdict !== undefined) lanes.endPreparations();
      if (isVerdict(decision) && lanes.busy().length === 0) return decision;
      const delay = isVerdict(decision) ? undefined : decision;
      await announceWait(delay);
      await handleEnded(await lanes.next(delay && Math.min(delay.until, clock.now() + maxWaitMs)));
    }
  }

  /** The unit of the last iteration, if it failed. */
  function lastFailedUnit(): string | undefined {
    const lastIteration = soFar.iterations.at(-1);
    return lastIteration?.outcome.outcome === "failed" ? lastIteration.unit.id : undefined;
  }

  async function loadState(): Promise<void> {
    const loadedState = await workflow.load(tell, lanes.inFlight().length > 0);
    if (isVerdict(loadedState)) finalVerdict = loadedState;
    else state = loadedState;
  }

  /** Starts agents and preparations until the lanes are full, no unit can start now, or there is a reason to stop. */
  async function fillLanes(state: State): Promise<Verdict | Delay | "again" | undefined> {
    const [account, memory] = [workflow.account?.(state), workflow.memory?.(state)];
    for (;;) {
      const busy = lanes.busy();
      const unit = workflow.next(state, busy, currentDelays());
      if (unit === "wait" && busy.length === 0) throw new Error(`${workflow.name} waits although nothing is under way`);
      if (isVerdict(unit)) return unit;
      // While agents work, stop conditions are checked only after one of them ends; preparations are ended at once.
      const isWait = unit === "wait" || "until" in unit;
      if (isWait && lanes.inFlight().length > 0) return unit === "wait" ? undefined : unit;
      soFar = { ...soFar, ...timeNow(), inFlight: lanes.inFlight(), preparing: lanes.preparing(), account, memory };
      const objection = firstObjection(stopConditions, soFar);
      if (objection !== undefined) return objection;
      if (unit === "wait") return undefined;
      if ("until" in unit) return unit;

      const readyUnit = workflow.prepare === undefined ? withoutPreparation : readyUnits.get(unit.id);
      if (readyUnit === undefined) {
        if (!lanes.hasRoomToPrepare()) return undefined;
        await prepare(state, unit);
      } else if ("settled" in readyUnit.prepared) {
        return (await acceptSettled(state, unit, readyUnit.prepared.settled, readyUnit)) ?? "again";
      } else {
        if (!lanes.hasRoom()) return undefined;
        if (busy.some(({ id }) => id === unit.id))
          throw new Error(`${workflow.name} names ${unit.id} although it is under way: 'next' has to leave out 'busy'`);
        const verdictOrDelay = await startAgent(state, unit, readyUnit.prepared.ready, readyUnit);
        if (verdictOrDelay !== undefined) return verdictOrDelay;
      }
    }
  }

  async function prepare(state: State, unit: U): Promise<void> {
    await tell({ type: "preparing", unit: unit.id, phase: unit.phase, title: unit.title });
    lanes.prepare(unit, state, (signal) => prepareUnit(state, unit, { signal, tell }));
  }

  /** Makes the brief for an agent and starts the agent; returns the verdict or delay if that is not possible. */
  async function startAgent(state: State, unit: U, prepared: P, readyUnit: ReadyUnit<State, P>) {
    const choice = choose(soFar, unit);
    const isSkipped = "until" in choice && choice.isLongLimit === true && workflow.isOptional?.(unit) === true;
    if (isVerdict(choice) || isSkipped) unitWithoutAgent = unit.id;
    if (isSkipped) return { verdict: "blocked", reason: choice.reason } as const;
    if (isVerdict(choice) || "until" in choice) return choice;
    const { agent: chosenAgent, first: firstChoice } = choice;
    const { role, round } = unit;
    const roleKey = firstChoice === undefined ? "" : (role ?? "");
    const previousAgent = currentAgents.get(roleKey) ?? firstChoice ?? chosenAgent.name;
    if (chosenAgent.name !== previousAgent)
      await tell({
        type: "agent-changed",
        from: previousAgent,
        to: chosenAgent.name,
        reason: choice.reason ?? "It is its turn.",
      });
    currentAgents.set(roleKey, chosenAgent.name);
    const { name, confinement } = chosenAgent;
    const notes = { ...notesFor(unit, soFar), agent: { name, confinement } };
    const briefing = await workflow.brief(state, unit, prepared, notes);
    if (isVerdict(briefing)) return (finalVerdict = briefing);
    // The user may have stopped the run meanwhile; then no agent is started.
    const objection = finish.aborted ? firstObjection(stopConditions, { ...soFar, ...timeNow() }) : undefined;
    if (objection !== undefined) return objection;
    readyUnits.delete(unit.id);
    if (briefing === "stale") return requireChange(unit, readyUnit.preparedFrom, state);
    const brief = completeBrief(briefing.brief, soFar, workflow.name);
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
      agent: chosenAgent.name,
      ...withoutUndefined({ role, round, forecast: soFar.account?.forecast }),
    });
    lanes.start({ ...choice, brief, context: briefing.context, unit, prepareMs: readyUnit.prepareMs });
    return undefined;
  }

  /** Accepts the result of a unit that needs no agent. */
  async function acceptSettled(
    state: State,
    unit: U,
    prepared: P,
    { prepareMs = 0, preparedFrom }: ReadyUnit<State, P>,
  ): Promise<Verdict | undefined> {
    if (lastSettled?.unit === unit.id && isDeepStrictEqual(lastSettled.state, state))
      throw new Error(`${workflow.name} settles ${unit.id} again although the state has not changed`);
    const times = settledTimes.get(unit.id) ?? 0;
    if (times >= maxSettledTimes)
      throw new Error(`${workflow.name} settled ${unit.id} ${times} times and names it again`);
    readyUnits.delete(unit.id);
    const result = { prepared, prepareMs } as UnitResult<P, C>;
    const outcome = await workflow.accept(state, unit, result, { signal: abort, tell });
    if (outcome === "stale") return requireChange(unit, preparedFrom, state);
    lastSettled = { unit: unit.id, state };
    settledTimes.set(unit.id, times + 1);
    return isVerdict(outcome) ? (finalVerdict = outcome) : undefined;
  }

  /** Requires that the state has changed; otherwise the unit would be prepared again and again. */
  function requireChange(unit: U, preparedFrom: State | undefined, state: State): undefined {
    if (isDeepStrictEqual(preparedFrom, state))
      throw new Error(
        `${workflow.name} calls ${unit.id} stale although the state it was prepared from has not changed`,
      );
  }

  async function handleEnded(ended: Ended<State, U, P, C> | undefined): Promise<void> {
    if (ended === undefined) return;
    if (!("run" in ended)) return await handlePreparation(ended);
    const { together } = workflow;
    await (together === undefined
      ? acceptRuns([ended])
      : acceptRuns([ended, ...lanes.others()], together.bind(workflow)));
  }

  async function handlePreparation({
    unit,
    prepared,
    prepareMs,
    preparedFrom,
    wasAborted,
  }: EndedPreparation<State, U, P>): Promise<void> {
    const event = { type: "prepared", unit: unit.id, title: unit.title, duration_seconds: prepareMs / 1000 } as const;
    // An aborted preparation may have failed because of the abort.
    if (wasAborted && (isVerdict(prepared) || "later" in prepared)) return await tell({ ...event, outcome: "aborted" });
    if (isVerdict(prepared)) {
      // If the state can't be read, for example because the folder is missing, that is the real cause of the failure.
      if (finalVerdict === undefined) await loadState();
      finalVerdict ??= prepared;
      return await tell({ ...event, outcome: "failed", reason: finalVerdict.reason });
    }
    if (!("later" in prepared)) {
      readyUnits.set(unit.id, { prepared, prepareMs, preparedFrom });
      return await tell({ ...event, outcome: "settled" in prepared ? "settled" : "ready" });
    }
    const { until, reason } = prepared.later;
    delayedUnits.set(unit.id, { unit, until, reason });
    await tell({ ...event, outcome: "later", reason, until: new Date(until).toISOString() });
  }

  /** Accepts the results of agents one by one. Their end is reported after the results are written. */
  async function acceptRuns(
    runs: readonly EndedRun<U, C>[],
    together: NonNullable<typeof workflow.together> = (work) => work(),
  ): Promise<void> {
    const acceptedRuns: (readonly [EndedRun<U, C>, Outcome])[] = [];
    const writeVerdict = await together(async () => {
      for (const [index, endedRun] of runs.entries()) {
        if (index > 0 && finalVerdict === undefined) await loadState();
        const { unit, run, context, prepareMs } = endedRun;
        const result = { run, context, prepareMs };
        const outcome = await workflow.accept(state as State, unit, result, { signal: abort, tell });
        if (outcome === "stale") throw new Error(`${workflow.name} calls the finished run of ${unit.id} stale`);
        if (isVerdict(outcome)) finalVerdict ??= outcome;
        else acceptedRuns.push([endedRun, outcome]);
      }
    });
    if (isVerdict(writeVerdict)) return void (finalVerdict ??= writeVerdict);
    for (const [{ unit, run, workedMs }, outcome] of acceptedRuns) {
      const { iteration, agent, usage, cost_usd, estimated, startedAt, endedAt } = run;
      const pastIteration = { iteration, unit, agent, outcome, startedAt, endedAt, usage, cost_usd };
      soFar = { ...soFar, iterations: [...soFar.iterations, pastIteration] };
      const duration_seconds = workedMs / 1000;
      await tell({
        type: "iteration-ended",
        iteration,
        unit: unit.id,
        outcome,
        duration_seconds,
        usage,
        ...withoutUndefined({ cost_usd, estimated }),
      });
    }
  }

  /** The units that are still delayed. */
  function currentDelays(): Delayed<U>[] {
    for (const [id, { until }] of delayedUnits) if (until <= clock.now()) delayedUnits.delete(id);
    return [...delayedUnits.values()];
  }

  /** Reports a wait; a wait with the same end is reported only once. */
  async function announceWait(delay: Delay | undefined): Promise<void> {
    if (delay === undefined) return;
    if (delay.until > clock.now() && delay.until !== announcedWaitEnd)
      await tell({ type: "waiting", until: new Date(delay.until).toISOString(), reason: delay.reason });
    announcedWaitEnd = delay.until;
  }
}
