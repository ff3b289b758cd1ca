import type { Rrd } from "../generated/rrd.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { backUp } from "../../engine/storage/state/backup.js";
import { documentNames, progressName, rrdName } from "./layout.js";
import { openResearch, type ResearchOptions } from "./research.js";

export interface EditOptions extends ResearchOptions {
  /** The files as they were are copied into .ralph/backups/ first, with this time (milliseconds since the epoch). */
  readonly backupAt?: number;
}

/** A project after an edit. */
export interface Edited {
  readonly rrd: Rrd;
  /** The folder with the files as they were, where that was asked for. */
  readonly backup?: string;
}

/**
 * Changes rrd.json for a command of a person: under its lock, after interrupted iterations are completed. What a
 * person saves by hand meanwhile wins, field by field (`engine/storage/state/hand-edits/merge-hand-edits.ts`). `change`
 * is pure. The next checkpoint commits it. Edits at the same moment wait for each other.
 * @throws ExpectedError when a run holds the project or rrd.json is invalid.
 */
export async function editResearch(
  folder: string,
  change: (rrd: Rrd) => Rrd,
  { backupAt: at, ...options }: EditOptions,
): Promise<Edited> {
  const research = await openResearch(folder, { ...options, short: true });
  try {
    const backup = at === undefined ? undefined : await backUp(folder, at, [rrdName, progressName, ...documentNames]);
    const rrd = await research.edit(change);
    return { rrd, ...withoutUndefined({ backup }) };
  } finally {
    await research.close();
  }
}
