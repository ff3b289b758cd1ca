import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { Evidence } from "../generated/rrd.js";
import { shortened } from "./passage.js";

/** A quote as a record keeps it: its passage, or in old records and where it was not found, what the agent wrote. */
export interface KeptQuote {
  readonly passage?: string | undefined;
  readonly quoted?: readonly (readonly number[])[] | undefined;
  readonly quote?: string | undefined;
}

/** A piece of a passage; the quoted ones are marked wherever they are shown. */
export interface PassagePiece {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** The passage of a quote in pieces, in order. One of an old record is the quote alone. */
export function piecesOf({ passage, quoted = [], quote = "" }: KeptQuote): readonly PassagePiece[] {
  if (passage === undefined) return quote === "" ? [] : [{ text: quote, isQuoted: true }];
  const pieces: PassagePiece[] = [];
  let done = 0;
  for (const [from = 0, to = 0] of quoted) {
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
  const quoted = (kept.quoted ?? []).map(([from = 0, to = 0]) => [from, to] as const);
  return clip(passageText(shortened({ passage: kept.passage, quoted }, tokens * charactersOfToken)), tokens);
}

/** Words of a table's caption, head and other cells say nothing of where a sentence begins. */
const isTable = (passage: string): boolean => passage.includes(" | ");

/** How the quoted words are cut out of their sentence; a clause each. */
function edgesOf({ passage, quoted = [] }: KeptQuote): readonly string[] {
  if (passage === undefined || isTable(passage)) return [];
  const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
  const [from = 0] = quoted[0] ?? [];
  // The line above a list's point is no part of its sentence.
  return [
    ...(hasWords(passage.slice(passage.lastIndexOf("\n", from - 1) + 1, from))
      ? ["the sentence begins before the quoted words"]
      : []),
    ...(hasWords(passage.slice(quoted.at(-1)?.[1] ?? passage.length)) ? ["the sentence goes on"] : []),
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
export const keptPassage = ({
  passage,
  quoted,
}: {
  readonly passage: string;
  readonly quoted: readonly (readonly [number, number])[];
}): { passage: string; quoted: [number, number][] } => ({ passage, quoted: quoted.map(([from, to]) => [from, to]) });
