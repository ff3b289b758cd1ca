import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import { readRegularUpTo } from "../../../engine/storage/regular-file.js";
import { parametersOf } from "../../../engine/tools/tool.js";
import type { AssistantTool } from "../context.js";
import { filesBelow, maxFileBytes, runOnFile, findExistingPath } from "./read.js";

interface SearchArguments {
  readonly search_path: string;
  readonly pattern: string;
  readonly case_sensitive?: boolean;
  readonly max_tokens?: number;
  readonly max_results?: number;
}

const defaultMaxResults = 100;
const maxResults = 1000;
/** Maximum milliseconds of one search. */
const maxSearchMs = 20_000;
/** Maximum milliseconds of a search in one file. */
const maxMsPerFile = 1_000;
/** Maximum characters of a line in the result. */
const maxLineChars = 300;

/** Returns the numbers (from 1) of the first `maxLines` matching lines. "slow": the pattern takes too long. */
type FindLines = (text: string, maxLines: number) => readonly number[] | "slow";

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Makes a finder for a pattern. The pattern runs with a time limit: a model's pattern may take exponential time, and
 * then the process could not even handle Ctrl+C.
 */
function makeFinder(pattern: string, isExact: boolean): { find: FindLines; isLiteral: boolean } {
  const isLiteral = !isRegExp(pattern);
  const source = isLiteral ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern;
  const context = createContext(Object.assign(Object.create(null), { source, flags: isExact ? "" : "i" }));
  const script = new Script(`{
    const regExp = new RegExp(source, flags);
    const found = [];
    const lines = text.split("\\n");
    for (let index = 0; index < lines.length && found.length < maxLines; index += 1)
      if (regExp.test(lines[index])) found.push(index + 1);
    found.join();
  }`);
  const find: FindLines = (text, maxLines) => {
    try {
      const lineNumbers = String(
        script.runInContext(Object.assign(context, { text, maxLines }), { timeout: maxMsPerFile }),
      );
      return lineNumbers === "" ? [] : lineNumbers.split(",").map(Number);
    } catch (error) {
      // The error may belong to the context of the script, so `instanceof` is not used.
      if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return "slow";
      throw error;
    }
  };
  return { find, isLiteral };
}

export const fileSearch: AssistantTool<SearchArguments> = {
  name: "file_search",
  description: "Search a file, or all files below a folder, for a regular expression; lines with their numbers.",
  effects: ["reads"],
  parameters: parametersOf(
    {
      search_path: { type: "string" },
      pattern: { type: "string", minLength: 1, maxLength: 1000 },
      case_sensitive: { type: "boolean" },
      max_tokens: { type: "integer", minimum: 1 },
      max_results: { type: "integer", minimum: 1, maximum: maxResults },
    },
    ["search_path", "pattern"],
  ),
  run: async (givenArgs, { root, maxResultTokens }, signal) =>
    await runOnFile(givenArgs.search_path, async () => {
      const searchPath = await findExistingPath(root, givenArgs.search_path);
      if (typeof searchPath !== "string") return searchPath;
      const maxMatches = givenArgs.max_results ?? defaultMaxResults;
      const maxTokens = Math.min(givenArgs.max_tokens ?? maxResultTokens, maxResultTokens);
      const { find, isLiteral } = makeFinder(givenArgs.pattern, givenArgs.case_sensitive ?? false);
      const isFolder = (await stat(searchPath)).isDirectory();
      const deadline = performance.now() + maxSearchMs;
      const matches: { file: string; line: number; text: string }[] = [];
      let usedTokens = 0;
      let searchedFiles = 0;
      let stopReason: string | undefined;
      for await (const name of isFolder ? filesBelow(searchPath, "**/*", false) : [""]) {
        if (name.endsWith("/")) continue;
        const text = await textOf(isFolder ? join(searchPath, name) : searchPath);
        if (text === undefined) continue;
        searchedFiles += 1;
        const lines = find(text, maxMatches - matches.length + 1);
        if (lines === "slow") {
          stopReason = `The pattern takes longer than a second in ${name || givenArgs.search_path}; use a simpler one.`;
          break;
        }
        const textLines = lines.length === 0 ? [] : text.split("\n");
        for (const line of lines) {
          const shownLine = (textLines[line - 1] ?? "").trim().slice(0, maxLineChars);
          usedTokens += estimateTokens(`${name}${line}${shownLine}`) + 12;
          if (matches.length >= maxMatches) stopReason = `There are more than ${maxMatches} matches.`;
          else if (usedTokens > maxTokens) stopReason = `More matches don't fit into ${maxTokens} tokens.`;
          if (stopReason !== undefined) break;
          matches.push({ file: isFolder ? name : givenArgs.search_path, line, text: shownLine });
        }
        if (performance.now() > deadline) stopReason ??= `The search was ended after ${maxSearchMs / 1000} seconds.`;
        if (stopReason !== undefined || signal.aborted) break;
      }
      return {
        success: true,
        matches,
        files_searched: searchedFiles,
        ...(isLiteral
          ? { note: "The pattern is not a regular expression, so it was searched for as plain text." }
          : {}),
        ...(stopReason === undefined ? {} : { truncated: true, reason: stopReason }),
      };
    }),
};

/** The text of a file; undefined if it is binary, too large, a link, or can't be read. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    // A link may lead out of the folder.
    if (!(await lstat(path)).isFile()) return undefined;
    const bytes = await readRegularUpTo(path, maxFileBytes);
    return typeof bytes === "number" || bytes.subarray(0, 8000).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}
