import { estimateTokens } from "../../engine/lib/tokens.js";
import { fence } from "../../engine/lib/sanitise.js";
import { locationIn } from "../../task/test-runs/results.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { fileWithin, isTestFile, linesOf, textOf } from "./source-text.js";
import { distancesFrom, type ImportGraph } from "./graph.js";
import { countEach } from "../../engine/lib/group.js";

/** A file of the project, and how far it is from where it fails. */
export interface Ranked {
  readonly path: string;
  readonly distance: number;
}

/** Lines where it fails, by file. */
type Failing = ReadonlyMap<string, readonly number[]>;

/**
 * Where to begin: the target, the places of the failures, the files that the task or a test names, and those that
 * commands of criteria or what they printed names.
 */
export function startsOf(
  folder: string,
  state: Pick<TaskState, "task" | "checks" | "tested">,
  graph: ImportGraph,
): Failing {
  const { task, checks, tested } = state;
  const starts = new Map<string, number[]>();
  const add = (name: string | undefined, line?: number) => {
    const path = name === undefined ? undefined : fileWithin(folder, name);
    if (path === undefined) return;
    starts.set(path, [...(starts.get(path) ?? []), ...(line === undefined ? [] : [line])]);
  };
  const addFrame = (frame: string) => {
    // A name may have spaces, and then only the folder tells where it begins.
    const place = locationIn(frame, folder);
    add(place?.file, place?.line);
    for (const { file: path, line: row } of framesIn(frame)) if (!path.includes("node_modules")) add(path, row);
  };
  add(task.target);
  for (const { file, line, stack = [], test } of tested?.failures ?? []) {
    add(file, line);
    for (const frame of stack) addFrame(frame);
    for (const first of [test.split(" > ", 1), test.split(/[\s>]/, 1)].flat()) if (graph.imports.has(first)) add(first);
  }
  const open = checks.filter(({ passed }) => !passed);
  for (const { detail } of open) for (const line of detail.split("\n")) addFrame(line);
  const asked = wordsIn(task.task);
  const words = new Set([
    ...asked,
    ...open.flatMap(({ criterion, detail }) => [...wordsIn(`${criterion}\n${detail}`)]),
  ]);
  for (const path of graph.imports.keys()) if (words.has(path) || asked.has(path.split("/").at(-1) ?? "")) add(path);
  if (starts.size === 0)
    // A command may name the folder of its tests.
    for (const path of graph.imports.keys())
      if (isTestFile(path) && ancestorsOf(path).some((above) => words.has(above))) add(path);
  return starts;
}

/** The words of a text that may be paths. */
const wordsIn = (text: string): Set<string> =>
  new Set(text.split(/[^\w./@+-]/).map((word) => word.replace(/^\.\//, "").replace(/[./]$/, "")));

/** The folders that a path lies in, relative as it is. */
const ancestorsOf = (path: string): string[] => {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
};

/** The places that a line of a stack names. */
function framesIn(frame: string): { readonly file: string; readonly line: number }[] {
  const [, python, at] = /File "([^"]{1,300})", line (\d{1,7})/.exec(frame) ?? [];
  if (python !== undefined) return [{ file: python, line: Number(at) }];
  return frame
    .slice(0, 500)
    .split(/[\s()]/)
    .flatMap((word) => {
      const [file = "", row = ""] = word.replace("file://", "").split(":");
      return file.includes(".") && /^\d{1,7}$/.test(row) ? [{ file, line: Number(row) }] : [];
    });
}

/**
 * All files by their distance, the nearest first; without a place to begin at, those that most others import. Files
 * that nothing connects with it are the last.
 */
export function ranked(graph: ImportGraph, starts: Failing): Ranked[] {
  const distances = distancesFrom(graph, [...starts.keys()]);
  const importers = countEach([...graph.imports.values()].flat());
  const far = Math.max(0, ...distances.values()) + 2;
  return [...new Set([...starts.keys(), ...graph.imports.keys()])]
    .map((path) => ({ path, distance: starts.has(path) ? 0 : (distances.get(path) ?? far) }))
    .toSorted(
      (a, b) =>
        a.distance - b.distance ||
        (importers.get(b.path) ?? 0) - (importers.get(a.path) ?? 0) ||
        (a.path < b.path ? -1 : 1),
    );
}

/** Lines around a failing one that are shown where a file does not fit whole. */
const around = 40;
/** Of the room, what the files at distances 0 and 1 may take, so that a name of all the others is left. */
const listTokens = 800;

/**
 * The files as a text of at most so many tokens: those at distances 0 and 1 always, cut where they are too long, then
 * the others whole, as long as there is room, then the names of the rest.
 */
export function rankedText(folder: string, files: readonly Ranked[], failing: Failing, tokens: number): string {
  const near = files.filter(({ distance }) => distance <= 1);
  let left = tokens - listTokens;
  const shown: string[] = [];
  for (const [at, { path, distance }] of near.entries()) {
    const text = textOf(folder, path);
    if (text === undefined) continue;
    const share = Math.max(60, Math.floor(left / (near.length - at)));
    const block = blockOf(path, distance, cutTo(text, failing.get(path) ?? [], share - 60));
    left -= estimateTokens(block);
    if (left < 0) break;
    shown.push(block);
  }
  let at = near.length;
  for (; at < files.length; at += 1) {
    const { path, distance } = files[at] as Ranked;
    const text = textOf(folder, path);
    if (text === undefined) continue;
    const block = blockOf(path, distance, linesOf(text, 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
    const size = estimateTokens(block);
    if (size > left) break;
    left -= size;
    shown.push(block);
  }
  const rest = files.slice(at).map(({ path, distance }) => `${path} (${distance})`);
  return [...shown, ...(rest.length === 0 ? [] : [namesOf(rest)])].join("\n\n");
}

const blockOf = (path: string, distance: number, text: string): string =>
  `## ${path} (distance ${distance})\n${fence(text)}`;

function namesOf(names: readonly string[]): string {
  const kept: string[] = [];
  let used = 30;
  for (const name of names) {
    used += estimateTokens(name) + 1;
    if (used > listTokens) break;
    kept.push(name);
  }
  const more = names.length - kept.length;
  return `Not shown: ${kept.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

/** A file within so many tokens: whole, else what stands around the failing lines, else its beginning. */
function cutTo(text: string, failing: readonly number[], tokens: number): string {
  const whole = linesOf(text, 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  if (estimateTokens(whole) <= tokens) return whole;
  const lines = [...new Set(failing)].toSorted((a, b) => a - b).slice(0, 8);
  if (lines.length === 0) return linesOf(text, 1, Number.POSITIVE_INFINITY, tokens);
  const share = Math.floor(tokens / lines.length);
  return lines.map((line) => linesOf(text, Math.max(1, line - around), line + around, share)).join("\n…\n");
}
