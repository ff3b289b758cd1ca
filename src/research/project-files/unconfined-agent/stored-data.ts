import { lstatSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { answersIn, doneFolder, journalFolder } from "../../../engine/lib/layout.js";
import { explaining } from "../../../engine/storage/explain-system-error.js";
import {
  isSameVersion,
  moveAside,
  putVersion,
  type Version,
  versionAt,
} from "../../../engine/storage/file-snapshot.js";
import { answersFolder, documentsFolder, textsFolder } from "../layout.js";

/** Takes back what an agent changed: one sentence for each kind of damage, none where there was none. */
export type Undo = (agent: string) => Promise<readonly string[]>;

/**
 * Folders that say which answer a question had. The answers themselves stand under their hash, and are checked against
 * it.
 */
const answerFolders = (folder: string) => [answersFolder(folder), documentsFolder(folder)].map(answersIn);

/**
 * Remembers what .ralph holds of results and sources: journal, texts, answers. What is changed or planted goes to
 * `aside`.
 */
export async function guardStoredData(folder: string, aside: string): Promise<readonly Undo[]> {
  const [journal, texts] = [stampsOf(journalFolder(folder), doneFolder(folder)), stampsOf(textsFolder(folder))];
  const answers = await versionsIn(answerFolders(folder));

  const clearJournal: Undo = async (agent) => {
    const now = stampsOf(journalFolder(folder), doneFolder(folder));
    const foreign = [...now].filter(([path, stamp]) => journal.get(path) !== stamp).map(([path]) => path);
    const gone = [...journal.keys()].filter((path) => !now.has(path));
    for (const path of foreign) await explaining(path, () => moveAside(path, aside));
    return [
      ...(foreign.length > 0
        ? [
            `${agent} wrote to the journal (${list(foreign.map((path) => basename(path)))}); that is set aside in ${aside} and not used.`,
          ]
        : []),
      ...(gone.length > 0
        ? [
            `${agent} deleted ${gone.length} entries of the journal; the results are in rrd.json, but a reset can't go back to those iterations.`,
          ]
        : []),
    ];
  };

  const clearTexts: Undo = async (agent) => {
    const foreign = [...stampsOf(textsFolder(folder))]
      .filter(([path, stamp]) => texts.get(path) !== stamp)
      .map(([path]) => path);
    for (const path of foreign) await explaining(path, () => moveAside(path, aside));
    return foreign.length > 0
      ? [`${agent} changed ${foreign.length} of the papers' texts stored in .ralph; they will be fetched again.`]
      : [];
  };

  const restoreAnswers: Undo = async (agent) => {
    const changed = await restored(answers, await versionsIn(answerFolders(folder)), aside);
    return changed.length === 0
      ? []
      : [`${agent} changed stored answers of sources in .ralph (${changed.length}); they were restored.`];
  };

  return [clearJournal, clearTexts, restoreAnswers];
}

/** Makes files as they were; what stood in their place is moved aside. Answers with the paths that differed. */
export async function restored(
  before: ReadonlyMap<string, Version>,
  now: ReadonlyMap<string, Version>,
  aside: string,
): Promise<string[]> {
  const changed: string[] = [];
  for (const path of new Set([...before.keys(), ...now.keys()])) {
    const [then, after] = [before.get(path) ?? absent, now.get(path) ?? absent];
    if (isSameVersion(then, after)) continue;
    changed.push(path);
    await explaining(path, async () => {
      if (after.kind !== "absent") await moveAside(path, aside);
      await putVersion(path, then);
    });
  }
  return changed;
}

const absent: Version = { kind: "absent" };

/**
 * Which version of each file stands in folders of .ralph. The time of the last change of the inode can't be set back by
 * a program.
 */
function stampsOf(...places: readonly string[]): Map<string, string> {
  const stamps = new Map<string, string>();
  for (const place of places) {
    for (const entry of entriesOf(place)) {
      const path = join(place, entry);
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found !== undefined && !places.includes(path))
        stamps.set(path, `${found.ino}:${found.size}:${found.ctimeMs}`);
    }
  }
  return stamps;
}

/** What stands in folders of .ralph, whole. Reading an answer touches its times, so they tell nothing. */
export async function versionsIn(places: readonly string[]): Promise<Map<string, Version>> {
  const paths = places.flatMap((place) => entriesOf(place).map((entry) => join(place, entry)));
  const versions = new Map<string, Version>();
  for (const path of paths) versions.set(path, await explaining(path, () => versionAt(path)));
  return versions;
}

export function entriesOf(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}

export const list = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
