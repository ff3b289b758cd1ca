import type { Line } from "./layout.js";
import type { Part } from "../text/document-text.js";
import { countEach } from "../../../engine/lib/group.js";

/**
 * The lines of each page as text under the page's mark. Running heads and page numbers go, since they would stand in
 * the middle of a sentence that runs over the page; a wider gap between lines becomes a blank line.
 */
export function joinPages(pages: readonly (readonly Line[])[]): Part[] {
  return withWordsJoined(partsOfPages(pages));
}

/**
 * A hyphen at the end of a line is the printer's where the text has the word without it elsewhere, and the author's
 * where it has it with one. Where it has neither, nobody can tell, and both stay as they are.
 */
function withWordsJoined(parts: Part[]): Part[] {
  if (!parts.some(({ text }) => text.includes("-\n"))) return parts;
  const known = new Set<string>();
  for (const { text } of parts)
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu)) known.add(word.toLowerCase());
  return parts.map((part) => ({
    ...part,
    text: part.text.replace(
      /(?<![\p{L}\p{M}-])([\p{L}\p{M}]{1,40})-\n(\p{Ll}[\p{L}\p{M}]{0,40})(?![\p{L}\p{M}-])([^\s\p{L}]{0,5}) ?/gu,
      (all, first: string, second: string, mark: string) => {
        const isKnown = known.has(`${first}${second}`.toLowerCase());
        return isKnown && !known.has(`${first}-${second}`.toLowerCase()) ? `${first}${second}${mark}\n` : all;
      },
    ),
  }));
}

function partsOfPages(pages: readonly (readonly Line[])[]): Part[] {
  const running = runningHeads(pages);
  return pages.map((lines, index) => {
    const edges = edgesOf(lines);
    const body = lines.filter((line) => !(edges.includes(line) && isFurniture(line, running)));
    const leading = medianLeading(body);
    const kept = asidesBetweenSentences(body, leading);
    let text = `[p. ${index + 1}]`;
    let above: Line | undefined;
    for (const line of kept) {
      const clean = withAccents(line.text);
      const afterNote = above !== undefined && line.y > above.y && above.height <= noteSize * line.height;
      const apart = above !== undefined && (afterNote || above.y - line.y > maxStep * leading);
      text += apart ? `\n\n${clean}` : `\n${clean}`;
      above = line;
    }
    return { label: `p. ${index + 1}`, text: kept.length === 0 ? "" : text };
  });
}

/** Footnotes are set at most this large, as a share of the body. */
const noteSize = 0.93;

/** Lines further apart than this, in leadings, are of two paragraphs. */
const maxStep = 1.45;

/** Lines that stand together. */
interface Block {
  readonly lines: Line[];
  /** It begins above the line before it: in another column, or next to the text. */
  readonly isColumnTop: boolean;
  readonly kind: "text" | "note" | "caption" | "debris";
}

/**
 * A footnote, figure or table at the foot or the top of a column would stand in the middle of the sentence that runs
 * over it. It goes behind the last line before it that ends a sentence, at the top of a page behind the first such line
 * below it.
 */
