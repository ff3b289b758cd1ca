import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ExpectedError, hasCode } from "../../lib/errors.js";
import { inboxFolder, journalFolder, notedFolder } from "../../lib/layout.js";
import { explainSystemError } from "../explain-system-error.js";
import { parseJson } from "./parse-json.js";
import { readRegularFile } from "../regular-file.js";
import type { Fields, StateFormat } from "./format.js";

/**
 * The format that this version writes, stored in the field `format` of every state file. It increases only if an
 * earlier version would lose or misread data; an additional field does neither. A file without it has format 1, because
 * the first versions did not write it.
 */
export const stateVersion = 3;

/** Whether the `format` of a file or line is later than `stateVersion`. */
export const isNewer = (value: unknown): boolean => {
  const { format } = (value ?? {}) as { readonly format?: unknown };
  return typeof format === "number" && format > stateVersion;
};

/**
 * The error for a file of a later format. Such a file may be read, but a write would lose unknown data.
 */
export const newerFormat = (path: string, value: unknown): ExpectedError =>
  new ExpectedError(
    `${path} was written in format ${String((value as { format?: unknown }).format)} by a later version of research-ralph; ` +
      `this one writes format ${stateVersion} and only reads it: update research-ralph, or go on with the version that wrote it.`,
    5,
  );

/** The part of a format that these checks need. */
type Files = Pick<StateFormat<Fields>, "file" | "ledger" | "otherLogs" | "rewrittenFiles">;

/**
 * Checks that this version may write to a folder: no file that a run reads or writes, and no line of its logs, has a
 * later format. Writes nothing, takes no lock.
 * @throws ExpectedError (exit 5) if one of them has a later format.
 */
export async function requireKnownFormats(
  folder: string,
  { file, ledger, otherLogs, rewrittenFiles }: Files,
): Promise<void> {
  const queuedFiles = [journalFolder(folder), inboxFolder(folder), notedFolder(folder)].flatMap(jsonFilesIn);
  for (const path of [join(folder, file), ...rewrittenFiles(folder), ...queuedFiles])
    requireKnownText(path, await readBytes(path));
  for (const log of [ledger, ...otherLogs]) await requireKnownLines(join(folder, log));
}

/** Checks the format of the lines of a log, which may be absent. @throws as requireKnownFormats */
export async function requireKnownLines(log: string): Promise<void> {
  const bytes = await readBytes(log);
  if (!namesLaterFormat(bytes)) return;
  for (const line of bytes.toString("utf8").split("\n")) requireKnownText(log, line);
}

/** Searches the text for "format" before it parses, because a state can be large. @throws as requireKnownFormats */
export function requireKnownText(path: string, content: string | Buffer): void {
  if (!namesLaterFormat(content)) return;
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    // The file is incomplete or being saved; its reader reports that.
    return;
  }
  if (isNewer(value)) throw newerFormat(path, value);
}

/** Whether the content has "format" with a later number anywhere, possibly within a record. */
function namesLaterFormat(content: string | Buffer): boolean {
  const marker = '"format"';
  for (let index = content.indexOf(marker); index >= 0; index = content.indexOf(marker, index + 1)) {
    const start = index + marker.length;
    const followingText =
      typeof content === "string" ? content.slice(start, start + 40) : content.toString("latin1", start, start + 40);
    const number = /^\s*:\s*(\d+)/.exec(followingText)?.[1];
    if (Number(number) > stateVersion) return true;
  }
  return false;
}

/**
 * The paths of the JSON files in a folder that may be absent, in the order of their names.
 * @throws ExpectedError if it can't be read.
 */
export function jsonFilesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.toSorted().map((name) => join(folder, name));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw explainSystemError(error, folder);
  }
}

/** The bytes of a file; empty if it can't be read, which its reader reports. */
const readBytes = (path: string): Promise<Buffer> => readRegularFile(path).catch(() => Buffer.alloc(0));
