import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isUnconfined, warningsOf } from "./agents.js";
import { recordEnd, type Run } from "./drive.js";
import type { AgentSettings } from "../engine/agents/definition.js";
import type { SandboxNeeds } from "./sandbox.js";
import { namesIn } from "../engine/sandbox/environment.js";
import { rustupVariables, surroundingsOf } from "../task/place/toolchains.js";
import { projectFiles } from "../engine/config/config-file.js";
import type { ResolvedConfig } from "./config.js";
import { folderInstructions } from "../engine/config/folder-instructions.js";
import { guardsRoot } from "../engine/config/state-dir.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { hiddenName, lockFile, pauseName, stopName } from "../engine/lib/layout.js";
import { isSecretName } from "../engine/lib/redact.js";
import { noAccess } from "../engine/process/access.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { backUp } from "../engine/storage/state/backup.js";
import { acquireLock } from "../engine/storage/lock.js";
import { openRecordStore, readRecords, type RecordStore } from "../engine/storage/state/record-store.js";
import { withExplainedErrors } from "../engine/storage/explain-system-error.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import { type FolderRepository, repositoryOf } from "../engine/storage/git-repository.js";
import { hiddenFolder } from "../engine/lib/layout.js";
import { homeOf, type Io } from "../engine/ui/io.js";
import { outermostPackageFolder } from "../task/place/project.js";
import type { Place, TestPlace } from "../task/place/run.js";
import {
  brokenStatesPattern,
  homesFolder,
  scratchFolder,
  snapshotIndex,
  stateFile,
  stateName,
  taskName,
} from "../task/project-files/layout.js";
import {
  absentPaths,
  existingPaths,
  guardTask,
  type OpenGuard,
  protectedPathsOf,
} from "../task/project-files/protect.js";
import { excludeFromGit, openSnapshots } from "../task/project-files/snapshots.js";
import { newState, taskFormat } from "../task/project-files/state-file.js";
import { carriedIdPrefix, carryOverCodingRun } from "../task/project-files/carry-over.js";
import { createTaskReader } from "../task/project-files/task-file.js";
import type { RalphTask } from "../task/generated/ralph.js";
import type { TaskState } from "../task/generated/ralph-state.js";
import { withRestartedCount, withDerivedFields, withEnd, withoutProgress } from "../task/workflow/derived-state.js";
import type { TaskOptions } from "../task/workflow/frame.js";
import { atTeamStart, requireTeamPlace } from "./open-team.js";
import { protectedTeamFiles } from "../code/project-files/layout.js";

/** The task that a command is about. */
export interface NamedTask {
  /** The folder that holds its state. */
  readonly folder: string;
  /** Absolute path of the file that holds the task; absent: the command line gave the task. */
  readonly file?: string;
  /** The file that the user must trust, because parts of the task come from it; absent: the command line gave all. */
  readonly trustedFile?: string;
  /** Fields from the command line that replace those of the file. */
  readonly overrides?: TaskOverrides;
  /** The task, with the overrides applied. */
  readonly task: RalphTask;
}

/** Fields of a task that the command line may set, besides its text and criteria. */
export type TaskOverrides = Partial<Pick<RalphTask, "team" | "target" | "max_iterations">>;

/** Returns a function that reads the task file and applies the overrides; called again during the run. */
function taskReader(file: string, overrides: TaskOverrides = {}): () => Promise<RalphTask> {
  const readSaved = createTaskReader(file);
  return async () => ({ ...(await readSaved()), ...overrides });
}

/** The folder in which agents work and criteria are checked. */
export function workspaceOf({ folder }: Pick<NamedTask, "folder">, { task }: ResolvedConfig): string {
  const workspace = resolve(folder, task.workspace);
  try {
    makeFolder(workspace);
  } catch {
    throw new ExpectedError(`${workspace} can't be made; set task_workspace to a folder you can write to.`);
  }
  return workspace;
}

