import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../generated/ledger.js";
import { ledgerFile, ledgerName } from "../../lib/layout.js";
import { problemsOf } from "../schema-check.js";
import { tooDeepAt } from "../json-syntax.js";
import { stateVersion } from "./format-version.js";
import { readLogText, parseLog, type ParsedLog } from "./log-lines.js";

/**
 * Reads the ledger of a folder; a missing file is an empty ledger. If the process was killed while it wrote, the last
 * line is incomplete. It is ignored here and later completed from the journal.
 */
export async function readLedger(folder: string, name = ledgerName): Promise<ParsedLog<LedgerLine>> {
  const path = join(folder, name);
  return parseLedger(await readLogText(path), path);
}

/** Parses the text of a ledger. `firstLineNumber`: the number of its first line in the file. Notices name `path`. */
export function parseLedger(text: string, path: string, firstLineNumber = 1): ParsedLog<LedgerLine> {
  return parseLog(text, path, parseLine, firstLineNumber);
}

const requiredFields: ReadonlySet<string> = new Set(["iteration", "at", "unit", "phase", "outcome"]);

/**
 * A line without the required fields is ignored. Other invalid fields are removed, because sums and times are computed
 * from them: a duration of "12 s" once made the statistics of a whole project invalid. Unknown values of a later
 * version are kept.
 */
function parseLine(text: string): LedgerLine | undefined {
  try {
    const line: LedgerLine = JSON.parse(text);
    if (tooDeepAt(line) !== undefined) return undefined;
    const invalidFields = new Set(
      problemsOf("ledger", line).map(({ pointer }) => pointer.split("/")[1] ?? "iteration"),
    );
    for (const name of ["phase", "outcome"] as const) if (typeof line?.[name] === "string") invalidFields.delete(name);
    if ([...invalidFields].some((name) => requiredFields.has(name)) || Number.isNaN(Date.parse(line.at)))
      return undefined;
    return invalidFields.size === 0
      ? line
      : (Object.fromEntries(
          Object.entries(line).filter(([name]) => !invalidFields.has(name)),
        ) as unknown as LedgerLine);
  } catch {
    return undefined;
  }
}

/**
 * Serialises a line with its line feed. Each line contains its format, because a later version appends to the same
 * file.
 */
export const formatLine = (line: LedgerLine): string => `${JSON.stringify({ ...line, format: stateVersion })}\n`;

/**
 * Adds work without a project folder to the ledger of the state folder, because it has a cost too. Writes all lines at
 * once, because several programs may write at the same time. Errors are ignored.
 */
export async function recordUnfiledWork(
  stateDir: string,
  command: NonNullable<LedgerLine["command"]>,
  lines: readonly LedgerLine[],
): Promise<void> {
  if (lines.length === 0) return;
  await appendFile(ledgerFile(stateDir), lines.map((line) => formatLine({ ...line, command })).join("")).catch(
    () => undefined,
  );
}

/**
 * The lines that are still valid: a reset with `to` cancels all lines after that iteration, including resets among
 * them. Resets of a single unit are part of the result.
 */
export function validLines(ledger: readonly LedgerLine[]): readonly LedgerLine[] {
  const lastReset = ledger.findLastIndex(({ outcome, to }) => outcome === "reset" && to !== undefined);
  if (lastReset === -1) return ledger;
  const to = Number(ledger[lastReset]?.to);
  return [
    ...validLines(ledger.slice(0, lastReset).filter(({ iteration }) => iteration <= to)),
    ...ledger.slice(lastReset + 1),
  ];
}

/**
 * The accepted units and the iteration of each, from the valid lines. A `reset` line cancels the acceptance of its
 * unit, or of its units.
 */
export function currentAccepted(ledger: readonly LedgerLine[]): ReadonlyMap<string, number> {
  const cached = acceptedCache.get(ledger);
  if (cached !== undefined) return cached;
  const accepted = new Map<string, number>();
  for (const { iteration, unit, units = [unit], outcome } of validLines(ledger)) {
    if (outcome === "accepted") accepted.set(unit, iteration);
    else if (outcome === "reset") for (const each of units) accepted.delete(each);
  }
  acceptedCache.set(ledger, accepted);
  return accepted;
}

/** A cache by ledger: each iteration needs the result for the same ledger several times. */
const acceptedCache = new WeakMap<readonly LedgerLine[], ReadonlyMap<string, number>>();
