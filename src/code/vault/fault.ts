import { createHash } from "node:crypto";
import { extname } from "node:path";
import type { Snapshots } from "../../task/project-files/snapshots.js";
import type { TestFailure } from "../../task/generated/ralph-state.js";
import { isTestFile } from "../../task/criteria/tests.js";
import { type Symbols, symbolsIn } from "../graph/symbols.js";

/** Reads the text of a file of the project; undefined if the file has no text. */
export type ReadText = (path: string) => Promise<string | undefined> | string | undefined;

/** A symbol that a fix has changed. */
export interface ChangedSymbol {
  readonly file: string;
  /** The name of the symbol, as {@link symbolsIn} returns it. */
  readonly symbol: string;
  /** Each line whose count changed: its hash, and how often the symbol contained it before and after the fix. */
  readonly lines: readonly (readonly [hash: string, before: number, after: number])[];
}

/** Maximum number of files of a change whose symbols are stored. */
const maxFiles = 20;
/** Maximum number of lines of a symbol. */
const maxLines = 100;

/**
 * The symbols that differ between two snapshots. Symbols of tests only if no other file differs.
 * @throws ExpectedError if git fails.
 */
export async function changedSymbols(
  snapshots: Pick<Snapshots, "changes" | "textAt">,
  from: string,
  to: string,
): Promise<ChangedSymbol[]> {
  const changedFiles = (await snapshots.changes(from, to)).map(({ path }) => path);
  const sources = changedFiles.filter((path) => !isTestFile(path));
  const symbols: ChangedSymbol[] = [];
  for (const file of (sources.length === 0 ? changedFiles : sources).slice(0, maxFiles)) {
    const [before, after] = [await snapshots.textAt(from, file), await snapshots.textAt(to, file)];
    const [countsBefore, countsAfter] = [await lineCountsIn(file, before), await lineCountsIn(file, after)];
    for (const symbol of new Set([...countsBefore.keys(), ...countsAfter.keys()])) {
      const [linesBefore, linesAfter] = [countsBefore.get(symbol) ?? noLines, countsAfter.get(symbol) ?? noLines];
      const lines = [...new Set([...linesBefore.keys(), ...linesAfter.keys()])]
        .map((line) => [line, linesBefore.get(line) ?? 0, linesAfter.get(line) ?? 0] as const)
        .filter(([, countBefore, countAfter]) => countBefore !== countAfter);
      if (lines.length > 0) symbols.push({ file, symbol, lines: lines.slice(0, maxLines) });
    }
  }
  return symbols;
}

/**
 * The state of a fix in the project: its fault is back, the fix is still there, or the symbols have different content.
 */
export type FixState = "back" | "mended" | "other";

/** @see FixState */
export async function fixStateOf(changed: readonly ChangedSymbol[], textOf: ReadText): Promise<FixState> {
  const states: FixState[] = [];
  for (const { file, symbol, lines } of changed) {
    const counts = (await lineCountsIn(file, await textOf(file))).get(symbol) ?? noLines;
    // A line that the fix removed must be there again, and a line that it added must be missing.
    const matches = (wanted: "before" | "after") =>
      lines.every(([line, before, after]) => {
        const [count, wantedCount] = [counts.get(line) ?? 0, wanted === "before" ? before : after];
        return Math.max(before, after) === wantedCount ? count >= wantedCount : count <= wantedCount;
      });
    states.push(matches("before") ? "back" : matches("after") ? "mended" : "other");
  }
  if (states.includes("back")) return "back";
  return states.includes("other") || states.length === 0 ? "other" : "mended";
}

const noLines: ReadonlyMap<string, number> = new Map();

/** How often each line occurs in a symbol: counts by symbol and by hash of the line. */
async function lineCountsIn(file: string, text: string | undefined): Promise<Map<string, Map<string, number>>> {
  const counts = new Map<string, Map<string, number>>();
  if (text === undefined) return counts;
  for (const [symbol, lines] of (await symbolsOrFile(file, text)).lines) {
    const lineCounts = new Map<string, number>();
    for (const line of lines) lineCounts.set(hashOf(line), (lineCounts.get(hashOf(line)) ?? 0) + 1);
    counts.set(symbol, lineCounts);
  }
  return counts;
}

const hashOf = (line: string): string => createHash("sha256").update(line).digest("hex").slice(0, 10);

/** The symbols of a file. If the grammar is not available on this platform, the whole file is one symbol. */
const symbolsOrFile = (file: string, text: string): Promise<Symbols> =>
  symbolsIn(file, text).catch(() => symbolsIn("", text));

/**
 * The place in the sources where a test fails, as `file#symbol`: the innermost frame in the project. Empty if that is
 * the test itself, because then only a comparison failed.
 */
export async function frameOf({ file, line }: TestFailure, textOf: ReadText): Promise<string> {
  if (file === undefined || isTestFile(file) || extname(file) === "") return "";
  const text = await textOf(file);
  return text === undefined ? "" : `${file}#${(await symbolsOrFile(file, text)).at(line ?? 1)}`;
}

/** Maximum characters of an error that is compared. */
const maxErrorChars = 300;

/**
 * The message of a failing test, without paths and addresses, which differ from run to run. Values and numbers stay.
 */
export const errorOf = ({ type = "logic", message }: TestFailure): string =>
  `${type}: ${message}`
    .slice(0, 2_000)
    .replace(/(?:file:\/\/)?(?:\/[\w.@~+-]+){2,}(?::\d+)*|\b0x[0-9a-f]+\b/gi, "…")
    .replace(/\s+/g, " ")
    .slice(0, maxErrorChars);