/** The sandbox of a task: the best available one, with a /home that is kept as long as the task. */
export const sandboxOf = ({ folder }: Pick<NamedTask, "folder">, { stateDir }: ResolvedConfig): SandboxNeeds => ({
  defaultChoice: "auto",
  folder,
  home: homeOfTask({ folder }, { stateDir }),
});

/** The folder that is mounted at /home in the sandbox of a task. */
const homeOfTask = ({ folder }: Pick<NamedTask, "folder">, { stateDir }: Pick<ResolvedConfig, "stateDir">): string =>
  join(homesFolder(stateDir), createHash("sha256").update(folder).digest("hex").slice(0, 16));

/** A folder of this process for result files. */
const scratchOf = ({ stateDir }: ResolvedConfig): string => join(scratchFolder(stateDir), String(process.pid));

/**
 * How programs that check criteria are started. They get none of the user's secrets, because an agent may have written
 * them.
 */
export function placeFor(
  { workspace, folder }: { readonly workspace: string; readonly folder: string },
  config: ResolvedConfig,
  io: Io,
  { exec, sandbox }: AgentSettings,
  readOnly: readonly string[],
): Omit<Place, "signal"> {
  const scratch = scratchOf(config);
  const allowedVariables = namesIn(config.sandbox_env);
  const env = Object.fromEntries(
    Object.entries(io.env).filter(([name]) => !isSecretName(name) || allowedVariables.includes(name)),
  );
  const readPaths = [...surroundingsOf(workspace, io.env), ...readOnly];
  return {
    exec,
    node: sandbox?.toolRelay.command ?? process.execPath,
    cwd: workspace,
    env: { ...env, ...rustupVariables(io.env), CI: "1", NO_COLOR: "1", FORCE_COLOR: "0" },
    access: { ...noAccess, read: readPaths, write: [workspace, scratch] },
    scratch,
    ...(sandbox === undefined ? {} : { home: homeOfTask({ folder }, config) }),
    ...(sandbox === undefined
      ? {}
      : { missingInSandbox: { variables: sandbox.hiddenVariables, path: io.env["PATH"] ?? "" } }),
    ...(sandbox?.name === "docker" ? { testPlace: testsInDocker(workspace, io) } : {}),
  };
}

/** Tests run in a container that sees the project read-only, for at most five minutes. */
const testsInDocker = (workspace: string, { env }: Io): TestPlace => ({
  path: "/workspace",
  maxMs: 300_000,
  packageFolder: outermostPackageFolder(workspace, homeOf(env)),
});

/**
 * How criteria are checked, and how the protected files are kept, which only this program and the user may change: in a
 * sandbox they are read-only; on the host, changes to them are undone.
 */
function guardedPlace(
  paths: {
    readonly workspace: string;
    readonly folder: string;
    readonly protectedPaths: Awaited<ReturnType<typeof protectedPathsOf>>;
    readonly unconfined: boolean;
  },
  config: ResolvedConfig,
  io: Io,
  settings: AgentSettings,
) {
  const { workspace, folder, protectedPaths, unconfined } = paths;
  const isHoused = settings.sandbox !== undefined;
  const readOnlyPaths = isHoused ? existingPaths(protectedPaths) : [];
  const place = placeFor(paths, config, io, settings, readOnlyPaths);
  mkdirSync(place.scratch, { recursive: true });
  const protect: OpenGuard = (iteration) =>
    guardTask(
      { folder, stateDir: config.stateDir, around: isHoused ? absentPaths(protectedPaths) : protectedPaths },
      guardsRoot(io.env),
      iteration,
    );
  const readOnly = isHoused ? [...readOnlyPaths, ...surroundingsOf(workspace, io.env)] : undefined;
  return { place, protect, shell: unconfined || isHoused, readOnly };
}

