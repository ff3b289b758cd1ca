import { isDeepStrictEqual } from "node:util";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Redact } from "../../engine/lib/redact.js";
import { withSummary } from "../../engine/loop/history/summarise.js";
import { withErrorVerdict, createNoticeOnce } from "../../engine/loop/in-workflows.js";
import { zeroSpending } from "../../engine/loop/stop-conditions/budget.js";
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
import { type OpenGuard, withProtection } from "../project-files/protect.js";
import type { Transforming } from "../project-files/remade-files.js";
import type { Snapshots } from "../project-files/snapshots.js";
import { withDerivedFields, memoryOf, withSteering } from "./derived-state.js";
import { attemptOf, budgetOf, isMet, progressOf, resultOf } from "./status.js";
import { spentBy } from "../plan/used.js";

export interface TaskOptions {
  readonly store: RecordStore<TaskState>;
  /** The folder in which agents work and criteria are checked. */
  readonly workspace: string;
  readonly place: Omit<Place, "signal">;
  /** Reads the task from its file. A task of the command line never changes. */
  readonly readTask: () => Promise<RalphTask>;
  /** Undefined if the folder is in no repository. */
  readonly snapshots: Snapshots | undefined;
  readonly protect: OpenGuard;
  /** Paths that a sandbox shows to agents as read-only; absent if agents run without a sandbox. */
  readonly readOnly?: readonly string[];
  readonly views: ViewNames;
  readonly memory: HistoryLimits;
  readonly redact: Redact;
  /** Whether agents can run commands. */
  readonly shell: boolean;
  /** The project's instructions for every agent, read at the start of the run. They are the first part of a brief. */
  readonly instructions: string;
  /** Asks hooks whether the task is done. Answers with their reasons if it is not. */
  readonly veto: (proposal: object) => Promise<readonly string[]>;
  /** Absent if no plugin transforms files. */
  readonly remake?: Transforming["remake"];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Records how the run has ended, with `keep`, and closes the task. */
  readonly close: (verdict: Verdict | undefined, keep: (state: TaskState) => Promise<void>) => Promise<void>;
}

export interface LoadedTask {
  readonly state: TaskState;
  readonly ledger: readonly LedgerLine[];
  /**
   * Whether this run has checked the criteria with the files as they are now. Limits end a run only after that: a
   * person may have met all criteria meanwhile.
   */
  readonly checked: boolean;
}

