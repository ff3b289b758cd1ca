import { hasCode } from "../../lib/errors.js";
import { explainSystemError } from "../explain-system-error.js";
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

/** Reads the text of a log; empty if the file is missing. @throws ExpectedError if it can't be read. */
export async function readLogText(path: string): Promise<string> {
  try {
    return await readRegularText(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw explainSystemError(error, path);
  }
}

/**
 * Parses the lines of a log. `parse` returns undefined for a line that is not valid; such a line is skipped, and a
 * notice names it with `path`. The last line may be incomplete, because the process was killed while it wrote: then it
 * is skipped without a notice. `firstLineNumber`: the number of the text's first line in the file.
 */
export function parseLog<Line>(
  text: string,
  path: string,
  parse: (rawLine: string) => Line | undefined,
  firstLineNumber = 1,
): ParsedLog<Line> {
  const lines: Line[] = [];
  const unreadableLineNumbers: number[] = [];
  const rawLines = text.split("\n");
  for (const [index, rawLine] of rawLines.entries()) {
    if (rawLine.trim() === "") continue;
    const line = parse(rawLine);
    if (line !== undefined) lines.push(line);
    else if (index < rawLines.length - 1) unreadableLineNumbers.push(index + firstLineNumber);
  }
  const notices = unreadableLineNumbers
    .slice(0, maxNotices)
    .map((lineNumber) => `${path}:${lineNumber} can't be read and is ignored.`);
  const remainingCount = unreadableLineNumbers.length - notices.length;
  if (remainingCount > 0) notices.push(`${path}: ${remainingCount} more of its lines can't be read and are ignored.`);
  return { lines, notices };
}
