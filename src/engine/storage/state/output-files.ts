import { createHash } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { hasCode } from "../../lib/errors.js";
import { isObject } from "../../lib/json-fields.js";
import { writtenFile } from "../../lib/layout.js";
import { timeForName } from "../../lib/clock.js";
import { readRegularText } from "../regular-file.js";
import { stampOf, writeFileAtomic, writePiecesAtomic } from "../atomic-file.js";
import { versionAt } from "../guard/file-snapshot.js";
import { explaining } from "../explain-system-error.js";
import type { Fields, StateFormat } from "./format.js";
import { stateVersion } from "./format-version.js";
import { readEntry } from "./journal.js";
import { currentAccepted } from "./ledger.js";

/** The files that an accepted unit writes whole, by the unit. */
export type Outputs = Readonly<Record<string, readonly string[]>>;

/** Every file that some unit writes whole. */
export const outputNames = (outputs: Outputs): readonly string[] => [...new Set(Object.values(outputs).flat())];

/** A whole file of the folder; null takes it away. */
export interface OutputFile {
  readonly name: string;
  readonly text: string | null;
}

/** A large file of the folder, made as it is written. */
export interface PieceFile {
  readonly name: string;
  readonly pieces: Iterable<string>;
  /** A hash of all that it is made of. */
  readonly madeOf: string;
}

/** Whether a file stands there as it was written last, and was made of the same. */
export async function isWritten(folder: string, { name, madeOf }: Omit<PieceFile, "pieces">): Promise<boolean> {
  const written = await readWritten(folder);
  if (written[name] === undefined || madeOfIn(written)[name] !== madeOf) return false;
  const path = join(folder, name);
  const existing = await explaining(path, () => versionAt(path));
  return existing.kind === "file" && hashOf(existing.bytes) === written[name];
}

const madeOfIn = ({ made_of: made }: Record<string, unknown>): Record<string, unknown> =>
  isObject(made) ? { ...made } : {};

/**
 * Writes whole output files. One that was changed since this program wrote it last is somebody's work: a copy is kept
 * next to it, once for each content. So is one of which nothing is recorded here, as in a clone, which has no `.ralph`:
 * an earlier version of this program may have written it, or a person. `at`: milliseconds since the epoch, for the
 * copy's name. Doing it twice gives the same as once.
 * @throws ExpectedError as writeFileAtomic.
 */
export async function writeOutputs(
  folder: string,
  files: readonly (OutputFile | PieceFile)[],
  at: number,
  notify: (message: string) => void,
): Promise<void> {
  if (files.length === 0) return;
  const before = await readWritten(folder);
  const written = new Map(Object.entries(before));
  const madeOf = madeOfIn(before);
  for (const file of files) {
    const { name } = file;
    const path = join(folder, name);
    if ("text" in file && file.text === null) {
      await explaining(path, () => rm(path, { force: true }));
      written.delete(name);
      continue;
    }
    const existing = await explaining(path, () => versionAt(path));
    const last = written.get(name);
    const found = existing.kind === "file" ? hashOf(existing.bytes) : undefined;
    const copy =
      existing.kind === "file" && found !== last ? await keepEdited(folder, name, existing.bytes, at) : undefined;
    const now = "pieces" in file ? await writeInPieces(path, file.pieces) : await writeText(path, file.text!);
    written.set(name, now);
    if ("madeOf" in file) madeOf[name] = file.madeOf;
    if (copy === undefined) continue;
    // It was not an edit: what is made in pieces is known only once it is written.
    if (now === found) await explaining(copy, () => rm(copy, { force: true }));
    else
      notify(
        last === undefined
          ? `${name} already existed, and it is not recorded who wrote it; it is written again, and the earlier version is kept as ${copy}.`
          : `${name} was changed since it was last written; it is written again, and your version is kept as ${copy}.`,
      );
  }
  // Where it is lost, the worst is one copy too many.
  const note = { ...Object.fromEntries(written), made_of: madeOf, format: stateVersion };
  await writeFileAtomic(writtenFile(folder), JSON.stringify(note), { durable: false });
}

/** Writes a file and returns the hash of what it holds now. */
async function writeText(path: string, text: string): Promise<string> {
  await writeFileAtomic(path, text);
  return hashOf(text);
}

/** As writeText. */
async function writeInPieces(path: string, pieces: Iterable<string>): Promise<string> {
  const hash = createHash("sha256");
  const hashed = function* () {
    for (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  };
  await writePiecesAtomic(path, hashed());
  return hash.digest("hex");
}

/**
 * What a reset makes of the output files: those whose units are accepted no longer go, one that was accepted before
 * comes back as it was then; of several units that write one file, the last one counts. `line`: the reset. A reset of
 * `everything` takes also those of the original tool, which no ledger knows.
 */
export async function outputsAfter<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  ledger: readonly LedgerLine[],
  line: LedgerLine,
  { outputs, everything }: { readonly outputs: Outputs; readonly everything: boolean },
): Promise<OutputFile[]> {
  if (line.to === undefined) return [];
  const [before, after] = [currentAccepted(ledger), currentAccepted([...ledger, line])];
  const files: OutputFile[] = [];
  for (const name of outputNames(outputs)) {
    const units = Object.entries(outputs).flatMap(([unit, names]) => (names.includes(name) ? [unit] : []));
    if (!everything && units.every((unit) => after.get(unit) === before.get(unit))) continue;
    const iterations = units.flatMap((unit) => after.get(unit) ?? []).toSorted((a, b) => b - a);
    const text = await writtenIn(folder, format, iterations, name);
    // Without its journal an earlier version can't be had; the later one is better than none.
    if (text !== null || (iterations.length === 0 && stampOf(join(folder, name)) !== undefined))
      files.push({ name, text });
  }
  return files;
}

/**
 * The output files that units which count wrote and that are gone, as they were written last; `text` is null where the
 * journal does not hold one any more.
 */
export async function lostOutputs<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  ledger: readonly LedgerLine[],
  outputs: Outputs,
): Promise<OutputFile[]> {
  const accepted = currentAccepted(ledger);
  const lost: OutputFile[] = [];
  for (const name of outputNames(outputs)) {
    const units = Object.entries(outputs).flatMap(([unit, names]) => (names.includes(name) ? [unit] : []));
    const iterations = units.flatMap((unit) => accepted.get(unit) ?? []).toSorted((a, b) => b - a);
    if (iterations.length === 0 || stampOf(join(folder, name)) !== undefined) continue;
    lost.push({ name, text: await writtenIn(folder, format, iterations, name) });
  }
  return lost;
}

/** What the first of these iterations that wrote the file wrote there; null where none did or its journal is gone. */
async function writtenIn<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  iterations: readonly number[],
  name: string,
): Promise<string | null> {
  for (const iteration of iterations) {
    const text = (await readEntry(folder, format, iteration))?.files?.find((each) => each.name === name)?.text ?? null;
    if (text !== null) return text;
  }
  return null;
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
