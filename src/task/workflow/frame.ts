import { isDeepStrictEqual } from "node:util";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Redact } from "../../engine/lib/redact.js";
import { withSummary } from "../../engine/loop/history/summarise.js";
import { orVerdict, makeNoticeOnce } from "../../engine/loop/in-workflows.js";
import { zeroSpent } from "../../engine/loop/stop-conditions/budget.js";
import type { Account, Prepared, Progress, Tell, Unit, Verdict, Work, Workflow } from "../../engine/loop/types.js";
import type { RecordStore } from "../../engine/storage/state/record-store.js";
import { receiveMessages } from "../../engine/storage/state/steering-inbox.js";
import { checkAll, type Checked } from "../criteria/check-criteria.js";
import type { FilesBefore } from "../criteria/new-test.js";
import type { RalphTask } from "../generated/ralph.js";
import type { TaskState } from "../generated/ralph-state.js";
import { contextOutside } from "../place/context.js";
import type { Place } from "../place/run.js";
import { type ViewNames, writeViews } from "../plan/views.js";
import { type Protect, protecting } from "../project-files/protect.js";
import type { Remaking } from "../project-files/remade-files.js";
import type { Snapshots } from "../project-files/snapshots.js";
import { derive, memoryOf, steered } from "./derived-state.js";
import { attemptOf, budgetOf, isMet, progressOf, reached } from "./status.js";
import { spentIn } from "../plan/used.js";

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
  /** Asks hooks whether the task is done; answers with why it is not. */
  readonly veto: (proposal: object) => Promise<readonly string[]>;
  /** Absent: nobody transforms what agents make. */
  readonly remake?: Remaking["remake"];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Writes down how the run has ended, by `keep`, and puts the task away. */
  readonly close: (verdict: Verdict | undefined, keep: (state: TaskState) => Promise<void>) => Promise<void>;
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

