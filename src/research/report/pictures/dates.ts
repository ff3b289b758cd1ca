import { type Markup, markup } from "../../../engine/lib/markup.js";
import { type Drawing, statuses, figure, legendOf } from "./picture.js";
import { type PaperStatus, statusWords } from "../papers.js";
import { counted, round, textWidth } from "./words.js";

export interface DatedPaper {
  readonly status: PaperStatus;
  /** YYYY, YYYY-MM or YYYY-MM-DD; other texts count as no date. */
  readonly date: string;
}

/** Up to this number of months between the first and the last paper, each bar is a month, otherwise a year. */
const maxMonths = 20;
const maxBars = 40;
/** The font size of the labels at the bars. */
const tickSize = 11.5;

/** The papers by date of publication and decision; undefined if fewer than two have a date. `today`: YYYY-MM-DD. */
export function datesPicture(papers: readonly DatedPaper[], today: string): Markup | undefined {
  const dated = papers.filter(({ date }) => /^(?:1[5-9]|20)\d\d(?!\d)/.test(date) && date.slice(0, 10) <= today);
  const future = papers.filter(({ date }) => /^[2-9]\d{3}(?!\d)/.test(date) && date.slice(0, 10) > today).length;
  if (dated.length < 2) return undefined;
  const days = dated.map(({ date }) => date).toSorted();
  const first = days[0] ?? "";
  const last = days.at(-1) ?? "";
  const isMonthly = days.every((day) => /^\d{4}-\d\d/.test(day)) && monthsBetween(first, last) <= maxMonths;
  const periods = isMonthly ? monthsFrom(first, last) : yearsFrom(first, last);
  const indexOfPeriod = new Map(periods.map((period, index) => [period, index]));
  const countsByPeriod = periods.map(() => new Map<PaperStatus, number>());
  for (const { date, status } of dated) {
    // Only the last forty years have bars. Earlier papers are counted in the first bar.
    const periodCounts = countsByPeriod[indexOfPeriod.get(date.slice(0, isMonthly ? 7 : 4)) ?? 0];
    periodCounts?.set(status, (periodCounts.get(status) ?? 0) + 1);
  }
  const missing = papers.length - dated.length - future;
  const caption = [
    `Papers by ${isMonthly ? "month" : "year"} of publication.`,
    missing > 0
      ? ` ${counted(missing, "paper has", "papers have")} no date and ${missing === 1 ? "is" : "are"} not drawn.`
      : "",
    future > 0
      ? ` ${counted(future, "paper has", "papers have")} a date in the future and ${future === 1 ? "is" : "are"} not drawn.`
      : "",
  ].join("");
  const description = `${caption} ${periods.map((period, index) => `${period}: ${sum(countsByPeriod[index])}`).join(", ")}.`;
  const kinds = statuses.filter((kind) => countsByPeriod.some((counts) => counts.has(kind)));
  return figure(
    description,
    caption,
    (width) => draw(periods, countsByPeriod, width),
    markup`${kinds.length > 1 ? legendOf(kinds) : ""}`,
  );
}

const sum = (counts: ReadonlyMap<PaperStatus, number> | undefined): number =>
  [...(counts?.values() ?? [])].reduce((total, count) => total + count, 0);

const monthsBetween = (first: string, last: string): number =>
  (Number(last.slice(0, 4)) - Number(first.slice(0, 4))) * 12 + Number(last.slice(5, 7)) - Number(first.slice(5, 7));

const monthsFrom = (first: string, last: string): string[] =>
  Array.from({ length: monthsBetween(first, last) + 1 }, (_, index) => {
    const month = Number(first.slice(5, 7)) - 1 + index;
    return `${Number(first.slice(0, 4)) + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
  });

function yearsFrom(first: string, last: string): string[] {
  const to = Number(last.slice(0, 4));
  const from = Math.max(Number(first.slice(0, 4)), to - maxBars + 1);
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * The label of a period: "2024", or for a month "Mar". If the month is the first bar or a January, the label contains
 * the year: "Mar 2025".
 */
const nameOf = (period: string, isFirst: boolean): string => {
  if (period.length === 4) return period;
  const month = Number(period.slice(5, 7)) - 1;
  return `${months[month] ?? "?"}${isFirst || month === 0 ? ` ${period.slice(0, 4)}` : ""}`;
};

function draw(
  periods: readonly string[],
  countsByPeriod: readonly ReadonlyMap<PaperStatus, number>[],
  width: number,
): Drawing {
  const top = 20;
  const height = 130;
  const bottom = top + height;
  const step = (width - 8) / periods.length;
  const barWidth = Math.min(54, step * 0.66);
  const maxCount = Math.max(...countsByPeriod.map(sum), 1);
  let nextFreeX = -1;
  const columns = periods.map((period, index) => {
    const middle = 4 + step * (index + 0.5);
    const counts = countsByPeriod[index];
    const total = sum(counts);
    let y = bottom;
    const parts = statuses.flatMap((kind) => {
      const count = counts?.get(kind) ?? 0;
      if (count === 0) return [];
      const partHeight = (count / maxCount) * height;
      y -= partHeight;
      return [
        markup`<rect class="${kind}" x="${round(middle - barWidth / 2)}" y="${round(y)}" width="${round(barWidth)}" height="${round(Math.max(1, partHeight - 1))}"><title>${nameOf(period, true)}: ${count} ${statusWords[kind].toLowerCase()}</title></rect>`,
      ];
    });
    const name = nameOf(period, index === 0);
    const labelWidth = textWidth(name, tickSize);
    const start = Math.min(Math.max(0, middle - labelWidth / 2), width - labelWidth);
    const isLabelShown = start >= nextFreeX;
    if (isLabelShown) nextFreeX = start + labelWidth + 8;
    const isNumberShown = total > 0 && textWidth(String(total), tickSize) <= step;
    return markup`${parts}${isNumberShown ? markup`<text class="tick" x="${round(middle)}" y="${round(y - 5)}" text-anchor="middle">${total}</text>` : ""}${isLabelShown ? markup`<text class="tick" x="${round(start)}" y="${bottom + 17}">${name}</text>` : ""}`;
  });
  return { height: bottom + 24, parts: markup`<path class="grid" d="M0 ${bottom}H${width}"/>${columns}` };
}
