import type { Line } from "./layout.js";
import type { Part } from "../text/document-text.js";
import { countEach } from "../../../engine/lib/group.js";

/**
 * Joins the lines of each page to a text that begins with the page number, such as "[p. 3]". Running heads and page
 * numbers are removed, because they would interrupt a sentence that continues on the next page. A wider gap between
 * lines becomes an empty line.
 */
export function joinPages(pages: readonly (readonly Line[])[]): Part[] {
  return withWordsJoined(partsOfPages(pages));
}

/**
 * Joins words that were divided at the end of a line. A hyphen there is removed if the document contains the word
 * without a hyphen elsewhere, and does not contain it with one. Otherwise the hyphen stays.
 */
function withWordsJoined(parts: Part[]): Part[] {
  if (!parts.some(({ text }) => text.includes("-\n"))) return parts;
  const wordsInDocument = new Set<string>();
  for (const { text } of parts)
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu)) wordsInDocument.add(word.toLowerCase());
  return parts.map((part) => ({
    ...part,
    text: part.text.replace(
      /(?<![\p{L}\p{M}-])([\p{L}\p{M}]{1,40})-\n(\p{Ll}[\p{L}\p{M}]{0,40})(?![\p{L}\p{M}-])([^\s\p{L}]{0,5}) ?/gu,
      (dividedWord, first: string, second: string, punctuation: string) => {
        const existsWithout = wordsInDocument.has(`${first}${second}`.toLowerCase());
        const existsWithHyphen = wordsInDocument.has(`${first}-${second}`.toLowerCase());
        return existsWithout && !existsWithHyphen ? `${first}${second}${punctuation}\n` : dividedWord;
      },
    ),
  }));
}

function partsOfPages(pages: readonly (readonly Line[])[]): Part[] {
  const runningHeads = runningHeadsOf(pages);
  return pages.map((lines, index) => {
    const edgeLines = edgeLinesOf(lines);
    const body = lines.filter((line) => !(edgeLines.includes(line) && isHeadOrNumber(line, runningHeads)));
    const leading = medianLeading(body);
    const ordered = withFloatsMoved(body, leading);
    let text = `[p. ${index + 1}]`;
    let above: Line | undefined;
    for (const line of ordered) {
      const lineText = withAccents(line.text);
      const isAfterNote = above !== undefined && line.y > above.y && above.height <= maxNoteHeight * line.height;
      const beginsParagraph = above !== undefined && (isAfterNote || above.y - line.y > maxStep * leading);
      text += beginsParagraph ? `\n\n${lineText}` : `\n${lineText}`;
      above = line;
    }
    return { label: `p. ${index + 1}`, text: ordered.length === 0 ? "" : text };
  });
}

/** Maximum font height of a footnote, as a share of the font height of the body. */
const maxNoteHeight = 0.93;

/** Maximum distance of two lines of a paragraph, as a multiple of the page's median line distance ("leading"). */
const maxStep = 1.45;

/** Lines that belong together, because the distance between them is at most `maxStep`. */
interface Block {
  readonly lines: Line[];
  /** True if it begins higher than the line before it: at the top of another column, or beside the text. */
  readonly isColumnTop: boolean;
  /** "other": labels, numbers, formulas and cells of tables. */
  readonly kind: "text" | "note" | "caption" | "other";
}

/**
 * Moves floats (footnotes, figures and tables) that would interrupt a sentence, because they are at the bottom or at
 * the top of a column. They move up, after the last line that ends a sentence. At the top of a page, they move down,
 * after the first line that ends a sentence.
 */
