import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { ExpectedError } from "../../lib/errors.js";
import { hiddenFolder, journalFolder, lockFile } from "../../lib/layout.js";
import { stampOf, removeTemporaryFiles, writeFileAtomic } from "../atomic-file.js";
import { acquireLock } from "../lock.js";
import { requireRegular } from "../regular-file.js";
import { readWhenSaved } from "./hand-edits/wait-for-editor.js";
import type { Fields, StateFormat } from "./format.js";
import { requireKnownFormats } from "./format-version.js";
import { makeJournal } from "./journal.js";
import { readLedger } from "./ledger.js";
import { type OutputFile, type PieceFile, writeOutputs } from "./output-files.js";
import { invalidStateError, readStateFile, requireState } from "./state-file.js";
import { type Fold, openWriter, type WriterOptions } from "./fold.js";

export interface StoreOptions<State> extends WriterOptions<State> {
  /** Whether to commit checkpoints. Without git or a repository, nothing is committed and nothing is reported. */
  readonly git: boolean;
  /** Set for a command that closes the store within seconds, and not for a run. It waits for other such commands. */
  readonly isShortCommand?: boolean;
  /** Aborted when the run must end at once: then a git that hangs is not waited for. */
  readonly abort?: AbortSignal;
  /** An unconfined agent works on the folder: git then starts no program that was added to its configuration. */
  readonly unconfined?: boolean;
}

/** The state of a piece of work, and the lines of its ledger. */
export interface Loaded<State> {
  readonly state: State;
  readonly ledger: readonly LedgerLine[];
}

/** A folder with a state file and its logs. Only this process writes them. */
export interface RecordStore<State> {
  readonly folder: string;
  /**
   * Reads the state from the disk, and first restores units that an editor overwrote with an older version.
   * @throws ExpectedError for an invalid state file; it is never overwritten.
   */
  load(): Promise<Loaded<State>>;
  /**
   * Changes the state outside of any iteration, as a person would, and returns it. `change` is pure: it is called again
   * if a person saves the file at this moment. The next checkpoint commits the change; with `commits`, `close` commits
   * it if no checkpoint comes before.
   * @throws ExpectedError as load.
   */
  edit(change: (state: State) => State, commits?: boolean): Promise<State>;
  /**
   * The number for a new iteration: one higher than all that were folded, journalled or returned by this function.
   */
  nextIteration(): number;
  /**
   * Merges an iteration into the files. After it is in the journal, a kill can't lose any part of it. An iteration that
   * is already in the ledger is ignored.
   * @throws ExpectedError if a person must first correct something (invalid state file, full disk); the next load
   * completes the fold.
   */
  fold(fold: Fold): Promise<void>;
  /**
   * Runs `work` and writes all its folds and edits together at the end, also if it throws. Until then `load` returns
   * the resulting state, and each fold is written only to the journal.
   * @throws ExpectedError as fold.
   */
  together(work: () => Promise<void>): Promise<void>;
  /**
   * Writes output files that are derived from the current state, outside of any iteration, and commits them.
   * Idempotent. `at`: milliseconds since the epoch.
   */
  rewrite(files: readonly (OutputFile | PieceFile)[], at: number, message: string): Promise<void>;
  /** Commits all remaining changes and releases the lock. */
  close(): Promise<void>;
}

/**
 * Opens a folder for writing: takes its lock, removes temporary files, replays interrupted folds, restores stale saves.
 * `beforeReading` runs under the lock before anything is read.
 * @throws ExpectedError when another process holds it, the folder can't be written, the state file is invalid, or a
 * later version wrote one of its files (exit 5); nothing is written then.
 */
export async function openRecordStore<State extends Fields>(
  folder: string,
  format: StateFormat<State>,
  options: StoreOptions<State>,
  beforeReading: () => Promise<void> = async () => undefined,
): Promise<RecordStore<State>> {
  // Checked before the lock is taken, so that a wrong path does not get a folder .ralph.
  await requireState(folder, format);
  await requireLogs(folder, format);
  await requireKnownFormats(folder, format);
  const stateFolder = hiddenFolder(folder);
  const takeLock = async () => {
    makeJournal(folder);
    const { isShortCommand = false } = options;
    return acquireLock(lockFile(folder), { subject: `The ${format.noun} ${folder}`, isShortCommand });
  };
  let lock = await takeLock();
  try {
    // Nothing in .ralph belongs in the repository, even if the project's .gitignore does not exclude it.
    if (stampOf(join(stateFolder, ".gitignore")) === undefined)
      await writeFileAtomic(join(stateFolder, ".gitignore"), "*\n");
    for (const path of [folder, stateFolder, journalFolder(folder), ...format.foldersWithTemporaryFiles(folder)])
      await removeTemporaryFiles(path);
    await beforeReading();
    // Loaded late: modules that start processes take longer to load than a state takes to read.
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
      if (await lock.isStillHeld()) return;
      // A person who deletes .ralph during a run deletes the lock, and another run may have started since. If the whole
      // folder was moved, taking the lock would create it again, and the person could not move it back.
      await requireState(folder, format);
      lock = await takeLock();
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
        // Deferred to the next checkpoint or to `close`, because no checkpoint follows the last iteration.
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
  const state = await readWhenSaved(path, async () => {
    await requireState(folder, format);
    const parsed = await readStateFile(path, format);
    if (parsed.problems !== undefined) throw await invalidStateError(folder, format, parsed.problems);
    return parsed.ok;
  });
  return { state, ledger: (await readLedger(folder, format.ledger)).lines };
}

/** Requires that the logs are regular files; otherwise a fold would fail after its agent was paid. */
async function requireLogs(
  folder: string,
  { log, ledger, otherLogs }: { log: string; ledger: string; otherLogs: readonly string[] },
): Promise<void> {
  for (const path of [log, ledger, ...otherLogs].map((name) => join(folder, name))) {
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isDirectory() === true)
      throw new ExpectedError(`${path} is a folder where a file belongs; move it away.`);
    if (stats !== undefined) requireRegular(stats, path);
  }
}
