import type { Evidence } from "../generated/rrd.js";
import type { PaperText } from "../../engine/documents/text/paper-text.js";
import { findQuote } from "./find-quote.js";
import { normalise } from "./normalise.js";

/** A claim as an agent left it. */
interface Claimed {
  readonly claim: string;
  readonly quote: string;
  readonly locator?: string | null;
}

interface CheckedEvidence {
  /** In the order of the items. */
  readonly evidence: Evidence[];
  /** How many different quotes were found, and so on: one that stands under forty claims is one. */
  readonly verified: number;
  readonly notInText: number;
  readonly couldNotCheck: number;
  /** For each quote that was not found: the passage nearest to it, empty where there is none, and why it is none. */
  readonly missing: readonly {
    readonly quote: string;
    readonly nearest: string;
    readonly why: string;
  }[];
}

/**
 * Looks for every quote in the paper's text. The locator of a quote that was found is where it was found, whatever the agent said.
 * Without a text nothing is false: every item is `could-not-check` and keeps the agent's locator.
 */
export function checkEvidence(items: readonly Claimed[], text: PaperText | undefined): CheckedEvidence {
  const missing = new Map<string, CheckedEvidence["missing"][number]>();
  const evidence = items.map(({ claim, quote, locator }): Evidence => {
    if (text === undefined) return { claim, quote, status: "could-not-check", locator: locator ?? null };
    const match = findQuote(text, quote);
    if (match.found)
      return { claim, quote, status: "verified", locator: match.locator ?? null, text_sha256: text.sha256 };
    missing.set(wordsOf(quote), {
      quote,
      nearest: match.nearest,
      why: match.tooShort === true ? "too short to be evidence" : "not found in the text",
    });
    return { claim, quote, status: "not-in-text", locator: null, text_sha256: text.sha256 };
  });
  const count = (wanted: Evidence["status"]) =>
    new Set(evidence.flatMap(({ status, quote }) => (status === wanted ? [wordsOf(quote)] : []))).size;
  return {
    evidence,
    verified: count("verified"),
    notInText: count("not-in-text"),
    couldNotCheck: count("could-not-check"),
    missing: [...missing.values()],
  };
}

/** The same for a quote in other spacing, case and quotation marks. */
const wordsOf = (quote: string): string => normalise(quote).chars.replace(/^'+|'+$/g, "");
