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
import { checkAll, type CriteriaResults } from "../criteria/check-criteria.js";
import type { FilesBefore } from "../criteria/new-test.js";
import type { RalphTask } from "../generated/ralph.js";
import type { TaskState } from "../generated/ralph-state.js";
import { contextOutside } from "../place/context.js";
import type { Place } from "../place/run.js";
import { type ViewNames, writeViews } from "../plan/views.js";
import { type OpenGuard, withProtection } from "../project-files/protect.js";
import type { FileTransformation } from "../project-files/remade-files.js";
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
  /** The project's instructions for all agents, read at the start of the run. They are the first part of a brief. */
  readonly instructions: string;
  /** Asks hooks whether the task is done. Returns the reasons of hooks that say no; empty if no hook does. */
  readonly veto: (proposal: object) => Promise<readonly string[]>;
  /** Absent if no plugin transforms files. */
  readonly changeOutput?: FileTransformation["changeOutput"];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Records how the run has ended, and closes the task. `keep`: shows the state after that. */
  readonly close: (verdict: Verdict | undefined, storeChecks: (state: TaskState) => Promise<void>) => Promise<void>;
}

export interface LoadedTask {
  readonly state: TaskState;
  readonly ledger: readonly LedgerLine[];
  /**
   * Whether this run has checked the criteria with the files as they are now. Limits end a run only after such a check,
   * because the user may have met all criteria meanwhile.
   */
  readonly isChecked: boolean;
}

