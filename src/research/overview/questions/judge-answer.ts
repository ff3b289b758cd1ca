import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { abstractLocator } from "../../../text/evidence/check-evidence.js";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import { passageFields, quotedWords } from "../../../text/evidence/quoted.js";
import type { QuoteMatch } from "../../../text/evidence/find-quote.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { AnswerResult } from "../../generated/result-answer.js";
import type { Answer } from "../../generated/answer.js";
import { unifiedStem, stemsOf } from "../../screening/bm25.js";
import { abstractAsText, type AskedPaper, type AskedText, type Pool } from "./pool.js";

type Quote = Answer["quotes"][number];
type Statement = Answer["statements"][number];

/** A quote that was not found, and what the text has instead. */
export interface MissingQuote {
  /** The quote, or the handle that names none. */
  readonly quote: string;
  readonly why: string;
  /** The nearest passage; empty where nothing is like it. */
  readonly nearest: string;
}

/** What is left of an answer once code has looked for its quotes. */
export interface CheckedAnswer {
  /** Those that rest on a quote that was found and whose numbers stand in their passages. */
  readonly statements: readonly Statement[];
  /** The quotes that they rest on. */
  readonly quotes: readonly Quote[];
  /** The others, each with the reason. */
  readonly leftOut: NonNullable<Answer["left_out"]>;
  readonly missing: readonly MissingQuote[];
  /** Quotes and handles of records that were named and are there. */
  readonly found: number;
}

/** A quote that shares fewer distinctive words with its statement and the question is marked. */
const minShared = 2;

/**
 * Looks for every quote of an answer in the paper that it names. Statements that rest on none, or that name a number
 * which none of their passages holds, are left out. Handles of records count as found where their quote was found in
 * the text when it was read; where another text is kept by now, it is looked for in that one.
 */
export async function checkAnswer(
  pool: Pool,
  question: string,
  { quotes, statements }: Pick<AnswerResult, "quotes" | "statements">,
): Promise<CheckedAnswer> {
  const found = new Map<string, Quote>();
  const missing = new Map<string, MissingQuote>();
  const places = new Map(pool.papers.map(({ key }, place) => [key, place]));
  const lookFor = async (text: AskedText, wanted: readonly Quote[], isOfRecord: boolean): Promise<void> => {
    const search = await searchUntrusted("findQuotes", text, wanted.map(quotedWords));
    for (const [index, each] of wanted.entries()) {
      const { handle, paper } = each;
      const quote = quotedWords(each);
      const match = "cut" in search ? undefined : search.value[index];
      if ("cut" in search) missing.set(handle, { quote, why: search.cut, nearest: "" });
      else if (match?.found !== true || match.isCited === true) missing.set(handle, { quote, ...problemOf(match) });
      else if (isOfRecord) found.set(handle, each);
      else {
        const place = {
          ...passageFields(match),
          ...withoutUndefined({ locator: match.locator }),
          text_sha256: text.sha256,
        };
        found.set(handle, { handle, paper, ...place });
      }
    }
  };

  const own = new Map<string, Quote[]>();
  for (const { id, paper, quote } of quotes) {
    const handle = `${paper}#${id}`;
    const of = own.get(paper) ?? [];
    const same = of.find((each) => each.handle === handle);
    if (same === undefined) own.set(paper, [...of, { handle, paper, quote }]);
    else if (same.quote !== quote)
      missing.set(handle, { quote, nearest: "", why: `two quotes of ${paper} have the id ${id}; each needs its own` });
  }
  for (const [key, all] of own) {
    const wanted = all.filter(({ handle }) => !missing.has(handle));
    const place = places.get(key);
    const text = place === undefined ? undefined : await pool.textOf(place);
    const why =
      place === undefined
        ? `${key} is not among the papers that were asked`
        : `no text of ${key} is kept; rest on the quotes of its record`;
    if (text !== undefined) await lookFor(text, wanted, false);
    else for (const each of wanted) missing.set(each.handle, { quote: quotedWords(each), why, nearest: "" });
  }

  const ofRecords = new Map<string, Quote[]>();
  for (const handle of new Set(statements.flatMap(({ rests_on }) => rests_on))) {
    if (found.has(handle) || missing.has(handle)) continue;
    const kept = recordQuote(pool, places, handle);
    if (typeof kept === "string") missing.set(handle, { quote: handle, nearest: "", why: kept });
    else ofRecords.set(kept.paper, [...(ofRecords.get(kept.paper) ?? []), kept]);
  }
  for (const [key, all] of ofRecords) {
    const place = places.get(key) as number;
    const paper = (pool.papers[place] as AskedPaper).paper;
    const abstract = abstractAsText(paper);
    const text = pool.withoutText.includes(key) ? undefined : await pool.textOf(place);
    const sourceOf = ({ locator }: Quote) => (locator === abstractLocator ? abstract : text);
    const changed = all.filter((quote) => {
      const source = sourceOf(quote);
      return source !== undefined && source.sha256 !== quote.text_sha256;
    });
    for (const quote of all) if (!changed.includes(quote)) found.set(quote.handle, quote);
    for (const source of new Set(changed.map(sourceOf)))
      if (source !== undefined)
        await lookFor(
          source,
          changed.filter((quote) => sourceOf(quote) === source),
          true,
        );
  }

  const asked = new Set(stemsOf(question).map(unifiedStem));
  const standing: Statement[] = [];
  const leftOut: NonNullable<Answer["left_out"]> = [];
  for (const { text, rests_on } of statements) {
    const grounds = [...new Set(rests_on)].flatMap((handle) => found.get(handle) ?? []);
    const numbers = numbersWithoutQuote(text, grounds);
    if (grounds.length === 0) leftOut.push({ text, why: "None of its quotes was found." });
    else if (numbers.missing.length > 0)
      leftOut.push({ text, why: `None of its passages holds ${numbers.missing.join(", ")}.` });
    else {
      const marks = marksOf(pool, places, { text, grounds, outside: numbers.outside }, asked);
      const handles = grounds.map(({ handle }) => handle);
      standing.push({ text, rests_on: handles, ...(marks.length === 0 ? {} : { marks }) });
    }
  }
  const used = new Set(standing.flatMap(({ rests_on }) => rests_on));
  return {
    statements: standing,
    quotes: [...found.values()].filter(({ handle }) => used.has(handle)),
    leftOut,
    missing: [...missing.values()],
    found: found.size,
  };
}

