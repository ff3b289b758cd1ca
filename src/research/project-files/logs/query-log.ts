import type { QueryLine } from "../../../engine/generated/query.js";
import { appendLines } from "../../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../../engine/storage/explain-system-error.js";
import { requireKnownLines, stateVersion } from "../../../engine/storage/state/format-version.js";
import { readLogText, parseLog, type ParsedLog } from "../../../engine/storage/state/log-lines.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { queriesFile } from "../layout.js";

/** Reads the requests of a project to sources. */
export async function readQueries(folder: string): Promise<ParsedLog<QueryLine>> {
  const path = queriesFile(folder);
  return parseLog(await readLogText(path), path, parse);
}

/** The requests of a project's search, without those of agents through tools. */
export const searchQueries = (lines: readonly QueryLine[]): QueryLine[] => lines.filter(({ by }) => by === undefined);

/** Whether `after` is `before` with only complete lines of tools added. */
export function hasOnlyToolsAdded(before: Uint8Array, after: Uint8Array): boolean {
  const [earlierText, currentText] = [before, after].map((bytes) => Buffer.from(bytes).toString("latin1")) as [
    string,
    string,
  ];
  // An incomplete last line is ended before the next line is written.
  const earlierLines = earlierText === "" || earlierText.endsWith("\n") ? earlierText : `${earlierText}\n`;
  const addedText = currentText.startsWith(earlierLines) ? currentText.slice(earlierLines.length) : "";
  const addedLines = Buffer.from(addedText, "latin1").toString("utf8").split("\n");
  return addedLines.length > 1 && addedLines.pop() === "" && addedLines.every((text) => parse(text)?.by === "tool");
}

function parse(text: string): QueryLine | undefined {
  try {
    const line: QueryLine = JSON.parse(text);
    return problemsOf("query", line).length === 0 ? line : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes requests to the log of a project, in the order of the calls. An incomplete last line of an earlier process is
 * ended first. Rejects with an ExpectedError if the log has a later format, or the disk is full or read-only, because a
 * search without a record can't be replayed.
 */
export function queryRecorder(folder: string): (line: QueryLine) => Promise<void> {
  const path = queriesFile(folder);
  let lastWrite: Promise<void> = Promise.resolve();
  let formatCheck: Promise<void> | undefined;
  return (line) => {
    const write = lastWrite.then(async () => {
      // Checked here too, because tools write to the log outside of a run.
      await (formatCheck ??= requireKnownLines(path));
      withExplainedErrors(path, () => appendLines(path, formatQuery(line)));
    });
    lastWrite = write.catch(() => undefined);
    return write;
  };
}

/** The line of a request in the file, with its line feed. */
export const formatQuery = (line: QueryLine): string => `${JSON.stringify({ ...line, format: stateVersion })}\n`;
