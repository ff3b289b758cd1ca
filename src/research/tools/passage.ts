import type { Mark, DocumentText } from "../../text/documents/text/document-text.js";
import { pieceEnd } from "../../engine/lib/tokens.js";

/**
 * Most estimated tokens of a text in one answer: Codex cuts a tool's answer at 10,000 tokens, Claude Code at 25,000,
 * both without asking.
 */
const pieceTokens = 5_000;

/** A stretch of a text, by offsets; `next` is where to read on, undefined at the text's end. */
interface Passage {
  readonly start: number;
  readonly end: number;
  readonly next?: number;
}

/**
 * What `section` names, at most 5,000 tokens of it: a label of the outline or a part of one, its number alone ("3", "p.
 * 4"), `@offset` to read on from there, or, left out, the beginning. A numbered section holds its subsections.
 * Undefined: the text has no such section.
 */
export function passageOf(text: DocumentText, section: string | undefined): Passage | undefined {
  const place = placeOf(text, section?.trim());
  if (place === undefined) return undefined;
  const end = pieceEnd(text.text, place.start, pieceTokens, place.end);
  return { start: place.start, end, ...(end < text.text.length ? { next: end } : {}) };
}

/** The text from the top in pieces as `@offset` gives them: their places, in order. */
export function piecesOf({ text }: Pick<DocumentText, "text">): Passage[] {
  const pieces: Passage[] = [];
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at, pieceTokens);
    pieces.push({ start: at, end, ...(end < text.length ? { next: end } : {}) });
    at = end;
  }
  return pieces;
}

function placeOf(
  { text, marks }: DocumentText,
  section: string | undefined,
): { start: number; end: number } | undefined {
  if (section === undefined || section === "") return { start: 0, end: text.length };
  const offset = /^@(\d{1,12})$/.exec(section)?.[1];
  if (offset !== undefined)
    return Number(offset) < text.length ? { start: wholeCharacter(text, Number(offset)), end: text.length } : undefined;

  const index = indexOf(marks, plain(section));
  const mark = marks[index];
  if (mark === undefined) return undefined;
  const number = numberOf(mark.label);
  const isWithin = ({ label }: Mark) => number !== undefined && (numberOf(label)?.startsWith(`${number}.`) ?? false);
  const after = marks.slice(index + 1).find((later) => later.at > mark.at && !isWithin(later));
  return { start: mark.at, end: after?.at ?? text.length };
}

/** The mark meant: of this label, of this number, or the first whose label begins with or holds what was asked for. */
function indexOf(marks: readonly Mark[], wanted: string): number {
  if (wanted === "") return -1;
  const labels = marks.map(({ label }) => plain(label));
  const tests: ((label: string) => boolean)[] = [
    (label) => label === wanted,
    (label) => label.startsWith(`${wanted} `),
    (label) => wanted.length > 3 && label.includes(wanted),
  ];
  for (const test of tests) {
    const index = labels.findIndex(test);
    if (index !== -1) return index;
  }
  return -1;
}

/** "§ 3.1 The Method" as "3.1 the method", "p. 4" as "4". */
const plain = (label: string): string =>
  label
    .toLowerCase()
    .replace(/^[\s§#]+|^(?:section|sec\.|pages?|pp?\.)(?=[\s\d])/g, "")
    .replace(/\s+/g, " ")
    .trim();

const numberOf = (label: string): string | undefined => /^§\s*(\d+(?:\.\d+)*)\.?(?:\s|$)/.exec(label)?.[1];

const wholeCharacter = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code < 0xe000 ? at + 1 : at;
};
