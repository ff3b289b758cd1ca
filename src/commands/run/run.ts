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
import { rrdFile } from "../../research/project-files/layout.js";

interface RunArguments {
  readonly folder?: string;
  readonly flags: ConfigFlags;
  /** Where to search from now on. */
  readonly sources?: readonly string[];
  /** Columns of lists that have headers of their own, each "title=Name". */
  readonly columns?: readonly string[];
  /** The branch that commits go to from now on; true: one of the project's name. */
  readonly branch?: string | true;
  readonly force: boolean;
  /** Read by their abstracts the papers whose text can't be had now. */
  readonly abstracts?: boolean;
  readonly classic: boolean;
  readonly ask: boolean;
  /** False: the forecast was told before. */
  readonly forecast?: boolean;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/** Works on a project until there is a verdict; its exit code is the verdict's. */
export async function runCommand(args: RunArguments, io: Io): Promise<number> {
  if (args.ask) requireTerminal(io);
  const chosen = await resolveConfig(io, args.flags);
  const folder = args.folder === undefined ? await unfinished(io) : await findResearch(io.cwd, args.folder);
  if (folder === undefined) {
    if (!args.json) saySentinel(io);
    return 0;
  }
  const config = await withLastAgent(chosen, folder, io);
  if (args.branch !== undefined) await (await import("./new.js")).useOwnBranch(folder, args.branch);
  let { rrd } = await readResearch(folder);
  const { prompt, needTrust = [] } = (await classicPrompt(folder, config.stateDir, args.classic, io)) ?? {};
  await requireTrust(needTrust, io, args.flags);
  // An agent that can't be used must be known before the file is changed for it.
  const isClassic = prompt !== undefined;
  await requireAgents(config, io, isClassic, isClassic ? {} : roleNamesOf(config));
  if (args.flags.papers !== undefined && args.flags.papers !== targetOf(rrd))
    rrd = await retarget(folder, rrd, args.flags.papers, args.force, config.git, io);
  if (args.sources !== undefined)
    rrd = await (await import("./named-again.js")).withSources(folder, rrd, args.sources, args.columns, config.git, io);
  if (args.ask) {
    const asked = await askOpenQuestions(folder, rrd, config.git, io);
    if (asked.left)
      throw new ExpectedError("You left the questions, so no run was started; the answers you gave are kept.", 2);
    rrd = asked.rrd;
  }
  return work(folder, rrd, config, io, args, prompt);
}

/** The last part of every command that works on a project: run it, and say the sentinel where it is complete. */
export async function work(
  folder: string,
  rrd: Rrd,
  config: ResolvedConfig,
  io: Io,
  how: {
    readonly json: boolean;
    readonly quiet: boolean;
    readonly verbose?: boolean;
    readonly force?: boolean;
    readonly abstracts?: boolean;
    readonly forecast?: boolean;
  },
  classic?: string,
): Promise<number> {
  await rememberAgent(config, folder, io);
  const units = unitsOf(rrd);
  const iterations = config.iterations ?? (classic === undefined ? iterationsOf(config, units) : units);
  const manner = { forecast: how.forecast !== false, force: how.force === true, abstracts: how.abstracts === true };
  const questions = editsToApprove(folder, config.stateDir, io);
  const hasRun = (await readResearch(folder)).ledger.length > 0;
  const watched = { ...how, iterations, folder, questions, hasRun };
  const verdict =
    classic === undefined
      ? await drive(config, io, { ...watched, roles: roleNamesOf(config) }, (run) =>
          openProject(folder, config, io, run, manner),
        )
      : await drive(config, io, { ...watched, classic: true }, (run) =>
          openClassicProject(folder, config, io, run, classic, manner),
        );
  if (!how.json && !how.quiet) for (const line of await endLines(folder, verdict, config, io)) io.stderr(`${line}\n`);
  if (verdict.verdict === "complete" && !how.json) saySentinel(io);
  return exitCodeOf(verdict);
}

/**
 * The most units of a run: half as many again as there are papers leaves room for screening batches and retries. An
 * update has as many as it brought, and no whole pool.
 */
function unitsOf(rrd: Rrd): number {
  const { works, changed = [] } = openUpdate(rrd) ?? {};
  const forms = 2 * openForms(rrd).length;
  return works === undefined
    ? Math.ceil(1.5 * Math.max(targetOf(rrd), rrd.papers_pool.length)) + forms + 6
    : 2 * (works + changed.length) + 6;
}

/** For the scripts that wait for it; a person on a terminal has read the verdict. */
function saySentinel({ stdout, isShown }: Io): void {
  if (!isShown) stdout(`${sentinel}\n`);
}

/**
 * The one project under ./researches that is not finished; of several, the one the person picks; undefined where all
 * are complete.
 */
async function unfinished(io: Io): Promise<string | undefined> {
  const all = await listResearches(io.cwd);
  if (all.length <= 1) return findResearch(io.cwd, undefined);
  const open: string[] = [];
  const broken: string[] = [];
  for (const folder of all) {
    const read = await readResearch(folder).catch(() => undefined);
    if (read === undefined) broken.push(folder);
    else if (statusOf(read.rrd, read.ledger).phase !== "COMPLETE") open.push(folder);
  }
  const [first, ...others] = open;
  if (first === undefined && broken[0] !== undefined) {
    throw new ExpectedError(
      `No project here can be run: ${basename(broken[0])} is broken; 'research-ralph verify --files ${basename(broken[0])}' says where.`,
    );
  }
  if (first === undefined) {
    say(io, `All ${all.length} projects here are complete; create a new one with research-ralph new "<topic>".`);
    return undefined;
  }
  if (others.length === 0) return first;
  if (!io.canAsk)
    throw new UnnamedWork("unfinished projects", [
      nameFor(io.cwd, first),
      ...others.map((each) => nameFor(io.cwd, each)),
    ]);
  return choose(
    io,
    "Which research?",
    open.map((folder) => ({ value: folder, label: basename(folder) })),
  );
}

/** Changes the target. Once papers were found that needs --force, and the files are copied first. */
async function retarget(folder: string, rrd: Rrd, papers: number, force: boolean, git: boolean, io: Io): Promise<Rrd> {
  const started = rrd.papers_pool.length > 0;
  if (started && !force) {
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
    ...(started ? { backupAt: io.clock.now() } : {}),
  });
  if (edited.backup !== undefined)
    say(
      io,
      `Target changed from ${targetOf(rrd)} to ${papers} papers; the backup is ${displayPath(io.cwd, rrdFile(edited.backup))}.`,
    );
  const held = rrd.papers_pool.length;
  if (held > papers)
    say(io, `The pool already holds ${held} papers, and all of them are read; a target only ends the search.`);
  return edited.rrd;
}

/** More papers than there are means another search, also where the last one was exhausted. */
export function withTarget(rrd: Rrd, papers: number): Rrd {
  const changed = { ...rrd, requirements: { ...rrd.requirements, target_papers: papers } };
  if (papers <= rrd.papers_pool.length) return changed;
  const { statistics } = rrd;
  const discovery_metrics = { ...statistics?.discovery_metrics, batches_without_new: 0 };
  return { ...changed, phase: "DISCOVERY", statistics: { ...statistics, discovery_metrics } };
}
