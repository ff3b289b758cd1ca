import type { LedgerLine } from "../generated/ledger.js";
import { type KnownCost, partText, shortCost } from "./terminal/tally.js";
import { count, duration } from "../lib/words.js";
import { bar } from "./terminal/format.js";
import { tableLines } from "./terminal/table.js";
import { oneLine } from "../lib/sanitise.js";

/** What a line about a project is made of. */
export interface WatchRow extends KnownCost {
  readonly name: string;
  readonly phase: string;
  readonly progress: { readonly done: number; readonly total: number };
  readonly running: boolean;
  /** What keeps runs from starting: paused or stopped. */
  readonly held?: "paused" | "stopped";
  /** Why it can't be read; then nothing else is known. */
  readonly broken?: string;
  /** How its last run ended: "limit 14:30". */
  readonly ended?: string;
  /** What is under way: "critic of p1". */
  readonly doing?: string;
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

/** The projects as a table that fits `room` columns; what each did last and cost gives way before its name. */
export const watchTable = (rows: readonly WatchRow[], room: number): string[] =>
  tableLines(
    [{ cut: "before-date" }, { drop: 2 }, {}, {}, { drop: 1 }],
    rows.map((row) => {
      const name = oneLine(row.name);
      if (row.broken !== undefined) return [name, `broken: ${oneLine(row.broken)}`];
      const { done, total } = row.progress;
      return [
        name,
        row.phase,
        `${bar(done, total, 10)} ${done}/${total}`,
        stateOf(row),
        costOf(row) ?? "nothing recorded",
      ];
    }),
    room - 1,
  );

const stateOf = ({ running, iteration, phase, held, ended, doing }: WatchRow): string => {
  if (running) return oneLine(doing ?? `iteration ${iteration + 1}`);
  if (phase === "COMPLETE") return "complete";
  return held ?? ended ?? "not running";
};

/** An iteration in one line: "grasping: #5 p3 accepted (3 of 12 done)". */
export function iterationLine(row: WatchRow, line: LedgerLine): string {
  const why = line.outcome === "accepted" || line.reasons?.[0] === undefined ? "" : `: ${oneLine(line.reasons[0])}`;
  const { done, total } = row.progress;
  const part = line.role === undefined ? "" : `${oneLine(partText(line.role, line.round))} `;
  return `${oneLine(row.name)}: #${line.iteration} ${part}${oneLine(line.unit)} ${line.outcome}${why} (${done} of ${total} done)`;
}
