import { locatorAt, type Mark } from "../../engine/documents/text/document-text.js";
import { isInEntry, type ReferenceList, referenceLists } from "../../engine/documents/text/reference-lists.js";
import { edgeProblem, type Span } from "./quote-edges.js";
import { fragmentsOf, isElided, joinProblem, tooManyFragments } from "./quote-variants/elision.js";
import { extrasOf, vocabularyOf, type Vocabulary } from "./marks-left-out.js";
import { agrees } from "./same-words.js";
import { nearestPassage, wordsOf } from "./nearest-passage.js";
import { inSigns } from "./quote-variants/formulas.js";
import { insertionProblem } from "./quote-variants/insertions.js";
import { findNear } from "./near-numbers.js";
import { normalise, type Normalised } from "./normalise.js";
import { occurrences } from "./occurrences.js";
import { sentenceBefore } from "./sentences.js";
import { variantsOf, type Variant } from "./quote-variants/variants.js";

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
  | {
      readonly found: true;
      readonly start: number;
      readonly end: number;
      readonly locator?: string;
      readonly isCited?: true;
    }
  /**
   * `nearest`: the passage that shares most with the quote, on one line of at most 300 characters; empty where nothing
   * is shared.
   * `tooShort`: the quote says so little that it was not looked for. `why`: its words are in the text, but not so that
   * they bear it out.
   * `near`: the text says the same with a number that differs in unit or rounding; it is not proof.
   */
  | {
      readonly found: false;
      readonly nearest: string;
      readonly tooShort?: true;
      readonly why?: string;
      readonly near?: { readonly differs: string; readonly locator?: string };
    };

