import { type Markup, markup } from "../../../engine/lib/markup.js";
import { type Drawing, statuses, figure, legendOf } from "./picture.js";
import { type PaperStatus, statusWords } from "../papers.js";
import { counted, round, widthOf } from "./words.js";

export interface DatedPaper {
  readonly status: PaperStatus;
  /** YYYY, YYYY-MM or YYYY-MM-DD; whatever else a record holds counts as no date. */
  readonly date: string;
}

/** Up to so many months between the first and the last paper, bars are months. */
const mostMonths = 20;
const mostBars = 40;

/** When the papers were published, by decision; undefined where fewer than two have a date. `today` is YYYY-MM-DD. */
export function datesPicture(papers: readonly DatedPaper[], today: string): Markup | undefined {
  const dated = papers.filter(({ date }) => /^(?:1[5-9]|20)\d\d(?!\d)/.test(date) && date.slice(0, 10) <= today);
  const future = papers.filter(({ date }) => /^[2-9]\d{3}(?!\d)/.test(date) && date.slice(0, 10) > today).length;
  if (dated.length < 2) return undefined;
  const days = dated.map(({ date }) => date).toSorted();
  const first = days[0] ?? "";
  const last = days.at(-1) ?? "";
  const isMonthly = days.every((day) => /^\d{4}-\d\d/.test(day)) && monthsBetween(first, last) <= mostMonths;
  const periods = isMonthly ? monthsFrom(first, last) : yearsFrom(first, last);
  const index = new Map(periods.map((period, at) => [period, at]));
  const heaps = periods.map(() => new Map<PaperStatus, number>());
  for (const { date, status } of dated) {
    // Before the first bar means in it: only the last forty years are drawn apart.
    const heap = heaps[index.get(date.slice(0, isMonthly ? 7 : 4)) ?? 0];
    heap?.set(status, (heap.get(status) ?? 0) + 1);
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
  const says = `${caption} ${periods.map((period, at) => `${period}: ${sum(heaps[at])}`).join(", ")}.`;
  const kinds = statuses.filter((kind) => heaps.some((heap) => heap.has(kind)));
  return figure(
    says,
    caption,
    (width) => draw(periods, heaps, width),
    markup`${kinds.length > 1 ? legendOf(kinds) : ""}`,
  );
}

const sum = (heap: ReadonlyMap<PaperStatus, number> | undefined): number =>
  [...(heap?.values() ?? [])].reduce((total, count) => total + count, 0);

const monthsBetween = (first: string, last: string): number =>
  (Number(last.slice(0, 4)) - Number(first.slice(0, 4))) * 12 + Number(last.slice(5, 7)) - Number(first.slice(5, 7));

const monthsFrom = (first: string, last: string): string[] =>
  Array.from({ length: monthsBetween(first, last) + 1 }, (_, index) => {
    const month = Number(first.slice(5, 7)) - 1 + index;
    return `${Number(first.slice(0, 4)) + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
  });

function yearsFrom(first: string, last: string): string[] {
  const to = Number(last.slice(0, 4));
  const from = Math.max(Number(first.slice(0, 4)), to - mostBars + 1);
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** "2024", or "Mar 2025" of a month; the year only where it begins. */
const nameOf = (period: string, isFirst: boolean): string => {
  if (period.length === 4) return period;
  const month = Number(period.slice(5, 7)) - 1;
  return `${months[month] ?? "?"}${isFirst || month === 0 ? ` ${period.slice(0, 4)}` : ""}`;
};

function draw(periods: readonly string[], heaps: readonly ReadonlyMap<PaperStatus, number>[], width: number): Drawing {
  const top = 20;
  const height = 130;
  const bottom = top + height;
  const step = (width - 8) / periods.length;
  const bar = Math.min(54, step * 0.66);
  const tallest = Math.max(...heaps.map(sum), 1);
  let free = -1;
  const columns = periods.map((period, at) => {
    const middle = 4 + step * (at + 0.5);
    const heap = heaps[at];
    const total = sum(heap);
    let y = bottom;
    const parts = statuses.flatMap((kind) => {
      const count = heap?.get(kind) ?? 0;
      if (count === 0) return [];
      const tall = (count / tallest) * height;
      y -= tall;
      return [
        markup`<rect class="${kind}" x="${round(middle - bar / 2)}" y="${round(y)}" width="${round(bar)}" height="${round(Math.max(1, tall - 1))}"><title>${nameOf(period, true)}: ${count} ${statusWords[kind].toLowerCase()}</title></rect>`,
      ];
    });
    const name = nameOf(period, at === 0);
    const wide = widthOf(name, 11.5);
    const start = Math.min(Math.max(0, middle - wide / 2), width - wide);
    const shown = start >= free;
    if (shown) free = start + wide + 8;
    const number = total > 0 && widthOf(String(total), 11.5) <= step;
    return markup`${parts}${number ? markup`<text class="tick" x="${round(middle)}" y="${round(y - 5)}" text-anchor="middle">${total}</text>` : ""}${shown ? markup`<text class="tick" x="${round(start)}" y="${bottom + 17}">${name}</text>` : ""}`;
  });
  return { height: bottom + 24, parts: markup`<path class="grid" d="M0 ${bottom}H${width}"/>${columns}` };
}
