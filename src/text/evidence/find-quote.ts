import { type Mark, locatorAt } from "../documents/text/document-text.js";
import { type ReferenceList, isInEntry, referenceLists } from "../documents/text/reference-lists.js";
import { type Vocabulary, extrasOf, vocabularyOf } from "./marks-left-out.js";
import { agrees, unspaced } from "./same-words.js";
import { nearestStretch, widened, wordsOf } from "./nearest-passage.js";
import { inSigns } from "./quote-variants/formulas.js";
import { findNear } from "./numbers/near-numbers.js";
import { type Normalised, normalise, onOneLine, withoutExtras } from "./normalise.js";
import { occurrences } from "./occurrences.js";
import { type Passage, type Span, passageAround, tooFarApart } from "./passage.js";
import { variantsOf } from "./quote-variants/variants.js";

/** A text to search, with its pages and sections where it has any. */
export interface Searchable {
  readonly text: string;
  readonly marks?: readonly Mark[];
}

export type QuoteMatch =
  /**
   * `start` and `end` are offsets into the text; an elided quote spans its fragments. `isCited`: it stands in what
   * seems to be the list of references, which claims nothing; where the list is sure, it is not found.
   */
  | ({
      readonly found: true;
      readonly start: number;
      readonly end: number;
      readonly locator?: string;
      readonly isCited?: true;
    } & Passage)
  /**
   * `nearest`: the stretch that shares most with the quote, on one line of at most 300 characters; empty where nothing
   * is shared.
   * `tooShort`: the quote says so little that it was not looked for. `why`: its words are in the text, but not so that
   * they can be taken for the quote.
   * `near`: the text says the same with a number that differs in unit or rounding; it is not proof.
   */
  | {
      readonly found: false;
      readonly nearest: string;
      readonly tooShort?: true;
      readonly why?: string;
      readonly near?: Passage & { readonly differs: string; readonly locator?: string };
    };

/** What a fragment of an elided quote has at least, one or the other. */
const minWords = 3;
const minCharacters = 12;
/** Letters that a quote has at least in a script without spaces between words, and a fragment of one. */
const minLetters = 8;
const minLettersOfFragment = 4;
const eachUnspaced = new RegExp(unspaced.source, "gu");

/** One text in two forms, each made when a quote first needs it. */
interface Haystacks {
  readonly whole: () => Normalised;
  /** Without what a quote may leave out; the same where there is nothing of the kind. */
  readonly bare: () => Normalised;
}

/** A text made ready for searching, once for all its quotes. */
interface Prepared {
  /** With its formulas in signs; offsets are those of the text itself. */
  readonly text: string;
  readonly vocabulary: Vocabulary;
  /** The text as it stands, and without what a quote may leave out. */
  readonly asWritten: Haystacks;
  /** Both with powers on the line and thousands joined. */
  readonly onLine: Haystacks;
  /** False where the text writes "0,05": its commas are points. */
  readonly joinsGroups: boolean;
  readonly references: readonly ReferenceList[];
}
const prepared = new WeakMap<Searchable, Prepared>();

/**
 * Looks for a quote in a text. How:
 *
 * 1. Text and quote are **normalised** (`normalise.ts`): to one string of letters, digits and signs, with the gap
 *    before each character kept apart. White space, case, accents, ligatures, kinds of quotation marks and dashes,
 *    borders of cells, marks of lists and words broken at a line's end make no difference after that. The text once
 *    more without its **extras** (`marks-left-out.ts`): footnote marks, citations, running heads, which a quote may
 *    leave out.
 * 2. The quote is read in a few **variants** (`variants.ts`), the strictest first: as it stands, without the stop that
 *    closes a cut quote, without `[words of explanation]`.
 * 3. Each variant is looked for as a string (`occurrences.ts`), in linear time. At each place the gaps, the ends of
 *    words and numbers and the case of units must **agree** (`same-words.ts`). Where it stands nowhere so, the text is
 *    searched once more with its powers on the line and its thousands joined, as a plain keyboard writes them.
 * 4. A quote with `…`, `...` or `[...]` is looked for in **fragments**, which stand near each other in their order.
 * 5. What was found is given as its **passage** (`passage.ts`): the paper's own sentence, in which everyone sees what
 *    the quote left out. Nothing is guessed of what it means.
 * 6. What is not found is looked for once more with other numbers (`near-numbers.ts`), and the nearest stretch is given
 *    for a repair.
 *
 * "of the" and "5" stand in every paper: a quote has at least four words, or three of which one is a number, or eight
 * letters of a script without spaces. A text given as an object is normalised once, however many quotes are looked
 * for. The work is linear in text and quote.
 */
