import type { Evidence } from "./evidence-record.js";

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
  // Equal quotes that were found have the same place in the same passage.
  for (const { status, passage = "", quoted = "", quote = "" } of evidence)
    keys[status].add(`${passage}\n${quoted}\n${quoteKey(quote)}`);
  const counts = {
    verified: keys.verified.size,
    near: keys.near.size,
    notInText: keys["not-in-text"].size,
    couldNotCheck: keys["could-not-check"].size,
  };
  return { ...counts, given: counts.verified + counts.near + counts.notInText + counts.couldNotCheck };
}

/** A key that is equal for quotes with different spacing, case and quotation marks. */
export const quoteKey = (quote: string): string =>
  quote
    .toLowerCase()
    .replace(/[\s'"“”‘’«»]+/g, " ")
    .trim();
