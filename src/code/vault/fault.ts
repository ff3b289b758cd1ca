import { createHash } from "node:crypto";
import { extname } from "node:path";
import type { Snapshots } from "../../task/project-files/snapshots.js";
import type { TestFailure } from "../../task/generated/ralph-state.js";
import { isTestFile } from "../graph/source-text.js";
import { type Symbols, symbolsIn } from "../graph/symbols.js";

/** The text of a file of the project by its path; undefined where there is no such text. */
export type TextOf = (path: string) => Promise<string | undefined> | string | undefined;

/** A symbol that a fix has changed. */
export interface ChangedSymbol {
  readonly file: string;
  /** As {@link symbolsIn} names it. */
  readonly symbol: string;
  /** Each line whose number has changed: its hash, and how often the symbol held it before the fix and after it. */
  readonly lines: readonly (readonly [hash: string, before: number, after: number])[];
}

/** Most files of a change whose symbols are kept, and most lines of a symbol. */
const maxFiles = 20;
const maxLines = 100;

/**
 * The symbols that differ between two snapshots; those of tests only where nothing else differs.
 * @throws ExpectedError where git fails.
 */
export async function changedSymbols(
  snapshots: Pick<Snapshots, "changes" | "textAt">,
  from: string,
  to: string,
): Promise<ChangedSymbol[]> {
  const all = (await snapshots.changes(from, to)).map(({ path }) => path);
  const sources = all.filter((path) => !isTestFile(path));
  const found: ChangedSymbol[] = [];
  for (const file of (sources.length === 0 ? all : sources).slice(0, maxFiles)) {
    const [before, after] = [await snapshots.textAt(from, file), await snapshots.textAt(to, file)];
    const [then, now] = [await countsIn(file, before), await countsIn(file, after)];
    for (const symbol of new Set([...then.keys(), ...now.keys()])) {
      const [old, fresh] = [then.get(symbol) ?? none, now.get(symbol) ?? none];
      const lines = [...new Set([...old.keys(), ...fresh.keys()])]
        .map((line) => [line, old.get(line) ?? 0, fresh.get(line) ?? 0] as const)
        .filter(([, was, is]) => was !== is);
      if (lines.length > 0) found.push({ file, symbol, lines: lines.slice(0, maxLines) });
    }
  }
  return found;
}

/** How the project stands to a fix: its fault is back, the fix stands, or its symbols hold something else by now. */
export type Standing = "back" | "mended" | "other";

/** @see Standing */
export async function standingOf(changed: readonly ChangedSymbol[], textOf: TextOf): Promise<Standing> {
  const standings: Standing[] = [];
  for (const { file, symbol, lines } of changed) {
    const now = (await countsIn(file, await textOf(file))).get(symbol) ?? none;
    // A line that the fix took out has to be there again, and one that it put in has to be gone.
    const isAs = (wanted: "before" | "after") =>
      lines.every(([line, before, after]) => {
        const [is, want] = [now.get(line) ?? 0, wanted === "before" ? before : after];
        return Math.max(before, after) === want ? is >= want : is <= want;
      });
    standings.push(isAs("before") ? "back" : isAs("after") ? "mended" : "other");
  }
  if (standings.includes("back")) return "back";
  return standings.includes("other") || standings.length === 0 ? "other" : "mended";
}

const none: ReadonlyMap<string, number> = new Map();

/** How often each line stands in a symbol, by symbol and hash. */
async function countsIn(file: string, text: string | undefined): Promise<Map<string, Map<string, number>>> {
  const counts = new Map<string, Map<string, number>>();
  if (text === undefined) return counts;
  for (const [symbol, lines] of (await symbolsOrWhole(file, text)).lines) {
    const of = new Map<string, number>();
    for (const line of lines) of.set(hashOf(line), (of.get(hashOf(line)) ?? 0) + 1);
    counts.set(symbol, of);
  }
  return counts;
}

const hashOf = (line: string): string => createHash("sha256").update(line).digest("hex").slice(0, 10);

/** Where a grammar is not built for this platform, a file is one symbol. */
const symbolsOrWhole = (file: string, text: string): Promise<Symbols> =>
  symbolsIn(file, text).catch(() => symbolsIn("", text));

/**
 * Where in the sources a test fails, as `file#symbol`: the innermost frame of the project. Empty where that is the test
 * itself, which only compares.
 */
export async function frameOf({ file, line }: TestFailure, textOf: TextOf): Promise<string> {
  if (file === undefined || isTestFile(file) || extname(file) === "") return "";
  const text = await textOf(file);
  return text === undefined ? "" : `${file}#${(await symbolsOrWhole(file, text)).at(line ?? 1)}`;
}

/** Most characters of an error that is compared. */
const maxError = 300;

/** What a failing test says, without paths and addresses, which differ from run to run. Values and numbers stay. */
export const errorOf = ({ type = "logic", message }: TestFailure): string =>
  `${type}: ${message}`
    .slice(0, 2_000)
    .replace(/(?:file:\/\/)?(?:\/[\w.@~+-]+){2,}(?::\d+)*|\b0x[0-9a-f]+\b/gi, "…")
    .replace(/\s+/g, " ")
    .slice(0, maxError);
