import type { Evidence, Paper } from "../../generated/rrd.js";

/** A quote of a paper's record, by its number: its place in the record's `evidence`, from 1. */
export interface NumberedQuote {
  readonly number: number;
  readonly evidence: Evidence;
}

/** From this share of a statement's words on, a quote and its claim are taken to say the same. */
const wordShare = 0.6;

/** The quotes of a paper that a reader may see. One that was looked for and not found is none. */
export const quotesOf = (paper: Paper | undefined): NumberedQuote[] =>
  (paper?.analysis?.evidence ?? []).flatMap((evidence, index) =>
    evidence.status === "not-in-text" ? [] : [{ number: index + 1, evidence }],
  );

/**
 * The quote that a statement about a paper rests on: it holds every number of the statement, and with its claim most of the words.
 * Undefined where none does. Records have no link between the two; this one is computed, and rather none than a wrong one.
 */
export function quoteFor(statement: string, paper: Paper | undefined): NumberedQuote | undefined {
  const wanted = wordsOf(statement);
  if (wanted.words.size === 0) return undefined;
  let best: { quote: NumberedQuote; share: number } | undefined;
  for (const quote of quotesOf(paper)) {
    const { claim, quote: text, status } = quote.evidence;
    const numbers = wordsOf(text).numbers;
    if ([...wanted.numbers].some((number) => !numbers.has(number))) continue;
    const known = wordsOf(`${claim} ${text}`).words;
    const found = [...wanted.words].filter((word) => known.has(word)).length / wanted.words.size;
    // Of two that fit as well, the one that was found in the text.
    const share = found + (status === "verified" ? 0.001 : 0);
    if (found >= wordShare && share > (best?.share ?? 0)) best = { quote, share };
  }
  return best?.quote;
}

/** How a quote's status is marked wherever it is shown. */
export const statusSigns = { verified: "✓", near: "≈", "not-in-text": "✗", "could-not-check": "?" } as const;

/** How a statement names its quote: "sample_01, quote 3 ✓". */
export function sourceText(statement: string, paper: Paper | undefined, id: string): string {
  if (paper?.retracted === true) return `${id}, RETRACTED`;
  const found = quoteFor(statement, paper);
  if (found === undefined) return `${id}, no quote`;
  return `${id}, quote ${found.number} ${statusSigns[found.evidence.status]}`;
}

/** Words that say something, cut to their stems' length, and numbers, without thousands separators. */
function wordsOf(text: string): { words: ReadonlySet<string>; numbers: ReadonlySet<string> } {
  const all =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/\d+(?:[.,]\d+)*|\p{L}+/gu) ?? [];
  const isNumber = (word: string) => /^\d/.test(word);
  return {
    words: new Set(all.filter((word) => !isNumber(word) && word.length > 3).map((word) => word.slice(0, 6))),
    numbers: new Set(all.filter(isNumber).map((word) => word.replace(/,(?=\d{3}(?!\d))/g, ""))),
  };
}
