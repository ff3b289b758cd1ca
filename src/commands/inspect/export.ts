import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { oneLine } from "../../engine/lib/sanitise.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { ledgerName } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import type { Io } from "../../engine/ui/io.js";
import { quantity } from "../../engine/lib/words.js";
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { statusWords } from "../../research/papers/rubric/rubric.js";
import type { TracedRecord } from "../../research/papers/export/cited-work.js";
import {
  answersName,
  documentNames,
  pageName,
  progressName,
  queriesName,
  rrdName,
} from "../../research/project-files/layout.js";
import { readState } from "../../research/report/read-report.js";
import { allRecords } from "../../research/overview/all-records.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { anchorOf } from "../../research/report/pictures/picture.js";
import { exportFormats } from "./export-formats.js";
import { findResearch, type FolderOptions, nameFor, displayPath } from "../../research/overview/find-research.js";
import { readStats } from "../../engine/storage/regular-file.js";

interface ExportOptions extends FolderOptions {
  /** A name of {@link exportFormats}. */
  readonly as?: string;
  /** A file, relative to the folder the command was started in; undefined: stdout. */
  readonly to?: string;
  /** Only records with this decision, stage (with _ instead of spaces) or status. */
  readonly only?: string;
}

/** Files of the project itself, which an export must not replace. */
const projectFileNames: ReadonlySet<string> = new Set([
  ...[rrdName, ledgerName, progressName, queriesName, answersName],
  ...documentNames,
]);

/**
 * Writes all records and their outcomes in a format for other programs: reference managers, spreadsheets, pandoc and R.
 * Uses no model and no service, and changes nothing in the project. `--to` replaces an existing file.
 */
export async function exportCommand({ folder: argument, as, to, only, json }: ExportOptions, io: Io): Promise<number> {
  const format = as === undefined ? undefined : exportFormats[as];
  if (as === undefined || format === undefined) {
    const formatList = Object.entries(exportFormats).map(([name, { readers }]) => `${name} for ${readers}`);
    const problem =
      as === undefined || as === "" ? "Choose a format with --as:" : `There is no format '${oneLine(as)}'; --as takes`;
    throw new ExpectedError(`${problem} ${formatList.join(", ")}.`, 2);
  }
  if (format.needsAllRecords === true && only !== undefined)
    throw new ExpectedError(`--only cannot be used with --as ${as}: the flow counts all records.`, 2);
  const folder = await findResearch(io.cwd, argument);
  const { rrd, notices } = await readState(folder);
  for (const notice of notices) say(io, notice);
  const { lines: ledger } = await readLedger(folder);
  const hasPage = existsSync(join(folder, pageName));
  const records = allRecords(withKeys(rrd), ledger, await readKeptSearch(folder, rrd))
    .filter((record) => only === undefined || hasOutcome(record, only))
    .map((record) => (hasPage && record.status !== undefined ? withReportLink(record) : record));
  const isOnTerminal = to === undefined && !json && io.isShown;
  const text =
    isOnTerminal && format.loadTerminalLines !== undefined
      ? `${(await format.loadTerminalLines())(rrd)
          .flatMap((line) => wrap(line, io.columns))
          .join("\n")}\n`
      : (await format.loadWriter())(rrd, records);
  const file = to === undefined ? undefined : targetFile(to, folder, io.cwd);
  if (file !== undefined) await writeFileAtomic(file, text);
  if (json)
    io.stdout(
      `${JSON.stringify({ folder, as, records: records.length, ...(file === undefined ? { text } : { file }) }, null, 2)}\n`,
    );
  else if (file === undefined) io.stdout(text);
  if (isOnTerminal) {
    const name = nameFor(io.cwd, folder);
    const command = `research-ralph report ${shellWord(name)} --as ${as}`;
    const subject = format.loadTerminalLines === undefined ? "That is for" : "In a file or a pipe, it is a table for";
    say(
      io,
      `${subject} ${format.readers}; '${command} --to ${shellWord(`${name}.${format.fileExtension}`)}' writes a file.`,
    );
    if (format.needsAllRecords !== true && only === undefined)
      say(
        io,
        "These are all records, with duplicates and records that were not screened; for the included records, add --only included.",
      );
  }
  if (records.length === 0)
    say(io, `${displayPath(io.cwd, folder)} has no records${only === undefined ? "" : ` that are '${only}'`} yet.`);
  else if (file !== undefined && !json)
    say(
      io,
      `${format.needsAllRecords === true ? "The flow" : quantity(records.length, "record")} of ${displayPath(io.cwd, folder)} as ${as}: ${displayPath(io.cwd, file)}`,
    );
  return 0;
}

/** Whether a record has this decision, stage or status. */
const hasOutcome = ({ status, outcome: { stage, decision } }: TracedRecord, only: string): boolean =>
  [decision, stage, status && statusWords[status]].some((value) => value?.replaceAll(" ", "_") === only);

/** Only the name of the page, because an export is sent to others, who must not see the folders of this machine. */
const withReportLink = (record: TracedRecord): TracedRecord => ({
  ...record,
  outcome: { ...record.outcome, report: `${pageName}#${anchorOf(record.id)}` },
});

/**
 * The path of the file to write. @throws ExpectedError (exit code 2) if it is a folder, if its folder does not exist,
 * or if it is a file of the project itself.
 */
function targetFile(to: string, folder: string, cwd: string): string {
  const file = resolve(cwd, to);
  if (to.trim() === "") throw new ExpectedError("--to is empty; name a file.", 2);
  if (!existsSync(dirname(file)))
    throw new ExpectedError(`There is no folder ${dirname(file)}; make it, or name another.`, 2);
  if (readStats(file)?.isDirectory() === true) throw new ExpectedError(`${to} is a folder; name a file in it.`, 2);
  if (realpathSync(dirname(file)) === realpathSync(folder) && projectFileNames.has(basename(file)))
    throw new ExpectedError(`${to} is a file of the project itself; name another.`, 2);
  return file;
}
