import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { quantity } from "../../engine/lib/words.js";
import { withErrorVerdict } from "../../engine/loop/in-workflows.js";
import { type RunAnswer, type FinalOutcome, outcomeText } from "../../engine/loop/run-record/observation.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import type { AgentRun, Unit, Workflow } from "../../engine/loop/types.js";
import type { Checked } from "../criteria/check-criteria.js";
import { contextOutside, unreadableContext } from "../place/context.js";
import type { OpenGuard } from "../project-files/protect.js";
import { changeInfo, remakeFiles } from "../project-files/remade-files.js";
import type { Snapshot } from "../project-files/snapshots.js";
import type { Attempt, Best, Check, TaskState } from "../generated/ralph-state.js";
import { readSteps } from "../plan/views.js";
import { briefText } from "./brief.js";
import { completeIf, type LoadedTask, seenTestsAfter, taskFrame, type TaskOptions } from "./frame.js";
import { closingSentence, recordOfAttempt, progressLine } from "./kept-attempt.js";
import { attemptOf, isBetter, resultOf } from "./status.js";

interface AttemptContext {
  readonly before: readonly Check[];
  readonly tree: string | undefined;
  readonly protection: Awaited<ReturnType<OpenGuard>>;
}

export type TaskWorkflow = Workflow<LoadedTask, Unit, Checked, AttemptContext>;

/** A task on which one agent at a time works, until its criteria are met. */
export function taskWorkflow(options: TaskOptions): TaskWorkflow {
  const { store, workspace, snapshots, views, memory, now, redact } = options;
  const frame = taskFrame(options);
  const { check, keep, placeFor, show } = frame;

  return {
    name: "task",
    ...frame.common,
    next: (loaded, busy) => (busy.length > 0 ? "wait" : (completeIf(loaded) ?? attemptOf(loaded.state))),

    prepare: (loaded, _unit, work) =>
      withErrorVerdict(async () => {
        const { task } = loaded.state;
        const prepared = await frame.found(loaded, work);
        if ("ready" in prepared)
          for (const message of await unreadableContext(task, placeFor(task, work.signal)))
            await frame.sayOnce(message, work.tell, "warning");
        return prepared;
      }),

    brief: (_loaded, _unit, prepared, notes) =>
      withErrorVerdict(async () => {
        const iteration = store.nextIteration();
        const current = await keep(prepared);
        const tree = await snapshots?.tree();
        const text = `${options.instructions}${briefText(current, notes, { shell: options.shell, views })}`;
        const readOnly = options.readOnly && [...options.readOnly, ...contextOutside(current.task, workspace)];
        const access = {
          web: false,
          read: true,
          everything: false,
          shell: true as const,
          ...withoutUndefined({ readOnly }),
        };
        const protection = await options.protect(iteration);
        const brief = { iteration, text, tokens: estimateTokens(text), workspace, access };
        return { brief, context: { before: prepared.checks, tree, protection } };
      }),

    accept: ({ state: loaded }, unit, done, { signal, tell }) =>
      withErrorVerdict(async () => {
        if ("prepared" in done) {
          frame.take(loaded.task, done.prepared);
          await keep(done.prepared, undefined, tell);
          return { outcome: "accepted", summary: "All criteria are met." };
        }
        const { run, context } = done;
        for (const message of await context.protection.end({ agent: run.agent, during: "the agent was at work" }))
          await tell({ type: "notice", level: "warning", message });
        const { state } = await store.load();
        const steps = readSteps(workspace, views, state);
        if (run.failure === undefined) await remakeFiles(options, context.tree, changeInfo(unit, run), tell);
        // If the agent's service refused all requests, there is nothing to check.
        const isIdle = run.failure !== undefined && !countsTowardLimit(run.failure.kind);
        const checked = isIdle ? undefined : await check(state, run.iteration, { signal, tell });
        if (!isIdle) frame.take(state.task, checked);
        const snapshot = await snapshots?.take(run.iteration);
        const judgedAt = new Date(now());
        const at = judgedAt.toISOString();
        const judged = judge(state, run, checked, context.before);
        for (const message of judged.newFailures) await tell({ type: "notice", level: "warning", message });
        const { outcome } = judged;
        const plan = {
          tasks: steps.map(({ title, done: isDone }, index) => ({
            id: `step-${index + 1}`,
            title,
            done: isDone,
            kind: "step" as const,
          })),
          current_task_id: null,
        };
        const changes = [
          {
            in: "task",
            set: {
              plan,
              ...(checked === undefined
                ? {}
                : { checks: [...checked.checks], checked_at: at, tests_seen: seenTestsAfter(state, checked) }),
              ...withoutUndefined({ best: judged.newBest }),
            },
          },
          {
            in: "attempts",
            id: `attempt-${run.iteration}`,
            was: null,
            set: {
              ...recordOfAttempt(run, outcome, at),
              ...withoutUndefined({ said: closingSentence(run.message, redact) }),
              met: judged.now.met,
              failing: judged.now.failing,
              ...withoutUndefined({ snapshot: snapshot?.commit }),
            } satisfies Attempt,
          },
        ];
        const fileResult = runAnswer(snapshot, context.tree);
        const { prepareMs } = done;
        await store.fold({
          ...outcomeRecord(unit, run, outcome, {
            at: judgedAt,
            prepareMs,
            answer: fileResult,
            changes,
            redact,
            memory,
          }),
          message: `task: ${outcome.outcome}`,
          progress: progressLine(run, at, `${outcome.outcome}: ${outcomeText(outcome)}`, redact),
        });
        await show((await store.load()).state, tell);
        return outcome;
      }),
  };
}

