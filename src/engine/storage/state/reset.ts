import { rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import type { JournalEntry } from "../../generated/journal.js";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError } from "../../lib/errors.js";
import { withoutUndefined } from "../../lib/without-undefined.js";
import { backupsFolder, hiddenName, lastGoodOf, writtenFile } from "../../lib/layout.js";
import { stampOf, writeFileAtomic } from "../atomic-file.js";
import { withExplainedErrors } from "../explain-system-error.js";
import { timeForName } from "../../lib/clock.js";
import { backUp, copyIn, copyRegularFile } from "./backup.js";
import type { Fields, StateFormat } from "./format.js";
import { pendingEntries, readEntry } from "./journal.js";
import { type OutputFile, outputNames, type Outputs, outputsAfterReset, type Restores } from "./output-files.js";
import { changesBetween, undoChanges } from "./hand-edits/merge-hand-edits.js";
import { type Loaded, openRecordStore, type StoreOptions } from "./record-store.js";
import { invalidStateError, lastRecordedIteration, readStateFile } from "./state-file.js";

/** The state after a reset, and sentences about it. */
export interface Reset<State> {
  readonly newState: State;
  /** The unit to repeat; "*" for several. */
  readonly unit: string;
  /** The units to repeat, if there are several and no `to`. */
  readonly units?: readonly string[];
  /** The last iteration that stays in force; absent if only `unit` is reset. */
  readonly to?: number;
  readonly sentences: readonly string[];
  /** Output files to write or remove, in addition to those that follow from `to`. */
  readonly files?: readonly OutputFile[];
  /** Paths of files to delete, which are useless for the repeated work. */
  readonly obsoletePaths?: readonly string[];
  /** The earliest reset that this one undoes, if its backup is still there. */
  readonly undone?: UndoneReset;
}

/** An earlier reset whose backup has the files as they were before it. */
export interface UndoneReset {
  readonly backup: string;
  /** Whether nothing before this reset is undone, so that all files are again as they were. */
  readonly isFirst: boolean;
}

interface ResetOptions<State> extends Pick<StoreOptions<State>, "derive" | "git"> {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The iteration to go back to; it must be recorded. */
  readonly to?: number;
  /** The iteration of the reset that is taken back. */
  readonly undoes?: number;
  /** Paths, within the folder, of files that a reset may delete and that later work changes. */
  readonly workFiles?: readonly string[];
  /** The output files of each unit, by unit. */
  readonly outputs: Outputs;
  /** Also removes output files that have no ledger line. */
  readonly everything: boolean;
}

/** "a, b and c". */
const listFormat = new Intl.ListFormat("en-GB");

/**
 * Undoes results, after copying the state, the log and the output files into .ralph/backups/. The logs lose nothing:
 * the reset is a separate iteration. A state file that a person broke is replaced by the last good version, and is kept
 * next to it. `plan` computes the state after the reset. Returns one sentence for each thing that was done.
 * @throws ExpectedError when another process holds the folder, or the iteration `to` or a good version does not exist.
 */
export async function resetRecords<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  plan: (loaded: Loaded<State>) => Promise<Reset<State>>,
  options: ResetOptions<State>,
): Promise<string[]> {
  const at = new Date(options.now()).toISOString();
  const sentencesDone: string[] = [];
  const notify = (_: string, message: string) => void sentencesDone.push(message);
  const { workFiles = [] } = options;
  const restorable = [...outputNames(options.outputs), ...workFiles];
  const makeBackup = () => backUp(folder, options.now(), [format.file, format.log, ...restorable]);
  let backup = "";
  let isInterrupted = false;
  const store = await openRecordStore(folder, format, { ...options, notify }, async () => {
    await requireIteration(folder, format.ledger, options.to ?? 0);
    isInterrupted = pendingEntries(folder).length > 0;
    backup = await makeBackup();
    sentencesDone.push(`A copy of the files as they were is in ${backup}.`);
    sentencesDone.push(...(await replaceBrokenState(folder, format, at)));
  });
  try {
    const { state, ledger } = await store.load();
    // The load has completed an interrupted iteration, which an undo must not lose.
    if (isInterrupted) backup = await makeBackup();
    const iteration = store.nextIteration();
    const {
      newState,
      unit,
      units,
      to,
      sentences,
      files: additionalFiles = [],
      obsoletePaths = [],
      undone,
    } = await plan({ state, ledger });
    const line: LedgerLine = {
      iteration,
      at,
      unit,
      phase: format.phaseOf(state),
      outcome: "reset",
      backup: basename(backup),
      ...withoutUndefined({ to, undoes: options.undoes, units: units && [...units] }),
    };
    const restores =
      undone === undefined
        ? undefined
        : {
            backup: undone.backup,
            names: undone.isFirst
              ? restorable
              : workFiles.filter((name) => name !== relative(folder, writtenFile(folder))),
          };
    const files = [
      ...(undone?.isFirst === true ? [] : await outputsAfterReset(folder, format, ledger, line, options)),
      ...additionalFiles,
    ];
    const removedNames = [
      ...files.filter(({ text }) => text === null).map(({ name }) => name),
      ...(restores === undefined ? [] : namesToRemove(folder, restores)),
    ];
    const allSentences =
      removedNames.length === 0
        ? sentences
        : [...sentences, `${listFormat.format(removedNames)} ${removedNames.length === 1 ? "is" : "are"} removed.`];
    sentencesDone.push(...allSentences);
    await store.fold({
      iteration,
      at,
      message: `reset: ${sentences[0]}`,
      changes: changesBetween(format, state, newState),
      progress: `---\n\n## ${at} - Reset\n${allSentences.map((sentence) => `- ${sentence}\n`).join("")}\n`,
      ledger: line,
      files,
      ...withoutUndefined({ restores }),
    });
    for (const path of obsoletePaths) await rm(path, { force: true });
  } finally {
    await store.close();
  }
  return sentencesDone;
}

