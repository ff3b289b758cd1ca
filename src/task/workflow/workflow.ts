import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { quantity } from "../../engine/lib/words.js";
import { withErrorVerdict } from "../../engine/loop/in-workflows.js";
import { type RunAnswer, type FinalOutcome, outcomeText } from "../../engine/loop/run-record/observation.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import type { AgentRun, Unit, Workflow } from "../../engine/loop/types.js";
import type { CriteriaResults } from "../criteria/check-criteria.js";
import { contextOutside, unreadableContext } from "../place/context.js";
import type { OpenGuard } from "../project-files/protect.js";
import { changeInfo, transformFiles } from "../project-files/remade-files.js";
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

export type TaskWorkflow = Workflow<LoadedTask, Unit, CriteriaResults, AttemptContext>;

/** The workflow of a task on which one agent at a time works, until the criteria are met. */
export function taskWorkflow(options: TaskOptions): TaskWorkflow {
  const { store, workspace, snapshots, views, memory, now, redact } = options;
  const frame = taskFrame(options);
  const { check, storeChecks, placeFor, writeViewFiles } = frame;

  return {
    name: "task",
    ...frame.common,
    next: (loaded, busy) => (busy.length > 0 ? "wait" : (completeIf(loaded) ?? attemptOf(loaded.state))),

    prepare: (loaded, _unit, work) =>
      withErrorVerdict(async () => {
        const { task } = loaded.state;
        const prepared = await frame.prepareChecks(loaded, work);
        if ("ready" in prepared)
          for (const message of await unreadableContext(task, placeFor(task, work.signal)))
            await frame.notifyOnce(message, work.tell, "warning");
        return prepared;
      }),

    brief: (_loaded, _unit, prepared, notes) =>
      withErrorVerdict(async () => {
        const iteration = store.nextIteration();
        const current = await storeChecks(prepared);
        const tree = await snapshots?.tree();
        const text = `${options.instructions}${briefText(current, notes, { shell: options.shell, views })}`;
        const readOnly = options.readOnly && [...options.readOnly, ...contextOutside(current.task, workspace)];
        const access = { web: false, read: true, everything: false, shell: true as const, readOnly };
        const protection = await options.protect(iteration);
        const brief = { iteration, text, tokens: estimateTokens(text), workspace, access };
        return { brief, context: { before: prepared.checks, tree, protection } };
      }),

    accept: ({ state: loaded }, unit, done, { signal, tell }) =>
      withErrorVerdict(async () => {
        if ("prepared" in done) {
          frame.setChecks(loaded.task, done.prepared);
          await storeChecks(done.prepared, undefined, tell);
          return { outcome: "accepted", summary: "All criteria are met." };
        }
        const { run, context } = done;
        for (const message of await context.protection.end({ agent: run.agent, during: "the agent was at work" }))
          await tell({ type: "notice", level: "warning", message });
        const { state } = await store.load();
        const steps = readSteps(workspace, views, state);
        if (run.failure === undefined) await transformFiles(options, context.tree, changeInfo(unit, run), tell);
        // If the model service refused all requests, the agent has done no work that could be checked.
        const isIdle = run.failure !== undefined && !countsTowardLimit(run.failure.kind);
        const results = isIdle ? undefined : await check(state, run.iteration, { signal, tell });
        if (!isIdle) frame.setChecks(state.task, results);
        const snapshot = await snapshots?.take(run.iteration);
        const judgedAt = new Date(now());
        const at = judgedAt.toISOString();
        const judged = judge(state, run, results, context.before);
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
              ...(results === undefined
                ? {}
                : { checks: [...results.checks], checked_at: at, tests_seen: seenTestsAfter(state, results) }),
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
              met: judged.result.met,
              failing: judged.result.failing,
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
        await writeViewFiles((await store.load()).state, tell);
        return outcome;
      }),
  };
}

interface Judged {
  readonly outcome: FinalOutcome;
  readonly result: Best;
  /** The new best result, if this attempt is the best so far. */
  readonly newBest?: Best;
  /** A sentence for each criterion that was met before the attempt and is no longer met. */
  readonly newFailures: readonly string[];
}

/**
 * Judges an attempt. It is accepted if it is better than all attempts before it. The files of a failed run count too.
 */
function judge(
  state: TaskState,
  run: AgentRun,
  results: CriteriaResults | undefined,
  checksBefore: readonly Check[],
): Judged {
  const checks = results?.checks ?? checksBefore;
  const now = resultOf(checks, run.iteration);
  const bestBefore = state.best ?? resultOf(checksBefore, 0);
  const isBest = results !== undefined && isBetter(now, bestBefore);
  const newFailures = checks
    .filter(
      ({ criterion, passed }, index) =>
        !passed && checksBefore[index]?.passed === true && checksBefore[index].criterion === criterion,
    )
    .map(({ criterion, detail }) => `No longer met: ${criterion}: ${detail.split("\n")[0]}`);
  const newBest = isBest ? { newBest: now } : {};
  if (run.failure !== undefined)
    return { outcome: { outcome: "failed", failure: run.failure }, result: now, newFailures, ...newBest };
  if (results === undefined) {
    const failure = {
      kind: "aborted",
      message: "The criteria were not checked, because the run was interrupted.",
    } as const;
    return { outcome: { outcome: "failed", failure }, result: now, newFailures };
  }
  const total = state.task.acceptance_criteria.length;
  const failing = now.failing === 0 ? "" : `, ${quantity(now.failing, "test")} failing`;
  if (isBest || now.met === total)
    return {
      outcome: { outcome: "accepted", summary: `${now.met} of ${total} criteria met${failing}` },
      result: now,
      newFailures,
      newBest: now,
    };
  const failedChecks = checks.filter(({ passed }) => !passed);
  const reasons = [
    `${now.met} of ${total} criteria met${failing}, no better than before`,
    ...failedChecks.slice(0, 5).map(({ criterion, detail }) => `${criterion}: ${detail.split("\n")[0]}`),
  ];
  return { outcome: { outcome: "refused", reasons }, result: now, newFailures };
}

/** The answer of a run, for the detection of loops: two runs give the same answer if they leave the same files. */
const runAnswer = (snapshot: Snapshot | undefined, treeBefore: string | undefined): RunAnswer =>
  snapshot === undefined
    ? {}
    : { answer: snapshot.tree.slice(0, 12), ...(snapshot.tree === treeBefore ? {} : { left: true as const }) };
