import { hasCode } from "../../lib/errors.js";
import { withExplainedErrors } from "../explain-system-error.js";
import { readRegularText } from "../regular-file.js";

/** The parsed content of a file with one record per line. */
export interface ParsedLog<Line> {
  /** In the order of the file. */
  readonly lines: readonly Line[];
  /** One sentence for each line that could not be read. */
  readonly notices: readonly string[];
}

/** Maximum number of notices, so that a file that is not a log does not fill the screen with them. */
const maxNotices = 5;

/** The text of a log; empty if it is missing. @throws ExpectedError if it can't be read. */
export async function logText(path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    return withExplainedErrors(path, () => Promise.reject(error));
  }
}

/**
 * Parses the lines of a log. `firstLineNumber`: number of the first line. A line for which `parse` returns undefined is
 * skipped and reported in a notice with `path`. An incomplete last line, which remains if the process was killed while
 * it wrote, is skipped silently.
 */
export function parseLog<Line>(
  text: string,
  path: string,
  parse: (rawLine: string) => Line | undefined,
  firstLineNumber = 1,
): ParsedLog<Line> {
  const lines: Line[] = [];
  const unreadable: number[] = [];
  const rawLines = text.split("\n");
  for (const [index, rawLine] of rawLines.entries()) {
    if (rawLine.trim() === "") continue;
    const line = parse(rawLine);
    if (line !== undefined) lines.push(line);
    else if (index < rawLines.length - 1) unreadable.push(index + firstLineNumber);
  }
  const notices = unreadable
    .slice(0, maxNotices)
    .map((lineNumber) => `${path}:${lineNumber} can't be read and is ignored.`);
  const remaining = unreadable.length - notices.length;
  if (remaining > 0) notices.push(`${path}: ${remaining} more of its lines can't be read and are ignored.`);
  return { lines, notices };
}
