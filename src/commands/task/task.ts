import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { requireHere, settingsFor } from "../../compose/agents.js";
import { type CodeCrew, crewOf, requireCrew } from "../../compose/code-roles.js";
import { drive } from "../../compose/drive.js";
import { openTeam } from "../../compose/open-team.js";
import { type NamedTask, openTask, sandboxOf, type TaskOverrides } from "../../compose/open-task.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { variableOf } from "../../engine/config/keys.js";
import { storeTrust, requireTrust } from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { RalphTask } from "../../task/generated/ralph.js";
import { readRegularText, readStats } from "../../engine/storage/regular-file.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { schemaAddress } from "../../engine/storage/schema-check.js";
import type { Verdict } from "../../engine/loop/types.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { say } from "../../engine/ui/terminal/format.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { displayPath } from "../../research/overview/find-research.js";
import { stateFile, taskFile, taskLedger, taskName } from "../../task/project-files/layout.js";
import { agentAndSandboxIn, programCriteriaIn } from "../../task/project-files/needs-trust.js";
import { hasCodingRun } from "../../task/project-files/carry-over.js";
import { taskRecords, taskWords } from "../../task/project-files/steered-task.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { validateTask, readTaskFile } from "../../task/project-files/task-file.js";
import { refuseHomeFolder } from "../../task/place/own-folder.js";
import { trustAt, trustCommands, trustContext } from "./trust-task.js";
import { countMet, statusOf } from "../../task/workflow/status.js";
import { taskWorkflow } from "../../task/workflow/workflow.js";
import { testsText, untestedRound } from "../../code/team/rounds.js";
import { quantity } from "../../engine/lib/words.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { countedAttempts, roundsOf, spentBy } from "../../task/plan/used.js";