/** Takes a task's lock, and makes its workflow with `make`. */
export async function openTask<Work>(
  namedTask: NamedTask,
  config: ResolvedConfig,
  io: Io,
  run: Run,
  { force, team }: { readonly force: boolean; readonly team: boolean },
  make: (options: TaskOptions) => Work | Promise<Work>,
): Promise<Work> {
  const { folder } = namedTask;
  const { everyone: agents, settings, tell, abort, redact, points } = run;
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  for (const message of warningsOf(agents)) notify("warning", message);
  if (config.think !== undefined)
    notify("info", "think has no effect on a task: its criteria judge each attempt, or the critic of a team.");
  const workspace = workspaceOf(namedTask, config);
  const { limits: memory } = config.history;
  const { views } = config.task;
  const unconfined = agents.some(isUnconfined);
  if (team) await requireTeamPlace(workspace, folder);
  const store = await openStore(namedTask, homeOfTask(namedTask, config), {
    derive: (state, ledger) => withDerivedFields(state, ledger, memory),
    git: false,
    notify,
    abort,
    unconfined,
  });
  const close: TaskOptions["close"] = async (verdict, keep) => {
    if (verdict !== undefined)
      await recordEnd(store, async () => keep(await store.edit((state) => withEnd(state, verdict, io.clock.now()))));
    await store.close();
    rmSync(scratchOf(config), { recursive: true, force: true });
  };
  try {
    const state = await stateFor(store, namedTask, io.clock.now(), notify);
    const repository = await repositoryOf(workspace);
    await excludeFromGit(workspace === folder ? repository : await repositoryOf(folder), [
      `${hiddenName}/`,
      stateName,
      brokenStatesPattern,
      pauseName,
      stopName,
      ...Object.values(views),
    ]);
    const snapshots =
      repository &&
      openSnapshots(workspace, repository, state.id, {
        index: snapshotIndex(folder),
        views: [...Object.values(views), ...otherFileName(state)],
        notify: (message) => notify("warning", message),
        abort,
      });
    if (snapshots === undefined)
      notify("info", "This folder is not in a git repository, so iterations can't be undone; 'git init' makes it one.");
    if (team) await store.edit(atTeamStart);
    const isOtherAgent = (agent: string | undefined) => !agents.some(({ name }) => name === agent);
    const idleAttempts = withoutProgress(state);
    if (force || (idleAttempts.length > 0 && idleAttempts.every(({ agent }) => isOtherAgent(agent))))
      await store.edit(withRestartedCount);
    const otherFiles = [...otherFileName(state), ...(team ? protectedTeamFiles : [])];
    const protectedPaths = await protectedPathsFor(workspace, folder, unconfined, otherFiles, repository);
    return await make({
      store,
      workspace,
      ...guardedPlace({ workspace, folder, protectedPaths, unconfined }, config, io, settings),
      // A task from the command line does not change.
      readTask:
        namedTask.file === undefined
          ? () => Promise.resolve(namedTask.task)
          : taskReader(namedTask.file, namedTask.overrides),
      // Read once: briefs do not contain what an agent writes there during the run.
      instructions: await folderInstructions(workspace),
      snapshots,
      views,
      memory,
      redact,
      ...(points.canChangeOutput() ? { changeOutput: points.changeOutput } : {}),
      veto: async (proposal) => {
        const { vetoes, notices } = await points.ask(["complete"], proposal);
        for (const notice of notices) await tell(notice);
        return vetoes;
      },
      now: io.clock.now,
      close,
    });
  } catch (error) {
    await close(undefined, async () => undefined);
    throw error;
  }
}

/**
 * The paths that only this program and the user may change. `otherFiles`: also the task's file, if it has an unusual
 * name.
 */
const protectedPathsFor = (
  workspace: string,
  folder: string,
  everything: boolean,
  otherFiles: readonly string[],
  repository: FolderRepository | undefined,
) =>
  protectedPathsOf(workspace, folder, {
    repository,
    everything,
    configs: projectFiles(workspace),
    moreFiles: otherFiles,
  });

