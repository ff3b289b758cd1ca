import { type Markup, markup } from "../../../engine/lib/markup.js";

/** A rectangle of a picture, in its units: left, top, right, bottom. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** One decimal is less than a pixel can show. */
export const round = (value: number): number => Math.round(value * 10) / 10;

const narrow = /[ijltfrI1.,:;|'!()[\]/ ]/;
const wide = /[mwMW@%—]/;

/**
 * How wide a text is about, in units of a picture: a page's fonts are not known when it is written, so this is the
 * upper side of the common ones.
 */
export function widthOf(text: string, size: number): number {
  let width = 0;
  for (const sign of text) width += widthOfSign(sign);
  return width * size;
}

function widthOfSign(sign: string): number {
  if (sign >= "a" && sign <= "z") return narrow.test(sign) ? 0.36 : sign === "m" || sign === "w" ? 0.92 : 0.575;
  if (/[\u1100-\uffef\u{20000}-\u{3ffff}]/u.test(sign)) return 1.02;
  if (narrow.test(sign)) return 0.36;
  if (wide.test(sign)) return 0.92;
  return /[A-Z0-9]/.test(sign) ? 0.66 : 0.575;
}

/** A text cut between words, or inside a word longer than the line, so that it is at most `room` wide. */
export function shortened(text: string, room: number, size: number): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, 300);
  if (widthOf(line, size) <= room) return line;
  let kept = "";
  let width = widthOfSign("…");
  for (const sign of line) {
    width += widthOfSign(sign);
    if (width * size > room) break;
    kept += sign;
  }
  const space = kept.lastIndexOf(" ");
  return `${(space > kept.length / 2 ? kept.slice(0, space) : kept).trimEnd().replace(/[,:;–-]$/, "")}…`;
}

/** A text in lines of at most `room`; what is longer than `most` lines ends in an ellipsis. */
export function wrapped(text: string, room: number, size: number, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.replace(/\s+/g, " ").trim().split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(`${last} ${word}`, size) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  const fitting = lines.slice(0, most).map((line) => shortened(line, room, size));
  const last = fitting.at(-1);
  if (lines.length > most && last !== undefined)
    fitting[most - 1] = shortened(`${last} …`, room, size).replace(/ …$/, "…");
  return fitting;
}

export interface Label {
  readonly text: string;
  /** The mark that it names, and how far the mark reaches. */
  readonly x: number;
  readonly y: number;
  readonly reach: number;
}

const gap = 5;

/** Whether a box lies upon one of others. */
export const isUpon = (box: Box, others: readonly Box[]): boolean =>
  !others.every((other) => box[0] >= other[2] || box[2] <= other[0] || box[1] >= other[3] || box[3] <= other[1]);

/** A straight line as small boxes, where no label should stand. */
export function boxesAlong([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): Box[] {
  const steps = Math.min(200, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6));
  return Array.from({ length: steps + 1 }, (_, index): Box => {
    const [x, y] = [x1 + ((x2 - x1) * index) / (steps || 1), y1 + ((y2 - y1) * index) / (steps || 1)];
    return [x - 2, y - 2, x + 2, y + 2];
  });
}

/**
 * Labels next to their marks, the first ones first. Each takes the first free place of four, one that crosses no line
 * of `lines` before others; one without a free place is left out, as a label over another tells nothing.
 */
export function placedLabels(
  labels: readonly Label[],
  taken: readonly Box[],
  within: Box,
  { size = 12, lines = [] }: { readonly size?: number; readonly lines?: readonly Box[] } = {},
): Markup[] {
  const full = [...taken];
  const isFree = (box: Box) =>
    box[0] >= within[0] && box[1] >= within[1] && box[2] <= within[2] && box[3] <= within[3] && !isUpon(box, full);
  return labels.flatMap(({ text, x, y, reach }) => {
    const width = widthOf(text, size);
    const half = size * 0.65;
    const places: readonly (readonly [number, number, "start" | "end" | "middle"])[] = [
      [x + reach + gap, y, "start"],
      [x - reach - gap, y, "end"],
      [x, y - reach - half - 2, "middle"],
      [x, y + reach + half + 2, "middle"],
    ];
    const free = places
      .map(([at, middle, anchor]) => {
        const left = anchor === "start" ? at : anchor === "end" ? at - width : at - width / 2;
        return { at, middle, anchor, box: [left - 2, middle - half, left + width + 2, middle + half] as Box };
      })
      .filter(({ box }) => isFree(box));
    const place = free.find(({ box }) => !isUpon(box, lines)) ?? free[0];
    if (place === undefined) return [];
    const { at, middle, anchor, box } = place;
    full.push(box);
    return [
      markup`<text class="name" x="${round(at)}" y="${round(middle + size * 0.35)}" text-anchor="${anchor}">${text}</text>`,
    ];
  });
}

/** "7", "10,000", of whole numbers from 0. By hand: `toLocaleString` loads 40 ms of languages at its first call. */
export const thousands = (count: number): string =>
  count < 1000 ? String(count) : `${thousands(Math.floor(count / 1000))},${String(count % 1000).padStart(3, "0")}`;

/** "1 paper", "2 papers", "10,000 papers". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${thousands(count)} ${count === 1 ? one : many}`;
