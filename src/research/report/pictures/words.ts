import { type Markup, markup } from "../../../engine/lib/markup.js";

/** A rectangle of a picture, in its units: left, top, right, bottom. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** Rounds to one decimal, which is more precise than a pixel. */
export const round = (value: number): number => Math.round(value * 10) / 10;

/** The characters of a font that are much narrower or wider than the others. */
const narrow = /[ijltfrI1.,:;|'!()[\]/ ]/;
const wide = /[mwMW@%—]/;

/**
 * The estimated width of a text, in units of a picture. The fonts of the reader are not known, so this is the maximum
 * for common fonts.
 */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width * size;
}

/** The width of a character, divided by the font size. */
function characterWidth(character: string): number {
  if (character >= "a" && character <= "z")
    return narrow.test(character) ? 0.36 : character === "m" || character === "w" ? 0.92 : 0.575;
  // Chinese, Japanese and Korean characters.
  if (/[\u1100-\uffef\u{20000}-\u{3ffff}]/u.test(character)) return 1.02;
  if (narrow.test(character)) return 0.36;
  if (wide.test(character)) return 0.92;
  return /[A-Z0-9]/.test(character) ? 0.66 : 0.575;
}

/** A text shortened to the width `maxWidth`, between words, or inside a word that is longer. */
export function shortened(text: string, maxWidth: number, size: number): string {
  const line = text.replace(/\s+/g, " ").trim().slice(0, 300);
  if (textWidth(line, size) <= maxWidth) return line;
  let start = "";
  let width = characterWidth("…");
  for (const character of line) {
    width += characterWidth(character);
    if (width * size > maxWidth) break;
    start += character;
  }
  const lastSpace = start.lastIndexOf(" ");
  return `${(lastSpace > start.length / 2 ? start.slice(0, lastSpace) : start).trimEnd().replace(/[,:;–-]$/, "")}…`;
}

/** A text in at most `maxLines` lines of width `maxWidth`. If it is longer, the last line ends with an ellipsis. */
export function wrapText(text: string, maxWidth: number, size: number, maxLines: number): string[] {
  const lines: string[] = [];
  for (const word of text.replace(/\s+/g, " ").trim().split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`, size) <= maxWidth)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  const shownLines = lines.slice(0, maxLines).map((line) => shortened(line, maxWidth, size));
  const last = shownLines.at(-1);
  if (lines.length > maxLines && last !== undefined)
    shownLines[maxLines - 1] = shortened(`${last} …`, maxWidth, size).replace(/ …$/, "…");
  return shownLines;
}

export interface Label {
  readonly text: string;
  /** The position and radius of the mark that it names. */
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** The distance between a mark and its label. */
const gap = 5;

/** Whether a box overlaps one of others. */
export const overlaps = (box: Box, others: readonly Box[]): boolean =>
  !others.every((other) => box[0] >= other[2] || box[2] <= other[0] || box[1] >= other[3] || box[3] <= other[1]);

/** A straight line as small boxes, so that labels can avoid it. */
export function boxesAlong([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]): Box[] {
  const steps = Math.min(200, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6));
  return Array.from({ length: steps + 1 }, (_, index): Box => {
    const [x, y] = [x1 + ((x2 - x1) * index) / (steps || 1), y1 + ((y2 - y1) * index) / (steps || 1)];
    return [x - 2, y - 2, x + 2, y + 2];
  });
}

/**
 * Labels next to their marks, in order of priority. Each gets the first free place of four, preferably one that crosses
 * no line of `lines`. A label without a free place is left out.
 */
export function placedLabels(
  labels: readonly Label[],
  occupied: readonly Box[],
  bounds: Box,
  { size = 12, lines = [] }: { readonly size?: number; readonly lines?: readonly Box[] } = {},
): Markup[] {
  const used = [...occupied];
  const isFree = (box: Box) =>
    box[0] >= bounds[0] && box[1] >= bounds[1] && box[2] <= bounds[2] && box[3] <= bounds[3] && !overlaps(box, used);
  return labels.flatMap(({ text, x, y, radius }) => {
    const width = textWidth(text, size);
    const halfHeight = size * 0.65;
    const places: readonly (readonly [number, number, "start" | "end" | "middle"])[] = [
      [x + radius + gap, y, "start"],
      [x - radius - gap, y, "end"],
      [x, y - radius - halfHeight - 2, "middle"],
      [x, y + radius + halfHeight + 2, "middle"],
    ];
    const freePlaces = places
      .map(([anchorX, middleY, anchor]) => {
        const left = anchor === "start" ? anchorX : anchor === "end" ? anchorX - width : anchorX - width / 2;
        const box: Box = [left - 2, middleY - halfHeight, left + width + 2, middleY + halfHeight];
        return { anchorX, middleY, anchor, box };
      })
      .filter(({ box }) => isFree(box));
    const place = freePlaces.find(({ box }) => !overlaps(box, lines)) ?? freePlaces[0];
    if (place === undefined) return [];
    const { anchorX, middleY, anchor, box } = place;
    used.push(box);
    return [
      markup`<text class="name" x="${round(anchorX)}" y="${round(middleY + size * 0.35)}" text-anchor="${anchor}">${text}</text>`,
    ];
  });
}

/** A whole number with commas: "7", "10,000". Not with `toLocaleString`, which takes 40 ms at its first call. */
export const thousands = (count: number): string =>
  count < 1000 ? String(count) : `${thousands(Math.floor(count / 1000))},${String(count % 1000).padStart(3, "0")}`;

/** "1 paper", "2 papers", "10,000 papers". */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${thousands(count)} ${count === 1 ? singular : plural}`;
