import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { Evidence } from "./evidence-record.js";
import { cellsOf, listMark } from "./structure/sentences.js";
import { type Passage, shortened } from "./passage.js";

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
export const quotedWords = (kept: StoredQuote): string =>
  piecesOf(kept)
    .filter(({ isQuoted }) => isQuoted)
    .map(({ text }) => text)
    .join(" … ");

/** The passage as text, with the quoted words between “ and ”. */
export const passageText = (kept: StoredQuote): string =>
  piecesOf(kept)
    .map(({ text, isQuoted }) => (isQuoted ? `“${text}”` : text))
    .join("");

/** Minimum number of characters per token in running text. */
const minCharsPerToken = 3;

/** Like `passageText`, with at most this many tokens. The side that is farther from the quoted words is cut first. */
export function clippedPassage(kept: StoredQuote, tokens: number): string {
  const text = passageText(kept);
  if (estimateTokens(text) <= tokens || kept.passage === undefined) return clip(text, tokens);
  const fullPassage = { passage: kept.passage, quoted: placesIn(kept.quoted ?? "") };
  return clip(passageText(passageFields(shortened(fullPassage, tokens * minCharsPerToken))), tokens);
}

/** Whether a line is a table row: cells have no beginnings of sentences. */
const isTableRow = (line: string): boolean => line.includes("|") && cellsOf(line).length > 1;

/** Clauses that say how the quoted words were cut out of their sentence. */
function edgesOf({ passage, quoted = "" }: StoredQuote): readonly string[] {
  if (passage === undefined) return [];
  const places = placesIn(quoted);
  // The marker of a list item does not count.
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
const withoutPassage = "the words around it are not kept";

/** Notes for readers of a quote: how it was cut, and which numbers of its claim it does not contain. */
export function notesOf(evidence: Evidence): string[] {
  const { numbers = [], passage, status } = evidence;
  const standing = (place: "in-passage" | "nowhere") =>
    numbers
      .filter(({ stands }) => stands === place)
      .map(({ number }) => number)
      .join(", ");
  const [outside, nowhere] = [standing("in-passage"), standing("nowhere")];
  return [
    ...edgesOf(evidence),
    ...(outside === "" ? [] : [`in the sentence, outside the quoted words: ${outside}`]),
    ...(nowhere === "" ? [] : [`number not in the passage: ${nowhere}`]),
    ...(passage === undefined && status === "verified" ? [withoutPassage] : []),
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
