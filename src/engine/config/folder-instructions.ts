import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { ExpectedError, hasCode } from "../lib/errors.js";
import { claudeName, lessonsName } from "../lib/layout.js";
import { clip, estimateTokens } from "../lib/tokens.js";
import { explainSystemError } from "../storage/explain-system-error.js";
import { readRegularFile, decodeUserText } from "../storage/regular-file.js";

/** Maximum number of estimated tokens of the folder's instructions in a brief. */
export const maxInstructionTokens = 1_500;

/** Estimated tokens of the heading, of the tag around a file, and of the line that names omitted sections. */
const [headingTokens, tagTokens, omissionTokens] = [40, 20, 60];

/** With fewer tokens, no part of a text is shown. */
const minTokens = 120;

/**
 * The project's instructions for every agent that works in a folder, as the first part of a brief: the folder's
 * AGENTS.md, or its CLAUDE.md if there is no AGENTS.md, then the files of the parent folders within the git repository.
 * Each file is in a tag with its name. The total is at most `tokens` estimated tokens. Empty if there are no such
 * files.
 * @throws ExpectedError if a file can't be read, or is not UTF-8: the agent would work without these instructions.
 */
export async function folderInstructions(folder: string, tokens = maxInstructionTokens): Promise<string> {
  const folders = foldersOf(realpathSync(folder));
  const repositoryRoot = folders.at(-1) ?? folder;
  const parts: string[] = [];
  let remainingTokens = tokens - headingTokens;
  for (const currentFolder of folders) {
    const path = [lessonsName, claudeName].map((name) => join(currentFolder, name)).find((file) => existsSync(file));
    // A link out of the repository would send a file from elsewhere to the model.
    if (path === undefined || !realpathSync(path).startsWith(`${repositoryRoot}${sep}`)) continue;
    const name = relative(folders[0] ?? folder, path);
    const text = fittingSections(await instructionsIn(path), remainingTokens - tagTokens, name);
    if (text === "") continue;
    parts.push(`<instructions file="${name}">\n${text}\n</instructions>`);
    remainingTokens -= estimateTokens(text) + tagTokens;
  }
  return parts.length === 0 ? "" : `# Instructions of this project\n\n${parts.join("\n\n")}\n\n`;
}

/** The folder and its parents up to the root of the git repository; only the folder if it is not in a repository. */
function foldersOf(folder: string): string[] {
  const folders = [folder];
  for (let parent = folder; !existsSync(join(parent, ".git")); parent = dirname(parent)) {
    if (parent === dirname(parent)) return [folder];
    folders.push(dirname(parent));
  }
  return folders;
}

/** The text of an instruction file; empty if it is missing, or a pipe. Throws like folderInstructions. */
export async function instructionsIn(path: string): Promise<string> {
  const bytes = await readRegularFile(path).catch((error: unknown) => {
    // `readRegularFile` throws an ExpectedError for a pipe or a device.
    if (hasCode(error, "ENOENT") || error instanceof ExpectedError) return undefined;
    throw explainSystemError(error, path);
  });
  return bytes === undefined ? "" : decodeUserText(bytes, path);
}

/** At most `tokens` tokens of a Markdown text: its first sections that fit, and a line that names the omitted ones. */
export function fittingSections(text: string, tokens: number, name: string): string {
  const sections = text.split(/^(?=#{1,3} )/m).filter((section) => section.trim() !== "");
  const selectedSections: string[] = [];
  const omittedTitles: string[] = [];
  if (tokens < minTokens) return "";
  let remainingTokens = tokens - omissionTokens;
  for (const section of sections) {
    const size = estimateTokens(section);
    const title = /^#+ (.+)/.exec(section)?.[1] ?? "its beginning";
    if (size <= remainingTokens) {
      selectedSections.push(section.trim());
      remainingTokens -= size;
    } else if (selectedSections.length === 0) {
      selectedSections.push(clip(section, remainingTokens));
      remainingTokens = 0;
      omittedTitles.push(`the rest of "${clip(title, 10)}"`);
    } else {
      omittedTitles.push(`"${clip(title, 10)}"`);
    }
  }
  if (omittedTitles.length > 0)
    selectedSections.push(clip(`(Left out of ${name} for length: ${omittedTitles.join(", ")}.)`, omissionTokens));
  return selectedSections.join("\n\n");
}
