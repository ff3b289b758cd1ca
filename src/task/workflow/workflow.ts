import { isDeepStrictEqual } from "node:util";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Redact } from "../../engine/lib/redact.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { many } from "../../engine/lib/words.js";
import { nothingSpent } from "../../engine/loop/stop-conditions/budget.js";
import { orVerdict, sayingOnce } from "../../engine/loop/in-workflows.js";
import { type Left, type OwnOutcome, saidOf } from "../../engine/loop/run-record/observation.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import type { AgentRun, Tell, Unit, Verdict, Workflow } from "../../engine/loop/types.js";
import { hear } from "../../engine/storage/state/steering-inbox.js";
import type { RecordStore } from "../../engine/storage/state/record-store.js";
import { checkAll, type Checked } from "../criteria/check-criteria.js";
import { contextOutside, missingContext } from "../place/context.js";
import type { Place } from "../place/run.js";
import { type Protect, protecting } from "../project-files/protect.js";
import type { Snapshot, Snapshots } from "../project-files/snapshots.js";
import type { RalphTask } from "../generated/ralph.js";
import type { Attempt, Best, Check, TaskState } from "../generated/ralph-state.js";
import { readSteps, type ViewNames, writeViews } from "../plan/views.js";
import { briefText } from "./brief.js";
import { derive, memoryOf, steered } from "./derived-state.js";
import { keptAttempt } from "./kept-attempt.js";
import { attemptOf, budgetOf, isBetter, isMet, progressOf, reached, spentIn } from "./status.js";
import { withSummary } from "../../engine/loop/history/summarise.js";

export interface TaskOptions {
  readonly store: RecordStore<TaskState>;
  /** Where agents work and criteria are checked. */
  readonly workspace: string;
  readonly place: Omit<Place, "signal">;
  /** The task as its file says now; the one of the command line is always the same. */
  readonly readTask: () => Promise<RalphTask>;
  /** Undefined where the folder is in no repository. */
  readonly snapshots: Snapshots | undefined;
  readonly protect: Protect;
  /** What a sandbox shows to agents and does not let them change; absent: they are in none. */
  readonly readOnly?: readonly string[];
  readonly views: ViewNames;
  readonly memory: HistoryLimits;
  readonly redact: Redact;
  /** Whether agents run commands themselves. */
  readonly shell: boolean;
  /** What the project asks of every agent, as the first part of a brief; as the run found it. */
  readonly instructions: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Puts the task away at the end of the run. */
  readonly close: (verdict?: Verdict) => Promise<void>;
}

export interface LoadedTask {
  readonly state: TaskState;
  readonly ledger: readonly LedgerLine[];
  /**
   * Whether the criteria were checked in this run, as the files are now. What was used up ends a run only then: what a
   * person did meanwhile may have met them all.
   */
  readonly checked: boolean;
}

interface AttemptContext {
  readonly before: readonly Check[];
  readonly tree: string | undefined;
  readonly protection: Awaited<ReturnType<Protect>>;
}

export type TaskWorkflow = Workflow<LoadedTask, Unit, Checked, AttemptContext>;

