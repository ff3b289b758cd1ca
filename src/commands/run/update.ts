import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { requireAgents, withLastAgent } from "../../compose/agents.js";
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { openUpdateSearch } from "../../compose/search-for-update.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { experienceOf } from "../../compose/forecast-basis.js";
import { roleNamesOf } from "../../compose/sharing.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { lockFile } from "../../engine/lib/layout.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import type { Spending } from "../../engine/loop/types.js";
import type { Io } from "../../engine/ui/io.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { listenForSignals, type Signals } from "../../engine/ui/signals.js";
import { quantity } from "../../engine/lib/words.js";
import { createCounter } from "../../engine/ui/terminal/counter.js";
import { print, say } from "../../engine/ui/terminal/format.js";
import { forecastSentence } from "../../engine/ui/terminal/tally.js";
import { researchesName, rrdFile, rrdName } from "../../research/project-files/layout.js";
import { openResearch, readResearch } from "../../research/project-files/research.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import type { ProjectUpdate, Rrd } from "../../research/generated/rrd.js";
import { displayPath, findResearch, listOfNames, nameFor } from "../../research/overview/find-research.js";
import { documentSentences } from "../../research/update/changed-documents.js";
import {
  changedFields,
  newUpdate,
  findingsText,
  presentFindings,
  withFindings,
  openingFold,
  withUpdateOpen,
} from "../../research/update/opening.js";
import {
  type UpdateFindings,
  type ChangedPaper,
  hasFindings,
  findChanges,
} from "../../research/update/new-and-changed.js";
import {
  searchedAfter,
  writeSearchedUntil,
  nextWindow,
  readSearchedUntil,
  readSearchedOn,
} from "../../research/update/window.js";
import { openUpdate } from "../../research/derived/open-update.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { accountOf, forecastOf, type UnitCounts } from "../../research/workflow/forecast.js";
import { derive } from "../../research/workflow/derive.js";
import { needsWriting } from "../../research/units/report/close-update.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { printError } from "../explain.js";
import { requireConsent } from "./ask-person.js";
import { classicPrompt } from "./classic-prompt.js";
import { remainingLimits } from "./remaining-limits.js";
import { work } from "./run.js";

