import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isUnconfined, warningsOf } from "./agents.js";
import { keepEnd, type Run } from "./drive.js";
import type { AgentSettings } from "../engine/agents/definition.js";
import type { SandboxWish } from "./sandbox.js";
import { namesIn } from "../engine/sandbox/environment.js";
import { rustupIn, surroundingsOf } from "../task/place/toolchains.js";
import { projectFiles } from "../engine/config/config-file.js";
import type { ResolvedConfig } from "./config.js";
import { folderInstructions } from "../engine/config/folder-instructions.js";
import { guardsRoot } from "../engine/config/state-dir.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { hiddenName, lockFile, pauseName, stopName } from "../engine/lib/layout.js";
import { namesSecret } from "../engine/lib/redact.js";
import { noAccess } from "../engine/process/access.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { backUp } from "../engine/storage/state/backup.js";
import { acquireLock } from "../engine/storage/lock.js";
import { openRecordStore, readRecords, type RecordStore } from "../engine/storage/state/record-store.js";
import { withExplainedErrors } from "../engine/storage/explain-system-error.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import { type RepositoryOf, repositoryOf } from "../engine/storage/git-repository.js";
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
import { savedTaskReader } from "../task/project-files/task-file.js";
import type { RalphTask } from "../task/generated/ralph.js";
import type { TaskState } from "../task/generated/ralph-state.js";
import { withRestartedCount, withDerivedFields, withEnd, withoutProgress } from "../task/workflow/derived-state.js";
import type { TaskOptions } from "../task/workflow/frame.js";
import { begunByTeam, requireTeamPlace } from "./open-team.js";
import { protectedTeamFiles } from "../code/project-files/layout.js";

/** A task that a person has named. */
export interface NamedTask {
  /** The folder that holds its state. */
  readonly folder: string;
  /** Absolute path of the file it is read from; absent: the command line has given it. */
  readonly file?: string;
  /** The file that it was found in, which the user has to trust; absent: the command line has given all of it. */
  readonly from?: string;
  /** What the command line says of a task in a file: it counts before what stands there. */
  readonly wish?: TaskWish;
  /** As it was read, with what the command line says. */
  readonly task: RalphTask;
}

/** What the command line may say of a task besides its words and criteria. */
export type TaskWish = Partial<Pick<RalphTask, "team" | "target" | "max_iterations">>;

/** Reads a task again and again while agents work by it, each time with what the command line says of it. */
function taskBy(file: string, wish: TaskWish = {}): () => Promise<RalphTask> {
  const read = savedTaskReader(file);
  return async () => ({ ...(await read()), ...wish });
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

/** The sandbox of a task: the best that there is, with a /home that lasts as long as the task. */
export const sandboxOf = ({ folder }: Pick<NamedTask, "folder">, { stateDir }: ResolvedConfig): SandboxWish => ({
  usual: "auto",
  folder,
  home: homeOfTask({ folder }, { stateDir }),
});

/** What stands at /home in the sandbox of a task. */
const homeOfTask = ({ folder }: Pick<NamedTask, "folder">, { stateDir }: Pick<ResolvedConfig, "stateDir">): string =>
  join(homesFolder(stateDir), createHash("sha256").update(folder).digest("hex").slice(0, 16));

/** A folder of this process for result files. */
export const scratchOf = ({ stateDir }: ResolvedConfig): string => join(scratchFolder(stateDir), String(process.pid));

/** Where criteria are checked: what runs there gets no secret of the user's, as an agent may have written it. */
export function placeFor(
  { workspace, folder }: { readonly workspace: string; readonly folder: string },
  config: ResolvedConfig,
  io: Io,
  { exec, sandbox }: AgentSettings,
  readOnly: readonly string[],
): Omit<Place, "signal"> {
  const scratch = scratchOf(config);
  const named = namesIn(config.sandbox_env);
  const env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !namesSecret(name) || named.includes(name)));
  const read = [...surroundingsOf(workspace, io.env), ...readOnly];
  return {
    exec,
    node: sandbox?.toolRelay.command ?? process.execPath,
    cwd: workspace,
    env: { ...env, ...rustupIn(io.env), CI: "1", NO_COLOR: "1", FORCE_COLOR: "0" },
    access: { ...noAccess, read, write: [workspace, scratch] },
    scratch,
    ...(sandbox === undefined ? {} : { home: homeOfTask({ folder }, config) }),
    ...(sandbox === undefined ? {} : { missing: { variables: sandbox.hiddenVariables, path: io.env["PATH"] ?? "" } }),
    ...(sandbox?.name === "docker" ? { tests: testsInDocker(workspace, io) } : {}),
  };
}

