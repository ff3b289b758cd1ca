import { mkdirSync, rmSync } from "node:fs";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { many } from "../../engine/lib/words.js";
import { orVerdict } from "../../engine/loop/in-workflows.js";
import { outcomeText } from "../../engine/loop/run-record/observation.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import type { AgentRun, Brief, Notes, Outcome, Prepared, Verdict, Work, Workflow } from "../../engine/loop/types.js";
import type { Checked } from "../../task/criteria/check-criteria.js";
import type { CodePlan, Round, TaskState } from "../../task/generated/ralph-state.js";
import { roundsOf, spentBy } from "../../task/plan/used.js";
import type { OpenGuard } from "../../task/project-files/protect.js";
import { completeIf, type LoadedTask, taskFrame, type TaskFrame } from "../../task/workflow/frame.js";
import { budgetOf } from "../../task/workflow/status.js";
import type { Place } from "../round/next-role.js";
import { attemptRecord, eventOf, judge, type Judged, outcomeOf, type Refused } from "./judge.js";
import type { TeamOptions } from "./options.js";
import { type ForRole, gathered, roleText } from "./role-text.js";
import { acceptTests, keepOfRound, tellFlaky } from "./round-end.js";
import { nextRound, remedies, roundOf, stepped, stuckAfter, type TeamUnit, unitOf, withRound } from "./standing.js";
import { whyNotBegin } from "./start-refusal.js";
import { testedIn } from "./tests.js";

type Found = { readonly checked: Checked } | { readonly plan: CodePlan } | ForRole;

interface Context {
  readonly protection: Awaited<ReturnType<OpenGuard>>;
}

export type TeamWorkflow = Workflow<LoadedTask, TeamUnit, Found, Context>;

/** A task that a team works on, role by role and round by round, until its criteria are met. */
export function teamWorkflow(options: TeamOptions): TeamWorkflow {
  const frame = taskFrame(options);
  const { common } = frame;
  return {
    name: "team",
    ...common,
    next: (loaded, busy) => (busy.length > 0 ? "wait" : nextOf(loaded, options)),
    account: (loaded) =>
      isRole(placeIn(loaded.state, options))
        ? { spent: spentBy(loaded.state), budget: budgetOf(loaded.state) }
        : common.account(loaded),
    memory: (loaded) => ({ ...common.memory(loaded), remedies }),
    prepare: (loaded, unit, work) => orVerdict(() => prepare(options, frame, loaded, unit, work)),
    brief: ({ state }, unit, found, notes) => orVerdict(() => brief(options, state, unit, found, notes)),
    accept: ({ state }, unit, done, work) =>
      orVerdict(async () => {
        if ("prepared" in done) return await acceptSettled(options, frame, state, unit, done.prepared, work);
        const { run, context, prepareMs } = done;
        for (const message of await context.protection.end({ agent: run.agent, during: "the agent was at work" }))
          await work.tell({ type: "notice", level: "warning", message });
        return await acceptRole(options, frame, unit, run, prepareMs, work);
      }),
  };
}

/** Where the round under way stands; `completion` where none is. */
function placeIn(state: TaskState, { placeOf, hasAdversary }: TeamOptions): Place {
  const last = roundsOf(state).at(-1);
  return last === undefined ? "completion" : placeOf(last.steps, hasAdversary);
}

/** Whether a role is next of which nothing that a person did meanwhile takes the turn. */
const isRole = (place: Place): boolean => place !== "completion" && place !== "error" && place !== "adversary";

function nextOf(loaded: LoadedTask, options: TeamOptions): TeamUnit | Verdict {
  const { state, ledger, checked } = loaded;
  const last = roundsOf(state).at(-1);
  const place = placeIn(state, options);
  if (last !== undefined && isRole(place)) return unitOf(place as TeamUnit["kind"], last.round, state);
  if (last !== undefined && place === "error") return failedBy(last, ledger);
  if (!checked) return unitOf("criteria", last?.round ?? nextRound(state), state);
  const complete = completeIf(loaded);
  if (complete !== undefined && last !== undefined && place === "adversary")
    return unitOf("adversary", last.round, state);
  if (complete !== undefined) return withRounds(complete, state);
  return stuckAfter(state) ?? unitOf("librarian", nextRound(state), state);
}

/** The verdict with what a person has to know of a team's work. */
function withRounds({ reason, ...verdict }: Verdict, state: TaskState): Verdict {
  const { flaky = [] } = state;
  const rounds = roundsOf(state).length;
  const after = rounds === 0 ? "" : ` It took ${many(rounds, "round")}.`;
  const unsteady = flaky.length === 0 ? "" : ` Flaky, and not counted: ${flaky.slice(0, 3).join(", ")}.`;
  return { ...verdict, reason: `${reason}${after}${unsteady}` };
}

function failedBy({ round, steps }: Round, ledger: LoadedTask["ledger"]): Verdict {
  const role = steps.at(-1)?.role ?? "role";
  const why = ledger.findLast(({ unit }) => unit === `${role}:${round}`)?.reasons?.[0];
  const said = why === undefined ? "" : `, the last time as: ${oneLine(why).slice(0, 200).replace(/\.$/, "")}`;
  return {
    verdict: "failed",
    reason: `The ${role} of round ${round} failed three times in a row${said}. Run again to ask it three times more, or name another agent for it in code.roles.${role}; all reasons are in .ralph/ledger.jsonl.`,
  };
}

