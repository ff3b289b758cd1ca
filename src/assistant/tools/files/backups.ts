import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { makeFolder } from "../../../engine/storage/regular-file.js";

/** Most files that are kept as they were. */
const maxKept = 200;

/**
 * Keeps a file as it was before a tool changed it, in a folder of the user's own: a copy next to the file would get
 * into commits. Answers with its path.
 */
export async function keepBackup(folder: string, path: string, bytes: Buffer, now: number): Promise<string> {
  makeFolder(folder, 0o700);
  const at = new Date(now).toISOString().replace(/[:.]/g, "-");
  // Two files of one name, or one that is changed twice in a millisecond.
  const mark = createHash("sha256").update(path).update(bytes).digest("hex").slice(0, 8);
  const kept = join(folder, `${at}-${mark}-${basename(path).slice(-100)}`);
  await writeFileAtomic(kept, bytes, { mode: 0o600 });
  const all = (await readdir(folder)).sort();
  for (const name of all.slice(0, Math.max(0, all.length - maxKept))) await rm(join(folder, name), { force: true });
  return kept;
}
