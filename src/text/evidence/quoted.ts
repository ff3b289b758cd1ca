import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { Evidence } from "./evidence-record.js";
import { cellsOf, listMark } from "./structure/sentences.js";
import { type Passage, shortenPassage } from "./passage.js";

/** A stored quote. It has a passage; old records and quotes that were not found have only the agent's text. */
export interface StoredQuote {
  readonly passage?: string;
  /** Positions of the quoted words in the passage, such as "21-37" or "0-12, 40-61". */
  readonly quoted?: string;
  readonly quote?: string;
}

/** Parses the positions in `quoted`: the start and end of each fragment. */
export const placesIn = (quoted: string): readonly (readonly [number, number])[] =>
  [...quoted.matchAll(/(\d{1,9})-(\d{1,9})/g)].map(([, from, to]) => [Number(from), Number(to)] as const);

/** A piece of a passage. Quoted pieces are highlighted when shown. */
export interface PassagePiece {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Splits the passage of a quote into pieces. An old record has one piece, the quote. */
export function piecesOf({ passage, quoted = "", quote = "" }: StoredQuote): readonly PassagePiece[] {
  if (passage === undefined) return quote === "" ? [] : [{ text: quote, isQuoted: true }];
  const pieces: PassagePiece[] = [];
  let position = 0;
  for (const [from, to] of placesIn(quoted)) {
    const start = Math.max(position, Math.min(from, passage.length));
    const end = Math.max(start, Math.min(to, passage.length));
    pieces.push({ text: passage.slice(position, start), isQuoted: false });
    pieces.push({ text: passage.slice(start, end), isQuoted: true });
    position = end;
  }
  pieces.push({ text: passage.slice(position), isQuoted: false });
  return pieces.filter(({ text }) => text !== "");
}

/** Only the quoted words in the paper's spelling, with `…` between fragments. */
export const quotedWords = (storedQuote: StoredQuote): string =>
  piecesOf(storedQuote)
    .filter(({ isQuoted }) => isQuoted)
    .map(({ text }) => text)
    .join(" … ");

/** The passage as text, with the quoted words between “ and ”. */
export const passageText = (storedQuote: StoredQuote): string =>
  piecesOf(storedQuote)
    .map(({ text, isQuoted }) => (isQuoted ? `“${text}”` : text))
    .join("");

/** Minimum number of characters per token in running text. */
const minCharsPerToken = 3;

/** Like `passageText`, with at most `maxTokens`. The side with more text beside the quoted words is cut first. */
export function clippedPassage(storedQuote: StoredQuote, maxTokens: number): string {
  const text = passageText(storedQuote);
  if (estimateTokens(text) <= maxTokens || storedQuote.passage === undefined) return clip(text, maxTokens);
  const fullPassage = { passage: storedQuote.passage, quoted: placesIn(storedQuote.quoted ?? "") };
  return clip(passageText(passageFields(shortenPassage(fullPassage, maxTokens * minCharsPerToken))), maxTokens);
}

/** Whether a line is a row of a table. In a row, no sentence begins or ends. */
const isTableRow = (line: string): boolean => line.includes("|") && cellsOf(line).length > 1;

/** Notes that say whether the sentence has more words before or after the quoted words. */
function cutNotes({ passage, quoted = "" }: StoredQuote): readonly string[] {
  if (passage === undefined) return [];
  const places = placesIn(quoted);
  // The mark of a list item does not count.
  const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text.replace(listMark, ""));
  const [from] = places[0] ?? [0];
  // The line above a list item does not belong to the item's sentence.
  const line = passage.lastIndexOf("\n", from - 1) + 1;
  if (isTableRow(passage.slice(line).split("\n", 1)[0] ?? "")) return [];
  return [
    ...(hasWords(passage.slice(line, from)) ? ["the sentence begins before the quoted words"] : []),
    ...(hasWords(passage.slice(places.at(-1)?.[1] ?? passage.length)) ? ["the sentence goes on"] : []),
  ];
}

/** Note on a verified quote of an old record whose text is missing. */
const missingPassageNote = "the words around it are not stored";

/** Notes for readers of a quote: how it was cut, and which numbers of its claim it does not contain. */
export function notesOf(evidence: Evidence): string[] {
  const { numbers = [], passage, status } = evidence;
  const numbersThatStand = (place: "in-passage" | "nowhere") =>
    numbers
      .filter(({ stands }) => stands === place)
      .map(({ number }) => number)
      .join(", ");
  const [numbersOutside, missingNumbers] = [numbersThatStand("in-passage"), numbersThatStand("nowhere")];
  return [
    ...cutNotes(evidence),
    ...(numbersOutside === "" ? [] : [`in the sentence, outside the quoted words: ${numbersOutside}`]),
    ...(missingNumbers === "" ? [] : [`number not in the passage: ${missingNumbers}`]),
    ...(passage === undefined && status === "verified" ? [missingPassageNote] : []),
  ];
}

/** The fields of a record that store a passage. */
export const passageFields = ({ passage, quoted }: Passage): { passage: string; quoted: string } => ({
  passage,
  quoted: quoted.map(([from, to]) => `${from}-${to}`).join(", "),
});

/** Notes on an old record that has a quote but no passage. */
export const notesOfOldQuote = ({ passage, quote }: StoredQuote): readonly string[] =>
  passage !== undefined || quote === undefined || quote === "" ? [] : notesOf({ claim: "", quote, status: "verified" });

/** Whether positions of the quoted words are outside of the passage or not in ascending order. */
export function hasPlacesOutside({ passage, quoted = "" }: StoredQuote): boolean {
  if (passage === undefined) return false;
  let position = 0;
  for (const [from, to] of placesIn(quoted)) {
    if (from < position || to <= from || to > passage.length) return true;
    position = to;
  }
  return false;
}
