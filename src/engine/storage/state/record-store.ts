import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError } from "../../lib/errors.js";
import { hiddenFolder, journalFolder, lockFile } from "../../lib/layout.js";
import { stampOf, sweepTemporaryFiles, writeFileAtomic } from "../atomic-file.js";
import { acquireLock } from "../lock.js";
import { requireRegular } from "../regular-file.js";
import { readOnceSaved } from "./hand-edits/wait-for-editor.js";
import type { Fields, StateFormat } from "./format.js";
import { requireKnownFormats } from "./format-version.js";
import { makeJournal } from "./journal.js";
import { readLedger } from "./ledger.js";
import { type OutputFile, type PieceFile, writeOutputs } from "./output-files.js";
import { invalid, readStateFile, requireState } from "./state-file.js";
import { type Fold, openWriter, type WriterOptions } from "./fold.js";

export interface StoreOptions<State> extends WriterOptions<State> {
  /** Whether to commit checkpoints; without git or a repository nothing is committed, silently. */
  readonly git: boolean;
  /** It is given up again within seconds: others like it are waited for, and it is not a run. */
  readonly short?: boolean;
  /** Aborted when the run ends at once: a git that hangs is then no longer waited for. */
  readonly abort?: AbortSignal;
  /** An agent that nothing confines works on it: git then starts no program that its configuration names since. */
  readonly unconfined?: boolean;
}

/** The state of a piece of work, and what its ledger says of the iterations so far. */
export interface Loaded<State> {
  readonly state: State;
  readonly ledger: readonly LedgerLine[];
}

/** A folder with a state file and its logs, which this process alone writes. */
export interface RecordStore<State> {
  readonly folder: string;
  /**
   * The state as it stands on the disk; units that an editor's stale save took back are restored first.
   * @throws ExpectedError for an invalid state file; it is never overwritten.
   */
  load(): Promise<Loaded<State>>;
  /**
   * Changes the state outside of any iteration, as a person would, and returns it. `change` is pure: it may be asked
   * again where the file is saved by hand in this very moment. The next checkpoint commits it; with `commits` there is
   * one at the end at the latest.
   * @throws ExpectedError as load.
   */
  edit(change: (state: State) => State, commits?: boolean): Promise<State>;
  /**
   * A number for the iteration that begins now: one above all that were folded, journalled or given since this was
   * opened.
   */
  nextIteration(): number;
  /**
   * Merges an iteration into the files. Once the journal holds it, no kill loses any part of it; folding an iteration
   * that is in the ledger already does nothing.
   * @throws ExpectedError where a person has to mend something first (invalid state file, full disk); the fold is made
   * up for then.
   */
  fold(fold: Fold): Promise<void>;
  /**
   * Does `work`, and writes what it folds and edits only at its end, all at once, also where it throws. Meanwhile
   * `load` answers with the state that this makes; the journal has each fold at once.
   * @throws ExpectedError as fold.
   */
  together(work: () => Promise<void>): Promise<void>;
  /**
   * Writes whole output files that are made of the state as it stands, outside of any iteration, and commits them.
   * Doing it again with the same files changes nothing. `at`: milliseconds since the epoch.
   */
  rewrite(files: readonly (OutputFile | PieceFile)[], at: number, message: string): Promise<void>;
  /** Commits what has no checkpoint yet and gives the folder up. */
  close(): Promise<void>;
}

/**
 * Opens a folder for writing: takes its lock, sweeps leftovers, replays what a kill interrupted, restores stale saves.
 * `prepare` runs once the lock is held and before anything is read.
 * @throws ExpectedError when another process holds it, the folder can't be written, the state file is invalid, or a
 * later version wrote one of its files (exit 5); nothing is written then.
 */
export async function openRecordStore<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  options: StoreOptions<State>,
  prepare: () => Promise<void> = async () => undefined,
): Promise<RecordStore<State>> {
  // Before the lock, so that a wrong path does not get a .ralph of its own.
  await requireState(folder, format);
  await requireLogs(folder, format);
  await requireKnownFormats(folder, format);
  const hidden = hiddenFolder(folder);
  const take = async () => {
    makeJournal(folder);
    const { short = false } = options;
    return acquireLock(lockFile(folder), { describe: `The ${format.noun} ${folder}`, short });
  };
  let lock = await take();
  try {
    // Whatever the .gitignore above says, none of this is for the repository.
    if (stampOf(join(hidden, ".gitignore")) === undefined) await writeFileAtomic(join(hidden, ".gitignore"), "*\n");
    for (const place of [folder, hidden, journalFolder(folder), ...format.swept(folder)])
      await sweepTemporaryFiles(place);
    await prepare();
    // Loaded late: what starts processes takes longer to load than a state to read, and reading alone needs none of it.
    const git = options.git ? await import("../checkpoints.js") : undefined;
    const checkpoints = await git?.openCheckpoints(
      folder,
      { names: format.committed, state: format.file, ledger: format.ledger },
      (message) => options.notify("warning", message),
      options,
    );
    const writer = await openWriter(folder, format, options, checkpoints);
    await writer.load();
    const holdLock = async () => {
      if (await lock.isMine()) return;
      // A person who deletes .ralph during a run deletes the lock; another run may have begun since. Where the whole
      // folder was moved, taking the lock would make it again, and the moved one could not come back to its place.
      await requireState(folder, format);
      lock = await take();
    };
    return {
      folder,
      nextIteration: writer.nextIteration,
      load: async () => {
        await holdLock();
        return writer.load();
      },
      edit: async (change, commits = false) => {
        await holdLock();
        const state = await writer.edit(change);
        // With the next checkpoint, or at the end: after the last iteration there is no next one.
        if (commits) await checkpoints?.commit("What changed between iterations", true);
        return state;
      },
      fold: async (fold) => {
        await holdLock();
        await writer.fold(fold);
      },
      together: async (work) => {
        writer.hold();
        try {
          await work();
        } finally {
          await holdLock();
          await writer.write();
        }
      },
      rewrite: async (files, at, message) => {
        await holdLock();
        await checkpoints?.announce();
        await writeOutputs(folder, files, at, (notice) => options.notify("warning", notice));
        await checkpoints?.commit(message);
      },
      close: async () => {
        await checkpoints?.finish();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * Reads a folder without its lock and without changing anything.
 * @throws ExpectedError when the state file is missing or invalid.
 */
export async function readRecords<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
): Promise<Loaded<State>> {
  const path = join(folder, format.file);
  const state = await readOnceSaved(path, async () => {
    await requireState(folder, format);
    const read = await readStateFile(path, format);
    if (read.problems !== undefined) throw await invalid(folder, format, read.problems);
    return read.ok;
  });
  return { state, ledger: (await readLedger(folder, format.ledger)).lines };
}

/** What is appended to must be files: on anything else a fold would fail, once its agent is paid. */
async function requireLogs(
  folder: string,
  { log, ledger, otherLogs }: { log: string; ledger: string; otherLogs: readonly string[] },
): Promise<void> {
  for (const path of [log, ledger, ...otherLogs].map((name) => join(folder, name))) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true)
      throw new ExpectedError(`${path} is a folder where a file belongs; move it away.`);
    if (found !== undefined) requireRegular(found, path);
  }
}
