import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { hasCode } from "../../engine/lib/errors.js";
import { readRegularFile, readRegularText, writtenText } from "../../engine/storage/regular-file.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { flat } from "./markdown.js";
import { agreedLog } from "../../engine/storage/guard/held-edits.js";
import { lessonsName, progressFile } from "./layout.js";

/** A lesson an agent left about working on this project, with the unit it learned it from. */
export interface Pattern {
  readonly unit: string;
  readonly text: string;
}

const heading = "**Research Patterns:**";
const tailBytes = 256 * 1024;

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
  return (await agreedLog(stateDir, file))?.slice(-tailBytes) ?? readTail(file);
}

const learnedHeading = "## Learned patterns";

/** Patterns that AGENTS.md does not hold yet. */
export async function unlearned(root: string, patterns: readonly Pattern[]): Promise<Pattern[]> {
  const text = await readRegularText(join(root, lessonsName)).catch(() => "");
  return patterns.filter((pattern) => !text.includes(`- ${pattern.text}`));
}

/**
 * Adds patterns to AGENTS.md, at the end of its section "Learned patterns". Each is one line of text and nothing else.
 */
export async function learnPatterns(root: string, patterns: readonly Pattern[]): Promise<void> {
  const fresh = await unlearned(root, patterns);
  if (fresh.length === 0) return;
  const path = join(root, lessonsName);
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return Buffer.from("# What agents should know in this repository\n");
    // One that is there and can't be read would be lost; so would letters of another encoding.
    throw explainSystemError(error, path);
  });
  const text = writtenText(bytes, path);
  const lines = fresh.map((pattern) => `- ${pattern.text}`).join("\n");
  const start = text.indexOf(learnedHeading);
  if (start < 0) {
    await writeFileAtomic(path, `${text.trimEnd()}\n\n${learnedHeading}\n\n${lines}\n`);
    return;
  }
  const next = text.indexOf("\n## ", start + learnedHeading.length);
  const head = text.slice(0, next < 0 ? undefined : next).trimEnd();
  const gap = head.endsWith(learnedHeading) ? "\n\n" : "\n";
  await writeFileAtomic(path, `${head}${gap}${lines}\n${next < 0 ? "" : text.slice(next)}`);
}

/** Empty for what can't be read, and for what is not a file. */
function readTail(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) return "";
    const buffer = Buffer.alloc(Math.min(found.size, tailBytes));
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, found.size - buffer.length));
  } finally {
    closeSync(file);
  }
}
