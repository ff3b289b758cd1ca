import type { QueryLine } from "../../../engine/generated/query.js";
import { appendLines } from "../../../engine/storage/atomic-file.js";
import { withExplainedErrors } from "../../../engine/storage/explain-system-error.js";
import { requireKnownLines, stateVersion } from "../../../engine/storage/state/format-version.js";
import { logText, parseLog, type ParsedLog } from "../../../engine/storage/state/log-lines.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { queriesFile } from "../layout.js";

/** Reads the questions that a project has asked. */
export async function readQueries(folder: string): Promise<ParsedLog<QueryLine>> {
  const path = queriesFile(folder);
  return parseLog(await logText(path), path, parse);
}

/** The questions of a project's own search, without those that agents asked through tools. */
export const ofSearch = (lines: readonly QueryLine[]): QueryLine[] => lines.filter(({ by }) => by === undefined);

/** Whether nothing but whole lines of tools stands in `after` behind `before`. */
export function onlyToolsAdded(before: Uint8Array, after: Uint8Array): boolean {
  const [old, now] = [before, after].map((bytes) => Buffer.from(bytes).toString("latin1")) as [string, string];
  // A torn line is ended before the next is written.
  const ended = old === "" || old.endsWith("\n") ? old : `${old}\n`;
  const added = now.startsWith(ended) ? now.slice(ended.length) : "";
  const rows = Buffer.from(added, "latin1").toString("utf8").split("\n");
  return rows.length > 1 && rows.pop() === "" && rows.every((row) => parse(row)?.by === "tool");
}

function parse(row: string): QueryLine | undefined {
  try {
    const line: QueryLine = JSON.parse(row);
    return problemsOf("query", line).length === 0 ? line : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes questions to the log of a project, in the order of the calls. A torn last line of an earlier process is ended
 * first. Rejects with an ExpectedError for a log of a later format, and for a full or read-only disk: a search that is
 * not recorded can't be replayed.
 */
export function queryRecorder(folder: string): (line: QueryLine) => Promise<void> {
  const path = queriesFile(folder);
  let last: Promise<void> = Promise.resolve();
  let known: Promise<void> | undefined;
  return (line) => {
    const written = last.then(async () => {
      // Tools write there outside of a run too.
      await (known ??= requireKnownLines(path));
      withExplainedErrors(path, () => appendLines(path, loggedLine(line)));
    });
    last = written.catch(() => undefined);
    return written;
  };
}

/** A question as it stands in the file, with its line feed. */
export const loggedLine = (line: QueryLine): string => `${JSON.stringify({ ...line, format: stateVersion })}\n`;
