import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import { readRegularUpTo } from "../../../engine/storage/regular-file.js";
import { parametersOf } from "../../../engine/tools/tool.js";
import type { AssistantTool } from "../context.js";
import { filesBelow, maxFileBytes, onFile, existingPath } from "./read.js";

interface SearchArguments {
  readonly search_path: string;
  readonly pattern: string;
  readonly case_sensitive?: boolean;
  readonly max_tokens?: number;
  readonly max_results?: number;
}

const defaultResults = 100;
const maxResults = 1000;
/** Maximum milliseconds of one search. */
const maxSearchMs = 20_000;
/** Maximum milliseconds of the pattern in one file. */
const maxFileMs = 1_000;
/** Maximum characters of a line in the result. */
const maxLineChars = 300;

/** Finds the numbers of the lines that match a pattern, from 1. "slow": the pattern takes too long. */
type Find = (text: string, most: number) => readonly number[] | "slow";

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Makes a finder for a pattern. A model's pattern may take exponential time, and would block the process, also for
 * Ctrl+C, so it runs with a time limit.
 */
function makeFinder(pattern: string, isExact: boolean): { find: Find; isLiteral: boolean } {
  const isLiteral = !isRegExp(pattern);
  const source = isLiteral ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`) : pattern;
  const context = createContext(Object.assign(Object.create(null), { source, flags: isExact ? "" : "i" }));
  const script = new Script(`{
    const wanted = new RegExp(source, flags);
    const found = [];
    const lines = text.split("\\n");
    for (let at = 0; at < lines.length && found.length < most; at += 1) if (wanted.test(lines[at])) found.push(at + 1);
    found.join();
  }`);
  const find: Find = (text, most) => {
    try {
      const found = String(script.runInContext(Object.assign(context, { text, most }), { timeout: maxFileMs }));
      return found === "" ? [] : found.split(",").map(Number);
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
  does: ["reads"],
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
  run: async (givenArgs, { root, room }, signal) =>
    await onFile(givenArgs.search_path, async () => {
      const searchPath = await existingPath(root, givenArgs.search_path);
      if (typeof searchPath !== "string") return searchPath;
      const maxMatches = givenArgs.max_results ?? defaultResults;
      const tokens = Math.min(givenArgs.max_tokens ?? room, room);
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
          else if (usedTokens > tokens) stopReason = `More matches don't fit into ${tokens} tokens.`;
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