async function prepare(
  options: TeamOptions,
  frame: TaskFrame,
  loaded: LoadedTask,
  unit: TeamUnit,
  work: Work,
): Promise<Prepared<Found> | Verdict> {
  const { state } = loaded;
  const later = { later: { until: options.now(), reason: "The run is ending." } };
  if (unit.kind === "criteria" || unit.kind === "tests") {
    const checked = await frame.check(state, state.attempts.at(-1)?.iteration, work);
    if (checked === undefined) return later;
    const isFirst = unit.kind === "criteria" && roundsOf(state).length === 0;
    const isOpen = checked.checks.some(({ passed }) => !passed);
    return (
      (isFirst && isOpen ? whyNotBegin(state.task, checked.runs[0]?.results) : undefined) ?? { settled: { checked } }
    );
  }
  if (unit.kind === "librarian" && options.isBuiltIn) return { settled: { plan: await options.ranking.plan(state) } };
  const found = await gathered(options, state, unit);
  if ("change" in found)
    await keepOfRound(options.folder, unit.round, "change.diff", options.redact(found.change.text));
  return { ready: found };
}

async function brief(
  options: TeamOptions,
  state: TaskState,
  unit: TeamUnit,
  found: Found,
  notes: Notes,
): Promise<{ readonly brief: Brief; readonly context: Context }> {
  const { store, workspace, snapshots, temperatures } = options;
  if ("checked" in found || "plan" in found) throw new Error(`${unit.id} has no brief`);
  const iteration = store.nextIteration();
  const isArtisan = unit.kind === "artisan";
  const round = roundOf(state, unit.round);
  if (isArtisan && round !== undefined && round.before === undefined) {
    // Before the round's first artisan, in case a kill comes while it is at work.
    const before = (await snapshots.take(Math.max(0, iteration - 1)))?.commit;
    if (before !== undefined) await store.edit((current) => withRound(current, { ...round, before }));
  }
  const text = `${options.instructions}${roleText(options, state, unit, found, notes)}`;
  const place = isArtisan ? workspace : options.roleFolder(iteration);
  mkdirSync(place, { recursive: true });
  const access: Brief["access"] = {
    web: false,
    read: true,
    everything: false,
    ...(isArtisan ? { shell: true as const } : {}),
    ...withoutUndefined({ readOnly: isArtisan ? options.readOnly : [workspace] }),
  };
  const protection = await options.protect(iteration);
  const temperature = temperatures[unit.kind];
  const tokens = estimateTokens(text);
  return {
    brief: { iteration, text, tokens, workspace: place, access, ...withoutUndefined({ temperature }) },
    context: { protection },
  };
}

/** Accepts what code alone has done. */
async function acceptSettled(
  options: TeamOptions,
  frame: TaskFrame,
  state: TaskState,
  unit: TeamUnit,
  found: Found,
  { tell }: Work,
): Promise<Outcome> {
  if ("plan" in found) {
    const { plan } = found;
    await options.store.edit((now) => withRound(now, { ...stepped(now, unit, "ok", frame.at()), plan }));
    return { outcome: "accepted", summary: plan.cause };
  }
  if (!("checked" in found)) throw new Error(`${unit.id} can't be settled`);
  const { checked } = found;
  frame.take(state.task, checked);
  if (unit.kind === "tests") return await acceptTests(options, frame, state, unit, checked, tell);
  const flaky = await tellFlaky(state, checked, tell);
  const tested = testedIn(checked, frame.at());
  await frame.keep(checked, (now) => ({ ...now, flaky, tested }), tell);
  const met = checked.checks.filter(({ passed }) => passed).length;
  return { outcome: "accepted", summary: `${met} of ${state.task.acceptance_criteria.length} criteria met` };
}

/** Accepts what a role has left: its step of the round, and what is kept of it. */
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
  const judged: Judged | Refused | undefined =
    run.failure === undefined ? await judge(options, state, unit, run, work) : undefined;
  if (unit.kind !== "artisan") rmSync(run.brief.workspace, { recursive: true, force: true });
  const outcome = outcomeOf(run, judged);
  const event = eventOf(state, unit, run, judged);
  const judgedAt = new Date(now());
  const at = judgedAt.toISOString();
  const round = event === undefined ? undefined : stepped(state, unit, event, at, run.iteration);
  const set = judged === undefined || "reasons" in judged ? {} : judged.set;
  const attempt = {
    in: "attempts",
    id: `attempt-${run.iteration}`,
    was: null,
    set: { ...attemptRecord(unit, run, outcome, at, judged) },
  };
  const isNew = roundOf(state, unit.round) === undefined;
  const changed = round && {
    in: "rounds",
    id: round.id,
    ...(isNew ? { was: null } : {}),
    set: { round: round.round, steps: round.steps, ...set },
  };
  const changes = changed === undefined ? [attempt] : [attempt, changed];
  await store.fold({
    ...outcomeRecord(unit, run, outcome, { at: judgedAt, prepareMs, changes, redact, memory }),
    message: `task: ${unit.kind} ${outcome.outcome}`,
    progress: `${at} #${run.iteration} ${unit.id} ${outcome.outcome}: ${outcomeText(outcome)}\n`,
  });
  await frame.show((await store.load()).state, work.tell);
  return outcome;
}
