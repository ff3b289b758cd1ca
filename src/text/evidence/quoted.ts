import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { Evidence } from "./evidence-record.js";
import { cellsOf, listMark } from "./structure/sentences.js";
import { type Passage, shortened } from "./passage.js";

/** A quote as a record keeps it: its passage, or in old records and where it was not found, what the agent wrote. */
export interface KeptQuote {
  readonly passage?: string;
  /** Where the quoted words stand in the passage, such as "21-37" or "0-12, 40-61". */
  readonly quoted?: string;
  readonly quote?: string;
}

/** From and to of each fragment, as `quoted` has them. */
export const placesIn = (quoted: string): readonly (readonly [number, number])[] =>
  [...quoted.matchAll(/(\d{1,9})-(\d{1,9})/g)].map(([, from, to]) => [Number(from), Number(to)] as const);

/** A piece of a passage; the quoted ones are marked wherever they are shown. */
export interface PassagePiece {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The passage of a quote in pieces, in order. One of an old record is the quote alone. */
export function piecesOf({ passage, quoted = "", quote = "" }: KeptQuote): readonly PassagePiece[] {
  if (passage === undefined) return quote === "" ? [] : [{ text: quote, isQuoted: true }];
  const pieces: PassagePiece[] = [];
  let done = 0;
  for (const [from, to] of placesIn(quoted)) {
    const start = Math.max(done, Math.min(from, passage.length));
    const end = Math.max(start, Math.min(to, passage.length));
    pieces.push({ text: passage.slice(done, start), isQuoted: false });
    pieces.push({ text: passage.slice(start, end), isQuoted: true });
    done = end;
  }
  pieces.push({ text: passage.slice(done), isQuoted: false });
  return pieces.filter(({ text }) => text !== "");
}

/** The quoted words alone, as the paper has them, `…` between fragments. */
export const quotedWords = (kept: KeptQuote): string =>
  piecesOf(kept)
    .filter(({ isQuoted }) => isQuoted)
    .map(({ text }) => text)
    .join(" … ");

/** The passage as a text, the quoted words between “ and ”. */
export const passageText = (kept: KeptQuote): string =>
  piecesOf(kept)
    .map(({ text, isQuoted }) => (isQuoted ? `“${text}”` : text))
    .join("");

/** Characters that a token has at least in running text. */
const charactersOfToken = 3;

/** The same in at most so many tokens: the side farther from the quoted words is cut first. */
export function clippedPassage(kept: KeptQuote, tokens: number): string {
  const text = passageText(kept);
  if (estimateTokens(text) <= tokens || kept.passage === undefined) return clip(text, tokens);
  const whole = { passage: kept.passage, quoted: placesIn(kept.quoted ?? "") };
  return clip(passageText(keptPassage(shortened(whole, tokens * charactersOfToken))), tokens);
}

/** The cells of a row say nothing of where a sentence begins. */
const isCell = (line: string): boolean => line.includes("|") && cellsOf(line).length > 1;

/** How the quoted words are cut out of their sentence; a clause each. */
function edgesOf({ passage, quoted = "" }: KeptQuote): readonly string[] {
  if (passage === undefined) return [];
  const places = placesIn(quoted);
  // The mark of a list's point does not count.
  const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text.replace(listMark, ""));
  const [from] = places[0] ?? [0];
  // The line above a list's point does not belong to its sentence.
  const line = passage.lastIndexOf("\n", from - 1) + 1;
  if (isCell(passage.slice(line).split("\n", 1)[0] ?? "")) return [];
  return [
    ...(hasWords(passage.slice(line, from)) ? ["the sentence begins before the quoted words"] : []),
    ...(hasWords(passage.slice(places.at(-1)?.[1] ?? passage.length)) ? ["the sentence goes on"] : []),
  ];
}

/** Said of a verified quote of an old record whose text is gone. */
const withoutPassage = "the words around it are not kept";

/** What a reader should know of a quote: how it is cut, and which numbers of its claim it does not hold. */
export function notesOf(evidence: Evidence): string[] {
  const { numbers = [], passage, status } = evidence;
  const standing = (wanted: "in-passage" | "nowhere") =>
    numbers
      .filter(({ stands }) => stands === wanted)
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

/** The fields of a record that keep a passage, of what was found. */
export const keptPassage = ({ passage, quoted }: Passage): { passage: string; quoted: string } => ({
  passage,
  quoted: quoted.map(([from, to]) => `${from}-${to}`).join(", "),
});

/** What a reader should know of words that were found, where an earlier version kept them without their sentence. */
export const notesOfOld = ({ passage, quote }: KeptQuote): readonly string[] =>
  passage !== undefined || quote === undefined || quote === "" ? [] : notesOf({ claim: "", quote, status: "verified" });

/** Whether some of the places of the quoted words lie outside of their passage, or not one behind the other. */
export function hasPlacesOutside({ passage, quoted = "" }: KeptQuote): boolean {
  if (passage === undefined) return false;
  let done = 0;
  for (const [from, to] of placesIn(quoted)) {
    if (from < done || to <= from || to > passage.length) return true;
    done = to;
  }
  return false;
}