/** Containers of test runs have the project read-only, and five minutes. */
const testsInDocker = (workspace: string, { env }: Io): TestPlace => ({
  at: "/workspace",
  maxMs: 300_000,
  packages: outermostPackageFolder(workspace, homeOf(env)),
});

/**
 * Where criteria are checked, and how the files that nobody but this program and the user may change are kept:
 * read-only in a sandbox, where only a person can have changed them meanwhile, and put back on the host.
 */
export function guarded(
  where: {
    readonly workspace: string;
    readonly folder: string;
    readonly around: Awaited<ReturnType<typeof protectedPathsOf>>;
    readonly unconfined: boolean;
  },
  config: ResolvedConfig,
  io: Io,
  settings: AgentSettings,
) {
  const { workspace, folder, around, unconfined } = where;
  const isHoused = settings.sandbox !== undefined;
  const kept = isHoused ? existingPaths(around) : [];
  const place = placeFor(where, config, io, settings, kept);
  mkdirSync(place.scratch, { recursive: true });
  const protect: OpenGuard = (iteration) =>
    guardTask(
      { folder, stateDir: config.stateDir, around: isHoused ? absentPaths(around) : around },
      guardsRoot(io.env),
      iteration,
    );
  const readOnly = isHoused ? [...kept, ...surroundingsOf(workspace, io.env)] : undefined;
  return { place, protect, shell: unconfined || isHoused, readOnly };
}