export function findQuote(text: Searchable | string, quote: string): QuoteMatch {
  const searchable = typeof text === "string" ? { text } : text;
  if (isTooShort(quote)) return { found: false, nearest: nearestTo(searchable, quote).nearest, tooShort: true };
  const ready = prepare(searchable);
  const refusals: string[] = [];
  const spans = placesOf(ready, quote, refusals);
  const [first, last] = [spans?.[0], spans?.at(-1)];
  if (spans !== undefined && first !== undefined && last !== undefined) {
    const hit = { start: first.start, end: last.end };
    return {
      found: true,
      ...hit,
      ...locatedAt(searchable, hit.start),
      ...passageAround(searchable.text, spans),
      ...(isCited(ready, hit) && isInEntry(ready.text, hit) ? { isCited: true } : {}),
    };
  }
  const [why] = refusals;
  const { nearest, stretch } = nearestTo(searchable, quote);
  const near = why === undefined && stretch !== undefined ? findNear(searchable.text, quote, stretch) : undefined;
  return {
    found: false,
    nearest,
    why,
    ...(near === undefined
      ? {}
      : {
          near: {
            differs: near.differs,
            ...locatedAt(searchable, near.start),
            ...passageAround(searchable.text, [near]),
          },
        }),
  };
}

/** The stretch of a text that is nearest to a quote, and what is shown of it; nothing where they share no word. */
function nearestTo(searchable: Searchable, quote: string): { readonly nearest: string; readonly stretch?: Span } {
  const stretch = nearestStretch(searchable, quote);
  return stretch === undefined ? { nearest: "" } : { nearest: widened(searchable.text, stretch), stretch };
}

/** The same for many quotes of one text. */
export const findQuotes = (text: Searchable, quotes: readonly string[]): QuoteMatch[] =>
  quotes.map((quote) => findQuote(text, quote));

/** The fragments of a quote in the text, one where it has no elision; undefined where it is not there. */
const placesOf = (ready: Prepared, quote: string, refusals: string[]): readonly Span[] | undefined =>
  asWhole(ready, quote, refusals) ?? (isElided(quote) ? inFragments(ready, quote, refusals) : undefined);

function locatedAt(searchable: Searchable, offset: number): { locator?: string } {
  const locator = locatorAt(searchable.marks ?? [], offset);
  return locator === undefined ? {} : { locator };
}

const lettersWithoutSpaces = (quote: string): number => quote.match(eachUnspaced)?.length ?? 0;