function problemOf(match: QuoteMatch | undefined): Pick<MissingQuote, "why" | "nearest"> {
  if (match === undefined) return { why: "it could not be looked for", nearest: "" };
  if (match.found) return { why: "it stands in the list of references", nearest: "" };
  const { tooShort, why, near, nearest } = match;
  if (tooShort === true) return { why: "it is too short; a quote has at least four words", nearest };
  return { why: near?.differs ?? why ?? "it is not in the text", nearest };
}

/** The quote of a record that a handle names, where it was found in the text; else why not, a clause. */
function recordQuote(pool: Pool, places: ReadonlyMap<string, number>, handle: string): Quote | string {
  const [, key = "", number = ""] = /^(.+)#(\d{1,6})$/s.exec(handle.trim()) ?? [];
  const asked = pool.papers[places.get(key) ?? -1];
  if (asked === undefined) return "there is no such handle";
  const evidence = asked.paper.analysis?.evidence?.[Number(number) - 1];
  if (evidence === undefined) return "its paper has no such quote";
  if (evidence.status !== "verified") return "that quote was not found in its paper";
  const { passage, quoted, quote, locator, text_sha256 } = evidence;
  return { handle, paper: key, ...withoutUndefined({ passage, quoted, quote, locator, text_sha256 }) };
}

/** What a reader should know of a statement. */
function marksOf(
  pool: Pool,
  places: ReadonlyMap<string, number>,
  said: { readonly text: string; readonly grounds: readonly Quote[]; readonly outside: readonly string[] },
  asked: ReadonlySet<string>,
): string[] {
  const { text, grounds, outside } = said;
  const retracted = [...new Set(grounds.map(({ paper }) => paper))].filter(
    (key) => pool.papers[places.get(key) ?? -1]?.paper.retracted === true,
  );
  const words = new Set([...stemsOf(text).map(unifiedStem), ...asked]);
  const foreign = grounds.filter(
    (quote) =>
      new Set(
        stemsOf(quotedWords(quote))
          .map(unifiedStem)
          .filter((stem) => words.has(stem)),
      ).size < minShared,
  );
  return [
    ...(outside.length === 0 ? [] : [`In the sentence, outside the quoted words: ${outside.join(", ")}.`]),
    ...retracted.map((key) => `${key} was retracted.`),
    ...foreign.map(({ handle }) => `The quote ${handle} shares fewer than two distinctive words with it.`),
  ];
}

/** Whether so little of an answer was found that its agent is asked once to mend it. */
export const needsRepair = ({ found, missing }: CheckedAnswer): boolean =>
  missing.length > 0 && found * 2 < found + missing.length;

/** Why an answer is refused, for its agent. */
export const reasonsFor = ({ missing }: CheckedAnswer): string[] =>
  missing.slice(0, 12).map(({ quote, why }) => `“${quote.slice(0, 160)}”: ${why}`);
