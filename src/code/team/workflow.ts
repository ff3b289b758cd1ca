import { mkdirSync, rmSync } from "node:fs";
import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { quantity } from "../../engine/lib/words.js";
import { withErrorVerdict } from "../../engine/loop/in-workflows.js";
import { outcomeText } from "../../engine/loop/run-record/observation.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import type { AgentRun, Brief, Notes, Outcome, Prepared, Verdict, Work, Workflow } from "../../engine/loop/types.js";
import type { CriteriaResults } from "../../task/criteria/check-criteria.js";
import type { CodePlan, Round, TaskState } from "../../task/generated/ralph-state.js";
import { roundsOf, spentBy } from "../../task/plan/used.js";
import type { OpenGuard } from "../../task/project-files/protect.js";
import { completeIf, type LoadedTask, taskFrame, type TaskFrame } from "../../task/workflow/frame.js";
import { budgetOf } from "../../task/workflow/status.js";
import type { NextStep } from "../round/next-role.js";
import { attemptRecord, eventOf, judge, type JudgedResult, outcomeOf, type RefusedResult } from "./judge.js";
import type { TeamOptions } from "./options.js";
import { type RoleMaterial, gatherMaterial, roleText } from "./role-text.js";
import { acceptTests, writeRoundFile, reportFlaky } from "./round-end.js";
import {
  nextRoundNumber,
  remedies,
  roundOf,
  roundWithStep,
  stuckVerdict,
  type TeamUnit,
  unitOf,
  withRound,
} from "./rounds.js";
import { startRefusal } from "./start-refusal.js";
import { testSummaryOf } from "./tests.js";

type PreparedWork = { readonly results: CriteriaResults } | { readonly plan: CodePlan } | RoleMaterial;

interface AttemptContext {
  readonly protection: Awaited<ReturnType<OpenGuard>>;
}

export type TeamWorkflow = Workflow<LoadedTask, TeamUnit, PreparedWork, AttemptContext>;

/** The workflow of a task on which a team works, role by role and round by round, until the criteria are met. */
export function teamWorkflow(options: TeamOptions): TeamWorkflow {
  const frame = taskFrame(options);
  const { common } = frame;
  return {
    name: "team",
    ...common,
    next: (loaded, busy) => (busy.length > 0 ? "wait" : nextUnit(loaded, options)),
    account: (loaded) =>
      isRoleOrTests(stepOf(loaded.state, options))
        ? { spent: spentBy(loaded.state), budget: budgetOf(loaded.state) }
        : common.account(loaded),
    memory: (loaded) => ({ ...common.memory(loaded), remedies }),
    prepare: (loaded, unit, work) => withErrorVerdict(() => prepare(options, frame, loaded, unit, work)),
    brief: ({ state }, unit, prepared, notes) =>
      withErrorVerdict(() => makeBrief(options, state, unit, prepared, notes)),
    accept: ({ state }, unit, done, work) =>
      withErrorVerdict(async () => {
        if ("prepared" in done) return await acceptSettled(options, frame, state, unit, done.prepared, work);
        const { run, context, prepareMs } = done;
        for (const message of await context.protection.end({ agent: run.agent, during: "the agent was at work" }))
          await work.tell({ type: "notice", level: "warning", message });
        return await acceptRole(options, frame, unit, run, prepareMs, work);
      }),
  };
}

/** The next step of the current round; `completion` if there is no round. */
function stepOf(state: TaskState, { nextStepOf, hasAdversary }: TeamOptions): NextStep {
  const lastRound = roundsOf(state).at(-1);
  return lastRound === undefined ? "completion" : nextStepOf(lastRound.steps, hasAdversary);
}

/** Whether a role or the tests are next. Such a step is done even if the user has met the criteria meanwhile. */
const isRoleOrTests = (nextStep: NextStep): boolean =>
  nextStep !== "completion" && nextStep !== "error" && nextStep !== "adversary";

