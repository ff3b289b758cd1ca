import { renameSync } from "node:fs";
import { basename, join } from "node:path";
import type { JournalEntry } from "../../generated/journal.js";
import { hasCode } from "../../lib/errors.js";
import { doneFolder, journalFolder } from "../../lib/layout.js";
import { readRegularText, makeFolder } from "../regular-file.js";
import { writeFileAtomic } from "../atomic-file.js";
import { withExplainedErrors } from "../explain-system-error.js";
import { recordedContent, announceMove } from "../guard/own-writes.js";
import { problemsOf } from "../schema-check.js";
import type { Fields, StateFormat } from "./format.js";
import { isNewer, jsonFilesIn, newerFormat, stateVersion } from "./format-version.js";
import { areInFormat } from "./hand-edits/merge-hand-edits.js";

/** Makes the journal's folders. */
export const makeJournal = (folder: string): void =>
  withExplainedErrors(doneFolder(folder), () => makeFolder(doneFolder(folder)));

/** Writes an entry before any of its changes take effect; it is synced to the disk when this returns. */
export async function writeEntry(folder: string, entry: JournalEntry): Promise<void> {
  const problems = problemsOf("journal", entry);
  if (problems.length > 0)
    throw new Error(`the journal entry ${entry.iteration} is not valid: ${JSON.stringify(problems[0])}`);
  await writeFileAtomic(
    join(journalFolder(folder), `${entry.iteration}.json`),
    JSON.stringify({ ...entry, format: stateVersion }),
  );
}

/**
 * Iterations whose entry may not have taken effect completely, in order. Usually none, so the cost of a start does not
 * grow with the project.
 */
export const pendingEntries = (folder: string): number[] => iterationsIn(journalFolder(folder));

/** The part of a format with the names that a journal may use. */
type Names = Pick<StateFormat<Fields>, "top" | "parts" | "collections">;

/**
 * The entry of an iteration; undefined if it is missing, invalid, or names a collection that the format lacks.
 * @throws ExpectedError (exit 5) for an entry of a later format.
 */
export async function readEntry(folder: string, names: Names, iteration: number): Promise<JournalEntry | undefined> {
  for (const folderPath of [journalFolder(folder), doneFolder(folder)]) {
    try {
      const entry: unknown = JSON.parse(await readRegularText(join(folderPath, `${iteration}.json`)));
      if (isNewer(entry)) throw newerFormat(join(folderPath, `${iteration}.json`), entry);
      if (problemsOf("journal", entry).length > 0) return undefined;
      return areInFormat(names, (entry as JournalEntry).changes) ? (entry as JournalEntry) : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      if (!hasCode(error, "ENOENT", "ENOTDIR")) return withExplainedErrors(folderPath, () => Promise.reject(error));
    }
  }
  return undefined;
}

/**
 * Moves an entry to the folder of done entries; all its changes must be written. If a power cut undoes the move, the
 * next start applies the entry again, which changes nothing.
 */
export function markDone(folder: string, iteration: number): void {
  const name = `${iteration}.json`;
  moveFile(join(journalFolder(folder), name), join(doneFolder(folder), name));
}

/** Renames an entry that can't be replayed, so that it is kept but ignored. Returns its new path. */
export function setEntryAside(folder: string, iteration: number): string {
  const from = join(journalFolder(folder), `${iteration}.json`);
  const to = `${from}.unusable`;
  moveFile(from, to);
  return to;
}

function moveFile(from: string, to: string): void {
  withExplainedErrors(to, () => {
    announceMove(from, to);
    renameSync(from, to);
  });
}

/** The highest iteration that has an entry; 0 without entries. */
export const lastJournalledIteration = (folder: string): number =>
  [...iterationsIn(journalFolder(folder)), ...iterationsIn(doneFolder(folder))].reduce((a, b) => Math.max(a, b), 0);

/** Iterations of the entries in a folder, sorted. Files that an agent has put there during its run are ignored. */
const iterationsIn = (folderPath: string): number[] =>
  jsonFilesIn(folderPath)
    .filter((path) => recordedContent(path) !== undefined)
    .map((path) => basename(path))
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .toSorted((a, b) => a - b);
