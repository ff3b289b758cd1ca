import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../generated/rrd.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { requireRegular } from "../../engine/storage/regular-file.js";
import { readOnceSaved } from "../../engine/storage/wait-for-editor.js";
import { stampOf, sweepTemporaryFiles, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeJournal } from "../../engine/storage/records/journal.js";
import { readLedger } from "../../engine/storage/records/ledger.js";
import { acquireLock } from "../../engine/storage/lock.js";
import type { Research, ResearchOptions } from "./research-types.js";
import { readRrdFile } from "./rrd-file.js";
import { invalid, requireState } from "./state-file.js";
import { openWriter } from "../../engine/storage/records/writer.js";

import { hiddenFolder, journalFolder, ledgerName, lockFile } from "../../engine/lib/layout.js";
import { committedFiles, progressName, queriesName, rrdFile, textsFolder } from "./layout.js";

export type { Change } from "../../engine/storage/records/record-merge.js";
export type { Fold, Research, ResearchOptions } from "./research-types.js";

/**
 * Opens a research for writing: takes its lock, sweeps leftovers, replays what a kill interrupted, restores stale saves.
 * @throws ExpectedError when another process holds it, the folder can't be written, or rrd.json is invalid.
 */
export async function openResearch(folder: string, options: ResearchOptions): Promise<Research> {
  return openResearchAfter(folder, options, async () => undefined);
}

/** As openResearch; `prepare` runs once the lock is held and before anything is read. */
export async function openResearchAfter(
  folder: string,
  options: ResearchOptions,
  prepare: () => Promise<void>,
): Promise<Research> {
  // Before the lock, so that a wrong path does not get a .ralph of its own.
  await requireState(folder);
  await requireLogs(folder);
  const hidden = hiddenFolder(folder);
  const take = async () => {
    await makeJournal(folder);
    return acquireLock(lockFile(folder), { describe: `The research ${folder}` });
  };
  let lock = await take();
  try {
    // Whatever the .gitignore above says, none of this is for the repository.
    if ((await stampOf(join(hidden, ".gitignore"))) === undefined)
      await writeFileAtomic(join(hidden, ".gitignore"), "*\n");
    for (const place of [folder, hidden, journalFolder(folder), textsFolder(folder)]) await sweepTemporaryFiles(place);
    await prepare();
    // Loaded late: what starts processes takes longer to load than a research to read, and reading alone needs none of it.
    const git = options.git ? await import("../../engine/storage/checkpoints.js") : undefined;
    const checkpoints = await git?.openCheckpoints(
      folder,
      committedFiles,
      (message) => options.notify("warning", message),
      options.abort,
    );
    const writer = await openWriter(folder, options, checkpoints);
    await writer.load();
    const holdLock = async () => {
      if (await lock.isMine()) return;
      // A person who deletes .ralph during a run deletes the lock; another run may have begun since. Where the whole folder was
      // moved, taking the lock would make it anew, and the moved one could not come back to its place.
      await requireState(folder);
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
        const rrd = await writer.edit(change);
        // With the next checkpoint, or at the end: after the last iteration of a research there is no next one.
        if (commits) await checkpoints?.commit("What changed between iterations", true);
        return rrd;
      },
      fold: async (fold) => {
        await holdLock();
        await writer.fold(fold);
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
 * Reads a research without its lock and without changing anything.
 * @throws ExpectedError when rrd.json is missing or invalid.
 */
export async function readResearch(
  folder: string,
): Promise<{ readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] }> {
  const path = rrdFile(folder);
  const rrd = await readOnceSaved(path, async () => {
    await requireState(folder);
    const { ok, problems } = await readRrdFile(path);
    if (ok === undefined) throw await invalid(folder, problems);
    return ok;
  });
  return { rrd, ledger: (await readLedger(folder)).lines };
}

/** What is appended to must be files: on anything else a fold would fail, once its agent is paid. */
async function requireLogs(folder: string): Promise<void> {
  for (const path of [progressName, ledgerName, queriesName].map((name) => join(folder, name))) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true)
      throw new ExpectedError(`${path} is a folder where a file belongs; move it away.`);
    if (found !== undefined) requireRegular(found, path);
  }
}
