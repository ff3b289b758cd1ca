import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFile,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { sendSignal } from "../process/descendants.js";
import { ExpectedError, hasCode, messageOf } from "../lib/errors.js";
import { hiddenName, temporaryRoot } from "../lib/layout.js";
import { explainSystemError, withExplainedErrors } from "./explain-system-error.js";

/**
 * Whether a file is so large that a synchronous read or write would block other work: 4 MB from the page cache take a
 * few milliseconds. See docs/decisions/synchronous-files.md.
 */
export const isLarge = (bytes: number): boolean => bytes > 4_000_000;

const readAsync = promisify(readFile);

/**
 * Reads the whole file at `path`. If it has more than `maxBytes`, it is not read, and the result is its size in bytes.
 * Only regular files are read, because a read of a FIFO would wait forever.
 * @throws ExpectedError for a FIFO, socket or device; the system's error for a folder or a missing file.
 */
export async function readRegularUpTo(path: string, maxBytes: number): Promise<Buffer | number> {
  const file = openForReading(path);
  try {
    const stats = fstatSync(file);
    requireRegular(stats, path);
    if (stats.size > maxBytes) return stats.size;
    return isLarge(stats.size) ? await readAsync(file) : readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function openForReading(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    // A socket can't be opened at all.
    throw hasCode(error, "ENXIO") ? notRegularError(path) : error;
  }
}

/** Reads a regular file of any size. @throws as readRegularUpTo */
export const readRegularFile = (path: string): Promise<Buffer> =>
  readRegularUpTo(path, Number.POSITIVE_INFINITY) as Promise<Buffer>;

/** The error for a file of the user that can't be read: that it is missing, or the reason of the system. */
export const unreadableFile = (error: unknown, path: string): ExpectedError =>
  new ExpectedError(
    hasCode(error, "ENOENT") ? `There is no file ${path}.` : `${path} can't be read: ${messageOf(error)}.`,
    2,
  );

/** Reads a regular file as text, without its byte order mark. @throws as readRegularUpTo */
export const readRegularText = async (path: string): Promise<string> => decodeText(await readRegularFile(path));

const decodeText = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\uFEFF/, "");

/**
 * Decodes the bytes of a file that a user wrote, without the byte order mark. `path`: for the error.
 * @throws ExpectedError if the encoding is not UTF-8, because letters outside ASCII would be lost.
 */
export function decodeUserText(bytes: Buffer, path: string): string {
  // UTF-16 without a byte order mark is valid UTF-8, but contains NUL bytes.
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new ExpectedError(`${path} is not UTF-8; save it as UTF-8 in your editor.`);
  return decodeText(bytes);
}

/**
 * Reads a text file synchronously. Undefined if the file is missing, larger than `maxBytes`, or not a regular file: an
 * agent may have put a pipe there, or a link to a device that never ends. `flags`: additional flags for open.
 */
export function readTextSync(path: string, maxBytes: number, flags = 0): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * Reads the stats of the file or folder at a path; links are followed. Undefined if nothing exists there, also for a
 * link that leads to itself, and for a name that is longer than the system allows.
 * @throws ExpectedError if permission is missing
 */
export function readStats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG")) return undefined;
    throw explainSystemError(error, path);
  }
}

/** The entries of a folder; empty if it can't be read. */
export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * @throws ExpectedError if these stats are neither of a regular file nor of a folder. A folder is allowed here: to read
 * it fails with the system's error.
 */
export function requireRegular(stats: Stats, path: string): void {
  if (!stats.isFile() && !stats.isDirectory()) throw notRegularError(path);
}

const notRegularError = (path: string): ExpectedError =>
  new ExpectedError(`${path} is not a regular file; replace it with a regular file.`);

/**
 * Creates a folder and its missing parents. Node's recursive mkdir throws ENOENT if it can't create a parent; a message
 * from that error would say that the folder was deleted. This function throws the real error, such as EROFS or EACCES.
 * The folder .ralph is created only in an existing folder: a project that was moved during a run must not appear again
 * in its old place.
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    makeSingleFolder(path, mode);
  } catch (error) {
    if (!hasCode(error, "ENOENT") || dirname(path) === path || basename(path) === hiddenName) throw error;
    makeFolder(dirname(path), mode);
    // In /proc, mkdir reports ENOENT even if the parent exists.
    makeSingleFolder(path, mode);
  }
}

function makeSingleFolder(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

const temporaryPurposes = ["sandbox", "git", "brief", "probe"] as const;
const temporaryName = new RegExp(`^rr-(?:${temporaryPurposes.join("|")})-(\\d+)-`);

const cleanedRoots = new Set<string>();

/**
 * Creates a private folder in the temporary folder; its name contains the purpose and the pid. The first call in a
 * process removes the folders of killed processes.
 * @throws ExpectedError if the disk is full or permission is missing.
 */
export function makeTemporaryFolder(
  purpose: (typeof temporaryPurposes)[number],
  root: string = temporaryRoot(),
): string {
  return withExplainedErrors(root, () => {
    if (!cleanedRoots.has(root)) removeAbandonedFolders(root);
    cleanedRoots.add(root);
    return mkdtempSync(join(root, `rr-${purpose}-${process.pid}-`));
  });
}

/** Removes the temporary folders of this user's processes that have ended. */
export function removeAbandonedFolders(root: string): void {
  for (const name of readdirSync(root)) {
    const pid = temporaryName.exec(name)?.[1];
    const path = join(root, name);
    if (pid === undefined || sendSignal(Number(pid), 0)) continue;
    // Another process that starts at the same time may have removed it.
    if (statSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
