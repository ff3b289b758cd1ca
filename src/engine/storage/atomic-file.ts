import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  write,
  writeFileSync,
} from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { hasCode } from "../lib/errors.js";
import { withExplainedErrors } from "./explain-system-error.js";
import { recordedContent, announceWrite } from "./guard/own-writes.js";
import { isLarge, requireRegular } from "./regular-file.js";

/** Identifies one version of a file: its inode, size and modification time. */
export type Stamp = string;

/**
 * The largest time step of a file system, in milliseconds (ext4: about 4 ms; FAT: 2 s). Two changes of a file within
 * one step have the same time, so a version that was read within one step after a write must be checked again.
 */
export const coarsestTimeStepMs = 2000;

/**
 * An upper bound of the file system's time step in milliseconds. If the time of a change has a fraction of a second,
 * the file system does not count whole seconds; all such file systems have steps of 10 ms or less.
 */
export const timeStepMsAt = (changedAt: number): number => (changedAt % 1000 === 0 ? coarsestTimeStepMs : 20);

/** The version of the file at `path`; undefined if it is missing. */
export function stampOf(path: string): Stamp | undefined {
  const stats = inodeAt(path);
  return stats && stampFrom(stats);
}

/** Size in bytes; 0 if there is no file. */
export const sizeOf = (path: string): number => inodeAt(path)?.size ?? 0;

/** The stats of the entry at `path`; a link is not followed. Undefined if nothing exists there. */
export function inodeAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

const stampFrom = ({ ino, size, mtimeMs }: Stats): Stamp => `${ino}:${size}:${mtimeMs}`;

interface WriteOptions {
  /** Write only if the file still has this version. This is checked right before the rename. */
  readonly expectedStamp?: Stamp;
  /** False: the write is faster, but the file may be lost at a power cut, or if the process is killed. */
  readonly isDurable?: boolean;
  /** Permissions of a new file. Default: 0666 without the bits of the umask. */
  readonly mode?: number;
}

/**
 * Replaces a file in one step: every reader, also after a power cut, gets either the complete old text or the complete
 * new text. A symbolic link is replaced, not followed; the permissions of an existing file stay. Returns the new
 * version. If the file no longer has the version `expectedStamp`, nothing is written, and the result is undefined.
 * @throws ExpectedError for a full disk, missing permission, a read-only file system or a missing folder.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Buffer,
  options: WriteOptions = {},
): Promise<Stamp | undefined> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return replace(path, (file) => writeBuffer(file, bytes), isLarge(bytes.length), options);
}

/**
 * Like writeFileAtomic, but the content comes in pieces that are made during the write. So the content of a file with
 * ten thousand records is never completely in memory.
 * @throws ExpectedError like writeFileAtomic.
 */
export async function writePiecesAtomic(path: string, pieces: Iterable<string>): Promise<void> {
  await replace(path, (file) => writePieces(file, pieces), true, {});
}

async function replace(
  path: string,
  writeContent: (file: number) => Promise<void>,
  isLargeContent: boolean,
  { expectedStamp, isDurable = true, mode: newFileMode }: WriteOptions,
): Promise<Stamp | undefined> {
  return withExplainedErrors(path, async () => {
    const before = inodeAt(path);
    const tempPath = temporaryName(path);
    try {
      const mode = before?.isFile() === true ? before.mode & 0o7777 : newFileMode;
      const newStamp = await createFile(tempPath, writeContent, mode, isDurable, isLargeContent);
      if (expectedStamp !== undefined && stampOf(path) !== expectedStamp) {
        unlinkSync(tempPath);
        return undefined;
      }
      // ext4 flushes the data when a file is renamed over an existing one: 2.9 ms for 180 KB. If no file exists there,
      // the rename takes 0.3 ms.
      announceWrite(
        path,
        () => readFileSync(tempPath),
        () => {
          if (!isDurable) rmSync(path, { force: true });
          renameSync(tempPath, path);
        },
      );
      if (isDurable) syncFolder(dirname(path));
      return newStamp;
    } catch (error) {
      await rm(tempPath).catch(() => undefined);
      throw error;
    }
  });
}

const writeAsync = promisify(write);
const syncAsync = (file: number): Promise<void> => promisify(fsync)(file).catch(ignoreUnsupportedSync);

