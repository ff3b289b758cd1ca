import { createHash } from "node:crypto";
import { countQuotes, type QuoteCounts, quoteKey } from "./count-quotes.js";
import type { CheckedNumber, Evidence, Outcome } from "./evidence-record.js";
import type { DocumentText } from "../documents/text/document-text.js";
import { checkNumbers, withNumbers } from "./numbers/check-numbers.js";
import { citedReason, findQuote, type QuoteMatch } from "./find-quote.js";
import { passageFields } from "./quoted.js";

/** A claim with its quote, from an agent. */
interface Claim {
  readonly claim: string;
  readonly quote: string;
  readonly locator?: string | null;
  /** The reported outcome, if the claim compares two things. It is stored unchanged, because code can't check it. */
  readonly about?: Pick<Outcome, "outcome" | "compared" | "direction"> | null;
}

interface CheckedEvidence extends QuoteCounts {
  /** In the order of the claims. */
  readonly evidence: Evidence[];
  /** For each quote that was not found: the nearest passage (may be empty), and the reason. */
  readonly missing: readonly { readonly quote: string; readonly nearest: string; readonly why: string }[];
}

/** The result of checking a reading: its quotes, and the numbers in its results. */
export interface CheckedReading extends CheckedEvidence {
  readonly numbers: readonly CheckedNumber[];
}

/** Checks the quotes of a reading, and the numbers in its results against the quotes that were found. */
export function checkReading(
  items: readonly Claim[],
  results: string,
  text: DocumentText | undefined,
  abstract?: string | null,
): CheckedReading {
  const checked = checkEvidence(items, text, abstract);
  return { ...checked, numbers: checkNumbers(results, checked.evidence, text) };
}

/** The result if a check was interrupted: no quote counts as false, and each has the reason why it was not checked. */
export function uncheckedReading(items: readonly Claim[], reason: string): CheckedReading {
  const { evidence, ...counts } = checkEvidence(items, undefined);
  return { ...counts, evidence: evidence.map((each) => ({ ...each, reason })), numbers: [] };
}

/** Locator of a quote that is in the abstract of the paper's record but not in its text. */
export const abstractLocator = "abstract";

/**
 * Searches for each quote in the paper's text, then in the abstract that the agent saw. The locator of a quote is the
 * place where it was found, whatever the agent wrote. Without a text, a quote that is not in the abstract is
 * `could-not-check` and keeps the agent's locator.
 */
export function checkEvidence(
  items: readonly Claim[],
  text: DocumentText | undefined,
  abstract?: string | null,
): CheckedEvidence {
  const missing = new Map<string, CheckedEvidence["missing"][number]>();
  const abstractText = abstract == null ? undefined : { text: abstract };
  const checkClaim = ({ claim, quote, locator }: Claim): Evidence => {
    const match = text === undefined ? undefined : findQuote(text, quote);
    const text_sha256 = text?.sha256 ?? null;
    if (match?.found === true && match.isCited !== true)
      return { claim, ...passageFields(match), status: "verified", locator: match.locator ?? null, text_sha256 };
    const inAbstract = abstractText === undefined ? undefined : findQuote(abstractText, quote);
    if (abstractText !== undefined && inAbstract?.found === true)
      return {
        claim,
        ...passageFields(inAbstract),
        status: "verified",
        locator: abstractLocator,
        text_sha256: hashOf(abstractText.text),
      };
    if (match === undefined) return { claim, quote, status: "could-not-check", locator: locator ?? null };
    if (!match.found && match.near !== undefined) {
      const { differs, locator: nearLocator } = match.near;
      return {
        claim,
        ...passageFields(match.near),
        status: "near",
        reason: differs,
        locator: nearLocator ?? null,
        text_sha256,
      };
    }
    const why = match.found ? citedReason : reasonOf(match);
    missing.set(quoteKey(quote), { quote, nearest: match.found ? "" : match.nearest, why });
    const reasonField = why === notFound ? {} : { reason: why };
    return { claim, quote, status: "not-in-text", ...reasonField, locator: null, text_sha256 };
  };
  const evidence = withNumbers(
    items.map((item) => ({ ...checkClaim(item), ...(item.about == null ? {} : { about: { ...item.about } }) })),
  );
  return { evidence, ...countQuotes(evidence), missing: [...missing.values()] };
}

/** The reason why a quote does not count, as text for the agent's next attempt. */
export const reasonOf = (match: Extract<QuoteMatch, { found: false }>): string =>
  match.tooShort === true ? "too short to be evidence" : (match.why ?? notFound);
const notFound = "not found in the text";

/** The hash of an abstract, in the format of `text_sha256`. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
