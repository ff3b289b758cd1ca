import { locatorAt } from "../../../text/documents/text/document-text.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { clip } from "../../../engine/lib/tokens.js";
import { abstractLocator, reasonOf } from "../../../text/evidence/check-evidence.js";
import type { Passage } from "../../../text/evidence/passage.js";
import { passageFields } from "../../../text/evidence/quoted.js";
import { citedReason, type QuoteMatch, type Searchable } from "../../../text/evidence/find-quote.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { Answers } from "../../generated/result-analysis.js";
import type { Answer, Criterion } from "../../generated/rrd.js";
import { criterionHash } from "./eligibility.js";

/** A text in which quotes are searched. */
interface QuotablePart {
  readonly text: Searchable;
  /** The locator of a found quote, if the text has no marks for it. */
  readonly name: string;
}

/** The title and the abstract of a record. */
interface RecordFacts {
  readonly title: string;
  readonly abstract?: string | null;
}

/**
 * Checks answers from title and abstract: one for each criterion, in their order. An answer is unclear if it is
 * missing, has no quote, or its quote is not found.
 */
export const checkScreening = (
  criteria: readonly Criterion[],
  answersOfAgent: Answers | undefined,
  record: RecordFacts,
): Promise<Answer[]> => checkAnswers(criteria, answersOfAgent, "screening", partsOf(record));

/** Like checkScreening, for answers from a paper's text. Quotes may also be in the abstract or the title. */
export const checkFullText = (
  criteria: readonly Criterion[],
  answersOfAgent: Answers | undefined,
  text: DocumentText | undefined,
  record: RecordFacts,
): Promise<Answer[]> =>
  checkAnswers(criteria, answersOfAgent, "full_text", [
    ...(text === undefined ? [] : [{ text, name: "text" }]),
    ...partsOf(record),
  ]);

const partsOf = ({ title, abstract }: RecordFacts): QuotablePart[] => [
  ...(abstract == null || abstract.trim() === "" ? [] : [{ text: { text: abstract }, name: abstractLocator }]),
  { text: { text: title }, name: "title" },
];

/** Maximum length of a stored quote in characters. */
const maxQuoteChars = 600;

async function checkAnswers(
  criteria: readonly Criterion[],
  answersOfAgent: Answers | undefined,
  stage: Answer["stage"],
  parts: readonly QuotablePart[],
): Promise<Answer[]> {
  const givenAnswers = criteria.map(({ id }) =>
    answersOfAgent !== undefined && Object.hasOwn(answersOfAgent, id) ? answersOfAgent[id] : undefined,
  );
  const quotes = givenAnswers.map((given) => (given?.quote ?? "").trim().slice(0, maxQuoteChars));
  const results = await findQuotes(parts, quotes);
  return criteria.map((criterion, index) => {
    const { answer } = givenAnswers[index] ?? {};
    const common = { criterion: criterion.id, asked: criterionHash(criterion), stage };
    const unclear = { ...common, answer: "unclear" as const };
    if (answer === undefined) return { ...unclear, reason: "It was not answered." };
    if (answer === "unclear") return unclear;
    const quote = quotes[index] ?? "";
    if (quote === "") return { ...unclear, said: answer, reason: "The answer has no quote." };
    const result = results[index];
    if (result !== undefined && "locator" in result)
      return { ...common, answer, ...passageFields(result.match), locator: result.locator };
    return { ...unclear, quote, said: answer, reason: `The quote does not count: ${result?.why ?? "not found"}.` };
  });
}

/** A found quote with its passage and locator, or the reason why it was not found; undefined without a quote. */
type QuoteResult = { readonly match: Passage; readonly locator: string } | { readonly why: string } | undefined;

/** The result for each quote: the first part that contains it, or the reason; undefined for an empty quote. */
async function findQuotes(parts: readonly QuotablePart[], quotes: readonly string[]): Promise<QuoteResult[]> {
  const results: QuoteResult[] = quotes.map(() => undefined);
  for (const { text, name } of parts) {
    const openQuotes = [...quotes.entries()].filter(([index, quote]) => quote !== "" && !isFound(results[index]));
    if (openQuotes.length === 0) break;
    const quoteTexts = openQuotes.map(([, quote]) => quote);
    const search = await searchUntrusted("findQuotes", text, quoteTexts);
    for (const [position, [index]] of openQuotes.entries()) {
      const match = "cut" in search ? search.cut : search.value[position];
      if (match === undefined) continue;
      if (typeof match !== "string" && match.found && match.isCited !== true)
        results[index] = { match, locator: match.locator ?? locatorAt(text.marks ?? [], match.start) ?? name };
      // The reason of the first part counts, from which the agent should quote.
      else results[index] ??= { why: typeof match === "string" ? match : notFoundReason(match) };
    }
  }
  return results;
}

const isFound = (result: QuoteResult): boolean => result !== undefined && "locator" in result;

function notFoundReason(match: QuoteMatch): string {
  if (match.found) return citedReason;
  return match.near === undefined ? reasonOf(match) : `the text differs: ${clip(match.near.differs, 30)}`;
}