export interface TaskArguments {
  /** The path of a task file or of its folder, or the text of a task. */
  readonly task: string | undefined;
  /** A file with the text of the task. */
  readonly goal?: string;
  /** Commands that must succeed as acceptance criteria. */
  readonly checks?: readonly string[];
  readonly tests: boolean;
  readonly testCommand?: string;
  /** True if several roles share each attempt. */
  readonly team?: boolean;
  /** The file with which the task is concerned. */
  readonly target?: string;
  /** Maximum number of attempts for the task, over all runs. */
  readonly rounds?: number;
  /** True if an adversary's tests stay in the project. */
  readonly keepTests?: boolean;
  readonly save: boolean;
  readonly dryRun: boolean;
  readonly undo?: number;
  readonly branch?: string | true;
  readonly worktree: boolean;
  readonly force: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/**
 * Works on a task until its criteria are met. The exit code is that of the verdict. `taskFromText`: makes the task from
 * the user's text, if any; if it returns undefined, the task is found in the usual way.
 */
export async function taskCommand(
  args: TaskArguments,
  io: Io,
  taskFromText?: (words: string | undefined) => Promise<TaskWithNotices | undefined>,
): Promise<number> {
  if (args.undo !== undefined) {
    const config = await resolveConfig(io, args.flags);
    return (await import("./undo.js")).undo(folderToRestore(args, io), args.undo, config, io, args.json);
  }
  const { namedTask, notices } = await nameTask(args, io, taskFromText);
  const { chosen: trustRequests, flags } = withChoicesOf(namedTask, args.flags, io);
  await requireTrust(trustRequests, io, { ...args.flags, ...trustAt(namedTask) });
  const config = await resolveConfig(io, flags);
  if (!args.quiet && !args.json) for (const notice of notices) say(io, `warning: ${notice}`);
  if (args.dryRun) return (await import("./dry-run.js")).dryRun(namedTask, config, io, args);
  for (const name of [config.agent, ...config.fallbacks]) requireHere(name, config, "a task");
  const crew = namedTask.task.team === true ? openCrew(config, io, namedTask) : undefined;
  const { branch, worktree } = args;
  // Before a branch is made; a worktree is a folder of its own.
  if (!worktree) refuseHomeFolder(resolve(namedTask.folder, config.task.workspace), homeOf(io.env));
  if (branch === undefined && !worktree) return await runTask(namedTask, config, io, args, crew);
  const { branchOff } = await import("./branch.js");
  const result = await branchOff(namedTask, { worktree, branch }, config);
  if (!args.quiet && !args.json) say(io, result.message);
  return await runTask(result.namedTask, config, io, args, crew);
}

/**
 * The roles of a team with their agents.
 * @throws ExpectedError (exit code 2) for an unknown role or a missing agent.
 */
function openCrew(config: ResolvedConfig, io: Io, { folder }: NamedTask): CodeCrew {
  const crew = crewOf(config, io.env);
  requireCrew(crew, settingsFor(crew.config, io, { folder, changes: true }));
  return crew;
}

async function runTask(
  namedTask: NamedTask,
  baseConfig: ResolvedConfig,
  io: Io,
  args: TaskArguments,
  crew: CodeCrew | undefined,
): Promise<number> {
  const { folder } = namedTask;
  const config = crew?.config ?? baseConfig;
  // The file may be different on another branch.
  const { task } = namedTask.file === undefined ? namedTask : await readTaskFile(namedTask.file);
  await trustContext({ ...namedTask, task }, config, io, args.flags);
  const runOptions = {
    json: args.json,
    quiet: args.quiet,
    verbose: args.verbose,
    // The limit of this run; the task's own limit is checked elsewhere.
    iterations: config.iterations ?? Number.POSITIVE_INFINITY,
    folder,
    hasRun: existsSync(join(folder, taskLedger)),
    work: resolve(folder, config.task.workspace),
    changes: true,
    words: taskWords(namedTask.file === undefined ? undefined : basename(namedTask.file)),
    onHost: () => trustCommands({ ...namedTask, task }, io, args.flags),
    sandbox: sandboxOf(namedTask, config),
  };
  const { force, keepTests = false } = args;
  const verdict =
    crew === undefined
      ? await drive(config, io, { ...runOptions, maxWithoutResult: config.history.limits.stagnation }, (run) =>
          openTask(namedTask, config, io, run, { force, team: false }, taskWorkflow),
        )
      : await drive(config, io, { ...runOptions, roles: crew.names }, (run) =>
          openTask(namedTask, config, io, run, { force, team: true }, (options) =>
            openTeam(options, folder, { crew, keepTests }, config, io, run),
          ),
        );
  await printEnd(namedTask, verdict, io, args);
  return exitCodeOf(verdict);
}

/**
 * The last output of a run: for programs the verdict, and the status that earlier tools know; for people the next step.
 */
async function printEnd(
  { folder }: NamedTask,
  verdict: Verdict,
  io: Io,
  { json, quiet }: TaskArguments,
): Promise<void> {
  const records = await readRecords(folder, taskFormat).catch(() => undefined);
  const state = records?.state;
  if (json) {
    const spent = state && spentBy(state);
    const fields = {
      type: "task",
      status: statusOf(verdict),
      ...verdict,
      iterations: spent?.iterations ?? 0,
      not_counted: (state?.attempts.length ?? 0) - countedAttempts(state?.attempts ?? []).length,
      tokens: spent?.tokens ?? 0,
      cost_usd: spent?.usd ?? 0,
      criteria: (state?.checks ?? []).map(({ criterion, passed, at }) => ({ criterion, passed, at })),
      ...(state?.task.team === true ? teamFields(state) : {}),
    };
    return io.stdout(`${JSON.stringify(fields)}\n`);
  }
  if (quiet || state === undefined) return;
  const unmet = state.checks.filter(({ passed }) => !passed);
  const row = (label: string, text: string) => say(io, text, `  ${label.padEnd(8)} `);
  row("Criteria", `${countMet(state.checks)} of ${state.task.acceptance_criteria.length} met`);
  for (const { criterion } of unmet.slice(0, 5)) row("", `✗ ${criterion}`);
  for (const { criterion, passed, at } of state.checks)
    if (passed && at !== undefined) row("", `✓ ${criterion}: outside of the sandbox it is ${at}`);
  if (state.tested !== undefined) {
    row("Tests", testsText(state, state.tested));
    for (const { test } of state.tested.failures.slice(0, 5)) row("", `✗ ${test}`);
  }
  const { findings } = teamFields(state);
  if (findings.length > 0)
    row("Found", `${quantity(findings.length, "finding")} of the adversary: research-ralph report`);
  const lastSnapshot = state.attempts.findLast(({ snapshot }) => snapshot !== undefined);
  // It may be another folder: that of the named file, or a worktree.
  const folderArgument = folder === io.cwd ? "" : ` ${shellWord(displayPath(io.cwd, folder))}`;
  if (lastSnapshot !== undefined)
    row(
      "Undo",
      `research-ralph task${folderArgument} --undo ${lastSnapshot.iteration - 1} goes back to before iteration ${lastSnapshot.iteration}`,
    );
}

/** The additional fields for programs if a team worked on the task. */
function teamFields(state: TaskState) {
  const rounds = roundsOf(state);
  return {
    rounds: rounds.length,
    runs: countedAttempts(state.attempts).length,
    failing: state.tested?.failing ?? null,
    untested_round: untestedRound(state) ?? null,
    flaky: state.flaky ?? [],
    findings: rounds.flatMap(({ findings = [] }) => findings),
  };
}

/** The flags with the agent and the sandbox of the task, unless a flag or a variable names another one. */
export const withAgentOf = (task: RalphTask, flags: ConfigFlags, io: Io): ConfigFlags => ({
  ...flags,
  ...choicesOf(task, flags, io),
});

function choicesOf(
  { agent, sandbox }: RalphTask,
  flags: ConfigFlags,
  { env }: Io,
): Pick<ConfigFlags, "agent" | "sandbox"> {
  const isSet = (key: "agent" | "sandbox") => flags[key] !== undefined || (env[variableOf(key)] ?? "") !== "";
  return withoutUndefined({
    agent: isSet("agent") ? undefined : agent,
    sandbox: isSet("sandbox") ? undefined : sandbox,
  });
}

/** The flags with the task's choices, and the choices that need trust. */
function withChoicesOf({ task, trustedFile }: NamedTask, flags: ConfigFlags, io: Io) {
  const choices = choicesOf(task, flags, io);
  const trustRequests =
    trustedFile === undefined ? [] : agentAndSandboxIn(task, trustedFile).filter(({ key }) => key in choices);
  return { chosen: trustRequests, flags: { ...flags, ...choices } };
}

const emptyTask = "The task is empty; say what is to be done.";

/** A task that the arguments name, with notices for the user. */
export interface TaskWithNotices {
  readonly namedTask: NamedTask;
  readonly notices: readonly string[];
}

/** The task that the arguments name. @throws ExpectedError (exit code 2) if they name none. */
async function nameTask(
  args: TaskArguments,
  io: Io,
  taskFromText?: (words: string | undefined) => Promise<TaskWithNotices | undefined>,
): Promise<TaskWithNotices> {
  const overrides = overridesIn(args, io.cwd);
  const { task, goal, save } = args;
  const criteria = criteriaOf(args);
  // An empty variable in a script must not start an agent on the task of this folder.
  if (task?.trim() === "") throw new ExpectedError(emptyTask, 2);
  const path = task === undefined ? undefined : resolve(io.cwd, task);
  const isPath = taskFromText === undefined && path !== undefined && (existsSync(path) || /\.json$/i.test(task ?? ""));
  if (goal !== undefined && task !== undefined)
    throw new ExpectedError("--goal and a task exclude each other; give one of them.", 2);
  const words = goal === undefined ? (isPath ? undefined : task) : await goalText(resolve(io.cwd, goal));
  const taskFromWords = await taskFromText?.(words);
  if (taskFromWords !== undefined) return taskFromWords;
  if (words === undefined) {
    if (criteria.length > 0)
      throw new ExpectedError(
        `--check, --tests and --test-command belong to a task given in words; write criteria of ${taskName} into it.`,
        2,
      );
    if (save) throw new ExpectedError("--save writes a task that is given in words; there is nothing to save.", 2);
    const file = isPath && readStats(path)?.isDirectory() === true ? join(path, taskName) : path;
    const folder = file === undefined ? io.cwd : dirname(file);
    const isDefaultName = file === undefined || basename(file) === taskName;
    return withOverrides(isDefaultName ? await taskIn(folder) : await readNamedTask(file), overrides);
  }
  const file = join(io.cwd, taskName);
  // --goal replaces the task; the criteria stay those of the file.
  if (criteria.length === 0 && goal !== undefined && existsSync(file)) {
    const fileTask = await readNamedTask(file);
    return {
      ...fileTask,
      namedTask: { folder: io.cwd, trustedFile: file, task: { ...fileTask.namedTask.task, task: words, ...overrides } },
    };
  }
  if (words.trim() === "") throw new ExpectedError(emptyTask, 2);
  if (criteria.length === 0)
    throw new ExpectedError(
      `The task has no acceptance criteria; say when it is done: --check "<command>" for a command that must succeed, --tests for tests that must pass.`,
      2,
    );
  const completeTask = validateTask({ task: words, acceptance_criteria: criteria, ...overrides }, "The task");
  if (!save) return { namedTask: { folder: io.cwd, task: completeTask }, notices: [] };
  if (existsSync(file))
    throw new ExpectedError(
      `${file} is there already; --save overwrites nothing. Move it away, or leave out --save.`,
      2,
    );
  await writeFileAtomic(file, `${JSON.stringify({ $schema: schemaAddress("ralph"), ...completeTask }, null, 2)}\n`);
  await storeTrust(programCriteriaIn(completeTask, file), io.env);
  return { namedTask: { folder: io.cwd, file, trustedFile: file, task: completeTask }, notices: [] };
}

/** The task of a folder. @throws ExpectedError (exit code 2) if it has none. */
export const taskIn = async (folder: string): Promise<TaskWithNotices> =>
  (await startedTask(folder)) ?? (await readNamedTask(join(folder, taskName)));

/** The settings of the task in the arguments, other than its text and criteria. @throws ExpectedError (exit code 2). */
export function overridesIn(
  { team, target, rounds }: TaskArguments | Pick<TaskArguments, "team" | "target" | "rounds">,
  folder: string,
): TaskOverrides {
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < 1))
    throw new ExpectedError("--rounds is a whole number from 1 on.", 2);
  return withoutUndefined({
    team: team === true ? team : undefined,
    max_iterations: rounds,
    target: target === undefined ? undefined : targetIn(folder, target),
  });
}

