import type { Rrd } from "../generated/rrd.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { backUp } from "../../engine/storage/state/backup.js";
import { documentNames, progressName, rrdName } from "./layout.js";
import { openResearch, type ResearchOptions } from "./research.js";

export interface EditOptions extends ResearchOptions {
  /** If set, the files are first copied into .ralph/backups/ with this time (milliseconds since the epoch). */
  readonly backupAt?: number;
}

/** A project after an edit. */
export interface EditResult {
  readonly rrd: Rrd;
  /** The folder with the copied files, if `backupAt` was set. */
  readonly backup?: string;
}

/**
 * Changes rrd.json for a command of the user: takes the lock, and first completes interrupted iterations. If the user
 * saves the file by hand at the same time, those fields win (`engine/storage/state/hand-edits/merge-hand-edits.ts`).
 * `change` must be pure. The next checkpoint commits the file. Simultaneous edits wait for each other.
 * @throws ExpectedError if a run has locked the project or rrd.json is invalid.
 */
export async function editResearch(
  folder: string,
  change: (rrd: Rrd) => Rrd,
  { backupAt: backupTime, ...options }: EditOptions,
): Promise<EditResult> {
  const research = await openResearch(folder, { ...options, isShortCommand: true });
  try {
    const backup =
      backupTime === undefined
        ? undefined
        : await backUp(folder, backupTime, [rrdName, progressName, ...documentNames]);
    const rrd = await research.edit(change);
    return { rrd, ...withoutUndefined({ backup }) };
  } finally {
    await research.close();
  }
}
