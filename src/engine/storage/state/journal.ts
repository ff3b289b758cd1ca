import { renameSync } from "node:fs";
import { basename, join } from "node:path";
import type { JournalEntry } from "../../generated/journal.js";
import { hasCode } from "../../lib/errors.js";
import { doneFolder, journalFolder } from "../../lib/layout.js";
import { readRegularText, makeFolder } from "../regular-file.js";
import { writeFileAtomic } from "../atomic-file.js";
import { explaining } from "../explain-system-error.js";
import { agreedContent, ownMove } from "../guard/own-writes.js";
import { problemsOf } from "../schema-check.js";
import type { Fields, StateFormat } from "./format.js";
import { isNewer, jsonFilesIn, newerFormat, stateVersion } from "./format-version.js";
import { areKnown } from "./hand-edits/merge-hand-edits.js";

/** Makes the journal's folders. */
export const makeJournal = (folder: string): void =>
  explaining(doneFolder(folder), () => makeFolder(doneFolder(folder)));

/** Writes an entry before anything of it takes effect; it is on the disk when this returns. */
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
 * Iterations whose entry may not have taken effect whole, in order. Usually none, so a start costs the same however
 * long a project is.
 */
export const pendingEntries = (folder: string): number[] => iterationsIn(journalFolder(folder));

/** What a format says of the names in a journal. */
type Names = Pick<StateFormat<Fields>, "top" | "parts" | "collections">;

/**
 * The entry of an iteration, or undefined where it is missing, can't be read, or changes what the format does not have.
 * @throws ExpectedError (exit 5) for one of a later format.
 */
export async function readEntry(folder: string, names: Names, iteration: number): Promise<JournalEntry | undefined> {
  for (const place of [journalFolder(folder), doneFolder(folder)]) {
    try {
      const entry: unknown = JSON.parse(await readRegularText(join(place, `${iteration}.json`)));
      if (isNewer(entry)) throw newerFormat(join(place, `${iteration}.json`), entry);
      if (problemsOf("journal", entry).length > 0) return undefined;
      return areKnown(names, (entry as JournalEntry).changes) ? (entry as JournalEntry) : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      if (!hasCode(error, "ENOENT", "ENOTDIR")) return explaining(place, () => Promise.reject(error));
    }
  }
  return undefined;
}

/**
 * Puts an entry that has taken effect whole away. Should the power undo it, the entry is found to be done once more.
 */
export function markDone(folder: string, iteration: number): void {
  const name = `${iteration}.json`;
  move(join(journalFolder(folder), name), join(doneFolder(folder), name));
}

/** Takes an entry that can't be replayed out of the way without losing it. Returns where it is. */
export function setAside(folder: string, iteration: number): string {
  const from = join(journalFolder(folder), `${iteration}.json`);
  const to = `${from}.unusable`;
  move(from, to);
  return to;
}

function move(from: string, to: string): void {
  explaining(to, () => {
    ownMove(from, to);
    renameSync(from, to);
  });
}

/** The highest iteration that ever had an entry; 0 when none had. */
export const lastJournalled = (folder: string): number =>
  [...iterationsIn(journalFolder(folder)), ...iterationsIn(doneFolder(folder))].reduce((a, b) => Math.max(a, b), 0);

/** Without what an agent has planted there that is still at work. */
const iterationsIn = (place: string): number[] =>
  jsonFilesIn(place)
    .filter((path) => agreedContent(path) !== undefined)
    .map((path) => basename(path))
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .toSorted((a, b) => a - b);
