import type { LedgerLine } from "../generated/ledger.js";
import { type KnownCost, shortCost } from "./terminal/tally.js";
import { bar, count, duration, pad, truncate, width } from "./terminal/format.js";
import { oneLine } from "../lib/sanitise.js";

/** What a line about a project is made of. */
export interface WatchRow extends KnownCost {
  readonly name: string;
  readonly phase: string;
  readonly progress: { readonly done: number; readonly total: number };
  readonly running: boolean;
  /** What keeps runs from starting: paused or stopped. */
  readonly held?: "paused" | "stopped";
  /** The last iteration's number; 0 before the first. */
  readonly iteration: number;
  readonly tokens: number;
  readonly spentMs?: number;
}

/** What a project has used up: "36.1k tokens · $0.12 · 14m 20s"; undefined where nothing was recorded. */
export function costOf({ tokens, spentMs, ...cost }: WatchRow): string | undefined {
  const parts = [
    ...(tokens > 0 ? [`${count(tokens)} tokens`] : []),
    ...(cost.cost_usd === undefined ? [] : [shortCost(cost)]),
    ...(spentMs === undefined ? [] : [duration(spentMs)]),
  ];
  return parts.length === 0 ? undefined : parts.join(" · ");
}

/** The projects as a table that fits `columns`; names give way first. */
export function watchTable(rows: readonly WatchRow[], columns: number): string[] {
  const cells = rows.map((row) => {
    const { done, total } = row.progress;
    const state = row.running
      ? `iteration ${row.iteration + 1}`
      : row.phase === "COMPLETE"
        ? "finished"
        : (row.held ?? "not running");
    return [row.phase, `${bar(done, total, 10)} ${done}/${total}`, state, costOf(row) ?? "nothing recorded"];
  });
  const widths = [0, 1, 2, 3].map((index) => Math.max(0, ...cells.map((row) => width(row[index] ?? ""))));
  const room = Math.max(12, columns - 1 - widths.reduce((sum, each) => sum + each + 2, 0));
  const names = rows.map(({ name }) => truncate(oneLine(name), room));
  const forNames = Math.max(0, ...names.map(width));
  return rows.map((_, index) => {
    const line = [
      pad(names[index] ?? "", forNames),
      ...(cells[index] ?? []).map((cell, place) => pad(cell, widths[place] ?? 0)),
    ].join("  ");
    return truncate(line.trimEnd(), columns - 1);
  });
}

/** An iteration in one line: "grasping: #5 p3 accepted (3 of 12 done)". */
export function iterationLine(row: WatchRow, line: LedgerLine): string {
  const why = line.outcome === "accepted" || line.reasons?.[0] === undefined ? "" : `: ${oneLine(line.reasons[0])}`;
  const { done, total } = row.progress;
  return `${oneLine(row.name)}: #${line.iteration} ${oneLine(line.unit)} ${line.outcome}${why} (${done} of ${total} done)`;
}
