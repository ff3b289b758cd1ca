import type { LedgerLine } from "../../generated/ledger.js";
import { ledgerName } from "../../lib/layout.js";
import { join } from "node:path";
import { problemsOf } from "../schema-check.js";
import { tooDeepAt } from "../json-syntax.js";
import { stateVersion } from "./format-version.js";
import { logText, parseLog, type ReadLog } from "./log-lines.js";

/**
 * Reads the ledger of a folder, under its usual name unless another is given; a folder without one has an empty one. A
 * torn last line, which a kill leaves, is mended from the journal.
 */
export async function readLedger(folder: string, name = ledgerName): Promise<ReadLog<LedgerLine>> {
  const path = join(folder, name);
  return parseLedger(await logText(path), path);
}

/** As readLedger, of a text whose first line is that of this number in the file; `path` is named in notices. */
export function parseLedger(text: string, path: string, firstRow = 1): ReadLog<LedgerLine> {
  return parseLog(text, path, parseLine, firstRow);
}

const needed: ReadonlySet<string> = new Set(["iteration", "at", "unit", "phase", "outcome"]);

/**
 * A line that lacks what every line has does not count. Any other field that breaks the schema is left out: sums and
 * times are made of them, and a duration of "12 s" made the statistics of a whole project invalid. What a later version
 * says is kept.
 */
function parseLine(row: string): LedgerLine | undefined {
  try {
    const line: LedgerLine = JSON.parse(row);
    if (tooDeepAt(line) !== undefined) return undefined;
    const broken = new Set(problemsOf("ledger", line).map(({ pointer }) => pointer.split("/")[1] ?? "iteration"));
    for (const name of ["phase", "outcome"] as const) if (typeof line?.[name] === "string") broken.delete(name);
    if ([...broken].some((name) => needed.has(name)) || Number.isNaN(Date.parse(line.at))) return undefined;
    return broken.size === 0
      ? line
      : (Object.fromEntries(Object.entries(line).filter(([name]) => !broken.has(name))) as unknown as LedgerLine);
  } catch {
    return undefined;
  }
}

/**
 * A line as it stands in the file, with its line feed. Each says its format: the next version appends to the same file.
 */
export const formatLine = (line: LedgerLine): string => `${JSON.stringify({ ...line, format: stateVersion })}\n`;

/**
 * The lines that still count: a reset with `to` puts everything back to how it was after that iteration, later resets
 * included. Resets of one unit are among them.
 */
export function countingLines(ledger: readonly LedgerLine[]): readonly LedgerLine[] {
  const last = ledger.findLastIndex(({ outcome, to }) => outcome === "reset" && to !== undefined);
  if (last === -1) return ledger;
  const to = Number(ledger[last]?.to);
  return [
    ...countingLines(ledger.slice(0, last).filter(({ iteration }) => iteration <= to)),
    ...ledger.slice(last + 1),
  ];
}

/**
 * Which units are accepted, and at which iteration, of the lines that still count. A `reset` line takes its unit back.
 */
export function currentAccepted(ledger: readonly LedgerLine[]): ReadonlyMap<string, number> {
  const known = acceptedIn.get(ledger);
  if (known !== undefined) return known;
  const accepted = new Map<string, number>();
  for (const { iteration, unit, outcome } of countingLines(ledger)) {
    if (outcome === "accepted") accepted.set(unit, iteration);
    else if (outcome === "reset") accepted.delete(unit);
  }
  acceptedIn.set(ledger, accepted);
  return accepted;
}

/** Asked several times of one ledger in each iteration; its lines never change. */
const acceptedIn = new WeakMap<readonly LedgerLine[], ReadonlyMap<string, number>>();
