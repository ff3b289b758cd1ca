import { type Mark, locatorAt } from "../documents/text/document-text.js";
import { type ReferenceList, isInEntry, referenceLists } from "../documents/text/reference-lists.js";
import { type Vocabulary, omittableParts, vocabularyOf } from "./marks-left-out.js";
import { matchAt, unspacedLetter } from "./same-words.js";
import { extendSpan, nearestSpan, wordsOf } from "./nearest-passage.js";
import { withPlainFormulas } from "./quote-variants/formulas.js";
import { findNear } from "./numbers/near-numbers.js";
import { type Normalised, normalise, withoutExtras, withPlainNumbers } from "./normalise.js";
import { occurrences } from "./occurrences.js";
import { type Passage, type Span, passageAround, tooFarApart } from "./passage.js";
import { variantsOf } from "./quote-variants/variants.js";

/** A text to search, with its pages and sections if known. */
export interface Searchable {
  readonly text: string;
  readonly marks?: readonly Mark[];
}

export type QuoteMatch =
  /**
   * `start` and `end` are offsets into the text; a quote with omissions spans its fragments. `isCited`: it is in what
   * seems to be a list of references, which is not evidence. If the list is certain, the quote counts as not found.
   */
  | ({
      readonly found: true;
      readonly start: number;
      readonly end: number;
      readonly locator?: string;
      readonly isCited?: true;
    } & Passage)
  /**
   * `nearest`: the part of the text with most words of the quote, on one line of at most 300 characters; empty if they
   * share no word. `tooShort`: the quote was too short to be searched. `why`: the reason if the words of the quote are
   * in the text, but do not count. `near`: the text has the quote with a number in another unit or rounding; this is
   * not evidence.
   */
  | {
      readonly found: false;
      readonly nearest: string;
      readonly tooShort?: true;
      readonly why?: string;
      readonly near?: Passage & { readonly differs: string; readonly locator?: string };
    };

/** A fragment of a quote with omissions must have this many words, or `minCharacters`. */
const minWords = 3;
/** A fragment of a quote with omissions must have this many characters, or `minWords`. */
const minCharacters = 12;
/** Minimum number of letters of a quote in a script without spaces between words. */
const minLetters = 8;
/** The same minimum for a fragment. */
const minLettersOfFragment = 4;
const unspacedLetters = new RegExp(unspacedLetter.source, "gu");

/** Two forms of a text; each is computed when first needed. */
interface SearchForms {
  readonly complete: () => Normalised;
  /** Without the parts that a quote may omit; the same object as `complete` if nothing can be omitted. */
  readonly withoutExtras: () => Normalised;
}

/** A text that was prepared for searching, once for all its quotes. */
interface PreparedText {
  /** With formulas converted to characters; offsets are the same as in the original text. */
  readonly text: string;
  readonly vocabulary: Vocabulary;
  /** The text with and without omittable parts. */
  readonly asWritten: SearchForms;
  /** The same two forms with powers as normal digits and thousands without separators. */
  readonly plainNumbers: SearchForms;
  /** Whether thousands separators are ignored. False if the text has decimal commas ("0,05"). */
  readonly joinsThousands: boolean;
  readonly references: readonly ReferenceList[];
}
const preparedTexts = new WeakMap<Searchable, PreparedText>();

/**
 * Searches a quote in a text:
 *
 * 1. Text and quote are **normalised** (`normalise.ts`) to a string of letters, digits and signs; the gap before each
 *    character is stored separately. Then white space, case, accents, ligatures, kinds of quotation marks and dashes,
 *    borders of cells, list marks and words broken at line ends make no difference. A second form of the text is
 *    without its **extras** (`marks-left-out.ts`), which a quote may omit: footnote marks, citations, running heads.
 * 2. The quote has a few **variants** (`variants.ts`), the strictest first: as written, without the punctuation after
 *    a cut, without `[inserted words]`.
 * 3. Each variant is searched as a string (`occurrences.ts`), in linear time. At each place the gaps, the ends of words
 *    and numbers, and the case of units must **agree** (`same-words.ts`). If there is no such place, the text is
 *    searched again with powers as normal digits and thousands without separators, as people type them.
 * 4. A quote with `…`, `...` or `[...]` is searched in **fragments**, which must be near each other and in order.
 * 5. The result has its **passage** (`passage.ts`): the paper's own sentence, which shows what the quote omits. The
 *    meaning is never guessed.
 * 6. A quote that is not found is searched again with other numbers (`near-numbers.ts`), and the nearest part of the
 *    text is returned for a repair.
 *
 * Words such as "of the" and "5" are in every paper, so a quote needs at least four words, or three with a number, or
 * eight letters of a script without spaces. A text that is given as an object is normalised only once for all quotes.
 * Linear in text and quote.
 */
