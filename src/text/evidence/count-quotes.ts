import type { Evidence } from "./evidence-record.js";
import { normalise } from "./normalise.js";
import { quotedWords } from "./quoted.js";

/** Numbers of distinct quotes by status. A quote of several claims counts once. */
export interface QuoteCounts {
  /** All of them. */
  readonly given: number;
  readonly verified: number;
  readonly near: number;
  readonly notInText: number;
  readonly couldNotCheck: number;
}

/** Counts the quotes of one paper. */
export function countQuotes(evidence: readonly Evidence[]): QuoteCounts {
  const keys = { verified: new Set(), near: new Set(), "not-in-text": new Set(), "could-not-check": new Set() };
  for (const each of evidence) {
    const words = quotedWords(each);
    // The words of a quote that was found are the paper's own, so they are equal where the quotes are.
    keys[each.status].add(each.status === "verified" || each.status === "near" ? words : quoteKey(words));
  }
  const counts = {
    verified: keys.verified.size,
    near: keys.near.size,
    notInText: keys["not-in-text"].size,
    couldNotCheck: keys["could-not-check"].size,
  };
  return { ...counts, given: counts.verified + counts.near + counts.notInText + counts.couldNotCheck };
}

/** A key that is equal for quotes with different spacing, case and quotation marks. */
export const quoteKey = (quote: string): string => normalise(quote).chars.replace(/^'{1,20}|'{1,20}$/g, "");
