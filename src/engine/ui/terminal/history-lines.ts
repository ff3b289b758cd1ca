import type { Colors } from "picocolors/types.js";
import type { HistoryCompressed } from "../../generated/event.js";
import { count, many, pad, truncate } from "./format.js";
import { oneLine } from "../../lib/sanitise.js";
import { moneyText, type Tally } from "./tally.js";

const saved = (tokens: number): string =>
  tokens < 0 ? `${count(-tokens)} tokens more than it saves` : `${count(tokens)} tokens saved`;

/** A summary of the history, in one line. */
export function historyLine({
  iteration,
  by,
  charsBefore,
  charsAfter,
  tokensSaved,
  costUsd,
  estimated,
}: HistoryCompressed): string {
  const cost = costUsd === undefined ? "" : `, ${moneyText(costUsd, estimated)}`;
  return `history up to #${iteration} summarised by ${oneLine(by)}: ${charsBefore} to ${charsAfter} characters, about ${saved(tokensSaved)}${cost}`;
}

/** The same as a box that stays on the screen. Each line fits `columns`. */
export function historyBox(event: HistoryCompressed, columns: number, colors: Colors): string[] {
  const { iteration, by, charsBefore, charsAfter, tokensSaved, compressions, totalTokensSaved, costUsd, estimated } =
    event;
  const percent = charsBefore === 0 ? 100 : Math.round((charsAfter / charsBefore) * 100);
  const lines = [
    `History up to #${iteration}, summarised by ${oneLine(by)}`,
    `${charsBefore} → ${charsAfter} characters (${percent} %), about ${saved(tokensSaved)}${costUsd === undefined ? "" : `, ${moneyText(costUsd, estimated)}`}`,
    `${many(compressions, "time")} so far, about ${saved(totalTokensSaved)}`,
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
  const { compressions, charsBefore, charsAfter, tokensSaved } = history;
  return `History summarised ${many(compressions, "time")}: ${charsBefore} to ${charsAfter} characters, about ${saved(tokensSaved)}`;
}