/** Takes a task's lock, and makes it ready to be worked on by the workflow that `make` makes. */
export async function openTask<Work>(
  named: NamedTask,
  config: ResolvedConfig,
  io: Io,
  run: Run,
  { force, team }: { readonly force: boolean; readonly team: boolean },
  make: (options: TaskOptions) => Work | Promise<Work>,
): Promise<Work> {
  const { folder } = named;
  const { everyone: agents, settings, tell, abort, redact, points } = run;
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  for (const message of agents.flatMap(warningsOf)) notify("warning", message);
  if (config.think !== undefined)
    notify("info", "think has no effect on a task: its criteria judge each attempt, or the critic of a team.");
  const workspace = workspaceOf(named, config);
  const { limits: memory } = config.history;
  const { views } = config.task;
  const unconfined = agents.some(isUnconfined);
  if (team) await requireTeamPlace(workspace, folder);
  const store = await openStore(named, homeOfTask(named, config), {
    derive: (state, ledger) => withDerivedFields(state, ledger, memory),
    git: false,
    notify,
    abort,
    unconfined,
  });
  const close: TaskOptions["close"] = async (verdict, keep) => {
    if (verdict !== undefined)
      await keepEnd(store, async () => keep(await store.edit((state) => withEnd(state, verdict, io.clock.now()))));
    await store.close();
    rmSync(scratchOf(config), { recursive: true, force: true });
  };
  try {
    const fresh = await stateFor(store, named, io.clock.now(), notify);
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
      openSnapshots(workspace, repository, fresh.id, {
        index: snapshotIndex(folder),
        views: [...Object.values(views), ...otherName(fresh)],
        notify: (message) => notify("warning", message),
        abort,
      });
    if (snapshots === undefined)
      notify("info", "This folder is not in a git repository, so iterations can't be undone; 'git init' makes it one.");
    if (team) await store.edit(begunByTeam);
    const isNew = (agent: string | undefined) => !agents.some(({ name }) => name === agent);
    const row = withoutProgress(fresh);
    if (force || (row.length > 0 && row.every(({ agent }) => isNew(agent)))) await store.edit(withRestartedCount);
    const more = [...otherName(fresh), ...(team ? protectedTeamFiles : [])];
    const around = await aroundTask(workspace, folder, unconfined, more, repository);
    return await make({
      store,
      workspace,
      ...guarded({ workspace, folder, around, unconfined }, config, io, settings),
      // What the command line gave stays.
      readTask: named.file === undefined ? () => Promise.resolve(named.task) : taskBy(named.file, named.wish),
      // What an agent writes there during the run is in no brief of it.
      instructions: await folderInstructions(workspace),
      snapshots,
      views,
      memory,
      redact,
      ...(points.remakes() ? { remake: points.remake } : {}),
      veto: async (proposal) => {
        const { vetoes, told } = await points.ask(["complete"], proposal);
        for (const each of told) await tell(each);
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

/** What nobody but this program and the user may change. `more`: the task's file where it has another name. */
const aroundTask = (
  workspace: string,
  folder: string,
  everything: boolean,
  more: readonly string[],
  repository: RepositoryOf | undefined,
) => protectedPathsOf(workspace, folder, { repository, everything, configs: projectFiles(workspace), moreFiles: more });

/** What of it a sandbox shows, to commands that only look at how a task stands. */
export async function readOnlyIn(workspace: string, { folder, file }: NamedTask): Promise<string[]> {
  const otherFile = file === undefined ? [] : [basename(file)];
  return existingPaths(await aroundTask(workspace, folder, true, otherFile, await repositoryOf(workspace)));
}

/**
 * What guards a task on the host while a command other than a run runs what its agents may have written, and gives the
 * folder up afterwards. Undefined if no agent has worked yet, and while a run is under way, which guards it itself.
 */
export async function guardOf(workspace: string, { folder, file }: NamedTask, { stateDir }: ResolvedConfig, io: Io) {
  if (!existsSync(stateFile(folder))) return undefined;
  const read = await readRecords(folder, taskFormat).catch(() => undefined);
  const iteration = read?.state.attempts.at(-1)?.iteration;
  if (iteration === undefined) return undefined;
  // A run that began meanwhile would find its records put back.
  const lock = await acquireLock(lockFile(folder), { describe: `The task ${folder}` }).catch(() => undefined);
  if (lock === undefined) return undefined;
  const otherFile = file === undefined ? [] : [basename(file)];
  const around = await aroundTask(workspace, folder, false, otherFile, await repositoryOf(workspace));
  const protect: OpenGuard = (at) => guardTask({ folder, stateDir, around }, guardsRoot(io.env), at);
  return { iteration, protect, release: () => lock.release() };
}

/** The task's file where it has another name than the usual one: protected as that is, and left alone by undo. */
export const otherName = ({ source }: Pick<TaskState, "source">): string[] =>
  source === undefined || source === taskName ? [] : [source];

/** Whether a state was carried over from the file of an earlier version, which named it otherwise. */
const isCarried = (state: TaskState, { task }: RalphTask): boolean =>
  state.id.startsWith(carriedIdPrefix) && state.task.task === task;

type Options = Parameters<typeof openRecordStore<TaskState>>[2];

/** Opens the state of the task, begun where it is missing. `home`: what stands at /home in its sandbox. */
async function openStore(named: NamedTask, home: string, options: Options): Promise<RecordStore<TaskState>> {
  const { folder, file, task } = named;
  await carryOverCodingRun(folder);
  if (!existsSync(stateFile(folder))) {
    withExplainedErrors(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
    const begun = newState(task, folder, file === undefined ? undefined : file.slice(folder.length + 1));
    await writeFileAtomic(stateFile(folder), taskFormat.format(begun));
    // What an earlier task left at /home of its sandbox would meet criteria of this one.
    const left = existsSync(home) ? readdirSync(home) : [];
    for (const name of left) rmSync(join(home, name), { recursive: true, force: true });
  }
  return openRecordStore(folder, taskFormat, options);
}

/**
 * The state of this task. Where the folder holds that of another one, given by other words, a copy of it is kept and
 * this one begins.
 */
async function stateFor(
  store: RecordStore<TaskState>,
  { folder, file, task }: NamedTask,
  now: number,
  notify: (level: "info" | "warning", message: string) => void,
): Promise<TaskState> {
  const { state } = await store.load();
  const source = file === undefined ? undefined : file.slice(folder.length + 1);
  const wanted = newState(task, folder, source);
  const isSame =
    source === undefined
      ? state.source === undefined && (state.id === wanted.id || isCarried(state, task))
      : state.source === source;
  if (isSame) return state;
  const backup = await backUp(folder, now, [stateName]);
  notify("info", `${stateName} belonged to another task ("${state.task.task.slice(0, 60)}"); it is kept in ${backup}.`);
  return await store.edit((before) => ({ ...wanted, ...withoutUndefined({ iteration: before.iteration }) }));
}