export function findQuote(text: Searchable | string, quote: string): QuoteMatch {
  const searchable = typeof text === "string" ? { text } : text;
  if (isTooShort(quote)) return { found: false, nearest: nearestPart(searchable, quote).nearest, tooShort: true };
  const prepared = prepare(searchable);
  const refusals: string[] = [];
  const spans = spansOfQuote(prepared, quote, refusals);
  const [firstSpan, lastSpan] = [spans?.[0], spans?.at(-1)];
  if (spans !== undefined && firstSpan !== undefined && lastSpan !== undefined) {
    const quoteSpan = { start: firstSpan.start, end: lastSpan.end };
    return {
      found: true,
      ...quoteSpan,
      ...locatorField(searchable, quoteSpan.start),
      ...passageAround(searchable.text, spans),
      ...(isInReferences(prepared, quoteSpan) && isInEntry(prepared.text, quoteSpan) ? { isCited: true } : {}),
    };
  }
  const [why] = refusals;
  const { nearest, span } = nearestPart(searchable, quote);
  const near = why === undefined && span !== undefined ? findNear(searchable.text, quote, span) : undefined;
  return {
    found: false,
    nearest,
    why,
    ...(near === undefined
      ? {}
      : {
          near: {
            differs: near.differs,
            ...locatorField(searchable, near.start),
            ...passageAround(searchable.text, [near]),
          },
        }),
  };
}

/** The part of a text that is nearest to a quote, and its text for display; empty if they share no word. */
function nearestPart(searchable: Searchable, quote: string): { readonly nearest: string; readonly span?: Span } {
  const span = nearestSpan(searchable, quote);
  return span === undefined ? { nearest: "" } : { nearest: extendSpan(searchable.text, span), span };
}

/** Like `findQuote`, for many quotes of one text. */
export const findQuotes = (text: Searchable, quotes: readonly string[]): QuoteMatch[] =>
  quotes.map((quote) => findQuote(text, quote));

/** The spans of a quote's fragments in the text; one span if it has no omissions. Undefined if it is not found. */
const spansOfQuote = (prepared: PreparedText, quote: string, refusals: string[]): readonly Span[] | undefined =>
  findWhole(prepared, quote, refusals) ?? (isElided(quote) ? findFragments(prepared, quote, refusals) : undefined);

function locatorField(searchable: Searchable, offset: number): { locator?: string } {
  const locator = locatorAt(searchable.marks ?? [], offset);
  return locator === undefined ? {} : { locator };
}

const lettersWithoutSpaces = (quote: string): number => quote.match(unspacedLetters)?.length ?? 0;

