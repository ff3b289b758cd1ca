import { hiddenFolder, lockFile } from "../../../engine/lib/layout.js";
import { withExplainedErrors } from "../../../engine/storage/explain-system-error.js";
import { isHeld } from "../../../engine/storage/lock.js";
import { makeFolder } from "../../../engine/storage/regular-file.js";
import { readLedger } from "../../../engine/storage/state/ledger.js";
import { pendingEntries } from "../../../engine/storage/state/journal.js";
import { findMissingOutputs, type OutputFile, writeOutputs } from "../../../engine/storage/state/output-files.js";
import { ideasName, pageName, reportDataName } from "../../project-files/layout.js";
import { researchFormat } from "../../project-files/rrd-file.js";
import { outputs, resetResearch } from "../../units/reset.js";

/** The files that agents wrote, with the units that write them. Other files are rendered from these. */
const agentFiles = [
  [reportDataName, "report"],
  [ideasName, "ideas"],
] as const;

/**
 * Restores deleted files of a finished report: files of agents from the journal, other files by rendering them again.
 * If the journal no longer has a file, its unit is reset, so that the run writes it again. Calls `say` with one
 * sentence for each. Does nothing while another process works on the project, or if rrd.json can't be read.
 * @throws ExpectedError as resetResearch and writeOutputs.
 */
export async function restoreLostFiles(
  folder: string,
  options: Parameters<typeof resetResearch>[2],
  say: (sentence: string) => void,
): Promise<void> {
  const { lines } = await readLedger(folder).catch(() => ({ lines: [] }));
  // report.html is written at the end of every run.
  const missing = (await findMissingOutputs(folder, researchFormat, lines, outputs)).filter(
    ({ name }) => name !== pageName,
  );
  // If a kill left journal entries, their files are written when the project is opened.
  if (missing.length === 0 || (await isHeld(lockFile(folder))) || pendingEntries(folder).length > 0) return;
  const { documentsOf } = await import("./documents.js");
  const { readReportInput } = await import("../read-report.js");
  const read = () => readReportInput(folder, new Date(options.now())).catch(() => undefined);
  const report = await read();
  if (report === undefined || report.fromLastGood) return;
  // A new clone does not have this folder yet; the record store would create it too.
  withExplainedErrors(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
  const isFromAgent = (name: string) => agentFiles.some(([fileName]) => fileName === name);
  const write = async (files: readonly OutputFile[], outcome: string) => {
    await writeOutputs(folder, files, options.now(), say);
    for (const { name } of files) say(`${name} was gone; ${outcome}.`);
  };
  await write(
    missing.filter(({ name, text }) => isFromAgent(name) && text !== null),
    "it is back as it was accepted",
  );
  for (const [name, unit] of agentFiles) {
    if (!missing.some((file) => file.name === name && file.text === null)) continue;
    // Before format 2, the text of a report may be only in its Markdown file.
    if ((lines.findLast((line) => line.unit === unit && line.outcome === "accepted")?.format ?? 1) < 2) continue;
    say(`${name} is gone and can't be brought back, so it will be written again.`);
    for (const sentence of await resetResearch(folder, { unit }, options)) say(sentence);
  }
  const toRender = missing.filter(({ name }) => !isFromAgent(name)).map(({ name }) => name);
  const current = toRender.length === 0 ? undefined : await read();
  if (current !== undefined)
    await write(
      documentsOf(current.input).filter(({ name }) => toRender.includes(name)),
      "it is rendered again",
    );
}