function syncNow(file: number): void {
  try {
    fsyncSync(file);
  } catch (error) {
    ignoreUnsupportedSync(error);
  }
}

/** Rethrows an error of fsync, unless the file system does not support it; some network file systems don't. */
function ignoreUnsupportedSync(error: unknown): void {
  if (!hasCode(error, "EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) throw error;
}

async function createFile(
  path: string,
  writeContent: (file: number) => Promise<void>,
  mode: number | undefined,
  isDurable: boolean,
  isLargeContent: boolean,
): Promise<Stamp> {
  const file = openSync(path, "wx", mode);
  try {
    // The umask removes bits of the mode that open receives, so the permissions of an existing file are set again.
    if (mode !== undefined) fchmodSync(file, mode);
    await writeContent(file);
    if (isDurable) {
      if (isLargeContent) await syncAsync(file);
      else syncNow(file);
    }
    return stampFrom(fstatSync(file));
  } finally {
    closeSync(file);
  }
}

async function writeBuffer(file: number, bytes: Buffer): Promise<void> {
  if (!isLarge(bytes.length)) writeFileSync(file, bytes);
  else for (let offset = 0; offset < bytes.length;) offset += (await writeAsync(file, bytes, offset)).bytesWritten;
}

/** The pieces are written when they have this number of characters. */
const maxPendingChars = 256_000;

async function writePieces(file: number, pieces: Iterable<string>): Promise<void> {
  let pendingPieces: string[] = [];
  let pendingLength = 0;
  const flush = async () => {
    const bytes = Buffer.from(pendingPieces.join(""));
    pendingPieces = [];
    pendingLength = 0;
    for (let offset = 0; offset < bytes.length;) offset += (await writeAsync(file, bytes, offset)).bytesWritten;
  };
  for (const piece of pieces) {
    pendingPieces.push(piece);
    pendingLength += piece.length;
    if (pendingLength >= maxPendingChars) await flush();
  }
  await flush();
}

/** Makes a rename or a new file in `folder` survive a power cut. Windows can't open folders and needs no sync. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } catch (error) {
    // Some network file systems require a writable handle, which a folder can't have.
    if (!hasCode(error, "EBADF")) ignoreUnsupportedSync(error);
  } finally {
    closeSync(handle);
  }
}

/**
 * Removes the temporary files of interrupted writes in `folder`, which may be absent. Call this only while nobody else
 * writes there.
 */
export async function removeTemporaryFiles(folder: string): Promise<void> {
  await withExplainedErrors(folder, async () => {
    const names = await readdir(folder).catch((error: unknown) =>
      hasCode(error, "ENOENT") ? [] : Promise.reject(error),
    );
    for (const name of names) {
      if (isTemporary(name)) await rm(join(folder, name), { force: true });
    }
  });
}

/** A text to append. `offset`: the size of the file in bytes when the caller decided to append the text. */
interface AppendedText {
  readonly offset: number;
  readonly text: string;
}

/**
 * Appends each text exactly once, even if the function is called several times with the same arguments, or an earlier
 * call was killed. A text that is already in the file is not appended again; an incomplete text is completed; an
 * unfinished last line of another text first gets its line feed. If the user has edited the file since, a text counts
 * as appended if it is anywhere in the file, so each text must be unique. A symbolic link is refused.
 * @throws ExpectedError like writeFileAtomic.
 */
export async function appendOnce(path: string, ...appends: readonly AppendedText[]): Promise<void> {
  const texts = appends.filter(({ text }) => text !== "");
  if (texts.length === 0) return;
  await withExplainedErrors(path, async () => {
    const file = openToAppend(path);
    try {
      const stats = fstatSync(file);
      requireRegular(stats, path);
      const { size } = stats;
      for (const append of texts) {
        const bytesToAppend = missingBytes(byteSourceOf(file), append);
        const expectedContent = () => contentAfterAppend(path, (bytes) => missingBytes(bytes, append));
        announceWrite(path, expectedContent, () => writeFileSync(file, bytesToAppend));
      }
      // Asynchronous, so that two logs can be synced at the same time.
      await syncAsync(file);
      if (size === 0) syncFolder(dirname(path));
    } finally {
      closeSync(file);
    }
  });
}

/** Bytes that can be read piece by piece. */
interface ByteSource {
  readonly size: number;
  /** Returns fewer than `length` bytes at the end. */
  read(position: number, length: number): Buffer;
}

const byteSourceOf = (file: number): ByteSource => ({
  size: fstatSync(file).size,
  read: (position, length) => readAt(file, position, length),
});

/** The content of a watched file after the append; `bytesToAppend` computes what is added to its recorded content. */
function contentAfterAppend(path: string, bytesToAppend: (bytes: ByteSource) => Buffer): Buffer {
  const recordedBytes = recordedContent(path);
  const before = recordedBytes === "unwatched" || recordedBytes === undefined ? Buffer.alloc(0) : recordedBytes;
  const read = (offset: number, length: number) => before.subarray(offset, offset + length);
  return Buffer.concat([before, bytesToAppend({ size: before.length, read })]);
}

/**
 * Appends lines at every call. An unfinished last line gets its line feed first. A symbolic link is refused. Throws the
 * system's error.
 */
export function appendLines(path: string, text: string): void {
  const bytesToAppend = ({ size, read }: ByteSource) =>
    withLineFeedBefore(Buffer.from(text), read(Math.max(0, size - 1), 1));
  const file = openToAppend(path);
  try {
    requireRegular(fstatSync(file), path);
    const addedBytes = bytesToAppend(byteSourceOf(file));
    announceWrite(
      path,
      () => contentAfterAppend(path, bytesToAppend),
      () => writeFileSync(file, addedBytes),
    );
  } finally {
    closeSync(file);
  }
}

const openToAppend = (path: string): number =>
  openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW, 0o666);

function missingBytes({ size, read }: ByteSource, { offset, text }: AppendedText): Buffer {
  const textBytes = Buffer.from(text);
  if (size === offset) {
    const tail = read(Math.max(0, size - textBytes.length), textBytes.length);
    // The text may be there already: if a person shortened the file before the append, the size can equal the offset.
    if (tail.equals(textBytes)) return Buffer.alloc(0);
    // Only the last line feed of the text is missing.
    const line = textBytes.subarray(0, -1);
    if (textBytes.at(-1) === lineFeed && tail.subarray(-line.length).equals(line)) return textBytes.subarray(-1);
    return withLineFeedBefore(textBytes, tail.subarray(-1));
  }

  const existingBytes = read(offset, textBytes.length + 1);
  for (const shift of [0, 1]) {
    // With shift 1: an earlier call first wrote a line feed after an unfinished line.
    if (shift === 1 && existingBytes[0] !== lineFeed) break;
    // The whole text, or the part of it that the file has.
    const presentPart = existingBytes.subarray(shift, shift + textBytes.length);
    if (presentPart.length > 0 && presentPart.equals(textBytes.subarray(0, presentPart.length)))
      return textBytes.subarray(presentPart.length);
  }
  return missingBytesAfterHandEdit(read(0, size), textBytes);
}

/** The bytes to append if a person has edited the file, so that the offset is no longer valid. */
function missingBytesAfterHandEdit(fileBytes: Buffer, textBytes: Buffer): Buffer {
  if (fileBytes.includes(textBytes)) return Buffer.alloc(0);
  // An overlap of fewer bytes may be chance: many entries begin with "\n## 2026-".
  for (let length = textBytes.length; length >= 24; length--) {
    if (fileBytes.subarray(-length).equals(textBytes.subarray(0, length))) return textBytes.subarray(length);
  }
  return withLineFeedBefore(textBytes, fileBytes.subarray(-1));
}

const lineFeed = 10;

function withLineFeedBefore(textBytes: Buffer, lastByte: Buffer): Buffer {
  const isLineUnfinished = lastByte.length > 0 && lastByte[0] !== lineFeed;
  return isLineUnfinished ? Buffer.concat([Buffer.from("\n"), textBytes]) : textBytes;
}

function readAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, position));
}

const temporaryPattern = /^\..+\.[0-9a-f]{12}\.ralph-tmp$/;

/** A new name next to `path`, in the same folder because a rename does not cross file systems. */
export const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.ralph-tmp`);

/** Whether `temporaryName` made this name, so that the file is from an interrupted write. */
export const isTemporary = (name: string): boolean => temporaryPattern.test(name);
