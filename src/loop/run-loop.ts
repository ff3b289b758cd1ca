import type { Agent, AgentRun, Brief, Delay, LoopEvent, LoopOptions, Notes, Progress, RunSoFar, Unit, Verdict, Workflow } from "./types.js";
import { isVerdict } from "./types.js";

/** How long a wait lasts, in milliseconds, before the files and the guards are asked again. */
const lookAgain = 5_000;

/**
 * The loop: load → next → guards → brief → run → accept, until there is a verdict.
 *
 * It knows neither papers nor CLIs. What the work is stands in the workflow, how an agent is started in the agent,
 * when to stop or wait in the guards. It yields what happens and returns how the run ended; it writes nothing.
 * Finishing comes before the guards, so work done on the last allowed iteration is `complete`, not `limit`.
 */
export async function* runLoop<State>(workflow: Workflow<State>, agent: Agent, options: LoopOptions): AsyncGenerator<LoopEvent, Verdict> {
  const { clock } = options;
  const at = () => new Date(clock.now()).toISOString();
  let waitingFor = 0;
  let soFar: RunSoFar = { startedAt: clock.now(), now: clock.now(), iterations: [] };
  const notices = () => workflow.notices().map((notice) => ({ ...notice, type: "notice" as const, at: at() }));

  yield { type: "run-started", at: at(), workflow: workflow.name, agent: agent.name };
  for (;;) {
    const state = await workflow.load();
    yield* notices();
    if (isVerdict(state)) return yield* end(state);

    const unit = workflow.next(state, []);
    if (isVerdict(unit)) return yield* end(unit, workflow.progress(state));
    if (unit === "wait") throw new Error(`${workflow.name} waits although nothing is in flight`);

    soFar = { ...soFar, now: clock.now() };
    const stop = firstObjection(options.guards, soFar);
    if (isVerdict(stop)) return yield* end(stop, workflow.progress(state));
    if (stop !== undefined) {
      if (stop.until !== waitingFor) yield { type: "waiting", at: at(), until: new Date(stop.until).toISOString(), reason: stop.reason };
      waitingFor = stop.until;
      await clock.sleep(Math.min(stop.until, clock.now() + lookAgain), options.finish);
      continue;
    }

    const brief = await workflow.brief(state, unit, notesFor(unit, soFar));
    if (isVerdict(brief)) return yield* end(brief);
    if (brief === "later") continue;
    const { iteration, tokens: briefTokens, workspace } = brief;
    const { id, phase, title } = unit;
    yield { type: "iteration-started", at: at(), iteration, unit: id, phase, title, briefTokens, workspace, progress: workflow.progress(state) };

    const run = yield* follow(agent, brief, options, at);
    const outcome = await workflow.accept(state, unit, run);
    yield* notices();
    if (isVerdict(outcome)) return yield* end(outcome);

    const { usage, costUsd, endedAt } = run;
    soFar = { ...soFar, iterations: [...soFar.iterations, { iteration, unit, outcome, endedAt, usage, costUsd }] };
    yield { type: "iteration-ended", at: at(), iteration, unit: id, outcome, durationMs: endedAt - run.startedAt, usage, costUsd };
  }

  async function* end(verdict: Verdict, progress?: Progress): AsyncGenerator<LoopEvent, Verdict> {
    yield* notices();
    yield { type: "run-ended", at: at(), verdict, progress };
    return verdict;
  }
}

/** Runs the agent, passing on what it says, and folds the stream into one AgentRun. */
async function* follow(agent: Agent, brief: Brief, options: LoopOptions, at: () => string): AsyncGenerator<LoopEvent, AgentRun> {
  const startedAt = options.clock.now();
  const none = { input: 0, cached: 0, output: 0, requests: 0 };
  let run: AgentRun = {
    iteration: brief.iteration,
    agent: agent.name,
    confinement: agent.confinement,
    startedAt,
    endedAt: startedAt,
    usage: none,
    brief,
    message: "",
  };
  for await (const event of agent.run(brief, { signal: options.abort })) {
    if (event.type === "usage") run = { ...run, usage: event.usage, costUsd: event.costUsd ?? run.costUsd, model: event.model ?? run.model };
    if (event.type === "end") run = { ...run, message: event.message, failure: event.failure };
    yield { type: "agent", at: at(), iteration: brief.iteration, event };
  }
  return { ...run, endedAt: options.clock.now() };
}

function firstObjection(guards: LoopOptions["guards"], soFar: RunSoFar): Verdict | Delay | undefined {
  const answers = guards.map((guard) => guard(soFar)).filter((answer) => answer !== undefined);
  return answers.find(isVerdict) ?? answers[0];
}

function notesFor(unit: Unit, soFar: RunSoFar): Notes {
  const last = soFar.iterations.findLast((past) => past.unit.id === unit.id)?.outcome;
  return last?.outcome === "refused" ? { refusal: last.reasons } : {};
}