function asidesBetweenSentences(lines: readonly Line[], leading: number): readonly Line[] {
  const blocks = blocksOf(lines, leading);
  const ordered: Line[] = [];
  let waiting: Line[] = [];
  for (let at = 0; at < blocks.length;) {
    let end = at;
    while (blocks[end] !== undefined && blocks[end]?.kind !== "text") end += 1;
    const aside = blocks.slice(at, end);
    // What stands above the first float of the next column is a formula of the text.
    const top = aside.findIndex(({ isColumnTop }) => isColumnTop);
    const isOfText = top > 0 && !aside.slice(0, top).some(isTold);
    const floats = isOfText ? aside.slice(top) : aside;
    const [before, after] = [ordered.at(-1), blocks[end]?.lines[0]];
    if (isOfText) ordered.push(...linesIn(aside.slice(0, top)));
    const isInSentence =
      floats.some(isTold) &&
      (before === undefined || !endsSentence(before)) &&
      (after === undefined || /^[\p{Ll}\d(]/u.test(after.text) || before?.text.endsWith("-") === true);
    const place = isInSentence ? ordered.findLastIndex(endsSentence) : -1;
    if (isInSentence && before === undefined) waiting = linesIn(floats);
    else ordered.splice(place === -1 ? ordered.length : place + 1, 0, ...linesIn(floats));
    if (end === blocks.length) break;
    const text = blocks[end]?.lines ?? [];
    const stop = waiting.length === 0 ? -1 : text.findIndex(endsSentence);
    if (stop === -1) ordered.push(...text);
    else {
      ordered.push(...text.slice(0, stop + 1), ...waiting, ...text.slice(stop + 1));
      waiting = [];
    }
    at = end + 1;
  }
  return [...ordered, ...waiting];
}

const linesIn = (blocks: readonly Block[]): Line[] => blocks.flatMap((block) => block.lines);
const isTold = ({ kind }: Block): boolean => kind === "note" || kind === "caption";
const endsSentence = ({ text }: Line): boolean => /[.!?:]["”’)\]]?$/.test(text);

function blocksOf(lines: readonly Line[], leading: number): Block[] {
  const body = medianHeight(lines);
  const isSmall = (line: Line | undefined) => line !== undefined && line.height <= noteSize * body;
  const isNote = (line: Line) => isSmall(line) && /^(?:\d{1,2}|[*∗†‡§¶])\s*\p{L}/u.test(line.text);
  const parts: { lines: Line[]; isColumnTop: boolean }[] = [];
  let above: Line | undefined;
  for (const line of lines) {
    const isColumnTop = above !== undefined && line.y > above.y;
    const isApart = above === undefined || isColumnTop || above.y - line.y > maxStep * leading;
    if (isApart || (isNote(line) && !isSmall(above))) parts.push({ lines: [line], isColumnTop });
    else parts.at(-1)?.lines.push(line);
    above = line;
  }
  return parts.map((part) => {
    const [first] = part.lines;
    const isAside = first !== undefined && isNote(first) && part.lines.every(isSmall);
    const kind = isAside
      ? "note"
      : captionStart.test(first?.text ?? "")
        ? "caption"
        : part.lines.some(isRunning)
          ? "text"
          : "debris";
    return { ...part, kind };
  });
}

const captionStart = /^(?:fig(?:ure|\.)|table|algorithm|listing|scheme|chart)\s{0,2}(?:\d{1,3}|[IVX]{1,6})\b/i;
/** Whether a line is one of running text, or the last of it, as against a label, a row of numbers or a formula. */
const isRunning = (line: Line): boolean =>
  (line.text.match(/\p{L}{3,}/gu)?.length ?? 0) >= (endsSentence(line) ? 1 : 4);

/** Of the characters, not the lines: a page may have more lines of notes or headings than of its body. */
function medianHeight(lines: readonly Line[]): number {
  const sorted = lines.toSorted((a, b) => a.height - b.height);
  const half = sorted.reduce((sum, line) => sum + line.text.length, 0) / 2;
  let sum = 0;
  return sorted.find((line) => (sum += line.text.length) >= half)?.height ?? 0;
}

/** How many lines at the top and at the bottom may be running heads and page numbers. */
const edge = 2;

/** The lines at the top and bottom that stand apart from the body of the page. */
function edgesOf(lines: readonly Line[]): Line[] {
  const down = lines.toSorted((a, b) => b.y - a.y);
  const leading = medianLeading(lines);
  const apart = (a: Line | undefined, b: Line | undefined) =>
    a !== undefined && b !== undefined && a.y - b.y > 1.3 * leading;
  const last = down.length - 1;
  const top = [edge, edge - 1].find((count) => apart(down[count - 1], down[count])) ?? 0;
  const bottom = [edge, edge - 1].find((count) => apart(down[last - count], down[last - count + 1])) ?? 0;
  return [...down.slice(0, top), ...down.slice(down.length - bottom)];
}
/** A paper's title is its running head too, in other letters. */
const shapeOf = ({ text, height }: Line) =>
  `${Math.round(height)} ${text.replace(/\d+/g, "#").replace(/\s+/g, " ").trim().toLowerCase()}`;

/**
 * What stands at the edge of at least three pages, of two where there are no more than three, and of a third of them,
 * whatever its numbers.
 */
function runningHeads(pages: readonly (readonly Line[])[]): ReadonlySet<string> {
  const counts = countEach(pages.flatMap((lines) => [...new Set(edgesOf(lines).map(shapeOf))]));
  return new Set(
    [...counts]
      .filter(([, count]) => count >= Math.max(pages.length <= 3 ? 2 : 3, pages.length / 3))
      .map(([shape]) => shape),
  );
}

function isFurniture(line: Line, running: ReadonlySet<string>): boolean {
  const isPageNumber = /^[-–—\s]*(?:page\s+)?\d{1,4}(?:\s*(?:of|\/)\s*\d{1,4})?[-–—\s]*$/i.test(line.text);
  return isPageNumber || running.has(shapeOf(line));
}

/** Lines set further apart than this, in heights of the font, are not those of one text. */
const maxLeading = 3;

function medianLeading(lines: readonly Line[]): number {
  const steps = lines
    .slice(1)
    .map((line, index) => (lines[index]?.y ?? 0) - line.y)
    .filter((step) => step > 1);
  const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 12;
  // A page of two lines and its number has no leading that could be measured.
  return Math.min(median, maxLeading * Math.max(...lines.map((line) => line.height), 1));
}

const combining: Readonly<Record<string, string>> = {
  "´": "\u0301",
  "¨": "\u0308",
  ˆ: "\u0302",
  "˜": "\u0303",
  "¯": "\u0304",
  "˘": "\u0306",
  "˙": "\u0307",
  "˚": "\u030a",
  "˝": "\u030b",
  ˇ: "\u030c",
  "¸": "\u0327",
};

/** Forms of Arabic letters within words, and radicals in the place of the Chinese characters that look so. */
const shapes = /[\ufb50-\ufd3d\ufd50-\ufdfb\ufe70-\ufefc\u2e9f\u2ef3\u2f00-\u2fd5]+/g;

/** Puts accents that a PDF sets by themselves onto their letters ("na¨ıve", "Erd ˝os") and takes ligatures apart. */
export function withAccents(text: string): string {
  return (
    text
      .replace(/[ﬀ-ﬆ]/g, (ligature) => ligature.normalize("NFKC"))
      .replace(shapes, (shape) => shape.normalize("NFKC"))
      // A mark over the letter before it is set by itself, as a space with the mark.
      .replace(/ (?=[\u064b-\u065f\u0670])/g, "")
      .replace(
        /(\p{L}?)( ?)([´¨ˆ˜¯˘˙˚˝ˇ¸]) ?([\p{L}ı]?)/gu,
        (all, before: string, space: string, accent: string, after: string) => {
          const mark = combining[accent] ?? "";
          // TeX sets the accent first, then its letter. A cedilla may come after.
          const onNext = composed(after === "ı" ? "i" : after, mark);
          if (onNext !== undefined) return `${before}${space !== "" && before === "" ? space : ""}${onNext}`;
          const onLast = composed(before, mark);
          return onLast === undefined ? all : `${onLast}${after}`;
        },
      )
  );
}

function composed(letter: string, mark: string): string | undefined {
  const one = `${letter}${mark}`.normalize("NFC");
  return letter !== "" && [...one].length === 1 ? one : undefined;
}
