import {
  chmodSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { hasCode } from "../../lib/errors.js";
import { coarsestTimeStep, inodeAt, temporaryName } from "../atomic-file.js";
import { readRegularUpTo } from "../regular-file.js";

/** What stands at a path, whole, so that it can be put there again. `other`: a folder, a FIFO and the like. */
export type Version =
  | { readonly kind: "absent" | "other" }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number };

/** A file of more bytes than any of our files can have is not read: it is different anyway. */
const maxBytes = 256 * 1024 * 1024;

/** A version, and by what it is seen later on that nobody has touched it since. */
export interface Snapshot {
  readonly version: Version;
  /** Undefined where the file was changed so shortly before that a second change might not show. */
  readonly stamp?: string;
}

/** What stands at `path`. Never follows a link and never waits for a FIFO. */
export async function snapshotOf(path: string): Promise<Snapshot> {
  const found = inodeAt(path);
  // Before it is read: what changes meanwhile must show.
  const isSettled = found === undefined || Date.now() - found.ctimeMs > coarsestTimeStep;
  try {
    const version = found === undefined ? absent : await versionOf(path, found);
    return isSettled ? { version, stamp: stampIn(found) } : { version };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return { version: absent };
    throw error;
  }
}

/** Whether nobody has touched `path` since; false also where that can't be told without reading it. */
export const isUntouched = (path: string, { stamp }: Snapshot): boolean =>
  stamp !== undefined && stampIn(inodeAt(path)) === stamp;

/** Whether `path` is no longer as it was. The time of the last change of an inode can't be set back by a program. */
export async function hasChanged(path: string, snapshot: Snapshot): Promise<boolean> {
  if (isUntouched(path, snapshot)) return false;
  return !isSameVersion(await versionAt(path), snapshot.version);
}

/** As snapshotOf, the version alone. */
export const versionAt = async (path: string): Promise<Version> => (await snapshotOf(path)).version;

const absent: Version = { kind: "absent" };

const stampIn = (found: Stats | undefined): string =>
  found === undefined ? "absent" : `${found.ino}:${found.mode}:${found.size}:${found.ctimeMs}`;

async function versionOf(path: string, found: Stats): Promise<Version> {
  if (found.isSymbolicLink()) return { kind: "link", to: readlinkSync(path) };
  const bytes = found.isFile() ? await readRegularUpTo(path, maxBytes) : 0;
  return typeof bytes === "number" ? { kind: "other" } : { kind: "file", bytes, mode: found.mode & 0o7777 };
}

export function isSameVersion(a: Version, b: Version): boolean {
  if (a.kind === "file" && b.kind === "file") return a.bytes.equals(b.bytes);
  if (a.kind === "link" && b.kind === "link") return a.to === b.to;
  return a.kind === b.kind;
}

/**
 * Moves whatever stands at `path` to `aside`. What can't be moved is removed; answers whether it was moved. In one go,
 * as the two below, so that nothing of this process comes between a look at a file and what is done to it.
 */
export function moveAside(path: string, aside: string): boolean {
  try {
    mkdirSync(dirname(aside), { recursive: true });
    renameSync(path, aside);
    return true;
  } catch {
    rmSync(path, { recursive: true, force: true });
    return false;
  }
}

/**
 * Keeps a file that stands at `path` at `aside` as well, where that can be; anything else is moved there. A kill
 * afterwards does not find the file gone. Answers whether it is kept.
 */
export function keepAside(path: string, version: Version, aside: string): boolean {
  if (version.kind !== "file") return moveAside(path, aside);
  try {
    mkdirSync(dirname(aside), { recursive: true });
    rmSync(aside, { recursive: true, force: true });
    writeFileSync(aside, version.bytes, { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Puts a version at `path` in one step, in place of a file or link there. One of another kind than file or link can't
 * be made again.
 */
export function putVersion(path: string, version: Version): void {
  if (version.kind !== "file" && version.kind !== "link") return;
  mkdirSync(dirname(path), { recursive: true });
  const temp = temporaryName(path);
  if (version.kind === "link") symlinkSync(version.to, temp);
  else {
    writeFileSync(temp, version.bytes, { flag: "wx" });
    chmodSync(temp, version.mode);
  }
  renameSync(temp, path);
}
