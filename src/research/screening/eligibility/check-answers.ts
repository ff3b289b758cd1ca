import { locatorAt } from "../../../text/documents/text/document-text.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { clip } from "../../../engine/lib/tokens.js";
import { abstractLocator, reasonOf } from "../../../text/evidence/check-evidence.js";
import type { Passage } from "../../../text/evidence/passage.js";
import { passageFields } from "../../../text/evidence/quoted.js";
import type { QuoteMatch, Searchable } from "../../../text/evidence/find-quote.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { Answers } from "../../generated/result-analysis.js";
import type { Answer, Criterion } from "../../generated/rrd.js";

/** A text that quotes are looked for in. */
interface Place {
  readonly text: Searchable;
  /** Where a quote stands that is found in it, where the text itself does not say. */
  readonly name: string;
}

/** What a record says of itself: its abstract and its title. */
interface RecordFacts {
  readonly title: string;
  readonly abstract?: string | null;
}

/**
 * The answers to the criteria from title and abstract: one for each criterion, in their order. An answer whose quote
 * stands in neither, or that has none, is unclear; so is one that was not given.
 */
export const checkScreening = (
  criteria: readonly Criterion[],
  said: Answers | undefined,
  record: RecordFacts,
): Promise<Answer[]> => checkAnswers(criteria, said, "screening", placesOf(record));

/** The same from a paper's text, and where a quote is not in it from the abstract that the agent was shown. */
export const checkFullText = (
  criteria: readonly Criterion[],
  said: Answers | undefined,
  text: DocumentText | undefined,
  record: RecordFacts,
): Promise<Answer[]> =>
  checkAnswers(criteria, said, "full_text", [
    ...(text === undefined ? [] : [{ text, name: "text" }]),
    ...placesOf(record),
  ]);

const placesOf = ({ title, abstract }: RecordFacts): Place[] => [
  ...(abstract == null || abstract.trim() === "" ? [] : [{ text: { text: abstract }, name: abstractLocator }]),
  { text: { text: title }, name: "title" },
];

/** Most characters of a quote that is kept. */
const maxQuote = 600;

async function checkAnswers(
  criteria: readonly Criterion[],
  said: Answers | undefined,
  stage: Answer["stage"],
  places: readonly Place[],
): Promise<Answer[]> {
  const given = criteria.map(({ id }) => (said !== undefined && Object.hasOwn(said, id) ? said[id] : undefined));
  const quotes = given.map((one) => (one?.quote ?? "").trim().slice(0, maxQuote));
  const finds = await findAll(places, quotes);
  return criteria.map(({ id }, index) => {
    const { answer } = given[index] ?? {};
    const unclear = { criterion: id, stage, answer: "unclear" as const };
    if (answer === undefined) return { ...unclear, reason: "It was not answered." };
    if (answer === "unclear") return unclear;
    const quote = quotes[index] ?? "";
    if (quote === "") return { ...unclear, said: answer, reason: "The answer has no quote." };
    const find = finds[index];
    if (find !== undefined && "locator" in find)
      return { criterion: id, stage, answer, ...passageFields(find.match), locator: find.locator };
    return { ...unclear, quote, said: answer, reason: `The quote does not count: ${find?.why ?? "not found"}.` };
  });
}

/** The place of a quote with its passage, or why it was not found; undefined without a quote. */
type Find = { readonly match: Passage; readonly locator: string } | { readonly why: string } | undefined;

/** Where each quote was found first, or why it was not; nothing for an empty one. */
async function findAll(places: readonly Place[], quotes: readonly string[]): Promise<Find[]> {
  const finds: Find[] = quotes.map(() => undefined);
  for (const { text, name } of places) {
    const open = [...quotes.entries()].filter(([index, quote]) => quote !== "" && !isFound(finds[index]));
    if (open.length === 0) break;
    const wanted = open.map(([, quote]) => quote);
    const search = await searchUntrusted("findQuotes", text, wanted);
    for (const [at, [index]] of open.entries()) {
      const match = "cut" in search ? search.cut : search.value[at];
      if (match === undefined) continue;
      if (typeof match !== "string" && match.found && match.isCited !== true)
        finds[index] = { match, locator: match.locator ?? locatorAt(text.marks ?? [], match.start) ?? name };
      // The first place is the one that the agent was to quote from.
      else finds[index] ??= { why: typeof match === "string" ? match : whyNot(match) };
    }
  }
  return finds;
}

const isFound = (find: Find): boolean => find !== undefined && "locator" in find;

function whyNot(match: QuoteMatch): string {
  if (match.found) return "it stands in the list of references";
  return match.near === undefined ? reasonOf(match) : `the text differs: ${clip(match.near.differs, 30)}`;
}
