import type { Colors } from "picocolors/types.js";
import type { HistoryCompressed } from "../../generated/event.js";
import { shortCount, shortDuration, quantity } from "../../lib/words.js";
import { pad, truncate } from "./format.js";
import { oneLine } from "../../lib/sanitise.js";
import { moneyText } from "./tally.js";

/** The tokens that summaries have saved, minus the tokens that they have used, as text. */
export const savingText = (tokens: number): string =>
  tokens < 0 ? `${shortCount(-tokens)} tokens more than it saves` : `${shortCount(tokens)} tokens saved`;

/** A summary of the history in one line. */
export const historyLine = (event: HistoryCompressed): string =>
  `history up to #${event.iteration} summarised by ${oneLine(event.by)}: ${sizeText(event)}, about ${savingText(event.tokens_saved)}, ${usageText(event)}`;

const sizeText = ({ chars_before, chars_after }: HistoryCompressed): string =>
  `${chars_before} → ${chars_after} characters (${chars_before === 0 ? 100 : Math.round((chars_after / chars_before) * 100)} %)`;

/** The time, the tokens and the cost of a summary. */
const usageText = ({ duration_seconds, tokens, cost_usd, estimated }: HistoryCompressed): string =>
  [
    shortDuration(duration_seconds * 1000),
    ...(tokens === 0 ? [] : [`${shortCount(tokens)} tokens used`]),
    ...(cost_usd === undefined ? [] : [moneyText(cost_usd, estimated)]),
  ].join(", ");

/** The newest sizes of the summary, oldest first; they show whether the size still grows. */
const trendOf = ({ trend }: HistoryCompressed): string => `summary size: ${trend.slice(-6).join(" → ")} characters`;

/** The facts of `historyLine` as a box that stays on the screen. Each line has at most `columns` columns. */
export function historyBox(event: HistoryCompressed, columns: number, colors: Colors): string[] {
  const { iteration, by, tokens_saved, compressions, total_tokens_saved } = event;
  const lines = [
    `History up to #${iteration}, summarised by ${oneLine(by)} in ${usageText(event)}`,
    `${sizeText(event)}, about ${savingText(tokens_saved)}`,
    `${quantity(compressions, "time")} so far, about ${savingText(total_tokens_saved)}; ${trendOf(event)}`,
  ];
  const maxWidth = Math.max(1, columns - 5);
  const innerWidth = Math.min(maxWidth, Math.max(...lines.map((line) => line.length)));
  const row = (line: string) => `│ ${pad(truncate(line, innerWidth), innerWidth)} │`;
  return [`┌${"─".repeat(innerWidth + 2)}┐`, ...lines.map(row), `└${"─".repeat(innerWidth + 2)}┘`].map((line) =>
    colors.dim(line),
  );
}
