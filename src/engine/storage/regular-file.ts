import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
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
import { signal } from "../process/descendants.js";
import { ExpectedError, hasCode } from "../lib/errors.js";
import { hiddenName, temporaryRoot } from "../lib/layout.js";
import { explainSystemError, explaining } from "./explain-system-error.js";

/**
 * Whether a file is read and written without holding everything else up: 4 MB from memory take a few milliseconds. See
 * docs/decisions/synchronous-files.md.
 */
export const isLarge = (bytes: number): boolean => bytes > 4_000_000;

const readLater = promisify(readFile);

/**
 * Reads the file at `path` whole; answers with its size in bytes where that is above `maxBytes`. Reading a FIFO would
 * wait forever, so whatever is neither a file nor a folder is refused.
 * @throws ExpectedError for something else than a file; for a folder, and where nothing is there, the system's own
 * error.
 */
export async function readRegularUpTo(path: string, maxBytes: number): Promise<Buffer | number> {
  const file = openToRead(path);
  try {
    const found = fstatSync(file);
    requireRegular(found, path);
    if (found.size > maxBytes) return found.size;
    return isLarge(found.size) ? await readLater(file) : readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function openToRead(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    // A socket can't be opened at all.
    throw hasCode(error, "ENXIO") ? notRegular(path) : error;
  }
}

/** The same without a limit. */
export const readRegularFile = (path: string): Promise<Buffer> =>
  readRegularUpTo(path, Number.POSITIVE_INFINITY) as Promise<Buffer>;

/** The same as text, of which a byte order mark is not part. */
export const readRegularText = async (path: string): Promise<string> => plainText(await readRegularFile(path));

const plainText = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\uFEFF/, "");

/**
 * The text of the file at `path` that a person has written, of these bytes, without a byte order mark.
 * @throws ExpectedError where it is in another encoding than UTF-8: its letters outside of ASCII would be lost.
 */
export function writtenText(bytes: Buffer, path: string): string {
  // UTF-16 without a mark is UTF-8 of letters and NULs.
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new ExpectedError(`${path} is not UTF-8; save it as UTF-8 in your editor.`);
  return plainText(bytes);
}

/**
 * The text of a file, read at once; undefined where it is missing, where it has more than `maxBytes`, and where
 * something else stands in its place: an agent may have left a pipe there, which nobody writes into, or a link to a
 * device without an end. `flags`: more of those that it is opened with.
 */
export function textNow(path: string, maxBytes: number, flags = 0): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    const found = fstatSync(file);
    return found.isFile() && found.size <= maxBytes ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * What stands at a path, links followed; undefined where nothing does, and where nothing can: at a link that leads to
 * itself, and at a name that is longer than the system allows.
 * @throws ExpectedError where the system refuses a look, for want of permission
 */
export function foundAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG")) return undefined;
    throw explainSystemError(error, path);
  }
}

/** @throws ExpectedError where `found` is neither a file nor a folder, for which the system has an error of its own. */
export function requireRegular(found: Stats, path: string): void {
  if (!found.isFile() && !found.isDirectory()) throw notRegular(path);
}

const notRegular = (path: string): ExpectedError =>
  new ExpectedError(`${path} is not a regular file; put the real one in its place.`);

/**
 * Makes a folder and those above it, and leaves what is there. Node's own recursive mkdir says ENOENT where a folder
 * above can't be made, which told people with a read-only disk that their folder was deleted; this one throws what the
 * system said (EROFS, EACCES). A .ralph is made only in a folder that is there: one that was moved away under a run
 * must not come to stand in its old place again.
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    if (!hasCode(error, "ENOENT") || dirname(path) === path || basename(path) === hiddenName) throw error;
    makeFolder(dirname(path), mode);
    // In /proc a folder that is there says ENOENT too.
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

const temporaryKinds = ["sandbox", "git", "brief", "probe"] as const;
const temporaryName = new RegExp(`^rr-(?:${temporaryKinds.join("|")})-(\\d+)-`);

const cleared = new Set<string>();

/**
 * Makes a folder of this user's alone in the temporary one; its name says what it is for and whose it is. The first of
 * a process removes what processes that were killed have left there.
 * @throws ExpectedError where the disk is full or nothing may be written there.
 */
export function makeTemporaryFolder(kind: (typeof temporaryKinds)[number], root: string = temporaryRoot()): string {
  return explaining(root, () => {
    if (!cleared.has(root)) removeLeftFolders(root);
    cleared.add(root);
    return mkdtempSync(join(root, `rr-${kind}-${process.pid}-`));
  });
}

/** Removes the temporary folders of this user's processes that have ended. */
export function removeLeftFolders(root: string): void {
  for (const name of readdirSync(root)) {
    const pid = temporaryName.exec(name)?.[1];
    const path = join(root, name);
    if (pid === undefined || signal(Number(pid), 0)) continue;
    // Another process that begins now may have removed it already.
    if (statSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