function nextUnit(loaded: LoadedTask, options: TeamOptions): TeamUnit | Verdict {
  const { state, ledger, isChecked } = loaded;
  const lastRound = roundsOf(state).at(-1);
  const nextStep = stepOf(state, options);
  if (lastRound !== undefined && isRoleOrTests(nextStep))
    return unitOf(nextStep as TeamUnit["kind"], lastRound.round, state);
  if (lastRound !== undefined && nextStep === "error") return failedVerdict(lastRound, ledger);
  if (!isChecked) return unitOf("criteria", lastRound?.round ?? nextRoundNumber(state), state);
  const completeVerdict = completeIf(loaded);
  if (completeVerdict !== undefined && lastRound !== undefined && nextStep === "adversary")
    return unitOf("adversary", lastRound.round, state);
  if (completeVerdict !== undefined) return withRoundCount(completeVerdict, state);
  return stuckVerdict(state) ?? unitOf("librarian", nextRoundNumber(state), state);
}

/** The verdict with the number of rounds and the flaky tests in its reason. */
function withRoundCount({ reason, ...verdict }: Verdict, state: TaskState): Verdict {
  const { flaky = [] } = state;
  const rounds = roundsOf(state).length;
  const roundsText = rounds === 0 ? "" : ` It took ${quantity(rounds, "round")}.`;
  const flakyText = flaky.length === 0 ? "" : ` Flaky, and not counted: ${flaky.slice(0, 3).join(", ")}.`;
  return { ...verdict, reason: `${reason}${roundsText}${flakyText}` };
}

function failedVerdict({ round, steps }: Round, ledger: LoadedTask["ledger"]): Verdict {
  const role = steps.at(-1)?.role ?? "role";
  const reason = ledger.findLast(({ unit }) => unit === `${role}:${round}`)?.reasons?.[0];
  const reasonText =
    reason === undefined ? "" : `, the last time as: ${oneLine(reason).slice(0, 200).replace(/\.$/, "")}`;
  return {
    verdict: "failed",
    reason: `The ${role} of round ${round} failed three times in a row${reasonText}. Run again to ask it three times more, or name another agent for it in code.roles.${role}; all reasons are in .ralph/ledger.jsonl.`,
  };
}

async function prepare(
  options: TeamOptions,
  frame: TaskFrame,
  loaded: LoadedTask,
  unit: TeamUnit,
  work: Work,
): Promise<Prepared<PreparedWork> | Verdict> {
  const { state } = loaded;
  const later = { later: { until: options.now(), reason: "The run is ending." } };
  if (unit.kind === "criteria" || unit.kind === "tests") {
    const results = await frame.check(state, state.attempts.at(-1)?.iteration, work);
    if (results === undefined) return later;
    const isFirstCheck = unit.kind === "criteria" && roundsOf(state).length === 0;
    const hasOpenCriterion = results.checks.some(({ passed }) => !passed);
    return (
      (isFirstCheck && hasOpenCriterion ? startRefusal(state.task, results.runs[0]?.results) : undefined) ?? {
        settled: { results },
      }
    );
  }
  if (unit.kind === "librarian" && options.isBuiltIn) return { settled: { plan: await options.ranking.plan(state) } };
  const material = await gatherMaterial(options, state, unit);
  if ("change" in material)
    await writeRoundFile(options.folder, unit.round, "change.diff", options.redact(material.change.text));
  return { ready: material };
}

