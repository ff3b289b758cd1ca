import { createHash } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JournalEntry } from "../../generated/journal.js";
import type { LedgerLine } from "../../generated/ledger.js";
import { hasCode } from "../../lib/errors.js";
import { isObject } from "../../lib/json-fields.js";
import { backupsFolder, writtenFile } from "../../lib/layout.js";
import { timeForName } from "../../lib/clock.js";
import { readRegularText } from "../regular-file.js";
import { stampOf, writeFileAtomic, writePiecesAtomic } from "../atomic-file.js";
import { versionAt } from "../guard/file-snapshot.js";
import { withExplainedErrors } from "../explain-system-error.js";
import type { Fields, StateFormat } from "./format.js";
import { stateVersion } from "./format-version.js";
import { copyIn } from "./backup.js";
import { readEntry } from "./journal.js";
import { currentAccepted } from "./ledger.js";

/** The names of the output files that each unit writes, by unit. */
export type Outputs = Readonly<Record<string, readonly string[]>>;

/** Files, by their paths within the project, and the backup from which they are put back. */
export type Restores = NonNullable<JournalEntry["restores"]>;

/** The names of all output files. */
export const outputNames = (outputs: Outputs): readonly string[] => [...new Set(Object.values(outputs).flat())];

/** An output file with its complete text; null removes the file. */
export interface OutputFile {
  readonly name: string;
  readonly text: string | null;
}

/** A large output file whose content is generated while it is written. */
export interface PieceFile {
  readonly name: string;
  readonly pieces: Iterable<string>;
  /** Hash of all its inputs. */
  readonly inputsHash: string;
}

/** Whether a file is unchanged since it was written, and was made from the same inputs. */
export async function isUpToDate(folder: string, { name, inputsHash }: Omit<PieceFile, "pieces">): Promise<boolean> {
  const hashes = await readWrittenHashes(folder);
  if (hashes[name] === undefined || inputHashesIn(hashes)[name] !== inputsHash) return false;
  const path = join(folder, name);
  const currentVersion = await withExplainedErrors(path, () => versionAt(path));
  return currentVersion.kind === "file" && hashOf(currentVersion.bytes) === hashes[name];
}

const inputHashesIn = ({ made_of: inputs }: Record<string, unknown>): Record<string, unknown> =>
  isObject(inputs) ? { ...inputs } : {};

/**
 * Writes output files. A file that was changed since this program last wrote it contains a person's work: a copy is
 * kept next to it, one for each content. The same applies to a file without a recorded hash, for example in a clone,
 * which has no `.ralph`: a person or an earlier version may have written it. `time`: milliseconds since the epoch, for
 * the name of the copy. Idempotent.
 * @throws ExpectedError as writeFileAtomic.
 */
export async function writeOutputs(
  folder: string,
  files: readonly (OutputFile | PieceFile)[],
  time: number,
  notify: (message: string) => void,
): Promise<void> {
  if (files.length === 0) return;
  const writtenRecord = await readWrittenHashes(folder);
  const hashes = new Map(Object.entries(writtenRecord));
  const inputHashes = inputHashesIn(writtenRecord);
  for (const file of files) {
    const { name } = file;
    const path = join(folder, name);
    if ("text" in file && file.text === null) {
      await withExplainedErrors(path, () => rm(path, { force: true }));
      hashes.delete(name);
      continue;
    }
    const currentVersion = await withExplainedErrors(path, () => versionAt(path));
    const lastHash = hashes.get(name);
    const currentHash = currentVersion.kind === "file" ? hashOf(currentVersion.bytes) : undefined;
    const copy =
      currentVersion.kind === "file" && currentHash !== lastHash
        ? await copyEditedFile(folder, name, currentVersion.bytes, time)
        : undefined;
    const newHash = "pieces" in file ? await writeInPieces(path, file.pieces) : await writeText(path, file.text!);
    hashes.set(name, newHash);
    if ("inputsHash" in file) inputHashes[name] = file.inputsHash;
    if (copy === undefined) continue;
    // The new content equals the old one, so it was not an edit. For generated content this is known only after the
    // write.
    if (newHash === currentHash) await withExplainedErrors(copy, () => rm(copy, { force: true }));
    else
      notify(
        lastHash === undefined
          ? `${name} already existed, and it is not recorded who wrote it; it is written again, and the earlier version is kept as ${copy}.`
          : `${name} was changed since it was last written; it is written again, and your version is kept as ${copy}.`,
      );
  }
  // Not durable: if the record is lost, the only effect is one unnecessary copy.
  const record = { ...Object.fromEntries(hashes), made_of: inputHashes, format: stateVersion };
  await writeFileAtomic(writtenFile(folder), JSON.stringify(record), { isDurable: false });
}

/**
 * Puts files back as they were when they were backed up. Of an output file that a person has changed since it was last
 * written, a copy is kept next to it, as by `writeOutputs`. Idempotent. Without the backup, nothing is changed.
 * @throws ExpectedError as writeFileAtomic.
 */
