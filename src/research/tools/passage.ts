import type { Mark, DocumentText } from "../../text/documents/text/document-text.js";
import { pieceEnd } from "../../engine/lib/tokens.js";

/**
 * Maximum number of estimated tokens of text in one answer. Codex cuts the answer of a tool at 10,000 tokens, Claude
 * Code at 25,000.
 */
const maxPieceTokens = 5_000;

/** A part of a text, by offsets. `next`: the offset to continue reading at; undefined at the end. */
interface Passage {
  readonly start: number;
  readonly end: number;
  readonly next?: number;
}

/**
 * The section that `section` names, cut to 5,000 tokens. `section` is a label of the outline or a part of a label, a
 * number ("3", "p. 4"), `@offset` to continue there, or missing for the beginning. A numbered section includes its
 * subsections. Undefined if the text has no such section.
 */
export function passageOf(text: DocumentText, section: string | undefined): Passage | undefined {
  const range = rangeOf(text, section?.trim());
  if (range === undefined) return undefined;
  const end = pieceEnd(text.text, range.start, maxPieceTokens, range.end);
  return { start: range.start, end, ...(end < text.text.length ? { next: end } : {}) };
}

/** Splits the text into the pieces that a reader gets by following `next` from the start. */
export function piecesOf({ text }: Pick<DocumentText, "text">): Passage[] {
  const pieces: Passage[] = [];
  for (let start = 0; start < text.length;) {
    const end = pieceEnd(text, start, maxPieceTokens);
    pieces.push({ start: start, end, ...(end < text.length ? { next: end } : {}) });
    start = end;
  }
  return pieces;
}

function rangeOf(
  { text, marks }: DocumentText,
  section: string | undefined,
): { start: number; end: number } | undefined {
  if (section === undefined || section === "") return { start: 0, end: text.length };
  const offset = /^@(\d{1,12})$/.exec(section)?.[1];
  if (offset !== undefined)
    return Number(offset) < text.length ? { start: characterStart(text, Number(offset)), end: text.length } : undefined;

  const index = markIndex(marks, simplifiedLabel(section));
  const mark = marks[index];
  if (mark === undefined) return undefined;
  const number = numberOf(mark.label);
  const isSubsection = ({ label }: Mark) =>
    number !== undefined && (numberOf(label)?.startsWith(`${number}.`) ?? false);
  const nextMark = marks.slice(index + 1).find((later) => later.at > mark.at && !isSubsection(later));
  return { start: mark.at, end: nextMark?.at ?? text.length };
}

/**
 * The index of the mark with this label or number, otherwise of the first label that starts with or contains `query`;
 * -1 if nothing matches.
 */
function markIndex(marks: readonly Mark[], query: string): number {
  if (query === "") return -1;
  const labels = marks.map(({ label }) => simplifiedLabel(label));
  const tests: ((label: string) => boolean)[] = [
    (label) => label === query,
    (label) => label.startsWith(`${query} `),
    (label) => query.length > 3 && label.includes(query),
  ];
  for (const test of tests) {
    const index = labels.findIndex(test);
    if (index !== -1) return index;
  }
  return -1;
}

/** Simplifies a label: "§ 3.1 The Method" becomes "3.1 the method", "p. 4" becomes "4". */
const simplifiedLabel = (label: string): string =>
  label
    .toLowerCase()
    .replace(/^[\s§#]+|^(?:section|sec\.|pages?|pp?\.)(?=[\s\d])/g, "")
    .replace(/\s+/g, " ")
    .trim();

const numberOf = (label: string): string | undefined => /^§\s*(\d+(?:\.\d+)*)\.?(?:\s|$)/.exec(label)?.[1];

const characterStart = (text: string, offset: number): number => {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code < 0xe000 ? offset + 1 : offset;
};