/** What a fragment of an elided quote has at least, one or the other. */
const minWords = 3;
const minCharacters = 12;
/** Scripts that set no spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** A text made ready for searching, once for all its quotes. */
interface Prepared {
  /** With its formulas in signs; offsets are those of the text itself. */
  readonly text: string;
  readonly whole: Normalised;
  readonly vocabulary: Vocabulary;
  /** The text without what a quote may leave out. */
  readonly bare: Normalised;
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
 *    closes a cut quote, without `[words of explanation]`, retyped as the text writes its signs.
 * 3. Each variant is looked for as a string (`occurrences.ts`), in linear time. At each place the gaps, the ends of
 *    words and numbers and the case of units must **agree** (`same-words.ts`).
 * 4. The place must bear the quote out for itself (`quote-edges.ts`, `turned-by.ts`): no number without its sign or
 *    unit, nothing right behind "not" or "claims that", no title of a cited work. A place that does not gives the
 *    reason.
 * 5. A quote with `…`, `...` or `[...]` is looked for in **fragments** (`elision.ts`), which stand near each other and
 *    leave out nothing on which the sense hangs.
 * 6. What is not found is looked for once more with other numbers (`near-numbers.ts`), and the nearest passage is given
 *    for a repair.
 *
 * "of the" and "5" stand in every paper: a quote has at least four words, or three of which one is a number, or twelve
 * characters of a script without spaces. A text given as an object is normalised once, however many quotes are looked
 * for. The work is linear in text and quote.
 */
export function findQuote(text: Searchable | string, quote: string): QuoteMatch {
  const searchable = typeof text === "string" ? { text } : text;
  if (isTooShort(quote)) return { found: false, nearest: nearestPassage(searchable, quote), tooShort: true };
  const ready = prepare(searchable);
  const refusals: string[] = [];
  const hit = hitOf(ready, quote, refusals);
  if (hit !== undefined)
    return {
      found: true,
      start: hit.start,
      end: hit.end,
      ...locatedAt(searchable, hit.start),
      ...(isCited(ready, hit) && isInEntry(ready.text, hit) ? { isCited: true } : {}),
    };
  const [why] = refusals;
  const close = why === undefined ? findNear(searchable, quote) : undefined;
  // What may not stand for itself is not near either.
  const near = close === undefined || edgeProblem(searchable.text, close, true) !== undefined ? undefined : close;
  return {
    found: false,
    nearest: nearestPassage(searchable, quote),
    ...(why === undefined ? {} : { why }),
    ...(near === undefined ? {} : { near: { differs: near.differs, ...locatedAt(searchable, near.start) } }),
  };
}

/** The same for many quotes of one text. */
export const findQuotes = (text: Searchable, quotes: readonly string[]): QuoteMatch[] =>
  quotes.map((quote) => findQuote(text, quote));

/** Whether a quote stands in a text: `found` of `findQuote`, without the search for what is nearest to it. */
export const holdsQuote = (text: Searchable, quote: string): boolean =>
  !isTooShort(quote) && hitOf(prepare(text), quote, []) !== undefined;

const hitOf = (ready: Prepared, quote: string, refusals: string[]): Span | undefined =>
  asWhole(ready, quote, refusals) ?? (isElided(quote) ? inFragments(ready, quote, refusals) : undefined);

function locatedAt(searchable: Searchable, offset: number): { locator?: string } {
  const locator = locatorAt(searchable.marks ?? [], offset);
  return locator === undefined ? {} : { locator };
}

function isTooShort(quote: string): boolean {
  // A compound is one word: "state-of-the-art" says less than four.
  const words = quote
    .split(/[\s\u0085\u2014|&]|&(?:nbsp|#160|#xa0);|<\/?t[dhr]>/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length >= 4 || (words.length === 3 && words.some((word) => /\p{N}/u.test(word)))) return false;
  return [...quote].filter((char) => unspaced.test(char)).length < minCharacters;
}

function prepare(searchable: Searchable): Prepared {
  let ready = prepared.get(searchable);
  if (ready === undefined) {
    const text = inSigns(searchable.text);
    const vocabulary = vocabularyOf(text);
    const extras = extrasOf(text, vocabulary);
    const whole = normalise(text);
    const bare = extras.size === 0 ? whole : normalise(text, extras);
    ready = { text, whole, bare, vocabulary, references: referenceLists(text) };
    prepared.set(searchable, ready);
  }
  return ready;
}

function asWhole(ready: Prepared, quote: string, refusals: string[]): Span | undefined {
  let cited: Span | undefined;
  for (const span of passagesOf(ready, quote, true, refusals)) {
    if (!isCited(ready, span)) return span;
    cited ??= span;
  }
  return cited;
}

const isCited = ({ references }: Prepared, { start, end }: Span, isSure?: true): boolean =>
  references.some((list) => start >= list.start && end <= list.end && (isSure === undefined || list.isSure));

/**
 * Where a quote or fragment stands in the text and may stand for itself; `refusals` gets the reasons of the other
 * places.
 */
function* passagesOf(ready: Prepared, quote: string, isFirst: boolean, refusals: string[]): Generator<Span> {
  for (const variant of variantsOf(quote, ready.text)) {
    yield* placesOf(ready, ready.whole, normalise(variant.quote), variant, isFirst, refusals);
    const extras = extrasOf(variant.quote, ready.vocabulary);
    if (ready.bare === ready.whole && extras.size === 0) continue;
    yield* placesOf(ready, ready.bare, normalise(variant.quote, extras), variant, isFirst, refusals);
  }
}

function* placesOf(
  ready: Prepared,
  haystack: Normalised,
  needle: Normalised,
  variant: Variant,
  isFirst: boolean,
  refusals: string[],
): Generator<Span> {
  for (const at of occurrences(haystack.chars, needle.chars)) {
    const answer = agrees(haystack, needle, at, ready.vocabulary);
    if (answer === false) continue;
    const span = typeof answer === "string" ? undefined : answer;
    const problem =
      typeof answer === "string"
        ? answer
        : (placeProblem(ready, answer, variant) ?? edgeProblem(ready.text, answer, isFirst));
    if (problem === undefined && span !== undefined) yield span;
    else if (problem !== undefined && !refusals.includes(problem)) refusals.push(problem);
  }
}

const angle =
  /\b(?:angle|angular|degree|rotat|orient|turn|tilt|pitch|yaw|roll|azimuth|direction|view|camera|panoram|latitude|longitude|heading|bend|bent|flex|swivel|spin|circle|celsius|temperature)/i;

/** Why what stands in a list of references is not evidence. */
export const citedWords = "it stands in the list of references, which claims nothing";

/** A work cited right behind a passage. */
const sourceBehind = /^[\s.,]{0,3}[([][^()[\]]{0,80}(?:19|20)\d\d/;

function placeProblem(ready: Prepared, { start, end }: Span, variant: Variant): string | undefined {
  const { text } = ready;
  if (isCited(ready, { start, end }, true)) return citedWords;
  const isAngle = () => angle.test(sentenceBefore(text, start) + text.slice(start, Math.min(text.length, end + 200)));
  if (variant.needsAngle === true && !isAngle()) return 'the text does not say "°"';
  if (variant.hasSource === true && sourceBehind.test(text.slice(end, end + 100)))
    return "the text names another source there";
  for (const insertion of variant.insertions ?? []) {
    const problem = insertionProblem(text, { start, end }, insertion, variant.replaces);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const isShort = (fragment: string) =>
  wordsOf(fragment).length < minWords && normalise(fragment).chars.length < minCharacters;

/** Fewer places of a fragment are tried where the text repeats itself. */
const maxPassages = 200;

/**
 * The fragments, each after the last and near it. For every place of a fragment the latest place of the one before it
 * is the nearest, so one pass a fragment is enough.
 */
function inFragments(ready: Prepared, quote: string, refusals: string[]): Span | undefined {
  const fragments = fragmentsOf(quote);
  const tooMany = tooManyFragments(fragments.length);
  if (tooMany !== undefined) refusals.push(tooMany);
  if (tooMany !== undefined || fragments.length === 0) return undefined;
  if (fragments.length > 1 && fragments.some(isShort)) return undefined;
  let chains: { readonly first: Span; readonly last: Span }[] | undefined;
  for (const fragment of fragments) {
    const places = take(passagesOf(ready, fragment, chains === undefined, refusals), maxPassages);
    if (places.length === 0) return undefined;
    chains =
      chains === undefined
        ? places.map((place) => ({ first: place, last: place }))
        : places.flatMap((place) => {
            const before = chains?.findLast(({ last }) => last.end <= place.start);
            if (before === undefined) return [];
            const problem = joinProblem(ready.text, before.last, place);
            if (problem !== undefined) refusals.push(problem);
            return problem === undefined ? [{ first: before.first, last: place }] : [];
          });
    if (chains.length === 0) {
      if (refusals.length === 0) refusals.push('the fragments around "…" stand in another order in the text');
      return undefined;
    }
  }
  const [chain] = chains ?? [];
  return chain === undefined ? undefined : { start: chain.first.start, end: chain.last.end };
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
