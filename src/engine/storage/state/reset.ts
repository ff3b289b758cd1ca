import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError } from "../../lib/errors.js";
import { given } from "../../lib/given.js";
import { lastGoodOf } from "../../lib/layout.js";
import { stampOf, writeFileAtomic } from "../atomic-file.js";
import { explaining } from "../explain-system-error.js";
import { timeForName } from "../../lib/clock.js";
import { backUp, copyRegular } from "./backup.js";
import type { Fields, StateFormat } from "./format.js";
import { readEntry } from "./journal.js";
import { type OutputFile, outputNames, type Outputs, outputsAfter } from "./output-files.js";
import { changesBetween, undoChanges } from "./hand-edits/merge-hand-edits.js";
import { type Loaded, openRecordStore, type StoreOptions } from "./record-store.js";
import { invalid, lastRecorded, readStateFile } from "./state-file.js";

/** The state that a reset leads to, and what it says. */
export interface Reset<State> {
  readonly after: State;
  /** The unit that is to be done again; "*" for more than one. */
  readonly unit: string;
  /** The last iteration that still counts; absent where only `unit` is reset. */
  readonly to?: number;
  readonly sentences: readonly string[];
  /** Output files as they are from then on, besides those that go or come back by `to`. */
  readonly files?: readonly OutputFile[];
  /** Paths of what was kept for the work that is done again, and is of no use to it. */
  readonly forgets?: readonly string[];
}

interface ResetOptions<State> extends Pick<StoreOptions<State>, "derive" | "git"> {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** An iteration that must have been recorded: the reset goes back to it. */
  readonly to?: number;
  /** The files that an accepted unit writes whole, by the unit. */
  readonly outputs: Outputs;
  /** Takes also output files away that no ledger knows. */
  readonly everything: boolean;
}

/** "a, b and c". */
const inWords = new Intl.ListFormat("en-GB");

/**
 * Takes results back, after a copy of the state, the log and the output files was put into .ralph/backups/. Nothing is
 * lost in the logs: the reset is an iteration of its own. A state file that was broken by hand is kept next to the last
 * good version, which takes its place.
 * `plan` works out what the reset leaves. Returns what was done, a sentence each.
 * @throws ExpectedError when another process holds the folder, there is no iteration `to`, or no version to go back to.
 */
export async function resetRecords<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  plan: (loaded: Loaded<State>) => Promise<Reset<State>>,
  options: ResetOptions<State>,
): Promise<string[]> {
  const at = new Date(options.now()).toISOString();
  const done: string[] = [];
  const notify = (_: string, message: string) => void done.push(message);
  const store = await openRecordStore(folder, format, { ...options, notify }, async () => {
    await requireIteration(folder, format.ledger, options.to ?? 0);
    const names = [format.file, format.log, ...outputNames(options.outputs)];
    done.push(`A copy of the files as they were is in ${await backUp(folder, options.now(), names)}.`);
    done.push(...(await replaceBroken(folder, format, at)));
  });
  try {
    const { state, ledger } = await store.load();
    const iteration = store.nextIteration();
    const { after, unit, to, sentences, files: own = [], forgets = [] } = await plan({ state, ledger });
    const line: LedgerLine = { iteration, at, unit, phase: format.phaseOf(state), outcome: "reset", ...given({ to }) };
    const files = [...(await outputsAfter(folder, format, ledger, line, options)), ...own];
    const gone = files.filter(({ text }) => text === null).map(({ name }) => name);
    const all =
      gone.length === 0
        ? sentences
        : [...sentences, `${inWords.format(gone)} ${gone.length === 1 ? "is" : "are"} removed.`];
    done.push(...all);
    await store.fold({
      iteration,
      at,
      message: `reset: ${sentences[0]}`,
      changes: changesBetween(format, state, after),
      progress: `---\n\n## ${at} - Reset\n${all.map((sentence) => `- ${sentence}\n`).join("")}\n`,
      ledger: line,
      files,
    });
    for (const path of forgets) await rm(path, { force: true });
  } finally {
    await store.close();
  }
  return done;
}

/**
 * The state with every iteration above `to` undone, as far as the journal still holds it. Pure but for reading the
 * journal.
 */
export async function undoneAfter<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  { state, ledger }: Loaded<State>,
  to: number,
): Promise<{
  readonly state: State;
  /** The lines of what is undone, first to last. */
  readonly undone: readonly LedgerLine[];
  /** Iterations whose journal entry is gone, first to last. */
  readonly missing: readonly number[];
}> {
  const undone = ledger.filter(({ iteration }) => iteration > to).toSorted((a, b) => a.iteration - b.iteration);
  const missing: number[] = [];
  let before = state;
  for (const { iteration } of undone.toReversed()) {
    const entry = await readEntry(folder, format, iteration);
    if (entry === undefined) missing.unshift(iteration);
    else before = undoChanges(format, before, entry.changes);
  }
  return { state: before, undone, missing };
}

/**
 * @throws ExpectedError where no iteration has that number yet; the last one has, since that is the way back from a
 * broken file.
 */
async function requireIteration(folder: string, ledger: string, to: number): Promise<void> {
  const last = await lastRecorded(folder, ledger);
  if (to > last)
    throw new ExpectedError(
      `There is no iteration ${to} to go back to: ${last === 0 ? "none was recorded yet" : `the last is ${last}`}.`,
      2,
    );
}

/**
 * Puts the last good version of the state in the place of one that was broken by hand, which is kept next to it;
 * answers with a sentence, or with none where it is not broken. `at`: ISO 8601. The caller holds the lock.
 * @throws ExpectedError where there is no last good version.
 */
export async function replaceBroken<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  at: string,
): Promise<string[]> {
  const path = join(folder, format.file);
  const { problems } = await readStateFile(path, format);
  if (problems === undefined) return [];
  const lastGood = lastGoodOf(folder, format.file);
  const good = stampOf(lastGood) === undefined ? undefined : await readStateFile(lastGood, format);
  if (good?.ok === undefined) throw await invalid(folder, format, problems);
  const broken = `${path}.broken-${timeForName(Date.parse(at))}`;
  await explaining(broken, () => copyRegular(path, broken));
  await writeFileAtomic(path, format.format(good.ok));
  return [`${format.file} was broken; it is kept as ${broken}, and the last good version was restored.`];
}
