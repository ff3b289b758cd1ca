import type { Colors } from "picocolors/types.js";
import type { HistoryCompressed } from "../../generated/event.js";
import { count, many, pad, truncate } from "./format.js";
import { oneLine } from "../../lib/sanitise.js";
import { moneyText, type Tally } from "./tally.js";

const saved = (tokens: number): string =>
  tokens < 0 ? `${count(-tokens)} tokens more than it saves` : `${count(tokens)} tokens saved`;

const percentOf = (before: number, after: number): number => (before === 0 ? 100 : Math.round((after / before) * 100));

/** A summary of the history, in one line. */
export function historyLine({
  iteration,
  by,
  chars_before,
  chars_after,
  tokens_saved,
  cost_usd,
  estimated,
}: HistoryCompressed): string {
  const cost = cost_usd === undefined ? "" : `, ${moneyText(cost_usd, estimated)}`;
  return `history up to #${iteration} summarised by ${oneLine(by)}: ${chars_before} to ${chars_after} characters (${percentOf(chars_before, chars_after)} %), about ${saved(tokens_saved)}${cost}`;
}

/** The same as a box that stays on the screen. Each line fits `columns`. */
export function historyBox(event: HistoryCompressed, columns: number, colors: Colors): string[] {
  const {
    iteration,
    by,
    chars_before,
    chars_after,
    tokens_saved,
    compressions,
    total_tokens_saved,
    cost_usd,
    estimated,
  } = event;
  const percent = percentOf(chars_before, chars_after);
  const lines = [
    `History up to #${iteration}, summarised by ${oneLine(by)}`,
    `${chars_before} → ${chars_after} characters (${percent} %), about ${saved(tokens_saved)}${cost_usd === undefined ? "" : `, ${moneyText(cost_usd, estimated)}`}`,
    `${many(compressions, "time")} so far, about ${saved(total_tokens_saved)}`,
  ];
  const room = Math.max(1, columns - 5);
  const inner = Math.min(room, Math.max(...lines.map((line) => line.length)));
  const row = (line: string) => `│ ${pad(truncate(line, inner), inner)} │`;
  return [`┌${"─".repeat(inner + 2)}┐`, ...lines.map(row), `└${"─".repeat(inner + 2)}┘`].map((line) =>
    colors.dim(line),
  );
}

/** What a run's summaries came to, for its end; undefined where it made none. */
export function historySummary({ history }: Tally): string | undefined {
  if (history === undefined) return undefined;
  const { compressions, chars_before, chars_after, tokens_saved } = history;
  return `History summarised ${many(compressions, "time")}: ${chars_before} to ${chars_after} characters, about ${saved(tokens_saved)}`;
}