/** A task, attempt by attempt, until its criteria are met. */
export function taskWorkflow(options: TaskOptions): TaskWorkflow {
  const { store, workspace, snapshots, views, memory, now, redact } = options;
  /** The checks that were made in this run last, and of which task. `settled`: that all are met is not kept yet. */
  let latest: { readonly task: RalphTask; readonly checked: Checked; readonly settled?: true } | undefined;
  let isFirst = true;
  const owned = new Set<string>();
  const sayOnce = sayingOnce();

  const placeFor = (task: RalphTask, signal: AbortSignal): Place => {
    const { reach } = options.place;
    const named = options.readOnly === undefined ? [] : contextOutside(task, workspace);
    return { ...options.place, reach: { ...reach, read: [...reach.read, ...named] }, signal };
  };

  /** `iteration`: of the agent whose work is run by it; undefined where none has worked yet. */
  const check = async (
    state: TaskState,
    iteration: number | undefined,
    signal: AbortSignal,
    tell: Tell,
  ): Promise<Checked | undefined> => {
    const place = placeFor(state.task, signal);
    const checked = await protecting(options.protect, iteration, "the criteria were checked", tell, () =>
      checkAll(state.task.acceptance_criteria, place, state.tests_seen ?? [], tell),
    );
    latest = checked && { task: state.task, checked };
    return checked;
  };

  const show = async (state: TaskState, tell?: Tell): Promise<void> => {
    const { written, foreign } = await writeViews(workspace, views, state, owned);
    for (const name of written) owned.add(name);
    if (tell === undefined) return;
    for (const name of foreign) {
      const message = `${name} is not research-ralph's and stays as it is; name another file in the configuration (task_plan_file, task_record_file, task_current_file).`;
      await sayOnce(message, tell);
    }
  };

  return {
    name: "task",
    load: (tell, isAtWork) =>
      orVerdict(async () => {
        const task = await options.readTask();
        let { state, ledger } = await store.load();
        if (!isAtWork) {
          const at = new Date(now()).toISOString();
          await hear(store, (before, messages) => steered(before, messages, at, redact), tell);
          ({ state, ledger } = await store.load());
        }
        if (!isDeepStrictEqual(state.task, task)) {
          await store.edit((current) => derive({ ...current, task, checks: [] }, ledger, memory));
          ({ state, ledger } = await store.load());
          if (!isFirst)
            await tell({
              type: "notice",
              level: "info",
              message: "ralph.json has changed; its criteria are checked again.",
            });
        }
        isFirst = false;
        const known = latest !== undefined && isDeepStrictEqual(latest.task, task) ? latest : undefined;
        const checked = known !== undefined && known.settled !== true;
        return { state: checked ? { ...state, checks: [...known.checked.checks] } : state, ledger, checked };
      }),
    next({ state, checked }, busy) {
      if (busy.length > 0) return "wait";
      if (checked && isMet(state))
        return { verdict: "complete", reason: allMet(state.task.acceptance_criteria.length) };
      return attemptOf(state);
    },
    progress: ({ state }) => progressOf(state),
    account: ({ state, checked }) =>
      checked ? { spent: spentIn(state), budget: budgetOf(state) } : { spent: nothingSpent, budget: {} },
    memory: ({ state, ledger }) => memoryOf(state, ledger, memory),
    remember: async (compression) => {
      await store.edit((state) => withSummary(state, compression));
    },
    close: options.close,

    prepare: ({ state, checked }, _unit, { signal, tell }) =>
      orVerdict(async () => {
        const iteration = state.attempts.at(-1)?.iteration;
        const found = checked && latest !== undefined ? latest.checked : await check(state, iteration, signal, tell);
        if (found === undefined) return { later: { until: now(), reason: "The run is ending." } };
        if (!found.checks.every(({ passed }) => passed)) {
          for (const message of await missingContext(state.task, placeFor(state.task, signal)))
            await sayOnce(message, tell, "warning");
          return { ready: found };
        }
        latest = { task: state.task, checked: found, settled: true };
        return { settled: found };
      }),

    brief: ({ state }, _unit, prepared, notes) =>
      orVerdict(async () => {
        const iteration = store.nextIteration();
        const current = await store.edit((before) => withChecks(before, prepared, new Date(now()).toISOString()));
        await show(current);
        const before = state.attempts.length === 0 ? await snapshots?.take(0) : undefined;
        const text = `${options.instructions}${briefText(current, notes, { shell: options.shell, views })}`;
        const readOnly = options.readOnly && [...options.readOnly, ...contextOutside(current.task, workspace)];
        const access = { web: false, read: true, everything: false, shell: true as const, ...given({ readOnly }) };
        const protection = await options.protect(iteration);
        const brief = { iteration, text, tokens: estimateTokens(text), workspace, access };
        return { brief, context: { before: prepared.checks, tree: before?.tree, protection } };
      }),

    accept: ({ state: loaded }, unit, done, { signal, tell }) =>
      orVerdict(async () => {
        if ("prepared" in done) {
          const at = new Date(now()).toISOString();
          latest = { task: loaded.task, checked: done.prepared };
          await show(await store.edit((before) => withChecks(before, done.prepared, at)), tell);
          return { outcome: "accepted", summary: "All criteria are met." };
        }
        const { run, context } = done;
        for (const message of await context.protection.end({ agent: run.agent, during: "the agent was at work" }))
          await tell({ type: "notice", level: "warning", message });
        const { state } = await store.load();
        const steps = readSteps(workspace, views, state);
        const checked = await check(state, run.iteration, signal, tell);
        const snapshot = await snapshots?.take(run.iteration);
        const judgedAt = new Date(now());
        const at = judgedAt.toISOString();
        const judged = judge(state, run, checked, context.before);
        for (const message of judged.lost) await tell({ type: "notice", level: "warning", message });
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
                : { checks: [...checked.checks], checked_at: at, tests_seen: seenAfter(state, checked) }),
              ...given({ best: judged.best }),
            },
          },
          {
            in: "attempts",
            id: `attempt-${run.iteration}`,
            was: null,
            set: {
              ...keptAttempt(run, outcome, at),
              ...{ met: judged.now.met, failing: judged.now.failing },
              ...given({ snapshot: snapshot?.commit }),
            } satisfies Attempt,
          },
        ];
        const left = leftBy(snapshot, context.tree);
        const { prepareMs } = done;
        await store.fold({
          ...outcomeRecord(unit, run, outcome, { at: judgedAt, prepareMs, left, changes, redact, memory }),
          message: `task: ${outcome.outcome}`,
          progress: `${at} #${run.iteration} ${outcome.outcome}: ${saidOf(outcome)}\n`,
        });
        await show((await store.load()).state, tell);
        return outcome;
      }),
  };
}

