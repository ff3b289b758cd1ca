import { createHash } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { hasCode } from "../../../engine/lib/errors.js";
import { timeForName } from "../../../engine/storage/file-timestamp.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { stampOf, writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { readEntry } from "../../../engine/storage/records/journal.js";
import { versionAt } from "../../../engine/storage/file-snapshot.js";
import { currentAccepted } from "../../../engine/storage/records/ledger.js";
import { explaining } from "../../../engine/storage/explain-system-error.js";
import { bibliographyName, ideasName, reportName, writtenFile } from "../layout.js";

/** The files that an accepted unit writes whole, by the unit. */
const documentsOf = {
  report: [reportName, bibliographyName],
  ideas: [ideasName],
} as const;

export const documentNames: readonly string[] = Object.values(documentsOf).flat();

/** A whole file of a research folder; null takes it away. */
export interface Document {
  readonly name: string;
  readonly text: string | null;
}

/**
 * Writes whole files of a research. One that was changed since this program wrote it last, or that it never wrote, is somebody's work:
 * a copy is kept beside it, once for each content. `at`: milliseconds since the epoch, for its name. Doing it twice gives the same as once.
 * @throws ExpectedError as writeFileAtomic.
 */
export async function writeDocuments(
  folder: string,
  documents: readonly Document[],
  at: number,
  notify: (message: string) => void,
): Promise<void> {
  if (documents.length === 0) return;
  const written = new Map(Object.entries(await readWritten(folder)));
  for (const { name, text } of documents) {
    const path = join(folder, name);
    if (text === null) {
      await explaining(path, () => rm(path, { force: true }));
      written.delete(name);
      continue;
    }
    const standing = await explaining(path, () => versionAt(path));
    const isOurs = standing.kind !== "file" || [hashOf(text), written.get(name)].includes(hashOf(standing.bytes));
    if (!isOurs) {
      const copy = await keepEdited(folder, name, standing.bytes, at);
      if (copy !== undefined)
        notify(
          `${name} was changed since it was last written; it is written anew, and that version is kept as ${copy}.`,
        );
    }
    await writeFileAtomic(path, text);
    written.set(name, hashOf(text));
  }
  // Where it is lost, the worst is one copy too many.
  await writeFileAtomic(writtenFile(folder), JSON.stringify(Object.fromEntries(written)), { durable: false });
}

/**
 * What a reset makes of the documents: those whose unit is accepted no longer go, one that was accepted before comes back as it was
 * then. `line`: the reset. A reset of `everything` takes also those of the original tool, which no ledger knows.
 */
export async function documentsAfter(
  folder: string,
  ledger: readonly LedgerLine[],
  line: LedgerLine,
  everything: boolean,
): Promise<Document[]> {
  if (line.to === undefined) return [];
  const [before, after] = [currentAccepted(ledger), currentAccepted([...ledger, line])];
  const documents: Document[] = [];
  for (const [unit, names] of Object.entries(documentsOf)) {
    const iteration = after.get(unit);
    if (!everything && iteration === before.get(unit)) continue;
    const earlier = iteration === undefined ? undefined : await readEntry(folder, iteration);
    for (const name of names) {
      const text = earlier?.files?.find((file) => file.name === name)?.text ?? null;
      // Without its journal an earlier version can't be had; the later one is better than none.
      if (text !== null || (iteration === undefined && (await stampOf(join(folder, name))) !== undefined))
        documents.push({ name, text });
    }
  }
  return documents;
}

const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Hashes of what was written last, by name. */
async function readWritten(folder: string): Promise<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(await readRegularText(writtenFile(folder))) as Record<string, unknown> | null) };
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "ENOENT")) return {};
    return explaining(writtenFile(folder), () => Promise.reject(error));
  }
}

/** Returns the copy's path, or undefined where there is one of this content already. */
async function keepEdited(folder: string, name: string, bytes: Buffer, at: number): Promise<string | undefined> {
  const others = (await readdir(folder)).filter((each) => each.startsWith(`${name}.edited-`));
  for (const other of others) {
    const kept = await versionAt(join(folder, other));
    if (kept.kind === "file" && kept.bytes.equals(bytes)) return undefined;
  }
  // Of a fold that a kill interrupted there may be a copy already, and the file was edited once more since.
  const free = (count: number): string => {
    const wanted = `${name}.edited-${timeForName(at)}${count === 1 ? "" : `-${count}`}`;
    return others.includes(wanted) ? free(count + 1) : wanted;
  };
  const copy = join(folder, free(1));
  await explaining(copy, () => writeFile(copy, bytes, { flag: "wx" }));
  return copy;
}
