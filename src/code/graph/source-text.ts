import { constants, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { readTextSync } from "../../engine/storage/regular-file.js";

/** Larger files are not source code. */
const maxFileBytes = 1_000_000;

/**
 * The path within the folder for a name that an agent wrote. Undefined if it leads out of the folder, also by a link,
 * or if it is not a text file of at most 1 MB.
 */
export function fileWithin(folder: string, name: string): string | undefined {
  const path = relative(folder, isAbsolute(name) ? name : resolve(folder, name));
  if (path === "" || path.startsWith("..") || isAbsolute(path) || path.split(sep)[0] === ".git") return undefined;
  try {
    const real = realpathSync(join(folder, path));
    return real === join(realpathSync(folder), path) && textOf(folder, path) !== undefined ? path : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The text of a file of the folder; undefined if it is not a regular file, is binary, or is too large. Never follows a
 * link.
 */
export function textOf(folder: string, path: string): string | undefined {
  const text = readTextSync(join(folder, path), maxFileBytes, constants.O_NOFOLLOW);
  return text?.includes("\0") === true ? undefined : text;
}

/** Numbered lines of a file, as many as fit, with a note about omitted lines. */
export function linesOf(text: string, first: number, last: number, tokens: number): string {
  const lines = text.split("\n");
  const shownLines: string[] = [];
  let usedTokens = 0;
  const end = Math.min(last, lines.length);
  for (let lineNumber = Math.max(1, first); lineNumber <= end; lineNumber += 1) {
    const line = `${lineNumber}\t${(lines[lineNumber - 1] ?? "").slice(0, 400)}`;
    usedTokens += estimateTokens(line) + 1;
    if (usedTokens > tokens) {
      shownLines.push(`… lines ${lineNumber} to ${end} are left out`);
      break;
    }
    shownLines.push(line);
  }
  return shownLines.join("\n");
}
