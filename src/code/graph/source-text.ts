import { constants, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { readTextSync } from "../../engine/storage/regular-file.js";

/** Larger files are not source code. */
const maxFileBytes = 1_000_000;

/**
 * The path within the folder that a name of an agent's means; undefined where it leads out of it, also by a link, is no
 * file, or is too large to be source code.
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
 * The text of a file of the folder; undefined where it is not a file, is binary, or is too large. Never follows a link.
 */
export function textOf(folder: string, path: string): string | undefined {
  const text = readTextSync(join(folder, path), maxFileBytes, constants.O_NOFOLLOW);
  return text?.includes("\0") === true ? undefined : text;
}

/** Whether a file holds tests, by its name. */
export const isTestFile = (path: string): boolean =>
  /(?:^|\/)(?:tests?|__tests__|spec)\/|\.(?:test|spec)\.[^/]+$|(?:^|\/)test_[^/]+\.py$|_test\.(?:py|go)$/.test(path);

/** Lines of a file with their numbers, as far as they fit; what was left out is said. */
export function linesOf(text: string, first: number, last: number, tokens: number): string {
  const lines = text.split("\n");
  const shown: string[] = [];
  let used = 0;
  const end = Math.min(last, lines.length);
  for (let at = Math.max(1, first); at <= end; at += 1) {
    const line = `${at}\t${(lines[at - 1] ?? "").slice(0, 400)}`;
    used += estimateTokens(line) + 1;
    if (used > tokens) {
      shown.push(`… lines ${at} to ${end} are left out`);
      break;
    }
    shown.push(line);
  }
  return shown.join("\n");
}
