import { hasCode } from "../../lib/errors.js";
import { explaining } from "../explain-system-error.js";
import { readRegularText } from "../regular-file.js";

/** The parsed content of a file with one record per line. */
export interface ReadLog<Line> {
  /** In the order of the file. */
  readonly lines: readonly Line[];
  /** One sentence for each line that could not be read. */
  readonly notices: readonly string[];
}

/** A file with completely different content must not fill the screen. */
const maxNotices = 5;

/** The text of a log; empty where it is missing. @throws ExpectedError where it can't be read. */
export async function logText(path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    return explaining(path, () => Promise.reject(error));
  }
}

/**
 * Parses the lines of a log. `firstRow`: line number of the first line. A line for which `parse` returns undefined is
 * skipped and reported in a notice with `path`; an incomplete last line, which a kill leaves, is skipped silently.
 */
export function parseLog<Line>(
  text: string,
  path: string,
  parse: (row: string) => Line | undefined,
  firstRow = 1,
): ReadLog<Line> {
  const lines: Line[] = [];
  const unreadable: number[] = [];
  const rows = text.split("\n");
  for (const [index, row] of rows.entries()) {
    if (row.trim() === "") continue;
    const line = parse(row);
    if (line !== undefined) lines.push(line);
    else if (index < rows.length - 1) unreadable.push(index + firstRow);
  }
  const notices = unreadable.slice(0, maxNotices).map((row) => `${path}:${row} can't be read and is ignored.`);
  const remaining = unreadable.length - notices.length;
  if (remaining > 0) notices.push(`${path}: ${remaining} more of its lines can't be read and are ignored.`);
  return { lines, notices };
}
