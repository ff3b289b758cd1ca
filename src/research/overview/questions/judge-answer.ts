import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { abstractLocator } from "../../../text/evidence/check-evidence.js";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import { passageFields, quotedWords } from "../../../text/evidence/quoted.js";
import { citedReason, type QuoteMatch } from "../../../text/evidence/find-quote.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { AnswerResult } from "../../generated/result-answer.js";
import type { Answer } from "../../generated/answer.js";
import { unifiedStem, stemsOf } from "../../screening/bm25.js";
import { parseHandle } from "../../units/narrative/handles.js";
import { abstractAsText, type AskedPaper, type AskedText, type Pool } from "./pool.js";

type Quote = Answer["quotes"][number];
type Statement = Answer["statements"][number];

/** A quote that was not found, with the nearest text. */
export interface MissingQuote {
  /** The quote, or the invalid handle. */
  readonly quote: string;
  readonly why: string;
  /** The nearest passage; empty if nothing is similar. */
  readonly nearest: string;
}

/** An answer after code has checked its quotes. */
export interface CheckedAnswer {
  /** Statements with at least one quote that was found, and whose numbers are in their passages. */
  readonly statements: readonly Statement[];
  /** The quotes of these statements. */
  readonly quotes: readonly Quote[];
  /** The other statements, each with the reason. */
  readonly leftOut: NonNullable<Answer["left_out"]>;
  readonly missing: readonly MissingQuote[];
  /** Number of quotes and handles that were found. */
  readonly found: number;
}

/** A quote is marked if it shares fewer distinctive words with its statement and the question. */
const minSharedWords = 2;

/**
 * Searches each quote of an answer in its paper. Statements without a quote that was found are left out, and so are
 * statements with a number that is in none of their passages. Handles of records are valid if their quote was found
 * when the paper was read; if the stored text is now another, the quote is searched there.
 */
export async function checkAnswer(
  pool: Pool,
  question: string,
  { quotes, statements }: Pick<AnswerResult, "quotes" | "statements">,
): Promise<CheckedAnswer> {
  const foundByHandle = new Map<string, Quote>();
  const missingByHandle = new Map<string, MissingQuote>();
  const places = new Map(pool.papers.map(({ key }, place) => [key, place]));
  const searchQuotes = async (text: AskedText, wantedQuotes: readonly Quote[], isOfRecord: boolean): Promise<void> => {
    const search = await searchUntrusted("findQuotes", text, wantedQuotes.map(quotedWords));
    for (const [index, wantedQuote] of wantedQuotes.entries()) {
      const { handle, paper } = wantedQuote;
      const quote = quotedWords(wantedQuote);
      const match = "cut" in search ? undefined : search.value[index];
      if ("cut" in search) missingByHandle.set(handle, { quote, why: search.cut, nearest: "" });
      else if (match?.found !== true || match.isCited === true)
        missingByHandle.set(handle, { quote, ...problemOf(match) });
      else if (isOfRecord) foundByHandle.set(handle, wantedQuote);
      else {
        const place = {
          ...passageFields(match),
          ...withoutUndefined({ locator: match.locator }),
          text_sha256: text.sha256,
        };
        foundByHandle.set(handle, { handle, paper, ...place });
      }
    }
  };

  const quotesByPaper = new Map<string, Quote[]>();
  for (const { id, paper, quote } of quotes) {
    const handle = `${paper}#${id}`;
    const itsQuotes = quotesByPaper.get(paper) ?? [];
    const sameQuote = itsQuotes.find((earlierQuote) => earlierQuote.handle === handle);
    if (sameQuote === undefined) quotesByPaper.set(paper, [...itsQuotes, { handle, paper, quote }]);
    else if (sameQuote.quote !== quote)
      missingByHandle.set(handle, {
        quote,
        nearest: "",
        why: `two quotes of ${paper} have the id ${id}; each needs its own`,
      });
  }
  for (const [key, quotesOfPaper] of quotesByPaper) {
    const uniqueQuotes = quotesOfPaper.filter(({ handle }) => !missingByHandle.has(handle));
    const place = places.get(key);
    const text = place === undefined ? undefined : await pool.textOf(place);
    const reason =
      place === undefined
        ? `${key} is not among the papers that were asked`
        : `no text of ${key} is kept; rest on the quotes of its record`;
    if (text !== undefined) await searchQuotes(text, uniqueQuotes, false);
    else
      for (const each of uniqueQuotes)
        missingByHandle.set(each.handle, { quote: quotedWords(each), why: reason, nearest: "" });
  }

  const recordQuotes = new Map<string, Quote[]>();
  for (const handle of new Set(statements.flatMap(({ rests_on }) => rests_on))) {
    if (foundByHandle.has(handle) || missingByHandle.has(handle)) continue;
    const stored = recordQuote(pool, places, handle);
    if (typeof stored === "string") missingByHandle.set(handle, { quote: handle, nearest: "", why: stored });
    else recordQuotes.set(stored.paper, [...(recordQuotes.get(stored.paper) ?? []), stored]);
  }
  for (const [key, quotesOfPaper] of recordQuotes) {
    const place = places.get(key) as number;
    const paper = (pool.papers[place] as AskedPaper).paper;
    const abstract = abstractAsText(paper);
    const text = pool.withoutText.includes(key) ? undefined : await pool.textOf(place);
    const sourceOf = ({ locator }: Quote) => (locator === abstractLocator ? abstract : text);
    const changedQuotes = quotesOfPaper.filter((quote) => {
      const source = sourceOf(quote);
      return source !== undefined && source.sha256 !== quote.text_sha256;
    });
    for (const quote of quotesOfPaper) if (!changedQuotes.includes(quote)) foundByHandle.set(quote.handle, quote);
    for (const source of new Set(changedQuotes.map(sourceOf)))
      if (source !== undefined)
        await searchQuotes(
          source,
          changedQuotes.filter((quote) => sourceOf(quote) === source),
          true,
        );
  }

  const questionStems = new Set(stemsOf(question).map(unifiedStem));
  const acceptedStatements: Statement[] = [];
  const leftOut: NonNullable<Answer["left_out"]> = [];
  for (const { text, rests_on } of statements) {
    const foundQuotes = [...new Set(rests_on)].flatMap((handle) => foundByHandle.get(handle) ?? []);
    const citedPapers = foundQuotes.flatMap(({ paper }) => pool.papers[places.get(paper) ?? -1]?.paper ?? []);
    const numbers = numbersWithoutQuote(text, foundQuotes, citedPapers);
    if (foundQuotes.length === 0) leftOut.push({ text, why: "None of its quotes was found." });
    else if (numbers.missing.length > 0)
      leftOut.push({ text, why: `None of its passages holds ${numbers.missing.join(", ")}.` });
    else {
      const marks = marksOf(
        pool,
        places,
        { text, citedQuotes: foundQuotes, outsideNumbers: numbers.outside },
        questionStems,
      );
      const handles = foundQuotes.map(({ handle }) => handle);
      acceptedStatements.push({ text, rests_on: handles, ...(marks.length === 0 ? {} : { marks }) });
    }
  }
  const citedHandles = new Set(acceptedStatements.flatMap(({ rests_on }) => rests_on));
  return {
    statements: acceptedStatements,
    quotes: [...foundByHandle.values()].filter(({ handle }) => citedHandles.has(handle)),
    leftOut,
    missing: [...missingByHandle.values()],
    found: foundByHandle.size,
  };
}