/** What a task with one agent and a task with a team share: how they read, check, store and show a task. */
export function taskFrame(options: TaskOptions) {
  const { store, workspace, snapshots, views, memory, now, redact } = options;
  /**
   * The latest checks of this run and their task. `settled`: all criteria are met, and the state does not say so yet.
   */
  let latest: { readonly task: RalphTask; readonly checked: Checked; readonly settled?: true } | undefined;
  let isFirst = true;
  const ourViews = new Set<string>();
  const sayOnce = createNoticeOnce();
  const timestamp = () => new Date(now()).toISOString();

  const placeFor = (task: RalphTask, signal: AbortSignal): Place => {
    const { access } = options.place;
    const contextFiles = options.readOnly === undefined ? [] : contextOutside(task, workspace);
    return { ...options.place, access: { ...access, read: [...access.read, ...contextFiles] }, signal };
  };

  /** What a new test is compared with; undefined before the first checks of the task, and outside a repository. */
  const filesBefore = ({ base, tests_before: testsBefore }: TaskState): FilesBefore | undefined =>
    snapshots === undefined || base === undefined || testsBefore === undefined
      ? undefined
      : {
          tests: testsBefore,
          async changed() {
            const tree = await snapshots.tree();
            const changes = tree === undefined ? [] : await snapshots.changes(base, tree);
            return changes.flatMap(({ path, kind }) => (kind === "removed" ? [] : [path]));
          },
          writeTo: (folder) => snapshots.writeTo(base, folder),
        };

  /** `iteration`: the iteration of the agent whose work is checked; undefined if no agent has worked yet. */
  async function check(
    state: TaskState,
    iteration: number | undefined,
    { signal, tell }: Work,
  ): Promise<Checked | undefined> {
    const { task, tests_seen: seenTests = [], flaky = [] } = state;
    const knownTests = {
      seen: seenTests,
      ...withoutUndefined({ before: filesBefore(state) }),
      ...(task.team === true ? { flaky } : {}),
    };
    const checked = await withProtection(options.protect, iteration, "the criteria were checked", tell, () =>
      checkAll(task.acceptance_criteria, placeFor(task, signal), knownTests, tell),
    );
    return checked && (await withVetoes(state, checked));
  }

  /** If a hook says that the task is not done, its reasons are one more criterion, which is not met. */
  async function withVetoes(state: TaskState, checked: Checked): Promise<Checked> {
    if (!checked.checks.every(({ passed }) => passed)) return checked;
    const { id: unit, phase, title } = attemptOf(state);
    const detail = (await options.veto({ unit, phase, title, workspace })).join("\n");
    if (detail === "") return checked;
    return { ...checked, checks: [...checked.checks, { criterion: "hook of complete", passed: false, ms: 0, detail }] };
  }

  async function show(state: TaskState, tell?: Tell): Promise<void> {
    const { written, foreign: foreignViews } = await writeViews(workspace, views, state, ourViews);
    for (const name of written) ourViews.add(name);
    if (tell === undefined) return;
    for (const name of foreignViews) {
      const message = `${name} is not research-ralph's and stays as it is; name another file in the configuration (task_plan_file, task_record_file, task_current_file).`;
      await sayOnce(message, tell);
    }
  }

  /** Stores the checks, and `change`, in the state. Before the first attempt it also takes a snapshot of the files. */
  async function keep(
    checked: Checked,
    change: (state: TaskState) => TaskState = (state) => state,
    tell?: Tell,
  ): Promise<TaskState> {
    const { state } = await store.load();
    const isFirstCheck = state.base === undefined && (state.attempts.length === 0 || state.begun !== undefined);
    const base = state.base ?? (isFirstCheck ? (await snapshots?.take(0))?.commit : undefined);
    const newState = await store.edit((current) => {
      const changed = change(current);
      return {
        ...changed,
        checks: [...checked.checks],
        checked_at: timestamp(),
        tests_seen: seenTestsAfter(changed, checked),
        tests_before: changed.tests_before ?? passingTestsIn(checked),
        best: changed.best ?? { ...resultOf(checked.checks, 0), ...withoutUndefined({ commit: base }) },
        status: "running",
        ...withoutUndefined({ base }),
      };
    });
    await show(newState, tell);
    return newState;
  }

  const common = {
    load: (tell: Tell, isAtWork: boolean): Promise<LoadedTask | Verdict> =>
      withErrorVerdict(async () => {
        const task = await options.readTask();
        let { state, ledger } = await store.load();
        if (!isAtWork) {
          await receiveMessages(
            store,
            (current, messages) => withSteering(current, messages, timestamp(), redact),
            tell,
          );
          ({ state, ledger } = await store.load());
        }
        if (!isDeepStrictEqual(state.task, task)) {
          await store.edit((current) => withDerivedFields({ ...current, task, checks: [] }, ledger, memory));
          ({ state, ledger } = await store.load());
          if (!isFirst)
            await tell({
              type: "notice",
              level: "info",
              message: "ralph.json has changed; its criteria are checked again.",
            });
        }
        isFirst = false;
        const latestOfTask = latest !== undefined && isDeepStrictEqual(latest.task, task) ? latest : undefined;
        const checked = latestOfTask !== undefined && latestOfTask.settled !== true;
        return { state: checked ? { ...state, checks: [...latestOfTask.checked.checks] } : state, ledger, checked };
      }),
    progress: ({ state }: LoadedTask): Progress => progressOf(state),
    account: ({ state, checked }: LoadedTask): Account =>
      checked ? { spent: spentBy(state), budget: budgetOf(state) } : { spent: zeroSpending, budget: {} },
    memory: ({ state, ledger }: LoadedTask) => memoryOf(state, ledger, memory),
    remember: async (compression) => {
      await store.edit((state) => withSummary(state, compression));
    },
    close: (verdict?: Verdict) => options.close(verdict, show),
  } satisfies Partial<Workflow<LoadedTask, Unit>>;

  return {
    common,
    at: timestamp,
    check,
    keep,
    placeFor,
    show,
    sayOnce,
    /** The checks of this run. The first call makes them. `later`: the run is ending. */
    async found({ state, checked }: LoadedTask, work: Work): Promise<Prepared<Checked>> {
      const iteration = state.attempts.at(-1)?.iteration;
      const checkedNow = checked && latest !== undefined ? latest.checked : await check(state, iteration, work);
      if (checkedNow === undefined) return { later: { until: now(), reason: "The run is ending." } };
      if (
        checkedNow.checks.length > state.task.acceptance_criteria.length ||
        !checkedNow.checks.every(({ passed }) => passed)
      )
        latest = { task: state.task, checked: checkedNow };
      else latest = { task: state.task, checked: checkedNow, settled: true };
      return latest.settled === true ? { settled: checkedNow } : { ready: checkedNow };
    },
    /** Sets the checks of this run; undefined removes them. */
    take(task: RalphTask, checked: Checked | undefined): void {
      latest = checked && { task, checked };
    },
  };
}

export type TaskFrame = ReturnType<typeof taskFrame>;

/** The tests that were seen before, and those of these checks. */
export const seenTestsAfter = ({ tests_seen: seen = [] }: TaskState, { tests }: Pick<Checked, "tests">): string[] => [
  ...new Set([...seen, ...tests]),
];

/** Names of the tests that pass. */
export const passingTestsIn = ({ runs }: Checked): string[] =>
  runs.flatMap(({ results }) =>
    (results?.tests ?? []).flatMap(({ status, test_name }) => (status === "pass" ? [test_name] : [])),
  );

/** The verdict of a run whose criteria are met; undefined if this run has not found all criteria met. */
export function completeIf({ state, checked }: LoadedTask): Verdict | undefined {
  const { length } = state.task.acceptance_criteria;
  if (!checked || !isMet(state)) return undefined;
  const reason = length === 1 ? "The acceptance criterion is met." : `All ${length} acceptance criteria are met.`;
  return { verdict: "complete", reason };
}
