import { statfs } from "node:fs/promises";
import { ExpectedError } from "../../engine/lib/errors.js";

/** An agent's result, its notes and the files of its CLI; a result alone may have 5 MB, and most have 10 KB. */
const least = 1_000_000;

/**
 * An agent on a full disk leaves half a result or none, and three of those would give its paper up for no fault of anybody's.
 * @throws ExpectedError when less than 1 MB is left for `folder`.
 */
export async function requireSpace(folder: string): Promise<void> {
  // Where the system can't say, the write itself will.
  const disk = await statfs(folder).catch(() => undefined);
  if (disk === undefined || disk.blocks === 0) return;
  const blocks = process.getuid?.() === 0 ? disk.bfree : disk.bavail;
  if (blocks * disk.bsize >= least) return;
  throw new ExpectedError(
    `There is no space left on the disk for an agent to work in ${folder}; free some, or set state_dir to another disk, and run again.`,
  );
}