/**
 * The state with every iteration after `to` undone, as far as the journal still has the entries. What a reset among
 * them has undone already is not undone again: what a person changed since that reset would be lost. Pure, except that
 * it reads the journal.
 */
export async function stateBefore<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  { state, ledger }: Loaded<State>,
  to: number,
): Promise<{
  readonly state: State;
  /** The lines of the undone iterations, in order. */
  readonly undoneLines: readonly LedgerLine[];
  /** Iterations whose journal entry is missing, in order. */
  readonly missingIterations: readonly number[];
  /** The changes of the state that the other iterations made. */
  readonly undoneChanges: JournalEntry["changes"];
}> {
  const undoneLines = ledger.filter(({ iteration }) => iteration > to).toSorted((a, b) => a.iteration - b.iteration);
  const missingIterations: number[] = [];
  const undoneChanges: JournalEntry["changes"] = [];
  let earlierState = state;
  let lastInForce = Number.POSITIVE_INFINITY;
  for (const { iteration, outcome, to: target } of undoneLines.toReversed()) {
    if (iteration > lastInForce) continue;
    if (outcome === "reset" && target !== undefined && target >= to) {
      lastInForce = target;
      continue;
    }
    const entry = await readEntry(folder, format, iteration);
    if (entry === undefined) missingIterations.unshift(iteration);
    else {
      earlierState = undoChanges(format, earlierState, entry.changes);
      undoneChanges.unshift(...entry.changes);
    }
  }
  return { state: earlierState, undoneLines, missingIterations, undoneChanges };
}

/**
 * The earliest reset after iteration `to`, if its backup is still there. Versions before 2026-11-30 did not record the
 * backup.
 */
export function undoneResetIn(
  folder: string,
  { file }: { readonly file: string },
  ledger: readonly LedgerLine[],
  to: number,
): UndoneReset | undefined {
  const [first] = ledger
    .filter(({ outcome, iteration }) => outcome === "reset" && iteration > to)
    .toSorted((a, b) => a.iteration - b.iteration);
  if (first?.backup === undefined) return undefined;
  const hasBackup = stampOf(copyIn(join(backupsFolder(folder), first.backup), file)) !== undefined;
  return hasBackup ? { backup: first.backup, isFirst: first.iteration === to + 1 } : undefined;
}

/** The names of the files that exist, but not in the backup; those in hidden folders are not worth a word. */
const namesToRemove = (folder: string, { backup, names }: Restores): string[] =>
  names.filter(
    (name) =>
      !name.startsWith(hiddenName) &&
      stampOf(join(folder, name)) !== undefined &&
      stampOf(copyIn(join(backupsFolder(folder), backup), name)) === undefined,
  );

/**
 * Requires that the iteration `to` exists. The last iteration is allowed, because a reset to it repairs a broken file.
 * @throws ExpectedError if it does not exist
 */
async function requireIteration(folder: string, ledger: string, to: number): Promise<void> {
  const lastIteration = await lastRecordedIteration(folder, ledger);
  if (to > lastIteration)
    throw new ExpectedError(
      `There is no iteration ${to} to go back to: ${lastIteration === 0 ? "none was recorded yet" : `the last is ${lastIteration}`}.`,
      2,
    );
}

/**
 * Replaces a broken state file by the last good version, and keeps the broken file next to it. Returns a sentence about
 * it, or an empty list if the file is valid. `at`: ISO 8601. The caller holds the lock.
 * @throws ExpectedError if no last good version exists.
 */
export async function replaceBrokenState<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  at: string,
): Promise<string[]> {
  const path = join(folder, format.file);
  const { problems } = await readStateFile(path, format);
  if (problems === undefined) return [];
  const lastGood = lastGoodOf(folder, format.file);
  const lastGoodState = stampOf(lastGood) === undefined ? undefined : await readStateFile(lastGood, format);
  if (lastGoodState?.ok === undefined) throw await invalidStateError(folder, format, problems);
  const brokenCopy = `${path}.broken-${timeForName(Date.parse(at))}`;
  await withExplainedErrors(brokenCopy, () => copyRegularFile(path, brokenCopy));
  await writeFileAtomic(path, format.format(lastGoodState.ok));
  return [`${format.file} was broken; it is kept as ${brokenCopy}, and the last good version was restored.`];
}
