import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { readRegularFile, unreadableFile } from "../../engine/storage/regular-file.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findResearch, listResearches, nameFor, UnnamedWork } from "../../research/overview/find-research.js";
import { readResearch } from "../../research/project-files/research.js";
import {
  type EligibilityDecision,
  recordDecisions,
  takeBackDecision,
} from "../../research/overview/record-decisions.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import { namesIn } from "../../research/papers/paper-keys.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";
import { recordsNamed } from "../../research/overview/which-record.js";
import { decodeText } from "../../text/documents/text/decode.js";
import { decisionsInTable, isDecisionWord } from "./decision-table.js";
import { requirePerson } from "./require-person.js";

interface DecideArguments {
  /** The project, which may be left out if there is only one; then papers, decision and reason, or a CSV file. */
  readonly words: readonly string[];
  /** The id of the criterion that excludes the papers. */
  readonly criterion?: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** Maximum number of printed results; the others are only counted. */
const maxResultLines = 100;

/** The names of files of spreadsheet programs. */
const spreadsheetName = /\.(?:xls[xmb]?|ods|numbers)$/i;

/** Stores the user's decisions on the eligibility of papers. They override the criteria; the report shows them. */
export async function decideCommand({ words, criterion, flags, json }: DecideArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const spreadsheet = words.length <= 2 ? words.find((word) => spreadsheetName.test(word)) : undefined;
  if (spreadsheet !== undefined)
    throw new ExpectedError(
      `${oneLine(spreadsheet)} is a workbook, which is not read; save its sheet as CSV and name that file.`,
      2,
    );
  const { folder, rest } = await projectAndWords(io.cwd, words);
  if (rest.length > 1 && rest.at(-1) === "undo") return takeBack(folder, rest.slice(0, -1), { flags, json }, io);
  const decisions = await parseDecisions(folder, rest, criterion, io.cwd);
  if (decisions.length === 0) {
    if (json) io.stdout(`${JSON.stringify({ folder, decisions: [] })}\n`);
    else say(io, "Nothing was changed: each row has no decision, or the same one as the project.");
    return 0;
  }
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const notify = (_: string, message: string) => say(io, message);
  const projectName = nameFor(io.cwd, folder);
  const storedDecisions = await recordDecisions(folder, decisions, {
    where: projectName,
    now: io.clock.now(),
    stateDir,
    git,
    notify,
  });
  await updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) });
  if (json) {
    const results = storedDecisions.map(({ says: _, next: __, ...result }, index) => {
      const { decision = "", criterion: by } = decisions[index] ?? {};
      return { folder, ...result, decision, ...withoutUndefined({ criterion: by }) };
    });
    io.stdout(`${JSON.stringify(results.length === 1 ? results[0] : { folder, decisions: results })}\n`);
    return 0;
  }
  for (const { says } of storedDecisions.slice(0, maxResultLines)) io.stdout(`${says}\n`);
  if (storedDecisions.length > maxResultLines) io.stdout(`… and ${storedDecisions.length - maxResultLines} more.\n`);
  const updateHint = storedDecisions.find((result) => result.next !== undefined)?.next;
  if (updateHint !== undefined) say(io, updateHint);
  return 0;
}

/** Takes back the last decision on each of these papers. */
async function takeBack(
  folder: string,
  papers: readonly string[],
  { flags, json }: Pick<DecideArguments, "flags" | "json">,
  io: Io,
): Promise<number> {
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const notify = (_: string, message: string) => say(io, message);
  const where = nameFor(io.cwd, folder);
  for (const paper of papers) {
    const sentence = await takeBackDecision(folder, paper, { where, stateDir, git, notify });
    io.stdout(json ? `${JSON.stringify({ folder, paper, says: sentence })}\n` : `${sentence}\n`);
  }
  await updateReport(folder, { git, stateDir, now: io.clock.now, notify: (message) => say(io, message) });
  return 0;
}

