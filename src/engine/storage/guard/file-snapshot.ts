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
import { coarsestTimeStepMs, inodeAt, temporaryName } from "../atomic-file.js";
import { readRegularUpTo } from "../regular-file.js";

/** The complete file or link at a path, so that it can be restored. `other`: a folder, a FIFO and the like. */
export type Version =
  | { readonly kind: "absent" | "other" }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number };

/** Maximum size of a file that is read. This program never writes a larger one, so such a file has been changed. */
const maxBytes = 256 * 1024 * 1024;

/** A version, and a stamp that later shows whether the file has been changed since. */
export interface Snapshot {
  readonly version: Version;
  /** Undefined if the last change was so recent that another change might have the same time. */
  readonly stamp?: string;
}

/** A snapshot of what is at `path`. Never follows a link and never waits for a FIFO. */
export async function snapshotOf(path: string): Promise<Snapshot> {
  const stats = inodeAt(path);
  // Checked before the read, so that a change during the read is detected.
  const isSettled = stats === undefined || Date.now() - stats.ctimeMs > coarsestTimeStepMs;
  try {
    const version = stats === undefined ? absent : await versionOf(path, stats);
    return isSettled ? { version, stamp: stampFrom(stats) } : { version };
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return { version: absent };
    throw error;
  }
}

/** Whether the file at `path` has the stamp of the snapshot. False does not mean that its content has changed. */
export const isUntouched = (path: string, { stamp }: Snapshot): boolean =>
  stamp !== undefined && stampFrom(inodeAt(path)) === stamp;

/** Whether `path` has changed since the snapshot. No program can set back the change time (ctime) of an inode. */
export async function hasChanged(path: string, snapshot: Snapshot): Promise<boolean> {
  if (isUntouched(path, snapshot)) return false;
  return !isSameVersion(await versionAt(path), snapshot.version);
}

/** Like snapshotOf, but returns only the version. */
export const versionAt = async (path: string): Promise<Version> => (await snapshotOf(path)).version;

const absent: Version = { kind: "absent" };

const stampFrom = (stats: Stats | undefined): string =>
  stats === undefined ? "absent" : `${stats.ino}:${stats.mode}:${stats.size}:${stats.ctimeMs}`;

async function versionOf(path: string, stats: Stats): Promise<Version> {
  if (stats.isSymbolicLink()) return { kind: "link", to: readlinkSync(path) };
  const bytes = stats.isFile() ? await readRegularUpTo(path, maxBytes) : 0;
  return typeof bytes === "number" ? { kind: "other" } : { kind: "file", bytes, mode: stats.mode & 0o7777 };
}

export function isSameVersion(a: Version, b: Version): boolean {
  if (a.kind === "file" && b.kind === "file") return a.bytes.equals(b.bytes);
  if (a.kind === "link" && b.kind === "link") return a.to === b.to;
  return a.kind === b.kind;
}

/**
 * Moves whatever is at `path` to `asidePath`; if that fails, removes it. Returns whether it was moved. This function
 * and the next two are synchronous, so that no other work of this process runs between the check of a file and its
 * change.
 */
export function moveAside(path: string, asidePath: string): boolean {
  try {
    mkdirSync(dirname(asidePath), { recursive: true });
    renameSync(path, asidePath);
    return true;
  } catch {
    rmSync(path, { recursive: true, force: true });
    return false;
  }
}

/**
 * Copies the file at `path` to `asidePath`, so that the file still exists if the process is killed now. Anything else
 * than a file is moved. Returns whether this succeeded.
 */
export function copyAside(path: string, version: Version, asidePath: string): boolean {
  if (version.kind !== "file") return moveAside(path, asidePath);
  try {
    mkdirSync(dirname(asidePath), { recursive: true });
    rmSync(asidePath, { recursive: true, force: true });
    writeFileSync(asidePath, version.bytes, { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Restores a version at `path` in one step and replaces a file or link there. Versions other than files and links can't
 * be restored.
 */
export function putVersion(path: string, version: Version): void {
  if (version.kind !== "file" && version.kind !== "link") return;
  mkdirSync(dirname(path), { recursive: true });
  const tempPath = temporaryName(path);
  if (version.kind === "link") symlinkSync(version.to, tempPath);
  else {
    writeFileSync(tempPath, version.bytes, { flag: "wx" });
    chmodSync(tempPath, version.mode);
  }
  renameSync(tempPath, path);
}