function isTooShort(quote: string): boolean {
  // A compound is one word: "state-of-the-art" alone is too short.
  const words = quote
    .split(/[\s\u0085\u2014|&]|&(?:nbsp|#160|#xa0);|<\/?t[dhr]>/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length >= 4 || (words.length === 3 && words.some((word) => /\p{N}/u.test(word)))) return false;
  return lettersWithoutSpaces(quote) < minLetters;
}

/** A function that computes a value at its first call and then returns the same value. */
const lazy = <Value>(compute: () => Value): (() => Value) => {
  let value: Value | undefined;
  return () => (value ??= compute());
};

function prepare(searchable: Searchable): PreparedText {
  let prepared = preparedTexts.get(searchable);
  if (prepared === undefined) {
    const text = withPlainFormulas(searchable.text);
    const vocabulary = vocabularyOf(text);
    const joinsThousands = !/(?<!\p{Nd})0,\p{Nd}/u.test(text);
    const options = { flattensScripts: true, joinsThousands };
    const complete = lazy(() => normalise(text));
    const shortened = lazy(() => {
      const extras = omittableParts(text, vocabulary);
      return extras.size === 0 ? complete() : withoutExtras(complete(), extras);
    });
    prepared = {
      text,
      vocabulary,
      joinsThousands,
      references: referenceLists(text),
      asWritten: { complete, withoutExtras: shortened },
      plainNumbers: {
        complete: lazy(() => withPlainNumbers(complete(), options)),
        withoutExtras: lazy(() => withPlainNumbers(shortened(), options)),
      },
    };
    preparedTexts.set(searchable, prepared);
  }
  return prepared;
}

function findWhole(prepared: PreparedText, quote: string, refusals: string[]): readonly Span[] | undefined {
  let citedSpan: Span | undefined;
  for (const span of passagesOf(prepared, quote, refusals)) {
    if (!isInReferences(prepared, span)) return [span];
    citedSpan ??= span;
  }
  return citedSpan === undefined ? undefined : [citedSpan];
}

/** Whether a span is in a list of references; with `isSure`, only in a list that is certain. */
const isInReferences = ({ references }: PreparedText, { start, end }: Span, isSure?: true): boolean =>
  references.some((list) => start >= list.start && end <= list.end && (isSure === undefined || list.isSure));

/** The reason why text in a list of references is not evidence. */
export const citedReason = "it is in the list of references, which is not evidence";

/** The spans of a quote or fragment in the text. The reasons for rejected places are added to `refusals`. */
function* passagesOf(prepared: PreparedText, quote: string, refusals: string[]): Generator<Span> {
  const variants = variantsOf(quote, prepared.text);
  yield* spansOf(prepared, prepared.asWritten, variants, (needle) => needle, refusals);
  // Only quotes with digits can differ in powers or thousands.
  if (!/\p{Nd}/u.test(quote)) return;
  const options = { flattensScripts: false, joinsThousands: prepared.joinsThousands };
  yield* spansOf(prepared, prepared.plainNumbers, variants, (needle) => withPlainNumbers(needle, options), refusals);
}

function* spansOf(
  prepared: PreparedText,
  forms: SearchForms,
  variants: readonly string[],
  convert: (needle: Normalised) => Normalised,
  refusals: string[],
): Generator<Span> {
  for (const variant of variants)
    yield* matchingSpans(prepared, forms.complete(), convert(normalise(variant)), refusals);
  for (const variant of variants) {
    const extras = omittableParts(variant, prepared.vocabulary);
    if (forms.withoutExtras() !== forms.complete() || extras.size > 0)
      yield* matchingSpans(prepared, forms.withoutExtras(), convert(normalise(variant, extras)), refusals);
  }
}

function* matchingSpans(
  prepared: PreparedText,
  haystack: Normalised,
  needle: Normalised,
  refusals: string[],
): Generator<Span> {
  for (const position of occurrences(haystack.chars, needle.chars)) {
    const result = matchAt(haystack, needle, position, prepared.vocabulary);
    if (result === false) continue;
    const problem =
      typeof result === "string" ? result : isInReferences(prepared, result, true) ? citedReason : undefined;
    if (typeof result !== "string" && problem === undefined) yield result;
    else if (problem !== undefined && !refusals.includes(problem)) refusals.push(problem);
  }
}

const isShort = (fragment: string) =>
  wordsOf(fragment).length < minWords &&
  normalise(fragment).chars.length < minCharacters &&
  lettersWithoutSpaces(fragment) < minLettersOfFragment;

/** Maximum number of fragments of a quote. A passage of three sentences has fewer. */
const maxFragments = 12;
/** Maximum number of places of a fragment that are tried in a text with repetitions. */
const maxPassages = 200;

/**
 * Finds the fragments, each after the previous one and near it. For each place of a fragment, the latest possible place
 * of the previous fragment is the nearest, so one pass per fragment is enough.
 */
function findFragments(prepared: PreparedText, quote: string, refusals: string[]): readonly Span[] | undefined {
  const fragments = fragmentsOf(quote);
  if (fragments.length === 0 || fragments.length > maxFragments || (fragments.length > 1 && fragments.some(isShort)))
    return undefined;
  let chains: (readonly Span[])[] | undefined;
  for (const fragment of fragments) {
    const places = firstSpans(passagesOf(prepared, fragment, refusals), maxPassages);
    if (places.length === 0) return undefined;
    chains =
      chains === undefined
        ? places.map((place) => [place])
        : places.flatMap((place) => {
            const previous = chains?.findLast((chain) => (chain.at(-1) as Span).end <= place.start);
            return previous === undefined ? [] : [[...previous, place]];
          });
    if (chains.length === 0) refusals.push('the fragments around "…" are in another order in the text');
  }
  for (const chain of chains ?? []) {
    const problem = tooFarApart(prepared.text, chain);
    if (problem === undefined) return chain;
    if (!refusals.includes(problem)) refusals.push(problem);
  }
  return undefined;
}

/** The first `max` spans, sorted by position. Of spans with the same start, the longest is kept. */
function firstSpans(spans: Iterable<Span>, max: number): Span[] {
  const longest = new Map<number, Span>();
  for (const span of spans) {
    if (span.end > (longest.get(span.start)?.end ?? 0)) longest.set(span.start, span);
    if (longest.size >= max) break;
  }
  return [...longest.values()].toSorted((a, b) => a.start - b.start);
}

const elisionMark =
  /\[\s{0,3}(?:[…⋯‥]{1,2}|\.\s?\.\s?\.)\s{0,3}\]|\(\s{0,3}(?:[…⋯‥]|\.\.\.)\s{0,3}\)|[…‥]|\.\s?\.\s?\.{1,6}/;

/** Splits a quote at `…`, `...` or `[...]` into fragments. Marks that follow each other count once. */
const fragmentsOf = (quote: string): string[] =>
  quote
    .split(elisionMark)
    // In "in […]. The rest", the stop belongs to the sentence that was cut, not to the next fragment.
    .map((fragment, index) => (index === 0 ? fragment : fragment.replace(/^\s{0,3}[.;,:]\s{1,3}/, "")))
    .filter((fragment) => /[\p{L}\p{N}\p{Sm}]/u.test(fragment));

/** Whether a quote contains a mark for omitted words. */
const isElided = (quote: string): boolean => elisionMark.test(quote);