export async function restoreFiles(
  folder: string,
  { backup, names }: Restores,
  time: number,
  notify: (message: string) => void,
): Promise<void> {
  const backupFolder = join(backupsFolder(folder), backup);
  if (stampOf(backupFolder) === undefined) {
    notify(`The files before the reset could not be restored, because ${backupFolder} is gone.`);
    return;
  }
  const hashes = await readWrittenHashes(folder);
  for (const name of names) {
    const [path, from] = [join(folder, name), copyIn(backupFolder, name)];
    const [current, earlier] = [
      await withExplainedErrors(path, () => versionAt(path)),
      await withExplainedErrors(from, () => versionAt(from)),
    ];
    if (earlier.kind !== "file") {
      await withExplainedErrors(path, () => rm(path, { force: true }));
      continue;
    }
    if (current.kind === "file" && current.bytes.equals(earlier.bytes)) continue;
    const isEdited = current.kind === "file" && hashes[name] !== undefined && hashOf(current.bytes) !== hashes[name];
    const copy = isEdited ? await copyEditedFile(folder, name, current.bytes, time) : undefined;
    await writeFileAtomic(path, earlier.bytes);
    if (copy !== undefined)
      notify(`${name} was changed since it was last written; it is restored, and your version is kept as ${copy}.`);
  }
}

/** Writes a file and returns the hash of its content. */
async function writeText(path: string, text: string): Promise<string> {
  await writeFileAtomic(path, text);
  return hashOf(text);
}

/** Writes a file from pieces and returns the hash of its content. */
async function writeInPieces(path: string, pieces: Iterable<string>): Promise<string> {
  const hash = createHash("sha256");
  const hashingPieces = function* () {
    for (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  };
  await writePiecesAtomic(path, hashingPieces());
  return hash.digest("hex");
}

/**
 * The output files after a reset. A file whose units are no longer accepted is removed; a file of an earlier acceptance
 * is restored. If several units write one file, the last acceptance is used. `line`: the line of the reset.
 * `everything` also removes the files of the original tool, which have no ledger lines.
 */
export async function outputsAfterReset<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  ledger: readonly LedgerLine[],
  line: LedgerLine,
  { outputs, everything }: { readonly outputs: Outputs; readonly everything: boolean },
): Promise<OutputFile[]> {
  if (line.to === undefined) return [];
  const [acceptedBefore, acceptedAfter] = [currentAccepted(ledger), currentAccepted([...ledger, line])];
  const files: OutputFile[] = [];
  for (const name of outputNames(outputs)) {
    const units = Object.entries(outputs).flatMap(([unit, names]) => (names.includes(name) ? [unit] : []));
    if (!everything && units.every((unit) => acceptedAfter.get(unit) === acceptedBefore.get(unit))) continue;
    const iterations = units.flatMap((unit) => acceptedAfter.get(unit) ?? []).toSorted((a, b) => b - a);
    const text = await textFromJournal(folder, format, iterations, name);
    // If the journal entry is missing, the earlier version can't be restored; then the later version stays.
    if (text !== null || (iterations.length === 0 && stampOf(join(folder, name)) !== undefined))
      files.push({ name, text });
  }
  return files;
}

/**
 * The missing output files of accepted units, with their last text; `text` is null if the journal no longer has it.
 */
export async function findMissingOutputs<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  ledger: readonly LedgerLine[],
  outputs: Outputs,
): Promise<OutputFile[]> {
  const accepted = currentAccepted(ledger);
  const missing: OutputFile[] = [];
  for (const name of outputNames(outputs)) {
    const units = Object.entries(outputs).flatMap(([unit, names]) => (names.includes(name) ? [unit] : []));
    const iterations = units.flatMap((unit) => accepted.get(unit) ?? []).toSorted((a, b) => b - a);
    if (iterations.length === 0 || stampOf(join(folder, name)) !== undefined) continue;
    missing.push({ name, text: await textFromJournal(folder, format, iterations, name) });
  }
  return missing;
}

/** The text of the file from the first of these iterations that wrote it; null if no journal entry has it. */
async function textFromJournal<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  iterations: readonly number[],
  name: string,
): Promise<string | null> {
  for (const iteration of iterations) {
    const text = (await readEntry(folder, format, iteration))?.files?.find((file) => file.name === name)?.text ?? null;
    if (text !== null) return text;
  }
  return null;
}

const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** The hash of the last written content of each file, by name. */
async function readWrittenHashes(folder: string): Promise<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(await readRegularText(writtenFile(folder))) as Record<string, unknown> | null) };
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, "ENOENT")) return {};
    return withExplainedErrors(writtenFile(folder), () => Promise.reject(error));
  }
}

/** Copies an edited file. Returns the path of the copy, or undefined if a copy with the same content exists. */
async function copyEditedFile(folder: string, name: string, bytes: Buffer, time: number): Promise<string | undefined> {
  const copies = (await readdir(folder)).filter((fileName) => fileName.startsWith(`${name}.edited-`));
  for (const copyName of copies) {
    const version = await versionAt(join(folder, copyName));
    if (version.kind === "file" && version.bytes.equals(bytes)) return undefined;
  }
  // A fold that was killed may have made a copy with this name, and a person may have edited the file again since.
  const findUnusedName = (count: number): string => {
    const candidate = `${name}.edited-${timeForName(time)}${count === 1 ? "" : `-${count}`}`;
    return copies.includes(candidate) ? findUnusedName(count + 1) : candidate;
  };
  const copy = join(folder, findUnusedName(1));
  await withExplainedErrors(copy, () => writeFile(copy, bytes, { flag: "wx" }));
  return copy;
}
