import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { rememberAgent, requireAgents, withLastAgent } from "../../compose/agents.js";
import { basename } from "node:path";
import { drive } from "../../compose/drive.js";
import { iterationsOf, roleNamesOf } from "../../compose/sharing.js";
import { openClassicProject, openProject } from "../../compose/open-project.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { requireTrust } from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Io } from "../../engine/ui/io.js";
import { sentinel } from "../../engine/loop/sentinel.js";
import { openUpdate } from "../../research/derived/open-update.js";
import { targetOf } from "../../research/derived/status.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { editsToApprove } from "../../research/overview/edits-to-approve.js";
import { openForms } from "../../research/units/form/open-forms.js";
import { derive } from "../../research/workflow/derive.js";
import { askOpenQuestions, choose, requireTerminal } from "./ask-person.js";
import { say } from "../../engine/ui/terminal/format.js";
import { endLines } from "./end-of-run.js";
import { classicPrompt } from "./classic-prompt.js";
import {
  findResearch,
  listResearches,
  nameFor,
  displayPath,
  UnnamedWork,
} from "../../research/overview/find-research.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { pageOf, rrdFile } from "../../research/project-files/layout.js";
import { changesSinceReport } from "../../research/derived/since-report.js";

interface RunArguments {
  readonly folder?: string;
  readonly flags: ConfigFlags;
  /** New sources for the search. */
  readonly sources?: readonly string[];
  /** The columns of a CSV file with other headers, each as "title=Name". */
  readonly columns?: readonly string[];
  /** The branch for later commits; true: a branch with the project's name. */
  readonly branch?: string | true;
  /** True if `--papers` may change the target after papers were found. */
  readonly force: boolean;
  /** True if a paper is read by its abstract when its text is not available. */
  readonly abstracts?: boolean;
  readonly classic: boolean;
  /** True if the user is asked the open questions first. */
  readonly ask: boolean;
  /** False if the user has already seen the forecast. */
  readonly forecast?: boolean;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/** Works on a project until the run ends with a verdict. The exit code is that of the verdict. */
export async function runCommand(args: RunArguments, io: Io): Promise<number> {
  if (args.ask) requireTerminal(io);
  const baseConfig = await resolveConfig(io, args.flags);
  const folder = args.folder === undefined ? await unfinishedProject(io) : await findResearch(io.cwd, args.folder);
  if (folder === undefined) {
    if (!args.json) printSentinel(io);
    return 0;
  }
  const config = await withLastAgent(baseConfig, folder, io);
  if (args.branch !== undefined) await (await import("./new.js")).useOwnBranch(folder, args.branch);
  let { rrd } = await readResearch(folder);
  const { prompt, needTrust = [] } = (await classicPrompt(folder, config.stateDir, args.classic, io)) ?? {};
  await requireTrust(needTrust, io, args.flags);
  // An unusable agent must be reported before a file is changed.
  const isClassic = prompt !== undefined;
  await requireAgents(config, io, isClassic, isClassic ? {} : roleNamesOf(config));
  if (args.flags.papers !== undefined && args.flags.papers !== targetOf(rrd))
    rrd = await changeTarget(folder, rrd, args.flags.papers, args.force, config.git, io);
  if (args.sources !== undefined) {
    const { changeSources } = await import("./named-again.js");
    const wanted = { sources: args.sources, columns: args.columns, hasTarget: args.flags.papers !== undefined };
    rrd = await changeSources(folder, rrd, wanted, config.git, io);
  }
  if (args.ask) {
    const result = await askOpenQuestions(folder, rrd, config.git, io);
    if (result.hasUnanswered)
      throw new ExpectedError(
        "Not all questions have an answer, so no run was started; your other answers are stored.",
        2,
      );
    rrd = result.rrd;
  }
  return work(folder, rrd, config, io, args, prompt);
}

/**
 * Runs a project; all commands that work on a project end with this. If the project is complete, prints the sentinel
 * as the last line, after the path of the report with --quiet.
 * `classicPromptText`: the prompt for classic mode, if it is used.
 */
export async function work(
  folder: string,
  rrd: Rrd,
  config: ResolvedConfig,
  io: Io,
  options: {
    readonly json: boolean;
    readonly quiet: boolean;
    readonly verbose?: boolean;
    readonly force?: boolean;
    readonly abstracts?: boolean;
    readonly forecast?: boolean;
  },
  classicPromptText?: string,
): Promise<number> {
  const { json, quiet, verbose = false } = options;
  await rememberAgent(config, folder, io);
  const maxUnits = maxUnitsOf(rrd);
  const iterations = config.iterations ?? (classicPromptText === undefined ? iterationsOf(config, maxUnits) : maxUnits);
  const workflowOptions = {
    forecast: options.forecast !== false,
    force: options.force === true,
    abstracts: options.abstracts === true,
  };
  // Most runs have only papers from the network, and need no reader of documents.
  if (!options.json && rrd.papers_pool.some(({ document }) => document !== undefined)) {
    const { documentSentences } = await import("../../research/update/changed-documents.js");
    const sentences = await documentSentences(folder, { rrd, root: rootOf(folder, io.cwd) }, nameFor(io.cwd, folder));
    for (const sentence of sentences) say(io, sentence);
  }
  const questions = editsToApprove(folder, config.stateDir, io);
  const hasRun = (await readResearch(folder)).ledger.length > 0;
  // Commands pass all that was typed, and some of it has the name of another option of a run.
  const driveOptions = { json, quiet, verbose, iterations, folder, questions, hasRun };
  const verdict =
    classicPromptText === undefined
      ? await drive(config, io, { ...driveOptions, roles: roleNamesOf(config) }, (run) =>
          openProject(folder, config, io, run, workflowOptions),
        )
      : await drive(config, io, { ...driveOptions, classic: true }, (run) =>
          openClassicProject(folder, config, io, run, classicPromptText, workflowOptions),
        );
  if (verdict.verdict !== "complete" && pageOf(folder) !== null) await renderOldReport(folder, config, io);
  if (!options.json && !options.quiet)
    for (const line of await endLines(folder, verdict, config, io)) io.stderr(`${line}\n`);
  if (verdict.verdict === "complete" && !options.json) {
    if (options.quiet) io.stdout(`${pathOfResult(folder, io)}\n`);
    printSentinel(io);
  }
  return exitCodeOf(verdict);
}

/** The path of the report; of the project, if it has none. A script may use it in another folder. */
function pathOfResult(folder: string, io: Io): string {
  const path = pageOf(folder) ?? folder;
  return io.isShown ? displayPath(io.cwd, path) : path;
}

/** Renders a report that is older than its readings or decisions again, so that it says so and not "Finished". */
async function renderOldReport(folder: string, { git, stateDir }: ResolvedConfig, io: Io): Promise<void> {
  const state = await readResearch(folder).catch(() => undefined);
  if (state === undefined || changesSinceReport(state.rrd, state.ledger) === undefined) return;
  const { updateReport } = await import("../../research/report/documents/show-in-report.js");
  await updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) });
}

