import { estimateTokens } from "../../engine/lib/tokens.js";
import { fence } from "../../engine/lib/sanitise.js";
import { isTestFile } from "../../task/criteria/tests.js";
import { locationIn } from "../../task/test-runs/results.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { fileWithin, linesOf, textOf } from "./source-text.js";
import { distancesFrom, type ImportGraph } from "./graph.js";
import { countEach } from "../../engine/lib/group.js";

/** A file of the project and its distance from the failures. */
export interface RankedFile {
  readonly path: string;
  readonly distance: number;
}

/** Line numbers of failures, by file. */
type FailingLines = ReadonlyMap<string, readonly number[]>;

/**
 * The files where the search begins: the target, the places of the failures, and files that are named in the task, in
 * tests, or in commands of open criteria and their output.
 */
export function startingFiles(
  folder: string,
  state: Pick<TaskState, "task" | "checks" | "tested">,
  graph: ImportGraph,
): FailingLines {
  const { task, checks, tested } = state;
  const starts = new Map<string, number[]>();
  const add = (name: string | undefined, line?: number) => {
    const path = name === undefined ? undefined : fileWithin(folder, name);
    if (path === undefined) return;
    starts.set(path, [...(starts.get(path) ?? []), ...(line === undefined ? [] : [line])]);
  };
  const addFrame = (frame: string) => {
    // A path may contain spaces: only the known folder shows where such a path begins.
    const location = locationIn(frame, folder);
    add(location?.file, location?.line);
    for (const { file: path, line } of framesIn(frame)) if (!path.includes("node_modules")) add(path, line);
  };
  add(task.target);
  for (const { file, line, stack = [], test } of tested?.failures ?? []) {
    add(file, line);
    for (const frame of stack) addFrame(frame);
    for (const candidate of [test.split(" > ", 1), test.split(/[\s>]/, 1)].flat())
      if (graph.imports.has(candidate)) add(candidate);
  }
  const failedChecks = checks.filter(({ passed }) => !passed);
  for (const { detail } of failedChecks) for (const line of detail.split("\n")) addFrame(line);
  const taskWords = possiblePathsIn(task.task);
  const allWords = new Set([
    ...taskWords,
    ...failedChecks.flatMap(({ criterion, detail }) => [...possiblePathsIn(`${criterion}\n${detail}`)]),
  ]);
  for (const path of graph.imports.keys())
    if (allWords.has(path) || taskWords.has(path.split("/").at(-1) ?? "")) add(path);
  if (starts.size === 0)
    // A command may name the folder of its tests instead of a file.
    for (const path of graph.imports.keys())
      if (isTestFile(path) && ancestorsOf(path).some((ancestor) => allWords.has(ancestor))) add(path);
  return starts;
}

/** The words of a text that may be paths. */
const possiblePathsIn = (text: string): Set<string> =>
  new Set(text.split(/[^\w./@+-]/).map((word) => word.replace(/^\.\//, "").replace(/[./]$/, "")));

/** The folders that contain a path, as relative paths. */
const ancestorsOf = (path: string): string[] => {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
};

/** The places that a line of a stack trace names. */
function framesIn(frame: string): { readonly file: string; readonly line: number }[] {
  const [, pythonFile, lineNumber] = /File "([^"]{1,300})", line (\d{1,7})/.exec(frame) ?? [];
  if (pythonFile !== undefined) return [{ file: pythonFile, line: Number(lineNumber) }];
  return frame
    .slice(0, 500)
    .split(/[\s()]/)
    .flatMap((word) => {
      const [file = "", row = ""] = word.replace("file://", "").split(":");
      return file.includes(".") && /^\d{1,7}$/.test(row) ? [{ file, line: Number(row) }] : [];
    });
}

/**
 * All files by their distance, nearest first. Files with equal distances are sorted by the number of their importers.
 * Files without a connection come last.
 */
export function rankFiles(graph: ImportGraph, starts: FailingLines): RankedFile[] {
  const distances = distancesFrom(graph, [...starts.keys()]);
  const importers = countEach([...graph.imports.values()].flat());
  const unconnectedDistance = Math.max(0, ...distances.values()) + 2;
  return [...new Set([...starts.keys(), ...graph.imports.keys()])]
    .map((path) => ({ path, distance: starts.has(path) ? 0 : (distances.get(path) ?? unconnectedDistance) }))
    .toSorted(
      (a, b) =>
        a.distance - b.distance ||
        (importers.get(b.path) ?? 0) - (importers.get(a.path) ?? 0) ||
        (a.path < b.path ? -1 : 1),
    );
}

/** The number of lines shown before and after a failing line if a file is too long. */
const contextLines = 40;
/** Tokens that are reserved for the names of files that are not shown. */
const maxNameListTokens = 800;

/**
 * The text of the files in at most `tokens` tokens. Files at distances 0 and 1 always come first, cut if they are too
 * long; then whole files while they fit; then the names of the other files.
 */
export function rankedText(
  folder: string,
  files: readonly RankedFile[],
  failing: FailingLines,
  tokens: number,
): string {
  const nearFiles = files.filter(({ distance }) => distance <= 1);
  let remainingTokens = tokens - maxNameListTokens;
  const blocks: string[] = [];
  for (const [index, { path, distance }] of nearFiles.entries()) {
    const text = textOf(folder, path);
    if (text === undefined) continue;
    const maxBlockTokens = Math.max(60, Math.floor(remainingTokens / (nearFiles.length - index)));
    const block = blockOf(path, distance, cutTo(text, failing.get(path) ?? [], maxBlockTokens - 60));
    remainingTokens -= estimateTokens(block);
    if (remainingTokens < 0) break;
    blocks.push(block);
  }
  let nextIndex = nearFiles.length;
  for (; nextIndex < files.length; nextIndex += 1) {
    const { path, distance } = files[nextIndex] as RankedFile;
    const text = textOf(folder, path);
    if (text === undefined) continue;
    const block = blockOf(path, distance, linesOf(text, 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
    const blockTokens = estimateTokens(block);
    if (blockTokens > remainingTokens) break;
    remainingTokens -= blockTokens;
    blocks.push(block);
  }
  const remainingNames = files.slice(nextIndex).map(({ path, distance }) => `${path} (${distance})`);
  return [...blocks, ...(remainingNames.length === 0 ? [] : [nameListText(remainingNames)])].join("\n\n");
}

const blockOf = (path: string, distance: number, text: string): string =>
  `## ${path} (distance ${distance})\n${fence(text)}`;

function nameListText(names: readonly string[]): string {
  const shownNames: string[] = [];
  let usedTokens = 30;
  for (const name of names) {
    usedTokens += estimateTokens(name) + 1;
    if (usedTokens > maxNameListTokens) break;
    shownNames.push(name);
  }
  const omittedCount = names.length - shownNames.length;
  return `Not shown: ${shownNames.join(", ")}${omittedCount === 0 ? "" : ` and ${omittedCount} more`}`;
}

/** The text of a file in at most `tokens` tokens: the whole file, or the lines around failures, or the beginning. */
function cutTo(text: string, failing: readonly number[], tokens: number): string {
  const fullText = linesOf(text, 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  if (estimateTokens(fullText) <= tokens) return fullText;
  const lines = [...new Set(failing)].toSorted((a, b) => a - b).slice(0, 8);
  if (lines.length === 0) return linesOf(text, 1, Number.POSITIVE_INFINITY, tokens);
  const maxTokensPerPlace = Math.floor(tokens / lines.length);
  return lines
    .map((line) => linesOf(text, Math.max(1, line - contextLines), line + contextLines, maxTokensPerPlace))
    .join("\n…\n");
}
