import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { ExpectedError, hasCode } from "../lib/errors.js";
import { claudeName, lessonsName } from "../lib/layout.js";
import { clip, estimateTokens } from "../lib/tokens.js";
import { explainSystemError } from "../storage/explain-system-error.js";
import { readRegularFile, writtenText } from "../storage/regular-file.js";

/** Most estimated tokens of a brief that instructions of the folder take. */
export const instructionTokens = 1_500;

/**
 * What the project asks of every agent that works in a folder, as the first part of a brief: its AGENTS.md, or its
 * CLAUDE.md where that alone is there, and behind it those of the folders above within the git repository, in all at
 * most `tokens` estimated tokens, each named. Empty without any.
 * @throws ExpectedError where one can't be read, or is not UTF-8: standing orders would be lost without a word.
 */
export async function folderInstructions(folder: string, tokens = instructionTokens): Promise<string> {
  const folders = foldersOf(realpathSync(folder));
  const top = folders.at(-1) ?? folder;
  const parts: string[] = [];
  let room = tokens - 40;
  for (const each of folders) {
    const path = [lessonsName, claudeName].map((name) => join(each, name)).find((file) => existsSync(file));
    // A link that leads out of the repository would send whatever it names to the model.
    if (path === undefined || !realpathSync(path).startsWith(`${top}${sep}`)) continue;
    const name = relative(folders[0] ?? folder, path);
    const text = fittingSections(await instructionsIn(path), room - 20, name);
    if (text === "") continue;
    parts.push(`<instructions file="${name}">\n${text}\n</instructions>`);
    room -= estimateTokens(text) + 20;
  }
  return parts.length === 0 ? "" : `# Instructions of this project\n\n${parts.join("\n\n")}\n\n`;
}

/** The folder and those above it up to the root of its git repository; itself where it is in none. */
function foldersOf(folder: string): string[] {
  const found = [folder];
  for (let at = folder; !existsSync(join(at, ".git")); at = dirname(at)) {
    if (at === dirname(at)) return [folder];
    found.push(dirname(at));
  }
  return found;
}

/** The text of a file of instructions; empty where it is missing, or a pipe. Throws as folderInstructions. */
export async function instructionsIn(path: string): Promise<string> {
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    // A pipe or a device holds no notes.
    if (hasCode(error, "ENOENT") || error instanceof ExpectedError) return undefined;
    throw explainSystemError(error, path);
  });
  return bytes === undefined ? "" : writtenText(bytes, path);
}

/** At most `tokens` tokens of a Markdown text, whole sections first come; what was left out is named. */
export function fittingSections(text: string, tokens: number, name: string): string {
  const sections = text.split(/^(?=#{1,3} )/m).filter((section) => section.trim() !== "");
  const kept: string[] = [];
  const left: string[] = [];
  if (tokens < 120) return "";
  let room = tokens - 60;
  for (const section of sections) {
    const size = estimateTokens(section);
    const title = /^#+ (.+)/.exec(section)?.[1] ?? "its beginning";
    if (size <= room) {
      kept.push(section.trim());
      room -= size;
    } else if (kept.length === 0) {
      kept.push(clip(section, room));
      room = 0;
      left.push(`the rest of "${clip(title, 10)}"`);
    } else {
      left.push(`"${clip(title, 10)}"`);
    }
  }
  if (left.length > 0) kept.push(clip(`(Left out of ${name} for length: ${left.join(", ")}.)`, 60));
  return kept.join("\n\n");
}
