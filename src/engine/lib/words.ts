const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** A duration as short text: "<1s", "42s", "3m 05s", "1h 04m", "2d 03h". */
export function shortDuration(ms: number): string {
  if (ms < secondMs) return "<1s";
  if (ms < minuteMs) return `${Math.floor(ms / secondMs)}s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)}m ${twoDigits(Math.floor((ms % minuteMs) / secondMs))}s`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)}h ${twoDigits(Math.floor((ms % hourMs) / minuteMs))}m`;
  return `${Math.floor(ms / dayMs)}d ${twoDigits(Math.floor((ms % dayMs) / hourMs))}h`;
}

/** The local time of day with seconds: "14:30:05". */
export const clockTime = (at: number | string): string => new Date(at).toTimeString().slice(0, 8);

/** The local time without seconds; with the date if it is not the day of `now`: "14:30", "2026-03-01 14:30". */
export function timeText(at: number | string, now: number): string {
  const time = new Date(at);
  const clock = clockTime(at).slice(0, 5);
  if (time.toDateString() === new Date(now).toDateString()) return clock;
  return `${time.getFullYear()}-${twoDigits(time.getMonth() + 1)}-${twoDigits(time.getDate())} ${clock}`;
}

/** A count of tokens: "842", "36.1k", "430k", "1.2M". */
export function shortCount(value: number): string {
  if (value < 1000) return String(value);
  if (value < 99_950) return `${(value / 1000).toFixed(1)}k`;
  if (value < 999_500) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** US dollars: "$0.0042", "$0.12", "$12.40". */
export const usdText = (usd: number): string => (usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`);

/** A number with its noun: "1 file", "12 files". */
export const quantity = (value: number, word: string): string => `${value} ${word}${value === 1 ? "" : "s"}`;

/** The first names of a list, and the number of the others: "a, b and 3 more". */
export const joinedNames = (names: readonly string[], max = 5): string =>
  names.length > max ? `${names.slice(0, max).join(", ")} and ${names.length - max} more` : names.join(", ");

/** "a", "a and b", "a, b and c". */
export const listText = (items: readonly string[]): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