interface UpdateArguments {
  readonly folders: readonly string[];
  /** First day of publication to ask for, YYYY-MM-DD. */
  readonly since?: string;
  /** True to only show what is new and what an update would cost. */
  readonly dryRun: boolean;
  /** True to ask nothing. */
  readonly yes: boolean;
  /** True if a paper is read by its abstract when its text is not available. */
  readonly abstracts: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/**
 * Searches for changes since the last search of each finished project, and updates the projects that have changes.
 * Without changes, no agent starts and no committed file changes. The command handles the projects one after the other,
 * also after a failure, within the limits of the whole command. Of several projects, an unfinished one is left out;
 * this is a failure only if no project is finished. The exit code is the first that is not 0.
 */
export async function updateCommand(args: UpdateArguments, io: Io): Promise<number> {
  const config = await resolveConfig(io, args.flags);
  if (args.folders.length <= 1) return await updateOne(await findResearch(io.cwd, args.folders[0]), args, config, io);
  const startedAt = io.clock.now();
  const spent = { usd: 0, tokens: 0, iterations: 0 };
  const handledFolders = new Set<string>();
  const unfinished: string[] = [];
  const notProjects = args.folders.filter((path) => isOtherPath(io.cwd, path));
  const mistyped = notProjects.filter((path) => !isFromGlob(io.cwd, path, args.folders));
  if (notProjects.length === args.folders.length)
    throw new ExpectedError(
      `There is no research project among ${listOfNames(notProjects)}: none has a file ${rrdName}.`,
      2,
    );
  const skippedCount = notProjects.length - mistyped.length;
  if (skippedCount > 0 && !args.json)
    say(io, `Skipped, because they hold no project: ${skippedCount} of ${quantity(args.folders.length, "path")}.`);
  for (const path of mistyped) say(io, `${oneLine(path)} is not a project: there is no ${rrdName} in it.`);
  let exitCode = mistyped.length === 0 ? 0 : 2;
  for (const [index, path] of args.folders.entries()) {
    let code = 0;
    let folder: string | undefined;
    try {
      if (notProjects.includes(path)) continue;
      folder = await findResearch(io.cwd, path);
      if (handledFolders.has(folder)) continue;
      handledFolders.add(folder);
      if (await isUnfinished(folder)) {
        unfinished.push(folder);
        continue;
      }
      const limits = remainingLimits(config, spent, io.clock.now() - startedAt);
      if (limits === undefined) {
        say(io, `The limit of this command is reached; no source was asked for ${basename(folder)}.`);
        code = 3;
      } else {
        const before = await spendingOf(folder);
        try {
          code = await updateOne(folder, args, limits, io);
        } finally {
          // The usage of a failed run counts too.
          const after = await spendingOf(folder).catch(() => before);
          spent.usd += after.usd - before.usd;
          spent.tokens += after.tokens - before.tokens;
          spent.iterations += after.iterations - before.iterations;
        }
      }
    } catch (error) {
      code = printError(error, io, ["update"]);
    }
    if (exitCode === 0) exitCode = code;
    if (code > 128) {
      const rest = args.folders.slice(index + 1).filter((other) => !notProjects.includes(other));
      if (rest.length > 0) say(io, `Not looked at any more: ${listOfNames(rest)}.`);
      return code;
    }
  }
  for (const folder of unfinished)
    say(
      io,
      (await isHeldByRun(lockFile(folder)))
        ? `Left out, because a run works on it: ${basename(folder)}.`
        : `Left out, because it is not finished: ${basename(folder)}; 'research-ralph run ${shellWord(displayPath(io.cwd, folder))}' continues it.`,
    );
  return exitCode === 0 && unfinished.length > 0 && unfinished.length === handledFolders.size ? 2 : exitCode;
}

/** Whether a project is not finished, so that it can't be updated. */
async function isUnfinished(folder: string): Promise<boolean> {
  const { rrd, ledger } = await readResearch(folder);
  return openUpdate(rrd) === undefined && statusOf(rrd, ledger).phase !== "COMPLETE";
}

/** Whether the path is a file, or a folder without rrd.json. */
function isOtherPath(cwd: string, typedPath: string): boolean {
  const path = resolve(cwd, typedPath);
  const hasRrd = [path, resolve(cwd, researchesName, typedPath)].some((folder) => existsSync(rrdFile(folder)));
  return basename(path) !== rrdName && existsSync(path) && !hasRrd;
}

/** Whether a path may come from `researches/*`: it is a file, or all visible files beside it are named too. */
function isFromGlob(cwd: string, typedPath: string, all: readonly string[]): boolean {
  const path = resolve(cwd, typedPath);
  if (!statSync(path).isDirectory()) return true;
  const paths = new Set(all.map((otherPath) => resolve(cwd, otherPath)));
  const siblings = readdirSync(dirname(path)).filter((name) => !name.startsWith("."));
  return siblings.every((name) => paths.has(join(dirname(path), name)));
}

async function spendingOf(folder: string): Promise<Spending> {
  const { rrd, ledger } = await readResearch(folder);
  return accountOf(rrd, ledger).spent;
}

async function updateOne(folder: string, args: UpdateArguments, baseConfig: ResolvedConfig, io: Io): Promise<number> {
  const config = await withLastAgent(baseConfig, folder, io);
  const { rrd, ledger } = await readResearch(folder);
  if ((await classicPrompt(folder, config.stateDir, false, io)) !== undefined)
    throw new ExpectedError(
      `${basename(folder)} is run in classic mode, in which the agent does everything itself; update works only with projects whose agents have workspaces of their own.`,
      2,
    );
  const currentUpdate = openUpdate(rrd);
  if (currentUpdate === undefined) {
    const result = await searchAndUpdate(folder, args, config, io);
    return result === "opened" ? await updateOne(folder, args, config, io) : result;
  }
  if (args.since !== undefined && !args.json)
    say(io, `${basename(folder)}: --since is ignored until ${currentUpdate.id} is finished.`);
  if (args.dryRun) {
    await showForecast(folder, { rrd, ledger }, currentUpdate, undefined, args, config, io);
    return 0;
  }
  if (!args.json)
    say(io, `${basename(folder)}: continuing ${currentUpdate.id}, opened on ${currentUpdate.at.slice(0, 10)}.`);
  await requireAgents(config, io, false, roleNamesOf(config));
  const code = await work(folder, rrd, config, io, args);
  if (code !== 0 && !args.json && currentUpdate.until < new Date(io.clock.now()).toISOString().slice(0, 10))
    say(
      io,
      `${basename(folder)}: works published since ${currentUpdate.until} are searched for after ${currentUpdate.id} is finished.`,
    );
  return code;
}

/**
 * Searches for changes. If there are any, opens an update and works on it. Returns the exit code; "opened" if an update
 * that a killed process had begun is open now.
 */
async function searchAndUpdate(
  folder: string,
  args: UpdateArguments,
  config: ResolvedConfig,
  io: Io,
): Promise<number | "opened"> {
  const name = basename(folder);
  const signals = listenForSignals(io);
  const notify = (_: string, message: string) => say(io, message);
  const research = args.dryRun ? undefined : await openResearch(folder, { derive, git: config.git, notify });
  const interruptedText = `${name}: interrupted while its sources were asked; nothing was written.`;
  let isOpened = false;
  let rrdOfUpdate: Rrd;
  try {
    const state = await (research === undefined ? readResearch(folder) : research.load());
    if (research !== undefined && openUpdate(state.rrd) !== undefined) return "opened";
    requireFinished(name, folder, state.rrd, state.ledger);
    const project = { ...state, searchedOn: await readSearchedOn(folder, state.rrd) };
    const storedUntil = await readSearchedUntil(folder);
    const window = nextWindow(name, project, storedUntil, io.clock.now(), args.since);
    const update = {
      ...newUpdate(state, window, io.clock.now()),
      ...withoutUndefined({ iteration: research?.nextIteration() }),
    };
    const progressCounter = args.quiet ? undefined : createCounter(io, "Asking the sources:", 0);
    const updateSearch = openUpdateSearch(folder, config, io, signals.finish, progressCounter?.step);
    const changes = await findChanges(
      { ...state, rrd: withUpdateOpen(state.rrd, update) },
      update,
      updateSearch.sources,
    ).finally(() => progressCounter?.close());
    if (signals.finish.aborted) {
      say(io, interruptedText);
      return interruptedExitCode(signals);
    }
    if (!hasFindings(changes)) {
      const line = noChangesLine(folder, update, changes, args);
      const failed = Object.fromEntries([...changes.failed].map(([source, { since }]) => [source, since]));
      if (!args.dryRun) await writeSearchedUntil(folder, searchedAfter(project, storedUntil, window, failed));
      if (!args.json)
        for (const sentence of await documentSentences(
          folder,
          { rrd: state.rrd, root: rootOf(folder, io.cwd) },
          nameFor(io.cwd, folder),
        ))
          say(io, sentence);
      if (args.json) io.stdout(line);
      else print(io, line.trimEnd());
      return 0;
    }
    if (research === undefined) {
      await showForecast(folder, state, update, changes, args, config, io);
      return 0;
    }
    await requireAgents(config, io, false, roleNamesOf(config));
    if (io.canAsk && !args.yes && !args.json) {
      // On a terminal the plan stands where the question does.
      const planIo = { ...io, stdout: io.stderr };
      if (await showForecast(folder, state, update, changes, args, config, planIo))
        await requireConsent(io, {
          yes: false,
          toBegin: "Yes, read them",
          otherwise: "Nothing was changed and no agent was started",
        });
    } else if (args.json)
      io.stdout(
        `${JSON.stringify({ type: "update", folder, ...window, id: update.id, ...outputFieldsOf(changes) })}\n`,
      );
    else
      say(
        io,
        `${name}: ${findingsText(changes)} since ${update.since}.${incompleteText(changes)} Ctrl+C stops the reading; --dry-run only says what it would take.`,
      );
    const before = await readFindings(folder, state.rrd, state.ledger, io.clock.now());
    rrdOfUpdate = withFindings(state.rrd, update, changes, before);
    await updateSearch.keep(rrdOfUpdate, changes);
    if (signals.finish.aborted) {
      say(io, interruptedText);
      return interruptedExitCode(signals);
    }
    await research.fold(openingFold(state.rrd, rrdOfUpdate, changes, updateSearch.requests));
    isOpened = true;
    rrdOfUpdate = (await research.load()).rrd;
    if (signals.finish.aborted) {
      say(
        io,
        `${name}: interrupted; ${update.id} is open, and 'research-ralph update ${shellWord(folder)}' continues it.`,
      );
      return interruptedExitCode(signals);
    }
  } catch (error) {
    // After an interruption, requests fail, but not because of the source.
    if (!signals.finish.aborted || isOpened) throw error;
    say(io, interruptedText);
    return interruptedExitCode(signals);
  } finally {
    signals.stop();
    if (research !== undefined) {
      await signState(folder, config.stateDir);
      await research.close();
    }
  }
  return await work(folder, rrdOfUpdate, config, io, args);
}

const interruptedExitCode = ({ finish }: Signals): number =>
  exitCodeOf({ verdict: "interrupted", reason: "", signal: finish.reason });

function requireFinished(name: string, folder: string, rrd: Rrd, ledger: readonly LedgerLine[]): void {
  if (statusOf(rrd, ledger).phase === "COMPLETE") return;
  throw new ExpectedError(
    `${name} is not finished, so there is nothing to update; 'research-ralph run ${shellWord(folder)}' continues it.`,
    2,
  );
}

/** The findings of the present report. */
async function readFindings(
  folder: string,
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  now: number,
): Promise<NonNullable<ProjectUpdate["before"]>> {
  const [{ readInputFor }, { reportModel }] = await Promise.all([
    import("../../research/report/read-report.js"),
    import("../../research/report/model.js"),
  ]);
  return presentFindings(reportModel((await readInputFor(folder, rrd, ledger, new Date(now))).input));
}

/**
 * The output if there are no changes, on one line.
 * @throws ExpectedError (exit code 5) if no source could be asked, or none answered.
 */
function noChangesLine(
  folder: string,
  { since, until }: ProjectUpdate,
  changes: UpdateFindings,
  { json }: Pick<UpdateArguments, "json">,
): string {
  const name = basename(folder);
  if (changes.answeringCount === 0 && changes.failed.size + changes.leftToAgents.length > 0)
    throw new ExpectedError(
      changes.queriedSources.length === 0
        ? `${name}: none of its sources can be asked (blocked_sources and requirements.sources in rrd.json say which they are), so it is unknown whether something was published since ${since}; take a source off blocked_sources, or add one.`
        : `${name}: no source answered, so it is unknown whether something was published since ${since} (${failureTexts(changes)}); run update again later.`,
      5,
    );
  if (json) return `${JSON.stringify({ type: "update", folder, since, until, ...outputFieldsOf(changes) })}\n`;
  return `${name}: nothing new from ${since} to ${until} (${quantity(changes.queriedSources.length, "source")} asked).${incompleteText(changes)}\n`;
}

const failureTexts = ({ failed }: UpdateFindings): string =>
  [...failed].map(([source, { reason }]) => `${source}: ${reason.replace(/\.$/, "")}`).join("; ");

/** Sentences about sources that were not asked completely, each after a space. */
function incompleteText(changes: UpdateFindings): string {
  const { failed, leftToAgents, unchecked } = changes;
  const reason = unchecked.reason.replace(/\.?$/, "");
  return [
    ...(failed.size === 0
      ? []
      : [
          `Some sources did not answer completely; the next update asks them for this period again: ${failureTexts(changes)}.`,
        ]),
    ...(leftToAgents.length === 0
      ? []
      : [`Not asked, because only an agent can search it: ${leftToAgents.join(", ")}.`]),
    ...(unchecked.papers === 0
      ? []
      : [
          `It could not be checked whether ${quantity(unchecked.papers, "paper")} changed or ${unchecked.papers === 1 ? "was" : "were"} retracted (${reason}).`,
        ]),
  ]
    .map((sentence) => ` ${oneLine(sentence)}`)
    .join("");
}

const comparedText: Readonly<Record<ChangedPaper["comparison"], string>> = {
  same: ", the same text",
  another: "",
  unknown: ", its text could not be compared",
};

/** Number of works in a batch of screening. */
const worksPerBatch = 15;

/**
 * Shows the changes, and the cost if all new works were included. Writes nothing. Returns whether an agent is needed.
 */
async function showForecast(
  folder: string,
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  update: ProjectUpdate,
  changes: UpdateFindings | undefined,
  { json }: UpdateArguments,
  config: ResolvedConfig,
  io: Io,
): Promise<boolean> {
  const rrdOfUpdate = changes === undefined ? rrd : withFindings(rrd, update, changes, []);
  const forecastOfUpdate = forecastOf(
    rrdOfUpdate,
    ledger,
    // The usage of other agents does not apply to this one.
    {
      ...(await experienceOf(folder, { rrd: rrdOfUpdate, ledger }, config, io)),
      agents: [config.agent, ...config.fallbacks],
    },
    changes && unitsFor(changes, needsWriting(rrdOfUpdate, await readNarrative(folder))),
  );
  const { id, since, until } = update;
  if (json) {
    const output = {
      type: "update",
      folder,
      since,
      until,
      ...(changes && outputFieldsOf(changes)),
      forecast: forecastOfUpdate ?? null,
    };
    io.stdout(`${JSON.stringify(output)}\n`);
    return forecastOfUpdate !== undefined;
  }
  const summary = changes === undefined ? `${id} is open since ${update.at.slice(0, 10)}` : findingsText(changes);
  const otherWorks = (changes?.works ?? 0) - (changes?.titles.length ?? 0);
  const maximumNote = (changes?.works ?? 0) > 0 ? " This is the maximum, if all new works are included." : "";
  const lines = [
    `${basename(folder)}: ${summary} (${since} to ${until}).${changes === undefined ? "" : incompleteText(changes)}`,
    ...(changes?.titles ?? []).map((title) => `  new: ${oneLine(title)}`),
    ...(otherWorks > 0 ? [`  and ${otherWorks} more`] : []),
    ...(changes?.changed ?? []).map(
      ({ id: paper, says, comparison }) => `  changed: ${paper}: ${oneLine(says)}${comparedText[comparison]}`,
    ),
    ...(changes?.retracted ?? []).map((paper) => `  retracted: ${paper}`),
    forecastOfUpdate === undefined
      ? "No agent is needed: the report is rendered again."
      : `${forecastSentence(forecastOfUpdate)}${maximumNote}`,
  ];
  for (const line of lines) {
    if (line.startsWith(" ")) io.stdout(`${line}\n`);
    else print(io, line);
  }
  return forecastOfUpdate !== undefined;
}

/** Maximum number of units of each kind. */
function unitsFor({ works, changed }: UpdateFindings, isWritten: boolean): UnitCounts {
  const paper = works + changed.filter(({ text }) => text !== undefined).length;
  return { discovery: Math.ceil(works / worksPerBatch), paper, report: isWritten || paper > 0 ? 1 : 0, ideas: 0 };
}

const outputFieldsOf = (findings: UpdateFindings) => {
  const { works, retracted, failed, queriedSources: asked, leftToAgents, unchecked } = findings;
  return {
    new: works,
    changed: changedFields(findings),
    retracted,
    asked,
    failed: Object.fromEntries([...failed].map(([source, { reason }]) => [source, reason])),
    ...(leftToAgents.length === 0 ? {} : { left_to_agents: leftToAgents }),
    ...(unchecked.papers === 0 ? {} : { unchecked: unchecked.papers }),
  };
};
