import { hasCode } from "../../lib/errors.js";
import { explaining } from "../explain-system-error.js";
import { readRegularText } from "../regular-file.js";

/** A file of which each line is a record of its own. */
export interface ReadLog<Line> {
  /** In the order of the file. */
  readonly lines: readonly Line[];
  /** What could not be read, a sentence each. */
  readonly notices: readonly string[];
}

/** A file that is something else altogether must not fill the screen. */
const noticesMade = 5;

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
 * The lines of a log whose first has this number in the file. One that `parse` makes nothing of is left out and named,
 * `path` with it; a torn last one, which a kill leaves, is left out silently.
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
  const notices = unreadable.slice(0, noticesMade).map((row) => `${path}:${row} can't be read and is ignored.`);
  const more = unreadable.length - notices.length;
  if (more > 0) notices.push(`${path}: ${more} more of its lines can't be read and are ignored.`);
  return { lines, notices };
}