const withChecks = (state: TaskState, { checks, tests }: Checked, at: string): TaskState => ({
  ...state,
  checks: [...checks],
  checked_at: at,
  tests_seen: seenAfter(state, { checks, tests }),
  best: state.best ?? reached(checks, 0),
});

/** Tests that were there once, those of now included. */
const seenAfter = ({ tests_seen: seen = [] }: TaskState, { tests }: Checked): string[] => [
  ...new Set([...seen, ...tests]),
];

interface Judged {
  readonly outcome: OwnOutcome;
  readonly now: Best;
  /** The best so far, where this is it. */
  readonly best?: Best;
  /** What is no longer met, a sentence each. */
  readonly lost: readonly string[];
}

/** Accepted is what is better than ever before; of a run that failed, the files count all the same. */
function judge(state: TaskState, run: AgentRun, checked: Checked | undefined, before: readonly Check[]): Judged {
  const checks = checked?.checks ?? before;
  const now = reached(checks, run.iteration);
  const known = state.best ?? reached(before, 0);
  const better = checked !== undefined && isBetter(now, known);
  const lost = checks
    .filter(
      ({ criterion, passed }, index) =>
        !passed && before[index]?.passed === true && before[index].criterion === criterion,
    )
    .map(({ criterion, detail }) => `No longer met: ${criterion}: ${detail.split("\n")[0]}`);
  const best = better ? { best: now } : {};
  if (run.failure !== undefined) return { outcome: { outcome: "failed", failure: run.failure }, now, lost, ...best };
  if (checked === undefined) {
    const failure = {
      kind: "aborted",
      message: "The criteria were not checked, because the run was interrupted.",
    } as const;
    return { outcome: { outcome: "failed", failure }, now, lost };
  }
  const all = state.task.acceptance_criteria.length;
  const failing = now.failing === 0 ? "" : `, ${many(now.failing, "test")} failing`;
  if (better || now.met === all)
    return {
      outcome: { outcome: "accepted", summary: `${now.met} of ${all} criteria met${failing}` },
      now,
      lost,
      best: now,
    };
  const open = checks.filter(({ passed }) => !passed);
  const reasons = [
    `${now.met} of ${all} criteria met${failing}, no better than before`,
    ...open.slice(0, 5).map(({ criterion, detail }) => `${criterion}: ${detail.split("\n")[0]}`),
  ];
  return { outcome: { outcome: "refused", reasons }, now, lost };
}

/** Two attempts that leave the same files are the same attempt. */
const leftBy = (snapshot: Snapshot | undefined, before: string | undefined): Left =>
  snapshot === undefined
    ? {}
    : { answer: snapshot.tree.slice(0, 12), ...(snapshot.tree === before ? {} : { left: true as const }) };

const allMet = (count: number): string =>
  count === 1 ? "The acceptance criterion is met." : `All ${count} acceptance criteria are met.`;
