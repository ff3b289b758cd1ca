import { createHash } from "node:crypto";
import type { CheckedNumber, Evidence, Outcome } from "./evidence-record.js";
import type { DocumentText } from "../documents/text/document-text.js";
import { checkNumbers, withNumbers } from "./numbers/check-numbers.js";
import { citedWords, findQuote, type QuoteMatch } from "./find-quote.js";
import { normalise } from "./normalise.js";
import { keptPassage, quotedWords } from "./quoted.js";

/** A claim as an agent left it. */
interface Claimed {
  readonly claim: string;
  readonly quote: string;
  readonly locator?: string | null;
  /** What it reports, where it compares two things on one outcome. Kept as it is: no code can check it. */
  readonly about?: Pick<Outcome, "outcome" | "compared" | "direction"> | null;
}

interface CheckedEvidence {
  /** In the order of the items. */
  readonly evidence: Evidence[];
  /** How many different quotes were found, and so on: one that stands under forty claims is one. */
  readonly verified: number;
  readonly near: number;
  readonly notInText: number;
  readonly couldNotCheck: number;
  /** For each quote that was not found: the nearest passage (may be empty), and why that is not the quote. */
  readonly missing: readonly { readonly quote: string; readonly nearest: string; readonly why: string }[];
}

/** The check of a reading: of its quotes, and of the numbers of its results. */
export interface CheckedReading extends CheckedEvidence {
  readonly numbers: readonly CheckedNumber[];
}

/** Checks the quotes of a reading, and the numbers of its results by the quotes that were found. */
export function checkReading(
  items: readonly Claimed[],
  results: string,
  text: DocumentText | undefined,
  abstract?: string | null,
): CheckedReading {
  const checked = checkEvidence(items, text, abstract);
  return { ...checked, numbers: checkNumbers(results, checked.evidence, text) };
}

/** The same where the check was cut off: nothing is false, and each quote says why it was not looked for. */
export function uncheckedReading(items: readonly Claimed[], reason: string): CheckedReading {
  const { evidence, ...rest } = checkEvidence(items, undefined);
  return { ...rest, evidence: evidence.map((each) => ({ ...each, reason })), numbers: [] };
}

/** Where a quote stands that is in the abstract of the paper's record and not in its text. */
export const abstractLocator = "abstract";

/**
 * Looks for every quote in the paper's text, and where it is not there in the abstract that the agent was shown. The
 * locator of a quote that was found is where it was found, whatever the agent said. Without a text nothing is false:
 * what is not in the abstract is
 * `could-not-check` and keeps the agent's locator.
 */
export function checkEvidence(
  items: readonly Claimed[],
  text: DocumentText | undefined,
  abstract?: string | null,
): CheckedEvidence {
  const missing = new Map<string, CheckedEvidence["missing"][number]>();
  const shown = abstract == null ? undefined : { text: abstract };
  const lookFor = ({ claim, quote, locator }: Claimed): Evidence => {
    const match = text === undefined ? undefined : findQuote(text, quote);
    const text_sha256 = text?.sha256 ?? null;
    if (match?.found === true && match.isCited !== true)
      return { claim, ...keptPassage(match), status: "verified", locator: match.locator ?? null, text_sha256 };
    const inAbstract = shown === undefined ? undefined : findQuote(shown, quote);
    if (shown !== undefined && inAbstract?.found === true)
      return {
        claim,
        ...keptPassage(inAbstract),
        status: "verified",
        locator: abstractLocator,
        text_sha256: hashOf(shown.text),
      };
    if (match === undefined) return { claim, quote, status: "could-not-check", locator: locator ?? null };
    if (!match.found && match.near !== undefined) {
      const { differs, locator: place } = match.near;
      return {
        claim,
        ...keptPassage(match.near),
        status: "near",
        reason: differs,
        locator: place ?? null,
        text_sha256,
      };
    }
    const why = match.found ? citedWords : reasonOf(match);
    missing.set(wordsOf(quote), { quote, nearest: match.found ? "" : match.nearest, why });
    const reason = why === notFound ? {} : { reason: why };
    return { claim, quote, status: "not-in-text", ...reason, locator: null, text_sha256 };
  };
  const evidence = withNumbers(
    items.map((item) => ({ ...lookFor(item), ...(item.about == null ? {} : { about: { ...item.about } }) })),
  );
  const count = (wanted: Evidence["status"]) =>
    new Set(evidence.flatMap((each) => (each.status === wanted ? [wordsOf(quotedWords(each))] : []))).size;
  return {
    evidence,
    verified: count("verified"),
    near: count("near"),
    notInText: count("not-in-text"),
    couldNotCheck: count("could-not-check"),
    missing: [...missing.values()],
  };
}

/** Why a quote counts for nothing, in words that a repair can show. */
export const reasonOf = (match: Extract<QuoteMatch, { found: false }>): string =>
  match.tooShort === true ? "too short to be evidence" : (match.why ?? notFound);
const notFound = "not found in the text";

/** The hash of an abstract, as `text_sha256` has it. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The same for a quote in other spacing, case and quotation marks. */
const wordsOf = (quote: string): string => normalise(quote).chars.replace(/^'{1,20}|'{1,20}$/g, "");
