import type { Mark } from "../../../text/documents/text/document-text.js";
import { referenceLists } from "../../../text/documents/text/reference-lists.js";

/** A part of a paper's text by its offsets, with its page or section. */
export interface Passage {
  readonly start: number;
  readonly end: number;
  readonly locator?: string;
}

/**
 * Maximum characters of a passage. Of 500, 800, 1,200, 2,000 and 3,000, measured on labelled questions, 800 needs the
 * fewest tokens to contain the right place.
 */
export const maxPassageChars = 800;
/** Minimum number of letters of a passage. Shorter ones are only headings or page numbers. */
const minLetters = 25;

/**
 * The passages of a text, in order, at most 800 characters each. They end at pages, sections and ends of sentences.
 * Reference lists are left out.
 */
export function passagesOf({ text, marks }: { readonly text: string; readonly marks: readonly Mark[] }): Passage[] {
  const references = referenceLists(text);
  const bounds = [
    ...new Set([0, ...marks.map(({ at }) => at), ...references.flatMap(({ start, end }) => [start, end])]),
  ]
    .filter((at) => at >= 0 && at < text.length)
    .toSorted((a, b) => a - b);
  const passages: Passage[] = [];
  let mark = -1;
  for (const [index, from] of bounds.entries()) {
    const to = bounds[index + 1] ?? text.length;
    while ((marks[mark + 1]?.at ?? Infinity) <= from) mark += 1;
    if (references.some(({ start, end }) => from >= start && from < end)) continue;
    const locator = marks[mark]?.label;
    for (let start = from; start < to;) {
      const end = endOf(text, start, to);
      if (hasContent(text.slice(start, end)))
        passages.push({ start, end, ...(locator === undefined ? {} : { locator }) });
      start = end;
    }
  }
  return passages;
}

const hasLetters = new RegExp(`(?:[\\p{L}\\p{N}][^\\p{L}\\p{N}]*){${minLetters}}`, "u");

/** Whether a passage has content, not only headings and page marks. */
const hasContent = (text: string): boolean => hasLetters.test(text.replace(/^(?:\[p\. ?\d+\]|#{1,6} [^\n]*)$/gm, ""));

const sentenceEnds = /[.!?。！？]["'”’»)\]]{0,3}(?=\s|$)|\n|[。！？]/gu;

/** The end of a passage that begins at `start`: the end of a sentence in its second half, otherwise of a word. */
function endOf(text: string, start: number, to: number): number {
  if (to - start <= maxPassageChars) return to;
  const piece = text.slice(start, start + maxPassageChars);
  let end = 0;
  for (const stop of piece.matchAll(sentenceEnds)) end = stop.index + stop[0].length;
  if (end < maxPassageChars / 2) end = piece.lastIndexOf(" ") + 1;
  if (end < maxPassageChars / 2) {
    const lastCode = piece.charCodeAt(maxPassageChars - 1);
    end = lastCode >= 0xd800 && lastCode < 0xdc00 ? maxPassageChars - 1 : maxPassageChars;
  }
  return start + end;
}
