import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { createContext, Script } from "node:vm";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import { readRegularUpTo } from "../../../engine/storage/regular-file.js";
import { takes } from "../../../engine/tools/tool.js";
import type { AssistantTool } from "../context.js";
import { filesBelow, maxFile, onFile, there } from "./read.js";

interface SearchArguments {
  readonly search_path: string;
  readonly pattern: string;
  readonly case_sensitive?: boolean;
  readonly max_tokens?: number;
  readonly max_results?: number;
}

const usualResults = 100;
const maxResults = 1000;
/** Milliseconds that one search takes at most, and that its pattern takes in one file. */
const maxMs = 20_000;
const maxFileMs = 1_000;
/** Characters of a line that are shown. */
const maxLine = 300;

/** Lines of a text that a pattern fits, by their numbers from 1; "slow" where it takes too long. */
type Find = (text: string, most: number) => readonly number[] | "slow";

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * A model's pattern may take without end (catastrophic backtracking), and nothing else would happen meanwhile, not even
 * Ctrl+C: it runs under a limit of time.
 */
function finder(pattern: string, isExact: boolean): { find: Find; isLiteral: boolean } {
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
      // It may be an Error of the pattern's own context.
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
  parameters: takes(
    {
      search_path: { type: "string" },
      pattern: { type: "string", minLength: 1, maxLength: 1000 },
      case_sensitive: { type: "boolean" },
      max_tokens: { type: "integer", minimum: 1 },
      max_results: { type: "integer", minimum: 1, maximum: maxResults },
    },
    ["search_path", "pattern"],
  ),
  run: async (given, { root, room }, signal) =>
    await onFile(given.search_path, async () => {
      const top = await there(root, given.search_path);
      if (typeof top !== "string") return top;
      const most = given.max_results ?? usualResults;
      const tokens = Math.min(given.max_tokens ?? room, room);
      const { find, isLiteral } = finder(given.pattern, given.case_sensitive ?? false);
      const isFolder = (await stat(top)).isDirectory();
      const until = performance.now() + maxMs;
      const matches: { file: string; line: number; text: string }[] = [];
      let used = 0;
      let searched = 0;
      let stopped: string | undefined;
      for await (const name of isFolder ? filesBelow(top, "**/*", false) : [""]) {
        if (name.endsWith("/")) continue;
        const text = await textOf(isFolder ? join(top, name) : top);
        if (text === undefined) continue;
        searched += 1;
        const lines = find(text, most - matches.length + 1);
        if (lines === "slow") {
          stopped = `The pattern takes longer than a second in ${name || given.search_path}; use a simpler one.`;
          break;
        }
        const all = lines.length === 0 ? [] : text.split("\n");
        for (const line of lines) {
          const shown = (all[line - 1] ?? "").trim().slice(0, maxLine);
          used += estimateTokens(`${name}${line}${shown}`) + 12;
          if (matches.length >= most) stopped = `There are more than ${most} matches.`;
          else if (used > tokens) stopped = `More matches don't fit into ${tokens} tokens.`;
          if (stopped !== undefined) break;
          matches.push({ file: isFolder ? name : given.search_path, line, text: shown });
        }
        if (performance.now() > until) stopped ??= `The search was ended after ${maxMs / 1000} seconds.`;
        if (stopped !== undefined || signal.aborted) break;
      }
      return {
        success: true,
        matches,
        files_searched: searched,
        ...(isLiteral
          ? { note: "The pattern is not a regular expression, so it was searched for as plain text." }
          : {}),
        ...(stopped === undefined ? {} : { truncated: true, reason: stopped }),
      };
    }),
};

/** The text of a file; undefined for one that is binary, too large, a link, or can't be read. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    // A link may lead out of the folder.
    if (!(await lstat(path)).isFile()) return undefined;
    const bytes = await readRegularUpTo(path, maxFile);
    return typeof bytes === "number" || bytes.subarray(0, 8000).includes(0) ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}