/** The project that the first word names, and the other words; or the only project, and all words. */
async function projectAndWords(
  cwd: string,
  words: readonly string[],
): Promise<{ readonly folder: string; readonly rest: readonly string[] }> {
  const [first = "", ...otherWords] = words;
  const folderOrError = await findResearch(cwd, first).catch((error: unknown) => error);
  if (typeof folderOrError === "string") return { folder: folderOrError, rest: otherWords };
  const onlyFolderOrError = await findResearch(cwd, undefined).catch((error: unknown) => error);
  if (onlyFolderOrError instanceof UnnamedWork) {
    const others = await listResearches(cwd);
    const [fitting] = await projectsWith(others, first);
    if (fitting !== undefined)
      throw new UnnamedWork("projects here", [
        nameFor(cwd, fitting),
        ...others.filter((folder) => folder !== fitting).map((folder) => nameFor(cwd, folder)),
      ]);
  }
  const onlyFolder = typeof onlyFolderOrError === "string" ? onlyFolderOrError : undefined;
  const fitsProject = async (folder: string) =>
    isTableFile(words) || recordsNamed((await readResearch(folder)).rrd, first).length > 0;
  if (onlyFolder !== undefined && (await fitsProject(onlyFolder))) return { folder: onlyFolder, rest: words };
  if (onlyFolder === undefined || existsSync(resolve(cwd, first))) throw folderOrError;
  const paperNames = [...namesIn((await readResearch(onlyFolder)).rrd).values()];
  const nearest = nearestCandidate(first, paperNames);
  throw new ExpectedError(
    `Neither a project nor a paper has the name '${oneLine(first)}'; ${nearest === undefined ? "'research-ralph status --papers' lists the papers" : `the nearest paper is ${nearest}`}.`,
    2,
  );
}

/** The projects that have a record of this name. A project that can't be read has none. */
async function projectsWith(folders: readonly string[], name: string): Promise<readonly string[]> {
  const fitting: string[] = [];
  for (const folder of folders) {
    const state = await readResearch(folder).catch(() => undefined);
    if (state !== undefined && recordsNamed(state.rrd, name).length > 0) fitting.push(folder);
  }
  return fitting;
}

/** Whether the only word is a table of decisions. */
const isTableFile = (words: readonly string[]): boolean => words.length === 1 && /\.(?:csv|tsv)$/i.test(words[0] ?? "");

/**
 * The typed decisions: papers, then "include" or "exclude", then the reason, which may be missing if there is a
 * criterion; or the rows of a table.
 */
async function parseDecisions(
  folder: string,
  words: readonly string[],
  criterion: string | undefined,
  cwd: string,
): Promise<readonly EligibilityDecision[]> {
  const [first = ""] = words;
  if (criterion !== undefined && (isTableFile(words) || !words.slice(-2).includes("exclude")))
    throw new ExpectedError("--criterion goes with papers and 'exclude'; a CSV file has a column criterion.", 2);
  if (isTableFile(words)) {
    const path = resolve(cwd, first);
    const bytes = await readRegularFile(path).catch((error: unknown) => {
      throw unreadableFile(error, path);
    });
    const { rrd } = await readResearch(folder);
    return decisionsInTable(decodeText(bytes), first, rrd, await readKeptSearch(folder, rrd));
  }
  const isWithoutReason = criterion !== undefined && words.at(-1) === "exclude";
  const [papers, [decision, why = ""]] = isWithoutReason
    ? [words.slice(0, -1), words.slice(-1)]
    : [words.slice(0, -2), words.slice(-2)];
  const last = words.at(-1) ?? "";
  if (!isWithoutReason && isDecisionWord(last) && !isDecisionWord(decision ?? ""))
    throw new ExpectedError(`The reason is missing; give it in quotes after '${last}'.`, 2);
  if (papers.length === 0 && words.length > 1)
    throw new ExpectedError(
      `'${oneLine(last)}' is not one of the decisions include, exclude and not-retrieved; the reason follows the decision in quotes.`,
      2,
    );
  if (papers.length === 0 || decision === undefined)
    throw new ExpectedError(
      'Name papers, the decision and the reason, as in research-ralph decide <project> lo2020 ng2021 exclude "no control group"; or a CSV file of decisions.',
      2,
    );
  return papers.map((paper) => ({ paper, decision, why, ...withoutUndefined({ criterion }) }));
}
