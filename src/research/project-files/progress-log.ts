import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { approvedLog } from "../../engine/storage/guard/held-edits.js";
import { progressFile } from "./layout.js";
import { onOneLine } from "./markdown.js";

/**
 * An entry of progress.txt: a separator line, `text`, and the line with the iteration's number. The text is made by the
 * kind of unit: for a reading in `progress-entry.ts`, for the others in their `judge-*.ts`.
 */
export const progressEntry = (text: string, iteration: number): string =>
  `---\n\n${text.trimEnd()}\n\nIteration: ${iteration}\n\n`;

/** The entry for an instruction of the user during a run. `id`: the message's id. */
export const steeringEntry = (id: string, words: string): string => `---\n\n## Steering ${id}\n${words}\n\n`;

/** A lesson of an agent about work on this project, and the unit in which it learned the lesson. */
export interface Pattern {
  readonly unit: string;
  readonly text: string;
}

const heading = "**Research Patterns:**";
const maxLogBytes = 256 * 1024;

/** The lines of a progress entry with these patterns; empty without patterns. */
export function patternLines(unit: string, patterns: readonly string[] = []): string[] {
  const texts = patterns.map(onOneLine).filter((text) => text !== "");
  return texts.length === 0 ? [] : [heading, ...texts.map((text) => `- (${unit}) ${text}`), ""];
}

/**
 * The distinct patterns in progress.txt, oldest first. Lines that wait for the user's approval are ignored. Only the
 * last 256 KB of the log are read.
 */
export async function readPatterns(folder: string, stateDir: string): Promise<Pattern[]> {
  const patterns = new Map<string, Pattern>();
  let isInSection = false;
  for (const line of (await endOfLog(folder, stateDir)).split(/\r?\n/)) {
    if (line.startsWith(heading)) isInSection = true;
    else if (isInSection) {
      const match = /^- \(([^)]{1,200})\) (.{1,200})$/.exec(line);
      // On one line, also from logs of earlier versions, so that AGENTS.md gets exactly the text that the user saw.
      const text = onOneLine(match?.[2]);
      if (match === null) isInSection = false;
      else if (text !== "") patterns.set(text, { unit: onOneLine(match[1]), text });
    }
  }
  return [...patterns.values()];
}

/**
 * The user's notes in progress.txt, oldest first: text after the last line of an entry, or after the head of the log.
 * Lines that wait for the user's approval are ignored. Only the last 256 KB of the log are read.
 */
export async function readNotes(folder: string, stateDir: string): Promise<string[]> {
  const [head = "", ...entries] = (await endOfLog(folder, stateDir)).split(/^---\r?$/m);
  return [/^Topic: .*$/m.exec(head), ...entries.map((entry) => /^Iteration: \d+\r?$/m.exec(entry))]
    .map((end) => (end === null ? "" : end.input.slice(end.index + end[0].length).trim()))
    .filter((note) => note !== "");
}

/** The end of progress.txt, without lines that wait for the user's approval. */
async function endOfLog(folder: string, stateDir: string): Promise<string> {
  const file = progressFile(folder);
  return (await approvedLog(stateDir, file))?.slice(-maxLogBytes) ?? endOf(file);
}

/** The last 256 KB of a file; empty if it can't be read or is not a regular file. */
function endOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return "";
    const buffer = Buffer.alloc(Math.min(stats.size, maxLogBytes));
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, stats.size - buffer.length));
  } finally {
    closeSync(file);
  }
}