/** What an attempt of one agent and one of a team have in common: how a task is read, checked, kept and shown. */
export function taskFrame(options: TaskOptions) {
  const { store, workspace, snapshots, views, memory, now, redact } = options;
  /** The checks that were made in this run last, and of which task. `settled`: that all are met is not kept yet. */
  let latest: { readonly task: RalphTask; readonly checked: Checked; readonly settled?: true } | undefined;
  let isFirst = true;
  const owned = new Set<string>();
  const sayOnce = makeNoticeOnce();
  const at = () => new Date(now()).toISOString();

  const placeFor = (task: RalphTask, signal: AbortSignal): Place => {
    const { reach } = options.place;
    const named = options.readOnly === undefined ? [] : contextOutside(task, workspace);
    return { ...options.place, reach: { ...reach, read: [...reach.read, ...named] }, signal };
  };

  /** What a new test is to fail with; undefined before the first checks of the task, and outside of a repository. */
  const filesBefore = ({ base, tests_before: tests }: TaskState): FilesBefore | undefined =>
    snapshots === undefined || base === undefined || tests === undefined
      ? undefined
      : {
          tests,
          async changed() {
            const tree = await snapshots.tree();
            const changes = tree === undefined ? [] : await snapshots.changes(base, tree);
            return changes.flatMap(({ path, kind }) => (kind === "removed" ? [] : [path]));
          },
          writeTo: (folder) => snapshots.writeTo(base, folder),
        };

  /** `iteration`: of the agent whose work is run by it; undefined where none has worked yet. */
  async function check(
    state: TaskState,
    iteration: number | undefined,
    { signal, tell }: Work,
  ): Promise<Checked | undefined> {
    const { task, tests_seen: seen = [], flaky = [] } = state;
    const known = {
      seen,
      ...withoutUndefined({ before: filesBefore(state) }),
      ...(task.team === true ? { flaky } : {}),
    };
    const found = await protecting(options.protect, iteration, "the criteria were checked", tell, () =>
      checkAll(task.acceptance_criteria, placeFor(task, signal), known, tell),
    );
    return found && (await withVetoes(state, found));
  }

  /** A hook that says that the task is not done is one more criterion, which is not met. */
  async function withVetoes(state: TaskState, checked: Checked): Promise<Checked> {
    if (!checked.checks.every(({ passed }) => passed)) return checked;
    const { id: unit, phase, title } = attemptOf(state);
    const detail = (await options.veto({ unit, phase, title, workspace })).join("\n");
    if (detail === "") return checked;
    return { ...checked, checks: [...checked.checks, { criterion: "hook of complete", passed: false, ms: 0, detail }] };
  }

  async function show(state: TaskState, tell?: Tell): Promise<void> {
    const { written, foreign } = await writeViews(workspace, views, state, owned);
    for (const name of written) owned.add(name);
    if (tell === undefined) return;
    for (const name of foreign) {
      const message = `${name} is not research-ralph's and stays as it is; name another file in the configuration (task_plan_file, task_record_file, task_current_file).`;
      await sayOnce(message, tell);
    }
  }

  /**
   * Keeps what checks have found, and what else they change; with those before the first attempt the files as they
   * were.
   */
  async function keep(
    checked: Checked,
    change: (state: TaskState) => TaskState = (state) => state,
    tell?: Tell,
  ): Promise<TaskState> {
    const { state } = await store.load();
    const isBefore = state.base === undefined && (state.attempts.length === 0 || state.begun !== undefined);
    const base = state.base ?? (isBefore ? (await snapshots?.take(0))?.commit : undefined);
    const kept = await store.edit((current) => {
      const before = change(current);
      return {
        ...before,
        checks: [...checked.checks],
        checked_at: at(),
        tests_seen: seenAfter(before, checked),
        tests_before: before.tests_before ?? passingIn(checked),
        best: before.best ?? { ...reached(checked.checks, 0), ...withoutUndefined({ commit: base }) },
        status: "running",
        ...withoutUndefined({ base }),
      };
    });
    await show(kept, tell);
    return kept;
  }

  const common = {
    load: (tell: Tell, isAtWork: boolean): Promise<LoadedTask | Verdict> =>
      orVerdict(async () => {
        const task = await options.readTask();
        let { state, ledger } = await store.load();
        if (!isAtWork) {
          await receiveMessages(store, (before, messages) => steered(before, messages, at(), redact), tell);
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
    progress: ({ state }: LoadedTask): Progress => progressOf(state),
    account: ({ state, checked }: LoadedTask): Account =>
      checked ? { spent: spentIn(state), budget: budgetOf(state) } : { spent: zeroSpent, budget: {} },
    memory: ({ state, ledger }: LoadedTask) => memoryOf(state, ledger, memory),
    remember: async (compression) => {
      await store.edit((state) => withSummary(state, compression));
    },
    close: (verdict?: Verdict) => options.close(verdict, show),
  } satisfies Partial<Workflow<LoadedTask, Unit>>;

  return {
    common,
    at,
    check,
    keep,
    placeFor,
    show,
    sayOnce,
    /** The checks of this run, made by the first call. `later`: the run ends meanwhile. */
    async found({ state, checked }: LoadedTask, work: Work): Promise<Prepared<Checked>> {
      const iteration = state.attempts.at(-1)?.iteration;
      const found = checked && latest !== undefined ? latest.checked : await check(state, iteration, work);
      if (found === undefined) return { later: { until: now(), reason: "The run is ending." } };
      if (found.checks.length > state.task.acceptance_criteria.length || !found.checks.every(({ passed }) => passed))
        latest = { task: state.task, checked: found };
      else latest = { task: state.task, checked: found, settled: true };
      return latest.settled === true ? { settled: found } : { ready: found };
    },
    /** What this run has found of a task, from now on; undefined: nothing. */
    take(task: RalphTask, checked: Checked | undefined): void {
      latest = checked && { task, checked };
    },
  };
}

export type TaskFrame = ReturnType<typeof taskFrame>;

/** Tests that were there once, those of now included. */
export const seenAfter = ({ tests_seen: seen = [] }: TaskState, { tests }: Pick<Checked, "tests">): string[] => [
  ...new Set([...seen, ...tests]),
];

/** Names of the tests that pass. */
export const passingIn = ({ runs }: Checked): string[] =>
  runs.flatMap(({ results }) =>
    (results?.tests ?? []).flatMap(({ status, test_name }) => (status === "pass" ? [test_name] : [])),
  );

/** How a run ends whose criteria are met; undefined where they are not, as far as this run has checked them. */
export function completeIf({ state, checked }: LoadedTask): Verdict | undefined {
  const { length } = state.task.acceptance_criteria;
  if (!checked || !isMet(state)) return undefined;
  const reason = length === 1 ? "The acceptance criterion is met." : `All ${length} acceptance criteria are met.`;
  return { verdict: "complete", reason };
}
