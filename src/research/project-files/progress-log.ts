import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { approvedLog } from "../../engine/storage/guard/held-edits.js";
import { progressFile } from "./layout.js";
import { flat } from "./markdown.js";

/**
 * An entry of progress.txt as it is appended: `text` between the line that parts entries and the iteration's. A kind of
 * unit words its own: a reading in `progress-entry.ts`, the others as `progress` in their `judge-*.ts`.
 */
export const progressEntry = (text: string, iteration: number): string =>
  `---\n\n${text.trimEnd()}\n\nIteration: ${iteration}\n\n`;

/** The entry of what a person said while a run was under way; `id` names the message. */
export const steeringEntry = (id: string, words: string): string => `---\n\n## Steering ${id}\n${words}\n\n`;

/** A lesson an agent left about working on this project, with the unit it learned it from. */
export interface Pattern {
  readonly unit: string;
  readonly text: string;
}

const heading = "**Research Patterns:**";
const partBytes = 256 * 1024;

/** The lines of a progress entry that carry patterns; empty for none. */
export function patternLines(unit: string, patterns: readonly string[] = []): string[] {
  const texts = patterns.map(flat).filter((text) => text !== "");
  return texts.length === 0 ? [] : [heading, ...texts.map((text) => `- (${unit}) ${text}`), ""];
}

/**
 * Patterns in progress.txt as far as a person has agreed to it, oldest first, each once; of a long log only the last
 * 256 KB are read.
 */
export async function readPatterns(folder: string, stateDir: string): Promise<Pattern[]> {
  const found = new Map<string, Pattern>();
  let inside = false;
  for (const line of (await endOfLog(folder, stateDir)).split(/\r?\n/)) {
    if (line.startsWith(heading)) inside = true;
    else if (inside) {
      const match = /^- \(([^)]{1,200})\) (.{1,200})$/.exec(line);
      // What reaches AGENTS.md is what a person saw, also of a log from before.
      const text = flat(match?.[2]);
      if (match === null) inside = false;
      else if (text !== "") found.set(text, { unit: flat(match[1]), text });
    }
  }
  return [...found.values()];
}

/**
 * What people wrote into progress.txt and no unconfined agent may have added, oldest first: what stands behind the last
 * line of one of our entries, or below the head of a log that `new` began. Of a long log only the last 256 KB are read.
 */
export async function readNotes(folder: string, stateDir: string): Promise<string[]> {
  const [head = "", ...entries] = (await endOfLog(folder, stateDir)).split(/^---\r?$/m);
  return [/^Topic: .*$/m.exec(head), ...entries.map((entry) => /^Iteration: \d+\r?$/m.exec(entry))]
    .map((end) => (end === null ? "" : end.input.slice(end.index + end[0].length).trim()))
    .filter((note) => note !== "");
}

/** The end of progress.txt, without what waits for a person's yes. */
async function endOfLog(folder: string, stateDir: string): Promise<string> {
  const file = progressFile(folder);
  return (await approvedLog(stateDir, file))?.slice(-partBytes) ?? endOf(file);
}

/** The last 256 KB of a file; empty for what can't be read, and for what is not a file. */
function endOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) return "";
    const buffer = Buffer.alloc(Math.min(found.size, partBytes));
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, found.size - buffer.length));
  } finally {
    closeSync(file);
  }
}