function isTooShort(quote: string): boolean {
  // A compound is one word: "state-of-the-art" says less than four.
  const words = quote
    .split(/[\s\u0085\u2014|&]|&(?:nbsp|#160|#xa0);|<\/?t[dhr]>/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length >= 4 || (words.length === 3 && words.some((word) => /\p{N}/u.test(word)))) return false;
  return lettersWithoutSpaces(quote) < minLetters;
}

const once = <Made>(make: () => Made): (() => Made) => {
  let made: Made | undefined;
  return () => (made ??= make());
};

function prepare(searchable: Searchable): Prepared {
  let ready = prepared.get(searchable);
  if (ready === undefined) {
    const text = inSigns(searchable.text);
    const vocabulary = vocabularyOf(text);
    const joinsGroups = !/(?<!\p{Nd})0,\p{Nd}/u.test(text);
    const typing = { lowersRanks: true, joinsGroups };
    const whole = once(() => normalise(text));
    const bare = once(() => {
      const extras = extrasOf(text, vocabulary);
      return extras.size === 0 ? whole() : withoutExtras(whole(), extras);
    });
    ready = {
      text,
      vocabulary,
      joinsGroups,
      references: referenceLists(text),
      asWritten: { whole, bare },
      onLine: { whole: once(() => onOneLine(whole(), typing)), bare: once(() => onOneLine(bare(), typing)) },
    };
    prepared.set(searchable, ready);
  }
  return ready;
}

function asWhole(ready: Prepared, quote: string, refusals: string[]): readonly Span[] | undefined {
  let cited: Span | undefined;
  for (const span of passagesOf(ready, quote, refusals)) {
    if (!isCited(ready, span)) return [span];
    cited ??= span;
  }
  return cited === undefined ? undefined : [cited];
}

const isCited = ({ references }: Prepared, { start, end }: Span, isSure?: true): boolean =>
  references.some((list) => start >= list.start && end <= list.end && (isSure === undefined || list.isSure));

/** Why what stands in a list of references is not evidence. */
export const citedWords = "it stands in the list of references, which claims nothing";

/** Where a quote or fragment stands in the text; `refusals` gets the reasons of places that are not the quote's. */
function* passagesOf(ready: Prepared, quote: string, refusals: string[]): Generator<Span> {
  const variants = variantsOf(quote, ready.text);
  yield* spansOf(ready, ready.asWritten, variants, (needle) => needle, refusals);
  // What a plain keyboard has no sign for are digits.
  if (!/\p{Nd}/u.test(quote)) return;
  const typing = { lowersRanks: false, joinsGroups: ready.joinsGroups };
  yield* spansOf(ready, ready.onLine, variants, (needle) => onOneLine(needle, typing), refusals);
}

function* spansOf(
  ready: Prepared,
  { whole, bare }: Haystacks,
  variants: readonly string[],
  read: (needle: Normalised) => Normalised,
  refusals: string[],
): Generator<Span> {
  for (const variant of variants) yield* agreeing(ready, whole(), read(normalise(variant)), refusals);
  for (const variant of variants) {
    const extras = extrasOf(variant, ready.vocabulary);
    if (bare() !== whole() || extras.size > 0)
      yield* agreeing(ready, bare(), read(normalise(variant, extras)), refusals);
  }
}

function* agreeing(ready: Prepared, haystack: Normalised, needle: Normalised, refusals: string[]): Generator<Span> {
  for (const at of occurrences(haystack.chars, needle.chars)) {
    const answer = agrees(haystack, needle, at, ready.vocabulary);
    if (answer === false) continue;
    const problem = typeof answer === "string" ? answer : isCited(ready, answer, true) ? citedWords : undefined;
    if (typeof answer !== "string" && problem === undefined) yield answer;
    else if (problem !== undefined && !refusals.includes(problem)) refusals.push(problem);
  }
}

const isShort = (fragment: string) =>
  wordsOf(fragment).length < minWords &&
  normalise(fragment).chars.length < minCharacters &&
  lettersWithoutSpaces(fragment) < minLettersOfFragment;

/** More stand in no passage of three sentences. */
const maxFragments = 12;
/** Fewer places of a fragment are tried where the text repeats itself. */
const maxPassages = 200;

/**
 * The fragments, each after the last and near it. For every place of a fragment the latest place of the one before it
 * is the nearest, so one pass a fragment is enough.
 */
function inFragments(ready: Prepared, quote: string, refusals: string[]): readonly Span[] | undefined {
  const fragments = fragmentsOf(quote);
  if (fragments.length === 0 || fragments.length > maxFragments || (fragments.length > 1 && fragments.some(isShort)))
    return undefined;
  let chains: (readonly Span[])[] | undefined;
  for (const fragment of fragments) {
    const places = take(passagesOf(ready, fragment, refusals), maxPassages);
    if (places.length === 0) return undefined;
    chains =
      chains === undefined
        ? places.map((place) => [place])
        : places.flatMap((place) => {
            const before = chains?.findLast((chain) => (chain.at(-1) as Span).end <= place.start);
            return before === undefined ? [] : [[...before, place]];
          });
    if (chains.length === 0) refusals.push('the fragments around "…" stand in another order in the text');
  }
  for (const chain of chains ?? []) {
    const problem = tooFarApart(ready.text, chain);
    if (problem === undefined) return chain;
    if (!refusals.includes(problem)) refusals.push(problem);
  }
  return undefined;
}

/** The places in their order; of those that begin alike the longest. */
function take(spans: Iterable<Span>, max: number): Span[] {
  const taken = new Map<number, Span>();
  for (const span of spans) {
    if (span.end > (taken.get(span.start)?.end ?? 0)) taken.set(span.start, span);
    if (taken.size >= max) break;
  }
  return [...taken.values()].toSorted((a, b) => a.start - b.start);
}

const elisionMark =
  /\[\s{0,3}(?:[…⋯‥]{1,2}|\.\s?\.\s?\.)\s{0,3}\]|\(\s{0,3}(?:[…⋯‥]|\.\.\.)\s{0,3}\)|[…‥]|\.\s?\.\s?\.{1,6}/;

/**
 * The fragments of a quote with `…`, `...` or `[...]` in it; one where it has none. Marks that follow each other are
 * one.
 */
export const fragmentsOf = (quote: string): string[] =>
  quote
    .split(elisionMark)
    // "in […]. The rest" closes the sentence that it cuts: the stop is not part of the next.
    .map((fragment, index) => (index === 0 ? fragment : fragment.replace(/^\s{0,3}[.;,:]\s{1,3}/, "")))
    .filter((fragment) => /[\p{L}\p{N}\p{Sm}]/u.test(fragment));

/** Whether a quote has a mark for words left out. */
export const isElided = (quote: string): boolean => elisionMark.test(quote);