const withOverrides = ({ namedTask, notices }: TaskWithNotices, overrides: TaskOverrides): TaskWithNotices =>
  Object.keys(overrides).length === 0
    ? { namedTask, notices }
    : { notices, namedTask: { ...namedTask, overrides, task: { ...namedTask.task, ...overrides } } };

/** @throws ExpectedError (exit code 2) for a target that is outside the project or does not exist. */
function targetIn(folder: string, target: string): string {
  // An empty variable in a script would mean the folder.
  if (target.trim() === "") throw new ExpectedError("--target is empty; name a file of the project.", 2);
  const path = relative(folder, resolve(folder, target));
  if (path.startsWith("..") || isAbsolute(path))
    throw new ExpectedError(
      `--target ${target} is outside of ${folder}; name a file of the project, or start in its folder.`,
      2,
    );
  const targetStats = readStats(resolve(folder, path));
  if (targetStats === undefined) throw new ExpectedError(`--target ${target}: there is no such file in ${folder}.`, 2);
  if (targetStats.isDirectory()) throw new ExpectedError(`--target ${target} is a folder; name a file in it.`, 2);
  return path;
}

/** Whether a run has already started a task in this folder. */
export const hasStartedTask = (folder: string): boolean => existsSync(stateFile(folder)) || hasCodingRun(folder);

