import type { Line } from "./layout.js";
import type { Part } from "../text/paper-text.js";

/**
 * The lines of each page as text under the page's mark. Running heads and page numbers go, since they would stand in the middle of a
 * sentence that runs over the page; a wider gap between lines becomes a blank line.
 */
export function joinPages(pages: readonly (readonly Line[])[]): Part[] {
  return withWordsJoined(partsOfPages(pages));
}

/**
 * A hyphen at the end of a line is the printer's where the text has the word without it elsewhere, and the author's where it has it with
 * one. Where it has neither, nobody can tell, and both stay as they are.
 */
function withWordsJoined(parts: readonly Part[]): Part[] {
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
    const kept = notesBetweenSentences(body);
    let text = `[p. ${index + 1}]`;
    let above: Line | undefined;
    for (const line of kept) {
      const clean = withAccents(line.text);
      const afterNote = above !== undefined && line.y > above.y && above.height <= noteSize * line.height;
      const apart = above !== undefined && (afterNote || above.y - line.y > 1.45 * leading);
      text += apart ? `\n\n${clean}` : `\n${clean}`;
      above = line;
    }
    return { label: `p. ${index + 1}`, text: kept.length === 0 ? "" : text };
  });
}

/** Footnotes are set at most this large, as a share of the body. */
const noteSize = 0.86;

/**
 * A footnote at the foot of a column would stand in the middle of the sentence that runs on to the next column or page. It goes behind
 * the last line before it that ends a sentence.
 */
function notesBetweenSentences(lines: readonly Line[]): readonly Line[] {
  const body = medianHeight(lines);
  const isSmall = (line: Line | undefined) => line !== undefined && line.height <= noteSize * body;
  const ordered: Line[] = [];
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (isSmall(lines[end]) && (end === at || (lines[end]?.y ?? 0) < (lines[end - 1]?.y ?? 0))) end += 1;
    const run = lines.slice(at, Math.max(end, at + 1));
    const next = lines[at + run.length];
    const endsColumn = next === undefined || next.y > (run.at(-1)?.y ?? 0);
    const isNote = end > at && endsColumn && /^(?:\d{1,2}|[*∗†‡§¶])\s*\p{L}/u.test(run[0]?.text ?? "");
    const place = isNote ? ordered.findLastIndex((line) => !isSmall(line) && /[.!?:]["”’)\]]?$/.test(line.text)) : -1;
    if (place === -1) ordered.push(...run);
    else ordered.splice(place + 1, 0, ...run);
    at += run.length;
  }
  return ordered;
}

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
const shapeOf = (text: string) => text.replace(/\d+/g, "#").replace(/\s+/g, " ").trim().toLowerCase();

/** What stands at the edge of at least three pages, of two where there are no more than three, and of a third of them, whatever its numbers. */
function runningHeads(pages: readonly (readonly Line[])[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const shape of new Set(edgesOf(lines).map((line) => shapeOf(line.text))))
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
  return new Set(
    [...counts]
      .filter(([, count]) => count >= Math.max(pages.length <= 3 ? 2 : 3, pages.length / 3))
      .map(([shape]) => shape),
  );
}

function isFurniture(line: Line, running: ReadonlySet<string>): boolean {
  const isPageNumber = /^[-–—\s]*(?:page\s+)?\d{1,4}(?:\s*(?:of|\/)\s*\d{1,4})?[-–—\s]*$/i.test(line.text);
  return isPageNumber || running.has(shapeOf(line.text));
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

/** Puts accents that a PDF sets by themselves onto their letters ("na¨ıve", "Erd ˝os") and takes ligatures apart. */
export function withAccents(text: string): string {
  return text
    .replace(/[ﬀ-ﬆ]/g, (ligature) => ligature.normalize("NFKC"))
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
    );
}

function composed(letter: string, mark: string): string | undefined {
  const one = `${letter}${mark}`.normalize("NFC");
  return letter !== "" && [...one].length === 1 ? one : undefined;
}