function withFloatsMoved(lines: readonly Line[], leading: number): readonly Line[] {
  const blocks = blocksOf(lines, leading);
  const ordered: Line[] = [];
  /** Floats at the top of the page, until a line ends a sentence. */
  let pendingFloats: Line[] = [];
  for (let start = 0; start < blocks.length;) {
    let end = start;
    while (blocks[end] !== undefined && blocks[end]?.kind !== "text") end += 1;
    const betweenText = blocks.slice(start, end);
    // Blocks above the top of the next column are formulas of the text, unless one is a note or a caption.
    const columnTop = betweenText.findIndex(({ isColumnTop }) => isColumnTop);
    const hasFormulas = columnTop > 0 && !betweenText.slice(0, columnTop).some(isNoteOrCaption);
    const floats = hasFormulas ? betweenText.slice(columnTop) : betweenText;
    const [before, after] = [ordered.at(-1), blocks[end]?.lines[0]];
    if (hasFormulas) ordered.push(...linesIn(betweenText.slice(0, columnTop)));
    const interruptsSentence =
      floats.some(isNoteOrCaption) &&
      (before === undefined || !endsSentence(before)) &&
      (after === undefined || /^[\p{Ll}\d(]/u.test(after.text) || before?.text.endsWith("-") === true);
    const lastSentenceEnd = interruptsSentence ? ordered.findLastIndex(endsSentence) : -1;
    if (interruptsSentence && before === undefined) pendingFloats = linesIn(floats);
    else ordered.splice(lastSentenceEnd === -1 ? ordered.length : lastSentenceEnd + 1, 0, ...linesIn(floats));
    if (end === blocks.length) break;
    const textLines = blocks[end]?.lines ?? [];
    const sentenceEnd = pendingFloats.length === 0 ? -1 : textLines.findIndex(endsSentence);
    if (sentenceEnd === -1) ordered.push(...textLines);
    else {
      ordered.push(...textLines.slice(0, sentenceEnd + 1), ...pendingFloats, ...textLines.slice(sentenceEnd + 1));
      pendingFloats = [];
    }
    start = end + 1;
  }
  return [...ordered, ...pendingFloats];
}

const linesIn = (blocks: readonly Block[]): Line[] => blocks.flatMap((block) => block.lines);
const isNoteOrCaption = ({ kind }: Block): boolean => kind === "note" || kind === "caption";
const endsSentence = ({ text }: Line): boolean => /[.!?:]["”’)\]]?$/.test(text);

function blocksOf(lines: readonly Line[], leading: number): Block[] {
  const bodyHeight = medianHeight(lines);
  const isSmall = (line: Line | undefined) => line !== undefined && line.height <= maxNoteHeight * bodyHeight;
  const beginsNote = (line: Line) => isSmall(line) && /^(?:\d{1,2}|[*∗†‡§¶])\s*\p{L}/u.test(line.text);
  const blocks: { lines: Line[]; isColumnTop: boolean }[] = [];
  let above: Line | undefined;
  for (const line of lines) {
    const isColumnTop = above !== undefined && line.y > above.y;
    const hasGapAbove = above === undefined || isColumnTop || above.y - line.y > maxStep * leading;
    if (hasGapAbove || (beginsNote(line) && !isSmall(above))) blocks.push({ lines: [line], isColumnTop });
    else blocks.at(-1)?.lines.push(line);
    above = line;
  }
  return blocks.map((block) => {
    const [first] = block.lines;
    const isNote = first !== undefined && beginsNote(first) && block.lines.every(isSmall);
    const kind = isNote
      ? "note"
      : captionStart.test(first?.text ?? "")
        ? "caption"
        : block.lines.some(isProse)
          ? "text"
          : "other";
    return { ...block, kind };
  });
}

const captionStart = /^(?:fig(?:ure|\.)|table|algorithm|listing|scheme|chart)\s{0,2}(?:\d{1,3}|[IVX]{1,6})\b/i;
/** Whether a line has enough words for running text, unlike a label, a row of numbers or a formula. */
const isProse = (line: Line): boolean => (line.text.match(/\p{L}{3,}/gu)?.length ?? 0) >= (endsSentence(line) ? 1 : 4);

/**
 * The median font height of all characters. The median of the lines would not work: a page may have more lines of notes
 * or headings than of body text.
 */
function medianHeight(lines: readonly Line[]): number {
  const sorted = lines.toSorted((a, b) => a.height - b.height);
  const half = sorted.reduce((sum, line) => sum + line.text.length, 0) / 2;
  let characterCount = 0;
  for (const { text, height } of sorted) {
    characterCount += text.length;
    if (characterCount >= half) return height;
  }
  return 0;
}

/** Maximum number of lines at the top and at the bottom that may be running heads and page numbers. */
const maxEdgeLines = 2;

/** The lines at the top and bottom with a gap between them and the body of the page. */
function edgeLinesOf(lines: readonly Line[]): Line[] {
  const fromTop = lines.toSorted((a, b) => b.y - a.y);
  const leading = medianLeading(lines);
  const hasGap = (upper: Line | undefined, lower: Line | undefined) =>
    upper !== undefined && lower !== undefined && upper.y - lower.y > 1.3 * leading;
  const last = fromTop.length - 1;
  const counts = [maxEdgeLines, maxEdgeLines - 1];
  const top = counts.find((count) => hasGap(fromTop[count - 1], fromTop[count])) ?? 0;
  const bottom = counts.find((count) => hasGap(fromTop[last - count], fromTop[last - count + 1])) ?? 0;
  return [...fromTop.slice(0, top), ...fromTop.slice(fromTop.length - bottom)];
}

/**
 * The font height and the text of a line, with "#" for each number. The running heads of all pages have the same key.
 * The title has another key, because its font is larger.
 */
const headKey = ({ text, height }: Line) =>
  `${Math.round(height)} ${text.replace(/\d+/g, "#").replace(/\s+/g, " ").trim().toLowerCase()}`;

/**
 * The keys of the running heads: lines at the edge of at least three pages, and of at least a third of the pages. Two
 * pages are enough in a document of at most three.
 */
function runningHeadsOf(pages: readonly (readonly Line[])[]): ReadonlySet<string> {
  const counts = countEach(pages.flatMap((lines) => [...new Set(edgeLinesOf(lines).map(headKey))]));
  const minPages = Math.max(pages.length <= 3 ? 2 : 3, pages.length / 3);
  return new Set([...counts].filter(([, count]) => count >= minPages).map(([key]) => key));
}

/** Whether a line is a running head or a page number. */
function isHeadOrNumber(line: Line, runningHeads: ReadonlySet<string>): boolean {
  const isPageNumber = /^[-–—\s]*(?:page\s+)?\d{1,4}(?:\s*(?:of|\/)\s*\d{1,4})?[-–—\s]*$/i.test(line.text);
  return isPageNumber || runningHeads.has(headKey(line));
}

/** Maximum distance of two lines of a text, in heights of the font. */
const maxLeading = 3;

/** The median distance between the baselines of two lines, in points. */
function medianLeading(lines: readonly Line[]): number {
  const steps = lines
    .slice(1)
    .map((line, index) => (lines[index]?.y ?? 0) - line.y)
    .filter((step) => step > 1);
  const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 12;
  // On a page with few lines, the median may be the distance to the page number.
  return Math.min(median, maxLeading * Math.max(...lines.map((line) => line.height), 1));
}

/** For each accent, the combining character. */
const combiningAccents: Readonly<Record<string, string>> = {
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

/** Arabic letters in the form that they have in a word, and radicals that look like Chinese characters. */
const presentationForms = /[\ufb50-\ufd3d\ufd50-\ufdfb\ufe70-\ufefc\u2e9f\u2ef3\u2f00-\u2fd5]+/g;

/** Joins separate accents with their letters ("na¨ıve", "Erd ˝os"), and replaces ligatures by single letters. */
export function withAccents(text: string): string {
  return (
    text
      .replace(/[ﬀ-ﬆ]/g, (ligature) => ligature.normalize("NFKC"))
      .replace(presentationForms, (form) => form.normalize("NFKC"))
      // A separate Arabic vowel mark comes as a space with the mark; it belongs to the letter before the space.
      .replace(/ (?=[\u064b-\u065f\u0670])/g, "")
      .replace(
        /(\p{L}?)( ?)([´¨ˆ˜¯˘˙˚˝ˇ¸]) ?([\p{L}ı]?)/gu,
        (match, before: string, space: string, accent: string, after: string) => {
          const combiningAccent = combiningAccents[accent] ?? "";
          // In TeX, the accent comes before its letter. Only a cedilla may come after it.
          const nextWithAccent = withAccent(after === "ı" ? "i" : after, combiningAccent);
          if (nextWithAccent !== undefined)
            return `${before}${space !== "" && before === "" ? space : ""}${nextWithAccent}`;
          const lastWithAccent = withAccent(before, combiningAccent);
          return lastWithAccent === undefined ? match : `${lastWithAccent}${after}`;
        },
      )
  );
}

/** The letter with the accent as one character. Undefined if Unicode has no such character. */
function withAccent(letter: string, combiningAccent: string): string | undefined {
  const character = `${letter}${combiningAccent}`.normalize("NFC");
  return letter !== "" && [...character].length === 1 ? character : undefined;
}
