import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { ledgerName } from "../../engine/lib/layout.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import type { Io } from "../../engine/ui/io.js";
import { many } from "../../engine/lib/words.js";
import { say } from "../../engine/ui/terminal/format.js";
import { bibtexOf } from "../../research/papers/export/bibtex.js";
import { worksOf } from "../../research/papers/export/cited-work.js";
import { cslOf } from "../../research/papers/export/csl.js";
import { formColumns } from "../../research/units/form/columns.js";
import { papersAsCsv } from "../../research/papers/export/csv.js";
import { prismaCsv } from "../../research/papers/export/prisma.js";
import { risOf } from "../../research/papers/export/ris.js";
import { answersName, documentNames, progressName, queriesName, rrdName } from "../../research/project-files/layout.js";
import { flowOf } from "../../research/report/prisma-flow.js";
import { readState } from "../../research/report/read-report.js";
import type { Paper, Rrd } from "../../research/generated/rrd.js";
import { findResearch, type FolderOptions, shown } from "../../research/overview/find-research.js";
import { foundAt } from "../../engine/storage/regular-file.js";

type ExportFormat = "ris" | "bibtex" | "csl" | "csv" | "prisma";

interface ExportOptions extends FolderOptions {
  readonly as?: ExportFormat | undefined;
  /** A file, relative to the folder the command was started in; undefined: stdout. */
  readonly to?: string | undefined;
  /** Only the papers of this status. */
  readonly only?: "presented" | undefined;
}

/** Files of a project that only the program and a person at the editor write. */
const ownNames: ReadonlySet<string> = new Set([
  ...[rrdName, ledgerName, progressName, queriesName, answersName],
  ...documentNames,
]);

/**
 * Writes the papers of a project for other programs: reference managers, spreadsheets, pandoc and R. Asks nobody and
 * changes nothing in the project. `--to` replaces a file that is there.
 */
export async function exportCommand({ folder: argument, as, to, only, json }: ExportOptions, io: Io): Promise<number> {
  if (as === undefined)
    throw new ExpectedError(
      "Choose a format with --as: ris, bibtex or csl for reference managers, csv for spreadsheets, prisma for the flow in R.",
      2,
    );
  if (as === "prisma" && only !== undefined)
    throw new ExpectedError("--only cannot be used with --as prisma: the flow counts all papers.", 2);
  const folder = await findResearch(io.cwd, argument);
  const { rrd, notices } = await readState(folder);
  for (const notice of notices) say(io, notice);
  const papers =
    only === undefined ? rrd.papers_pool.length : rrd.papers_pool.filter(({ status }) => status === only).length;
  const text = textOf(rrd, as, only);
  const file = to === undefined ? undefined : targetFile(to, folder, io.cwd);
  if (file !== undefined) await writeFileAtomic(file, text);
  if (json)
    io.stdout(`${JSON.stringify({ folder, as, papers, ...(file === undefined ? { text } : { file }) }, null, 2)}\n`);
  else if (file === undefined) io.stdout(text);
  if (papers === 0) say(io, `${shown(io.cwd, folder)} has no ${only === undefined ? "" : `${only} `}papers yet.`);
  else if (file !== undefined && !json)
    say(
      io,
      `${as === "prisma" ? "The flow" : many(papers, "paper")} of ${shown(io.cwd, folder)} as ${as}: ${shown(io.cwd, file)}`,
    );
  return 0;
}

function textOf(rrd: Rrd, as: ExportFormat, only: Paper["status"] | undefined): string {
  switch (as) {
    case "ris":
      return risOf(worksOf(rrd, only));
    case "bibtex":
      return bibtexOf(worksOf(rrd, only));
    case "csl":
      return cslOf(worksOf(rrd, only));
    case "csv":
      return papersAsCsv(rrd, only, formColumns(rrd));
    case "prisma": {
      const { counts, reasons, steps } = flowOf(rrd);
      // Records of web pages stand among the other methods there.
      const sources = (steps[0]?.box.lines ?? []).filter(({ label }) => !/^web\b/i.test(label));
      return prismaCsv({ counts, reasons, sources });
    }
  }
}

/** @throws ExpectedError (exit code 2) for a folder, a place in no folder, and a file of the project itself. */
function targetFile(to: string, folder: string, cwd: string): string {
  const file = resolve(cwd, to);
  if (to.trim() === "") throw new ExpectedError("--to is empty; name a file.", 2);
  if (!existsSync(dirname(file)))
    throw new ExpectedError(`There is no folder ${dirname(file)}; make it, or name another.`, 2);
  if (foundAt(file)?.isDirectory() === true) throw new ExpectedError(`${to} is a folder; name a file in it.`, 2);
  if (realpathSync(dirname(file)) === realpathSync(folder) && ownNames.has(basename(file)))
    throw new ExpectedError(`${to} is a file of the project itself; name another.`, 2);
  return file;
}