async function makeBrief(
  options: TeamOptions,
  state: TaskState,
  unit: TeamUnit,
  prepared: PreparedWork,
  notes: Notes,
): Promise<{ readonly brief: Brief; readonly context: AttemptContext }> {
  const { store, workspace, snapshots, temperatures } = options;
  if ("results" in prepared || "plan" in prepared) throw new Error(`${unit.id} has no brief`);
  const iteration = store.nextIteration();
  const isArtisan = unit.kind === "artisan";
  const round = roundOf(state, unit.round);
  if (isArtisan && round !== undefined && round.before === undefined) {
    // The snapshot is stored before the round's first artisan starts, in case the process is killed while it works.
    const before = (await snapshots.take(Math.max(0, iteration - 1)))?.commit;
    if (before !== undefined) await store.edit((current) => withRound(current, { ...round, before }));
  }
  const text = `${options.instructions}${roleText(options, state, unit, prepared, notes)}`;
  const workFolder = isArtisan ? workspace : options.roleFolder(iteration);
  mkdirSync(workFolder, { recursive: true });
  const access: Brief["access"] = {
    web: false,
    read: true,
    everything: false,
    ...(isArtisan ? { shell: true as const } : {}),
    readOnly: isArtisan ? options.readOnly : [workspace],
  };
  const protection = await options.protect(iteration);
  const temperature = temperatures[unit.kind];
  const tokens = estimateTokens(text);
  return { brief: { iteration, text, tokens, workspace: workFolder, access, temperature }, context: { protection } };
}

/** Accepts the results of steps without an agent. */
async function acceptSettled(
  options: TeamOptions,
  frame: TaskFrame,
  state: TaskState,
  unit: TeamUnit,
  prepared: PreparedWork,
  { tell }: Work,
): Promise<Outcome> {
  if ("plan" in prepared) {
    const { plan } = prepared;
    await options.store.edit((current) =>
      withRound(current, { ...roundWithStep(current, unit, "ok", frame.timestamp()), plan }),
    );
    return { outcome: "accepted", summary: plan.cause };
  }
  if (!("results" in prepared)) throw new Error(`${unit.id} can't be settled`);
  const { results } = prepared;
  frame.setChecks(state.task, results);
  if (unit.kind === "tests") return await acceptTests(options, frame, state, unit, results, tell);
  const flaky = await reportFlaky(state, results, tell);
  const tested = testSummaryOf(results, frame.timestamp());
  await frame.storeChecks(results, (current) => ({ ...current, flaky, tested }), tell);
  const met = results.checks.filter(({ passed }) => passed).length;
  return { outcome: "accepted", summary: `${met} of ${state.task.acceptance_criteria.length} criteria met` };
}

/** Accepts the result of a role: stores its step of the round and its attempt. */
async function acceptRole(
  options: TeamOptions,
  frame: TaskFrame,
  unit: TeamUnit,
  run: AgentRun,
  prepareMs: number | undefined,
  work: Work,
): Promise<Outcome> {
  const { store, now, redact, memory } = options;
  const { state } = await store.load();
  const result: JudgedResult | RefusedResult | undefined =
    run.failure === undefined ? await judge(options, state, unit, run, work) : undefined;
  if (unit.kind !== "artisan") rmSync(run.brief.workspace, { recursive: true, force: true });
  const outcome = outcomeOf(run, result);
  const event = eventOf(state, unit, run, result);
  const judgedAt = new Date(now());
  const at = judgedAt.toISOString();
  const round = event === undefined ? undefined : roundWithStep(state, unit, event, at, run.iteration);
  const roundFields = result === undefined || "reasons" in result ? {} : result.set;
  const attempt = {
    in: "attempts",
    id: `attempt-${run.iteration}`,
    was: null,
    set: { ...attemptRecord(unit, run, outcome, at, result) },
  };
  const isNew = roundOf(state, unit.round) === undefined;
  const roundChange = round && {
    in: "rounds",
    id: round.id,
    ...(isNew ? { was: null } : {}),
    set: { round: round.round, steps: round.steps, ...roundFields },
  };
  const changes = roundChange === undefined ? [attempt] : [attempt, roundChange];
  await store.fold({
    ...outcomeRecord(unit, run, outcome, { at: judgedAt, prepareMs, changes, redact, memory }),
    message: `task: ${unit.kind} ${outcome.outcome}`,
    progress: `${at} #${run.iteration} ${unit.id} ${outcome.outcome}: ${outcomeText(outcome)}\n`,
  });
  await frame.writeViewFiles((await store.load()).state, work.tell);
  return outcome;
}
