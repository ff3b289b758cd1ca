import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ExpectedError, hasCode } from "../../lib/errors.js";
import { inboxFolder, journalFolder, notedFolder } from "../../lib/layout.js";
import { explainSystemError } from "../explain-system-error.js";
import { parseJson } from "./parse-json.js";
import { readRegularFile } from "../regular-file.js";
import type { Fields, StateFormat } from "./format.js";

/**
 * What every state file carries as `format`: how this version writes them. It rises only where an earlier version would
 * lose or misread something; one more field does neither. A file without it is of format 1: the first versions did not
 * write it.
 */
export const stateVersion = 3;

/** Whether a file or line says that it is of a later format than the one written here. */
export const isNewer = (value: unknown): boolean => {
  const { format } = (value ?? {}) as { readonly format?: unknown };
  return typeof format === "number" && format > stateVersion;
};

/**
 * What to tell a person whose file is of a later format. Reading goes on as far as it goes, writing would lose what is
 * not known here.
 */
export const newerFormat = (path: string, value: unknown): ExpectedError =>
  new ExpectedError(
    `${path} was written in format ${String((value as { format?: unknown }).format)} by a later version of research-ralph; ` +
      `this one writes format ${stateVersion} and only reads it: update research-ralph, or go on with the version that wrote it.`,
    5,
  );

/** What is read of a format here. */
type Files = Pick<StateFormat<Fields>, "file" | "ledger" | "otherLogs" | "rewritten">;

/**
 * Makes sure that a folder may be written: none of the files that a run writes to or takes up is of a later format, nor
 * a line of its logs. Writes nothing, takes no lock.
 * @throws ExpectedError (exit 5) where one is.
 */
export async function requireKnownFormats(
  folder: string,
  { file, ledger, otherLogs, rewritten }: Files,
): Promise<void> {
  const waiting = [journalFolder(folder), inboxFolder(folder), notedFolder(folder)].flatMap(jsonFilesIn);
  for (const path of [join(folder, file), ...rewritten(folder), ...waiting])
    requireKnownText(path, await bytesAt(path));
  for (const log of [ledger, ...otherLogs]) await requireKnownLines(join(folder, log));
}

/** The same of a log alone, which may be absent. */
export async function requireKnownLines(log: string): Promise<void> {
  const bytes = await bytesAt(log);
  if (!namesLaterFormat(bytes)) return;
  for (const line of bytes.toString("utf8").split("\n")) requireKnownText(log, line);
}

/** Looks for the word before it parses: a state can be large, and hardly one is of a later format. */
export function requireKnownText(path: string, content: string | Buffer): void {
  if (!namesLaterFormat(content)) return;
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    // Torn, or being saved: its reader tells.
    return;
  }
  if (isNewer(value)) throw newerFormat(path, value);
}

/** Whether the word stands in it with the number of a later format, be it only within a record. */
function namesLaterFormat(content: string | Buffer): boolean {
  const word = '"format"';
  for (let at = content.indexOf(word); at >= 0; at = content.indexOf(word, at + 1)) {
    const from = at + word.length;
    const after =
      typeof content === "string" ? content.slice(from, from + 40) : content.toString("latin1", from, from + 40);
    const number = /^\s*:\s*(\d+)/.exec(after)?.[1];
    if (Number(number) > stateVersion) return true;
  }
  return false;
}

/**
 * The paths of the JSON files in a folder that may be absent, in the order of their names.
 * @throws ExpectedError where it can't be read.
 */
export function jsonFilesIn(place: string): string[] {
  try {
    const names = readdirSync(place).filter((name) => name.endsWith(".json"));
    return names.toSorted().map((name) => join(place, name));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw explainSystemError(error, place);
  }
}

/** The reader of such a file reports that it can't be read. */
const bytesAt = (path: string): Promise<Buffer> => readRegularFile(path).catch(() => Buffer.alloc(0));