/** The task that a run has started in a folder without ralph.json: from a file of another name, or from words. */
async function startedTask(folder: string): Promise<TaskWithNotices | undefined> {
  if (existsSync(taskFile(folder)) || !hasStartedTask(folder)) return undefined;
  const { state } = await taskRecords(folder);
  if (state.source !== undefined && state.source !== taskName) return await readNamedTask(join(folder, state.source));
  return state.source === undefined
    ? { namedTask: { folder, trustedFile: stateFile(folder), task: state.task }, notices: [] }
    : undefined;
}

/** The folder whose files are restored. */
function folderToRestore({ task }: TaskArguments, io: Io): string {
  const path = resolve(io.cwd, task ?? ".");
  const pathStats = readStats(path);
  if (pathStats === undefined) return /\.json$/i.test(path) ? dirname(path) : io.cwd;
  return pathStats.isDirectory() ? path : dirname(path);
}

async function readNamedTask(file: string): Promise<TaskWithNotices> {
  const { task, notices } = await readTaskFile(file);
  return { namedTask: { folder: dirname(file), file, trustedFile: file, task }, notices };
}

async function goalText(path: string): Promise<string> {
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) throw new ExpectedError(`--goal: there is no file ${path} that can be read.`, 2);
  if (text.trim() === "") throw new ExpectedError(`--goal: ${path} is empty; say in it what is to be done.`, 2);
  return text.trim();
}

function criteriaOf({ checks = [], tests, testCommand }: TaskArguments): object[] {
  const commands = checks.map((command) => ({ type: "command_succeeds", command }));
  if (!tests && testCommand === undefined) return commands;
  return [...commands, { type: "tests_pass", command: testCommand }];
}