function problemOf(match: QuoteMatch | undefined): Pick<MissingQuote, "why" | "nearest"> {
  if (match === undefined) return { why: "it could not be looked for", nearest: "" };
  if (match.found) return { why: citedReason, nearest: "" };
  const { tooShort, why, near, nearest } = match;
  if (tooShort === true) return { why: "it is too short; a quote has at least four words", nearest };
  return { why: near?.differs ?? why ?? "it is not in the text", nearest };
}

/** The quote of a record's handle, if it was found in the text; otherwise the reason, a clause. */
function recordQuote(pool: Pool, places: ReadonlyMap<string, number>, handle: string): Quote | string {
  const { paper: key, number } = parseHandle(handle) ?? { paper: "", number: 0 };
  const askedPaper = pool.papers[places.get(key) ?? -1];
  if (askedPaper === undefined) return "there is no such handle";
  const evidence = askedPaper.paper.analysis?.evidence?.[number - 1];
  if (evidence === undefined) return "its paper has no such quote";
  if (evidence.status !== "verified") return "that quote was not found in its paper";
  const { passage, quoted, quote, locator, text_sha256 } = evidence;
  return { handle, paper: key, ...withoutUndefined({ passage, quoted, quote, locator, text_sha256 }) };
}

/** Warnings about a statement. */
function marksOf(
  pool: Pool,
  places: ReadonlyMap<string, number>,
  statement: {
    readonly text: string;
    readonly citedQuotes: readonly Quote[];
    readonly outsideNumbers: readonly string[];
  },
  questionStems: ReadonlySet<string>,
): string[] {
  const { text, citedQuotes, outsideNumbers } = statement;
  const retractedKeys = [...new Set(citedQuotes.map(({ paper }) => paper))].filter(
    (key) => pool.papers[places.get(key) ?? -1]?.paper.retracted === true,
  );
  const words = new Set([...stemsOf(text).map(unifiedStem), ...questionStems]);
  const unrelatedQuotes = citedQuotes.filter(
    (quote) =>
      new Set(
        stemsOf(quotedWords(quote))
          .map(unifiedStem)
          .filter((stem) => words.has(stem)),
      ).size < minSharedWords,
  );
  return [
    ...(outsideNumbers.length === 0
      ? []
      : [`In the sentence, outside the quoted words: ${outsideNumbers.join(", ")}.`]),
    ...retractedKeys.map((key) => `${key} was retracted.`),
    ...unrelatedQuotes.map(({ handle }) => `The quote ${handle} shares fewer than two distinctive words with it.`),
  ];
}

/** Whether so few quotes were found that the agent must correct the answer once. */
export const needsRepair = ({ found, missing }: CheckedAnswer): boolean =>
  missing.length > 0 && found * 2 < found + missing.length;

/** The reasons for refusing an answer, for its agent. */
export const reasonsFor = ({ missing }: CheckedAnswer): string[] =>
  missing.slice(0, 12).map(({ quote, why }) => `“${quote.slice(0, 160)}”: ${why}`);
