import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { requireHere, settingsFor } from "../../compose/agents.js";
import { type CodeCrew, crewOf, requireCrew } from "../../compose/code-roles.js";
import { drive } from "../../compose/drive.js";
import { openTeam } from "../../compose/open-team.js";
import { type NamedTask, openTask, sandboxOf, type TaskOverrides } from "../../compose/open-task.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { variableOf } from "../../engine/config/keys.js";
import { keepTrust, requireTrust } from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { RalphTask } from "../../task/generated/ralph.js";
import { readRegularText, statsAt } from "../../engine/storage/regular-file.js";
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
import { taskRecords } from "../../task/project-files/steered-task.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { checkedTask, readTaskFile } from "../../task/project-files/task-file.js";
import { taskWords } from "../../task/project-files/words.js";
import { refuseHomeFolder } from "../../task/place/own-folder.js";
import { trustAt, trustCommands, trustContext } from "./trust-task.js";
import { metIn, statusOf } from "../../task/workflow/status.js";
import { taskWorkflow } from "../../task/workflow/workflow.js";
import { testsText, untestedRound } from "../../code/team/rounds.js";
import { many } from "../../engine/lib/words.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { countedAttempts, roundsOf, spentBy } from "../../task/plan/used.js";

export interface TaskArguments {
  /** A file, a folder with one, or the task itself in words. */
  readonly task: string | undefined;
  /** A file that holds the task in words. */
  readonly goal?: string;
  /** Commands that must succeed. */
  readonly checks?: readonly string[];
  readonly tests: boolean;
  readonly testCommand?: string;
  /** Roles share each attempt. */
  readonly team?: boolean;
  /** The file that it is about. */
  readonly target?: string;
  /** Most attempts in the life of the task. */
  readonly rounds?: number;
  /** An adversary's tests stay in the project. */
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
 * Works on a task until its criteria are met; its exit code is the verdict's. `inWords`: makes a task of words, or of
 * none at all, in another way than tasks are made; where it answers nothing, the folder's own task is meant.
 */
export async function taskCommand(
  args: TaskArguments,
  io: Io,
  inWords?: (words: string | undefined) => Promise<Named | undefined>,
): Promise<number> {
  if (args.undo !== undefined) {
    const config = await resolveConfig(io, args.flags);
    return (await import("./undo.js")).undo(folderOf(args, io), args.undo, config, io, args.json);
  }
  const { named, notices } = await nameTask(args, io, inWords);
  const { chosen, flags } = withChoicesOf(named, args.flags, io);
  await requireTrust(chosen, io, { ...args.flags, ...trustAt(named) });
  const config = await resolveConfig(io, flags);
  if (!args.quiet && !args.json) for (const notice of notices) say(io, `warning: ${notice}`);
  if (args.dryRun) return (await import("./dry-run.js")).dryRun(named, config, io, args);
  for (const name of [config.agent, ...config.fallbacks]) requireHere(name, config, "a task");
  const crew = named.task.team === true ? crewHere(config, io, named) : undefined;
  const { branch, worktree } = args;
  // Before a branch is made; a worktree is a folder of its own.
  if (!worktree) refuseHomeFolder(resolve(named.folder, config.task.workspace), homeOf(io.env));
  if (branch === undefined && !worktree) return await work(named, config, io, args, crew);
  const { branchOff } = await import("./branch.js");
  const off = await branchOff(named, { worktree, branch }, config);
  if (!args.quiet && !args.json) say(io, off.said);
  return await work(off.named, config, io, args, crew);
}

/** Who does what in a team. @throws ExpectedError (exit code 2) for a role or an agent that there is not. */
function crewHere(config: ResolvedConfig, io: Io, { folder }: NamedTask): CodeCrew {
  const crew = crewOf(config, io.env);
  requireCrew(crew, settingsFor(crew.config, io, { folder, changes: true }));
  return crew;
}

async function work(
  named: NamedTask,
  own: ResolvedConfig,
  io: Io,
  args: TaskArguments,
  crew: CodeCrew | undefined,
): Promise<number> {
  const { folder } = named;
  const config = crew?.config ?? own;
  // By another branch the file may have changed.
  const { task } = named.file === undefined ? named : await readTaskFile(named.file);
  await trustContext({ ...named, task }, config, io, args.flags);
  const how = {
    json: args.json,
    quiet: args.quiet,
    verbose: args.verbose,
    // The task's own limit is part of its account; this is that of the run.
    iterations: config.iterations ?? Number.POSITIVE_INFINITY,
    folder,
    hasRun: existsSync(join(folder, taskLedger)),
    work: resolve(folder, config.task.workspace),
    changes: true,
    words: taskWords(named.file === undefined ? undefined : basename(named.file)),
    onHost: () => trustCommands({ ...named, task }, io, args.flags),
    sandbox: sandboxOf(named, config),
  };
  const { force, keepTests = false } = args;
  const verdict =
    crew === undefined
      ? await drive(config, io, { ...how, maxWithoutResult: config.history.limits.stagnation }, (run) =>
          openTask(named, config, io, run, { force, team: false }, taskWorkflow),
        )
      : await drive(config, io, { ...how, roles: crew.names }, (run) =>
          openTask(named, config, io, run, { force, team: true }, (options) =>
            openTeam(options, folder, { crew, keepTests }, config, io, run),
          ),
        );
  await sayEnd(named, verdict, io, args);
  return exitCodeOf(verdict);
}

/**
 * The last words of a run: for programs the verdict and the status that earlier tools know, for people the next step.
 */
async function sayEnd({ folder }: NamedTask, verdict: Verdict, io: Io, { json, quiet }: TaskArguments): Promise<void> {
  const read = await readRecords(folder, taskFormat).catch(() => undefined);
  const state = read?.state;
  if (json) {
    const spent = state && spentBy(state);
    const line = {
      type: "task",
      status: statusOf(verdict),
      ...verdict,
      iterations: spent?.iterations ?? 0,
      not_counted: (state?.attempts.length ?? 0) - countedAttempts(state?.attempts ?? []).length,
      tokens: spent?.tokens ?? 0,
      cost_usd: spent?.usd ?? 0,
      criteria: (state?.checks ?? []).map(({ criterion, passed, at }) => ({ criterion, passed, at })),
      ...(state?.task.team === true ? ofTeam(state) : {}),
    };
    return io.stdout(`${JSON.stringify(line)}\n`);
  }
  if (quiet || state === undefined) return;
  const open = state.checks.filter(({ passed }) => !passed);
  const row = (label: string, text: string) => say(io, text, `  ${label.padEnd(8)} `);
  row("Criteria", `${metIn(state.checks)} of ${state.task.acceptance_criteria.length} met`);
  for (const { criterion } of open.slice(0, 5)) row("", `✗ ${criterion}`);
  for (const { criterion, passed, at } of state.checks)
    if (passed && at !== undefined) row("", `✓ ${criterion}: outside of the sandbox it is ${at}`);
  if (state.tested !== undefined) {
    row("Tests", testsText(state, state.tested));
    for (const { test } of state.tested.failures.slice(0, 5)) row("", `✗ ${test}`);
  }
  const { findings } = ofTeam(state);
  if (findings.length > 0) row("Found", `${many(findings.length, "finding")} of the adversary: research-ralph report`);
  const last = state.attempts.findLast(({ snapshot }) => snapshot !== undefined);
  // It may be another one: that of the file that was named, or a worktree.
  const where = folder === io.cwd ? "" : ` ${shellWord(displayPath(io.cwd, folder))}`;
  if (last !== undefined)
    row(
      "Undo",
      `research-ralph task${where} --undo ${last.iteration - 1} goes back to before iteration ${last.iteration}`,
    );
}

/** What a team adds to the last words for programs. */
function ofTeam(state: TaskState) {
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

/** The agent and the sandbox that the task names, where neither a flag nor a variable does. */
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

/** The same, and what of it needs trust. */
function withChoicesOf({ task, trustedFile: from }: NamedTask, flags: ConfigFlags, io: Io) {
  const choices = choicesOf(task, flags, io);
  const chosen = from === undefined ? [] : agentAndSandboxIn(task, from).filter(({ key }) => key in choices);
  return { chosen, flags: { ...flags, ...choices } };
}

const emptyTask = "The task is empty; say what is to be done.";

/** A task that arguments name, and what a person has to know of it. */
export interface Named {
  readonly named: NamedTask;
  readonly notices: readonly string[];
}

/** The task that the arguments name. @throws ExpectedError (exit code 2) where they name none. */
async function nameTask(
  args: TaskArguments,
  io: Io,
  inWords?: (words: string | undefined) => Promise<Named | undefined>,
): Promise<Named> {
  const wish = wishOf(args, io.cwd);
  const { task, goal, save } = args;
  const criteria = criteriaOf(args);
  // The name of a variable that is not set must not start an agent on whatever task stands here.
  if (task?.trim() === "") throw new ExpectedError(emptyTask, 2);
  const path = task === undefined ? undefined : resolve(io.cwd, task);
  const isPath = inWords === undefined && path !== undefined && (existsSync(path) || /\.json$/i.test(task ?? ""));
  if (goal !== undefined && task !== undefined)
    throw new ExpectedError("--goal and a task exclude each other; give one of them.", 2);
  const words = goal === undefined ? (isPath ? undefined : task) : await goalText(resolve(io.cwd, goal));
  const made = await inWords?.(words);
  if (made !== undefined) return made;
  if (words === undefined) {
    if (criteria.length > 0)
      throw new ExpectedError(
        `--check, --tests and --test-command belong to a task given in words; write criteria of ${taskName} into it.`,
        2,
      );
    if (save) throw new ExpectedError("--save writes a task that is given in words; there is nothing to save.", 2);
    const file = isPath && statsAt(path)?.isDirectory() === true ? join(path, taskName) : path;
    const folder = file === undefined ? io.cwd : dirname(file);
    const isUsual = file === undefined || basename(file) === taskName;
    return withWish(isUsual ? await taskIn(folder) : await fromFile(file), wish);
  }
  const file = join(io.cwd, taskName);
  // A goal changes what is to be done; when it is done the file still says.
  if (criteria.length === 0 && goal !== undefined && existsSync(file)) {
    const read = await fromFile(file);
    return {
      ...read,
      named: { folder: io.cwd, trustedFile: file, task: { ...read.named.task, task: words, ...wish } },
    };
  }
  if (words.trim() === "") throw new ExpectedError(emptyTask, 2);
  if (criteria.length === 0)
    throw new ExpectedError(
      `The task has no acceptance criteria; say when it is done: --check "<command>" for a command that must succeed, --tests for tests that must pass.`,
      2,
    );
  const whole = checkedTask({ task: words, acceptance_criteria: criteria, ...wish }, "The task");
  if (!save) return { named: { folder: io.cwd, task: whole }, notices: [] };
  if (existsSync(file))
    throw new ExpectedError(
      `${file} is there already; --save overwrites nothing. Move it away, or leave out --save.`,
      2,
    );
  await writeFileAtomic(file, `${JSON.stringify({ $schema: schemaAddress("ralph"), ...whole }, null, 2)}\n`);
  await keepTrust(programCriteriaIn(whole, file), io.env);
  return { named: { folder: io.cwd, file, trustedFile: file, task: whole }, notices: [] };
}

/** The task of a folder. @throws ExpectedError (exit code 2) where it holds none. */
export const taskIn = async (folder: string): Promise<Named> =>
  (await begun(folder)) ?? (await fromFile(join(folder, taskName)));

/** What the arguments say of a task besides its words and criteria. @throws ExpectedError (exit code 2). */
export function wishOf(
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

const withWish = ({ named, notices }: Named, wish: TaskOverrides): Named =>
  Object.keys(wish).length === 0
    ? { named, notices }
    : { notices, named: { ...named, overrides: wish, task: { ...named.task, ...wish } } };

/** @throws ExpectedError (exit code 2) for a target that is outside of the project, or not there. */
export function targetIn(folder: string, target: string): string {
  // The name of a variable that is not set would be the folder.
  if (target.trim() === "") throw new ExpectedError("--target is empty; name a file of the project.", 2);
  const path = relative(folder, resolve(folder, target));
  if (path.startsWith("..") || isAbsolute(path))
    throw new ExpectedError(
      `--target ${target} is outside of ${folder}; name a file of the project, or start in its folder.`,
      2,
    );
  const found = statsAt(resolve(folder, path));
  if (found === undefined) throw new ExpectedError(`--target ${target}: there is no such file in ${folder}.`, 2);
  if (found.isDirectory()) throw new ExpectedError(`--target ${target} is a folder; name a file in it.`, 2);
  return path;
}

/** Whether a run has begun a task in this folder. */
export const isBegun = (folder: string): boolean => existsSync(stateFile(folder)) || hasCodingRun(folder);

/** What a folder without a ralph.json was begun with: a file of another name, or words of the command line. */
async function begun(folder: string): Promise<Named | undefined> {
  if (existsSync(taskFile(folder)) || !isBegun(folder)) return undefined;
  const { state } = await taskRecords(folder);
  if (state.source !== undefined && state.source !== taskName) return await fromFile(join(folder, state.source));
  return state.source === undefined
    ? { named: { folder, trustedFile: stateFile(folder), task: state.task }, notices: [] }
    : undefined;
}

/** The folder whose files are to be put back. */
function folderOf({ task }: TaskArguments, io: Io): string {
  const path = resolve(io.cwd, task ?? ".");
  const found = statsAt(path);
  if (found === undefined) return /\.json$/i.test(path) ? dirname(path) : io.cwd;
  return found.isDirectory() ? path : dirname(path);
}

async function fromFile(file: string): Promise<Named> {
  const { task, notices } = await readTaskFile(file);
  return { named: { folder: dirname(file), file, trustedFile: file, task }, notices };
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