/** The functions that a task with one agent and a task with a team share: they load, check, store and show a task. */
export function taskFrame(options: TaskOptions) {
  const { store, workspace, snapshots, views, memory, now, redact } = options;
  /**
   * The latest checks of this run and their task. `areAllMet`: all criteria are met, but the state does not say so yet.
   */
  let latestChecks:
    | { readonly task: RalphTask; readonly results: CriteriaResults; readonly areAllMet?: true }
    | undefined;
  let isFirstLoad = true;
  const writtenViews = new Set<string>();
  const notifyOnce = createNoticeOnce();
  const timestamp = () => new Date(now()).toISOString();

  const placeFor = (task: RalphTask, signal: AbortSignal): Place => {
    const { access } = options.place;
    const contextFiles = options.readOnly === undefined ? [] : contextOutside(task, workspace);
    return { ...options.place, access: { ...access, read: [...access.read, ...contextFiles] }, signal };
  };

  /** The files with which a new test is compared; undefined before the first checks, and outside a repository. */
  const filesBeforeAttempts = ({ base, tests_before: testsBefore }: TaskState): FilesBefore | undefined =>
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
  ): Promise<CriteriaResults | undefined> {
    const { task, tests_seen: seenTests = [], flaky = [] } = state;
    const knownTests = { seenTests, filesBefore: filesBeforeAttempts(state), ...(task.team === true ? { flaky } : {}) };
    const results = await withProtection(options.protect, iteration, "the criteria were checked", tell, () =>
      checkAll(task.acceptance_criteria, placeFor(task, signal), knownTests, tell),
    );
    return results && (await withVetoes(state, results));
  }

  /** If hooks say that the task is not done, adds a criterion that is not met, with their reasons. */
  async function withVetoes(state: TaskState, results: CriteriaResults): Promise<CriteriaResults> {
    if (!results.checks.every(({ passed }) => passed)) return results;
    const { id: unit, phase, title } = attemptOf(state);
    const detail = (await options.veto({ unit, phase, title, workspace })).join("\n");
    if (detail === "") return results;
    return { ...results, checks: [...results.checks, { criterion: "hook of complete", passed: false, ms: 0, detail }] };
  }

  async function writeViewFiles(state: TaskState, tell?: Tell): Promise<void> {
    const { written, userFiles } = await writeViews(workspace, views, state, writtenViews);
    for (const name of written) writtenViews.add(name);
    if (tell === undefined) return;
    for (const name of userFiles) {
      const message = `${name} is not research-ralph's and stays as it is; name another file in the configuration (task_plan_file, task_record_file, task_current_file).`;
      await notifyOnce(message, tell);
    }
  }

  /** Stores the checks, and `change`, in the state. Before the first attempt it also takes a snapshot of the files. */
  async function storeChecks(
    results: CriteriaResults,
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
        checks: [...results.checks],
        checked_at: timestamp(),
        tests_seen: seenTestsAfter(changed, results),
        tests_before: changed.tests_before ?? passingTestsIn(results),
        best: changed.best ?? { ...resultOf(results.checks, 0), ...withoutUndefined({ commit: base }) },
        status: "running",
        ...withoutUndefined({ base }),
      };
    });
    await writeViewFiles(newState, tell);
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
          if (!isFirstLoad)
            await tell({
              type: "notice",
              level: "info",
              message: "ralph.json has changed; its criteria are checked again.",
            });
        }
        isFirstLoad = false;
        const latestOfTask =
          latestChecks !== undefined && isDeepStrictEqual(latestChecks.task, task) ? latestChecks : undefined;
        const isChecked = latestOfTask !== undefined && latestOfTask.areAllMet !== true;
        return { state: isChecked ? { ...state, checks: [...latestOfTask.results.checks] } : state, ledger, isChecked };
      }),
    progress: ({ state }: LoadedTask): Progress => progressOf(state),
    account: ({ state, isChecked }: LoadedTask): Account =>
      isChecked ? { spent: spentBy(state), budget: budgetOf(state) } : { spent: zeroSpending, budget: {} },
    memory: ({ state, ledger }: LoadedTask) => memoryOf(state, ledger, memory),
    remember: async (compression) => {
      await store.edit((state) => withSummary(state, compression));
    },
    close: (verdict?: Verdict) => options.close(verdict, writeViewFiles),
  } satisfies Partial<Workflow<LoadedTask, Unit>>;

  return {
    common,
    timestamp,
    check,
    storeChecks,
    placeFor,
    writeViewFiles,
    notifyOnce,
    /** The checks of this run. The first call makes them. `later`: the run is ending. */
    async prepareChecks({ state, isChecked }: LoadedTask, work: Work): Promise<Prepared<CriteriaResults>> {
      const iteration = state.attempts.at(-1)?.iteration;
      const currentResults =
        isChecked && latestChecks !== undefined ? latestChecks.results : await check(state, iteration, work);
      if (currentResults === undefined) return { later: { until: now(), reason: "The run is ending." } };
      if (
        currentResults.checks.length > state.task.acceptance_criteria.length ||
        !currentResults.checks.every(({ passed }) => passed)
      )
        latestChecks = { task: state.task, results: currentResults };
      else latestChecks = { task: state.task, results: currentResults, areAllMet: true };
      return latestChecks.areAllMet === true ? { settled: currentResults } : { ready: currentResults };
    },
    /** Sets the checks of this run; undefined removes them. */
    setChecks(task: RalphTask, results: CriteriaResults | undefined): void {
      latestChecks = results && { task, results };
    },
  };
}

export type TaskFrame = ReturnType<typeof taskFrame>;

/** The names of all tests that ran before or in these checks. */
export const seenTestsAfter = (
  { tests_seen: seenBefore = [] }: TaskState,
  { tests }: Pick<CriteriaResults, "tests">,
): string[] => [...new Set([...seenBefore, ...tests])];

/** Names of the tests that pass. */
export const passingTestsIn = ({ runs }: CriteriaResults): string[] =>
  runs.flatMap(({ results }) =>
    (results?.tests ?? []).flatMap(({ status, test_name }) => (status === "pass" ? [test_name] : [])),
  );

/** The verdict of a run whose criteria are met; undefined if this run has not found all criteria met. */
export function completeIf({ state, isChecked }: LoadedTask): Verdict | undefined {
  const { length } = state.task.acceptance_criteria;
  if (!isChecked || !isMet(state)) return undefined;
  const reason = length === 1 ? "The acceptance criterion is met." : `All ${length} acceptance criteria are met.`;
  return { verdict: "complete", reason };
}
