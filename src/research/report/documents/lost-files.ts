import { hiddenFolder, lockFile } from "../../../engine/lib/layout.js";
import { withExplainedErrors } from "../../../engine/storage/explain-system-error.js";
import { isHeld } from "../../../engine/storage/lock.js";
import { makeFolder } from "../../../engine/storage/regular-file.js";
import { readLedger } from "../../../engine/storage/state/ledger.js";
import { pendingEntries } from "../../../engine/storage/state/journal.js";
import { lostOutputs, type OutputFile, writeOutputs } from "../../../engine/storage/state/output-files.js";
import { ideasName, pageName, reportDataName } from "../../project-files/layout.js";
import { researchFormat } from "../../project-files/rrd-file.js";
import { outputs, resetResearch } from "../../units/reset.js";

/** The file that holds what an agent wrote, and the unit that writes it. The others are rendered from these. */
const written = [
  [reportDataName, "report"],
  [ideasName, "ideas"],
] as const;

/**
 * Brings files of a finished report back that somebody deleted: what an agent wrote from the journal, what code renders
 * by rendering it again. What the journal does not hold any more is reset, so that the run writes it anew. Says so in a
 * sentence for each; does nothing while another process works on the project, or where rrd.json can't be read.
 * @throws ExpectedError as resetResearch and writeOutputs.
 */
export async function bringBackFiles(
  folder: string,
  options: Parameters<typeof resetResearch>[2],
  say: (sentence: string) => void,
): Promise<void> {
  const { lines } = await readLedger(folder).catch(() => ({ lines: [] }));
  // report.html is made at the end of every run.
  const lost = (await lostOutputs(folder, researchFormat, lines, outputs)).filter(({ name }) => name !== pageName);
  // What a kill left in the journal writes its files itself, once the project is open.
  if (lost.length === 0 || (await isHeld(lockFile(folder))) || pendingEntries(folder).length > 0) return;
  const { documentsOf } = await import("./documents.js");
  const { readReportInput } = await import("../read-report.js");
  const read = () => readReportInput(folder, new Date(options.now())).catch(() => undefined);
  const before = await read();
  if (before === undefined || before.fromLastGood) return;
  // A clone has none yet; the record store makes it as well.
  withExplainedErrors(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
  const isWritten = (name: string) => written.some(([own]) => own === name);
  const write = async (files: readonly OutputFile[], how: string) => {
    await writeOutputs(folder, files, options.now(), say);
    for (const { name } of files) say(`${name} was gone; ${how}.`);
  };
  await write(
    lost.filter(({ name, text }) => isWritten(name) && text !== null),
    "it is back as it was accepted",
  );
  for (const [name, unit] of written) {
    if (!lost.some((file) => file.name === name && file.text === null)) continue;
    // Before format 2 the words of a report may stand in its Markdown alone.
    if ((lines.findLast((line) => line.unit === unit && line.outcome === "accepted")?.format ?? 1) < 2) continue;
    say(`${name} is gone and can't be brought back, so it will be written again.`);
    for (const sentence of await resetResearch(folder, { unit }, options)) say(sentence);
  }
  const rendered = lost.filter(({ name }) => !isWritten(name)).map(({ name }) => name);
  const now = rendered.length === 0 ? undefined : await read();
  if (now !== undefined)
    await write(
      documentsOf(now.input).filter(({ name }) => rendered.includes(name)),
      "it is rendered again",
    );
}
