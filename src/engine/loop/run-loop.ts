import { openLanes } from "./lanes.js";
import type {
  Agent,
  Choose,
  Delay,
  LiveIteration,
  LoopEvent,
  LoopOptions,
  RunSoFar,
  Verdict,
  Workflow,
} from "./types.js";
import { isVerdict } from "./types.js";
import { firstObjection, notesFor } from "./notes.js";

/** How long a wait lasts, in milliseconds, before the files and the guards are asked again. */
const lookAgain = 5_000;

/**
 * The loop: load → next → guards → brief → run → accept, until there is a verdict.
 *
 * It knows neither papers nor CLIs: the work is the workflow's, the agent next is `choose`'s, stopping and waiting is the guards'.
 * Agents work side by side, results are accepted one at a time. It writes nothing. Finishing comes before the guards, so work done
 * on the last allowed iteration is `complete`, not `limit`.
 */
export async function* runLoop<State>(
  workflow: Workflow<State>,
  agent: Agent,
  options: LoopOptions,
): AsyncGenerator<LoopEvent, Verdict> {
  const { clock, guards, watches = [], jobs = 1 } = options;
  const choose: Choose = options.choose ?? (() => ({ agent }));
  const at = () => new Date(clock.now()).toISOString();
  const lanes = openLanes({ ...options, jobs, watches, soFar: () => soFar });
  let soFar: RunSoFar = { startedAt: clock.now(), now: clock.now(), iterations: [] };
  let current = agent.name;
  let waitingFor = 0;
  let state: State | undefined;
  let over: Verdict | undefined;

  yield { type: "run-started", at: at(), workflow: workflow.name, agent: agent.name };
  try {
    for (;;) {
      if (over === undefined) yield* load();
      const pause = over ?? (yield* startAgents(state as State));
      // What is under way is not lost: it is folded in first, and then everything is asked again.
      if (isVerdict(pause) && lanes.inFlight().length === 0) return yield* end(pause);
      const delay = pause !== undefined && "until" in pause ? pause : undefined;
      if (delay !== undefined && delay.until > clock.now() && delay.until !== waitingFor)
        yield { type: "waiting", at: at(), until: new Date(delay.until).toISOString(), reason: delay.reason };
      waitingFor = delay?.until ?? waitingFor;
      yield* settle(yield* lanes.listen(delay && Math.min(delay.until, clock.now() + lookAgain)));
    }
  } finally {
    await lanes.close();
  }

  async function* load(): AsyncGenerator<LoopEvent> {
    const loaded = await workflow.load();
    yield* notices();
    if (isVerdict(loaded)) over = loaded;
    else state = loaded;
  }

  /** Starts agents until there is no more room, nothing to start for now, or a reason not to. */
  async function* startAgents(state: State): AsyncGenerator<LoopEvent, Verdict | Delay | undefined> {
    while (lanes.hasRoom()) {
      const inFlight = lanes.inFlight();
      const taken = inFlight.map((live) => live.unit);
      const unit = workflow.next(state, taken);
      if (unit === "wait" && taken.length === 0)
        throw new Error(`${workflow.name} waits although nothing is in flight`);
      if (unit === "wait") return undefined;
      if (isVerdict(unit)) return unit;
      soFar = {
        ...soFar,
        now: clock.now(),
        inFlight,
        account: workflow.account?.(state),
        memory: workflow.memory?.(state),
      };
      const choice = firstObjection(guards, soFar) ?? choose(soFar);
      if (isVerdict(choice) || "until" in choice) return choice;
      if (choice.agent.name !== current) {
        yield {
          type: "agent-changed",
          at: at(),
          from: current,
          to: choice.agent.name,
          reason: choice.reason ?? "It is its turn.",
        };
        current = choice.agent.name;
      }

      const { id, phase, title } = unit;
      const brief = await workflow.brief(state, unit, notesFor(unit, soFar));
      if (brief === "later") return { until: clock.now(), reason: `${title} is read later.` };
      if (isVerdict(brief)) return (over = brief);
      const { iteration, tokens: briefTokens, workspace } = brief;
      const about = {
        unit: id,
        phase,
        title,
        briefTokens,
        workspace,
        progress: workflow.progress(state),
        agent: current,
      };
      yield { type: "iteration-started", at: at(), iteration, ...about, forecast: soFar.account?.forecast };
      lanes.start({ ...choice, unit, brief });
    }
  }

  async function* settle(ended: LiveIteration | undefined): AsyncGenerator<LoopEvent> {
    if (ended === undefined) return;
    const { unit, run } = ended;
    const { iteration, agent, usage, costUsd, estimated, startedAt, endedAt } = run;
    const outcome = await workflow.accept(state as State, unit, run);
    yield* notices();
    if (isVerdict(outcome)) return void (over ??= outcome);
    soFar = {
      ...soFar,
      iterations: [...soFar.iterations, { iteration, unit, agent, outcome, startedAt, endedAt, usage, costUsd }],
    };
    yield {
      type: "iteration-ended",
      at: at(),
      iteration,
      unit: unit.id,
      outcome,
      durationMs: endedAt - startedAt,
      usage,
      costUsd,
      estimated,
    };
  }

  function* notices(): Generator<LoopEvent> {
    for (const notice of workflow.notices()) yield { ...notice, type: "notice", at: at() };
  }

  async function* end(verdict: Verdict): AsyncGenerator<LoopEvent, Verdict> {
    yield* notices();
    yield {
      type: "run-ended",
      at: at(),
      verdict,
      progress: state === undefined ? undefined : workflow.progress(state),
    };
    return verdict;
  }
}