/**
 * Maximum number of units of a run. 1.5 units for each paper leave room for screening batches and retries. An update
 * has units only for its new and changed works.
 */
function maxUnitsOf(rrd: Rrd): number {
  const { works, changed: withNewTarget = [] } = openUpdate(rrd) ?? {};
  const forms = 2 * openForms(rrd).length;
  return works === undefined
    ? Math.ceil(1.5 * Math.max(targetOf(rrd), rrd.papers_pool.length)) + forms + 6
    : 2 * (works + withNewTarget.length) + 6;
}

/** Prints the sentinel for scripts that wait for it. On a terminal, the user has already seen the verdict. */
function printSentinel({ stdout, isShown }: Io): void {
  if (!isShown) stdout(`${sentinel}\n`);
}

/**
 * The project in ./researches that is not finished. If there are several, the user chooses one; undefined if all are
 * complete.
 */
async function unfinishedProject(io: Io): Promise<string | undefined> {
  const folders = await listResearches(io.cwd);
  if (folders.length <= 1) return findResearch(io.cwd, undefined);
  const unfinishedFolders: string[] = [];
  const brokenFolders: string[] = [];
  for (const folder of folders) {
    const state = await readResearch(folder).catch(() => undefined);
    if (state === undefined) brokenFolders.push(folder);
    else if (statusOf(state.rrd, state.ledger).phase !== "COMPLETE") unfinishedFolders.push(folder);
  }
  const [first, ...others] = unfinishedFolders;
  if (first === undefined && brokenFolders[0] !== undefined) {
    throw new ExpectedError(
      `No project here can be run: ${basename(brokenFolders[0])} is broken; 'research-ralph verify --files ${basename(brokenFolders[0])}' says where.`,
    );
  }
  if (first === undefined) {
    say(io, `All ${folders.length} projects here are complete; create a new one with research-ralph new "<topic>".`);
    return undefined;
  }
  if (others.length === 0) return first;
  if (!io.canAsk)
    throw new UnnamedWork("unfinished projects", [
      nameFor(io.cwd, first),
      ...others.map((folder) => nameFor(io.cwd, folder)),
    ]);
  return choose(
    io,
    "Which project?",
    unfinishedFolders.map((folder) => ({ value: folder, label: basename(folder) })),
  );
}

/** Changes the target. After papers were found, this needs --force, and the files are backed up first. */
async function changeTarget(
  folder: string,
  rrd: Rrd,
  papers: number,
  force: boolean,
  git: boolean,
  io: Io,
): Promise<Rrd> {
  const hasPapers = rrd.papers_pool.length > 0;
  if (hasPapers && !force) {
    throw new ExpectedError(
      `${basename(folder)} was started with a target of ${targetOf(rrd)} papers; add --force to change it to ${papers} (a backup is made), or omit -p.`,
      2,
    );
  }
  const notify = (_: string, message: string) => say(io, message);
  const edited = await editResearch(folder, (current) => withTarget(current, papers), {
    derive,
    git,
    notify,
    ...(hasPapers ? { backupAt: io.clock.now() } : {}),
  });
  if (edited.backup !== undefined)
    say(
      io,
      `Target changed from ${targetOf(rrd)} to ${papers} papers; the backup is ${displayPath(io.cwd, rrdFile(edited.backup))}.`,
    );
  const paperCount = rrd.papers_pool.length;
  if (paperCount > papers)
    say(
      io,
      `The project already has ${paperCount} papers, and all of them are read: the target only limits the search.`,
    );
  return edited.rrd;
}

/**
 * The state with another target. If it is above the number of papers, the search starts again, even if it had ended.
 */
export function withTarget(rrd: Rrd, papers: number): Rrd {
  const withNewTarget = { ...rrd, requirements: { ...rrd.requirements, target_papers: papers } };
  if (papers <= rrd.papers_pool.length) return withNewTarget;
  const { statistics } = rrd;
  const discovery_metrics = { ...statistics?.discovery_metrics, batches_without_new: 0 };
  return { ...withNewTarget, phase: "DISCOVERY", statistics: { ...statistics, discovery_metrics } };
}