interface Judged {
  readonly outcome: FinalOutcome;
  readonly now: Best;
  /** The new best result, if this attempt is the best so far. */
  readonly newBest?: Best;
  /** The criteria that are no longer met, a sentence each. */
  readonly newFailures: readonly string[];
}

/** An attempt is accepted if it is better than all before. The files of a failed run count too. */
function judge(state: TaskState, run: AgentRun, checked: Checked | undefined, checksBefore: readonly Check[]): Judged {
  const checks = checked?.checks ?? checksBefore;
  const now = resultOf(checks, run.iteration);
  const bestBefore = state.best ?? resultOf(checksBefore, 0);
  const isBest = checked !== undefined && isBetter(now, bestBefore);
  const newFailures = checks
    .filter(
      ({ criterion, passed }, index) =>
        !passed && checksBefore[index]?.passed === true && checksBefore[index].criterion === criterion,
    )
    .map(({ criterion, detail }) => `No longer met: ${criterion}: ${detail.split("\n")[0]}`);
  const newBest = isBest ? { newBest: now } : {};
  if (run.failure !== undefined)
    return { outcome: { outcome: "failed", failure: run.failure }, now, newFailures, ...newBest };
  if (checked === undefined) {
    const failure = {
      kind: "aborted",
      message: "The criteria were not checked, because the run was interrupted.",
    } as const;
    return { outcome: { outcome: "failed", failure }, now, newFailures };
  }
  const total = state.task.acceptance_criteria.length;
  const failing = now.failing === 0 ? "" : `, ${quantity(now.failing, "test")} failing`;
  if (isBest || now.met === total)
    return {
      outcome: { outcome: "accepted", summary: `${now.met} of ${total} criteria met${failing}` },
      now,
      newFailures,
      newBest: now,
    };
  const failedChecks = checks.filter(({ passed }) => !passed);
  const reasons = [
    `${now.met} of ${total} criteria met${failing}, no better than before`,
    ...failedChecks.slice(0, 5).map(({ criterion, detail }) => `${criterion}: ${detail.split("\n")[0]}`),
  ];
  return { outcome: { outcome: "refused", reasons }, now, newFailures };
}

/** Two attempts count as the same if they leave the same files. */
const runAnswer = (snapshot: Snapshot | undefined, treeBefore: string | undefined): RunAnswer =>
  snapshot === undefined
    ? {}
    : { answer: snapshot.tree.slice(0, 12), ...(snapshot.tree === treeBefore ? {} : { left: true as const }) };