/** The protected paths that a sandbox mounts read-only, for commands that only show the state of a task. */
export async function readOnlyIn(workspace: string, { folder, file }: NamedTask): Promise<string[]> {
  const otherFile = file === undefined ? [] : [basename(file)];
  return existingPaths(await protectedPathsFor(workspace, folder, true, otherFile, await repositoryOf(workspace)));
}

/**
 * Guards a task on the host while a command other than `run` starts programs that agents may have written. `release`
 * unlocks the folder. Undefined if no agent has worked yet, or while a run is active, which has its own guard.
 */
export async function guardOf(workspace: string, { folder, file }: NamedTask, { stateDir }: ResolvedConfig, io: Io) {
  if (!existsSync(stateFile(folder))) return undefined;
  const records = await readRecords(folder, taskFormat).catch(() => undefined);
  const iteration = records?.state.attempts.at(-1)?.iteration;
  if (iteration === undefined) return undefined;
  // With the lock, no run can begin meanwhile, whose records the guard would undo.
  const lock = await acquireLock(lockFile(folder), { subject: `The task ${folder}` }).catch(() => undefined);
  if (lock === undefined) return undefined;
  const otherFile = file === undefined ? [] : [basename(file)];
  const protectedPaths = await protectedPathsFor(workspace, folder, false, otherFile, await repositoryOf(workspace));
  const protect: OpenGuard = (guardedIteration) =>
    guardTask({ folder, stateDir, around: protectedPaths }, guardsRoot(io.env), guardedIteration);
  return { iteration, protect, release: () => lock.release() };
}

/** The name of the task's file if it is not the usual one. It is protected too, and undo does not change it. */
export const otherFileName = ({ source }: Pick<TaskState, "source">): string[] =>
  source === undefined || source === taskName ? [] : [source];

/** Whether a state was converted from the file of an earlier version, which had another id. */
const isCarriedOver = (state: TaskState, { task }: RalphTask): boolean =>
  state.id.startsWith(carriedIdPrefix) && state.task.task === task;

type Options = Parameters<typeof openRecordStore<TaskState>>[2];

/** Opens the state of the task, and creates it if it is missing. `home`: the folder at /home in its sandbox. */
async function openStore(namedTask: NamedTask, home: string, options: Options): Promise<RecordStore<TaskState>> {
  const { folder, file, task } = namedTask;
  await carryOverCodingRun(folder);
  if (!existsSync(stateFile(folder))) {
    withExplainedErrors(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
    const newTaskState = newState(task, folder, file === undefined ? undefined : file.slice(folder.length + 1));
    await writeFileAtomic(stateFile(folder), taskFormat.format(newTaskState));
    // Files of an earlier task in /home could meet criteria of this one.
    const oldFiles = existsSync(home) ? readdirSync(home) : [];
    for (const name of oldFiles) rmSync(join(home, name), { recursive: true, force: true });
  }
  return openRecordStore(folder, taskFormat, options);
}

/**
 * The state of this task. If the folder holds the state of another task, a copy of that is kept and a new state begins.
 */
async function stateFor(
  store: RecordStore<TaskState>,
  { folder, file, task }: NamedTask,
  now: number,
  notify: (level: "info" | "warning", message: string) => void,
): Promise<TaskState> {
  const { state } = await store.load();
  const source = file === undefined ? undefined : file.slice(folder.length + 1);
  const initialState = newState(task, folder, source);
  const isSame =
    source === undefined
      ? state.source === undefined && (state.id === initialState.id || isCarriedOver(state, task))
      : state.source === source;
  if (isSame) return state;
  const backup = await backUp(folder, now, [stateName]);
  notify("info", `${stateName} belonged to another task ("${state.task.task.slice(0, 60)}"); it is kept in ${backup}.`);
  return await store.edit((before) => ({ ...initialState, ...withoutUndefined({ iteration: before.iteration }) }));
}
