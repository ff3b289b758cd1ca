import type { Span } from "./passage.js";

/** The words of a text as numbers, so that forty quotes can be compared with sixty thousand words in milliseconds. */
interface Words {
  readonly idOfWord: ReadonlyMap<string, number>;
  /** For each word of the text, in order: its number. */
  readonly ids: Int32Array;
  /** For each word of the text: the offset of its first character. */
  readonly starts: Int32Array;
  /** For each word of the text: the offset after its last character. */
  readonly ends: Int32Array;
}

/** Maximum length of the result. */
const maxChars = 300;
const wordsCache = new WeakMap<object, Words>();
/** Numbers include their decimals: 0.304 is one word. */
const wordPattern = /\p{L}[\p{L}\p{M}]{0,60}(?:['’]\p{L}{1,20})?|\p{N}{1,60}(?:[.,]\p{N}{1,60}){0,9}/gu;

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => (text.match(wordPattern) ?? []).map((word) => word.toLowerCase());

/**
 * The part of a text, at most 300 characters, that shares most with a quote. Pairs and triples of successive words have
 * more weight than words. It begins and ends with a shared word; undefined if no word is shared.
 */
export function nearestSpan(searchable: { readonly text: string }, quote: string): Span | undefined {
  let words = wordsCache.get(searchable);
  if (words === undefined) {
    words = numberWords(searchable.text);
    wordsCache.set(searchable, words);
  }
  const quoteWords = wordsOf(quote).slice(0, 80);
  const window = heaviestWindow(words, weigh(words, quoteWords), quoteWords.length);
  return window === undefined
    ? undefined
    : { start: words.starts[window.first] ?? 0, end: words.ends[window.last] ?? 0 };
}

function numberWords(text: string): Words {
  const idOfWord = new Map<string, number>();
  const [ids, starts, ends]: [number[], number[], number[]] = [[], [], []];
  for (const match of text.matchAll(wordPattern)) {
    const word = match[0].toLowerCase();
    const id = idOfWord.get(word) ?? idOfWord.size;
    idOfWord.set(word, id);
    ids.push(id);
    starts.push(match.index);
    ends.push(match.index + match[0].length);
  }
  return { idOfWord, ids: Int32Array.from(ids), starts: Int32Array.from(starts), ends: Int32Array.from(ends) };
}

/** Words with less weight. */
const commonWords = new Set(
  "a an and are as at be by for from in is it of on or that the this to was we were with".split(" "),
);

/**
 * The weights of the text's words: 1 for a shared word (less for a common one), 3 more if it ends a shared pair, and 6
 * more if it ends a shared triple.
 */
function weigh({ idOfWord, ids }: Words, quoteWords: readonly string[]): Float32Array {
  const wordWeights = new Float32Array(idOfWord.size);
  const quoteIds = quoteWords.map((word) => idOfWord.get(word) ?? -1);
  for (const [index, id] of quoteIds.entries())
    if (id >= 0) wordWeights[id] = commonWords.has(quoteWords[index] ?? "") ? 0.2 : 1;
  const pairs = new Set(quoteIds.slice(1).map((id, index) => pairOf(quoteIds[index] ?? -1, id)));
  const triples = new Set(
    quoteIds.slice(2).map((id, index) => tripleOf(quoteIds[index] ?? -1, quoteIds[index + 1] ?? -1, id)),
  );

  const weights = new Float32Array(ids.length);
  for (let index = 0; index < ids.length; index += 1) {
    const id = ids[index] as number;
    const wordWeight = wordWeights[id] as number;
    if (wordWeight === 0) continue;
    const previous = ids[index - 1] ?? -2;
    const endsPair = pairs.has(pairOf(previous, id));
    const endsTriple = endsPair && triples.has(tripleOf(ids[index - 2] ?? -2, previous, id));
    weights[index] = wordWeight + (endsPair ? 3 : 0) + (endsTriple ? 6 : 0);
  }
  return weights;
}

/** One number for a pair of words; unique for up to 2^26 different words, which no text has. */
const pairOf = (a: number, b: number) => (a + 3) * 67_108_864 + b;
const tripleOf = (a: number, b: number, c: number) => `${a} ${b} ${c}`;

/**
 * The part with the greatest weight that is about as long as the quote and has at most `maxChars`. It begins and ends
 * with a shared word.
 * @returns the indexes of its first and last word.
 */
function heaviestWindow(
  { starts, ends }: Words,
  weights: Float32Array,
  quoteLength: number,
): { first: number; last: number } | undefined {
  const maxWords = Math.max(quoteLength + 4, 12);
  const sharedWords: number[] = [];
  for (let index = 0; index < weights.length; index += 1) if ((weights[index] as number) > 0) sharedWords.push(index);

  let best: { first: number; last: number; weight: number } | undefined;
  /** The index in `sharedWords` of the window's first word. */
  let windowStart = 0;
  let weight = 0;
  for (const last of sharedWords) {
    weight += weights[last] as number;
    let first = sharedWords[windowStart] as number;
    const isTooLong = () => last - first >= maxWords || (ends[last] as number) - (starts[first] as number) > maxChars;
    while (first < last && isTooLong()) {
      weight -= weights[first] as number;
      windowStart += 1;
      first = sharedWords[windowStart] as number;
    }
    if (weight >= 0.99 && weight > (best?.weight ?? 0) + 0.01) best = { first, last, weight };
  }
  return best;
}

/**
 * A part of the text on one line, extended to complete sentences. If these are longer than 300 characters, it is
 * extended to complete words. The agent may quote it instead of a quote that was not found.
 */
export function extendSpan(text: string, span: Span): string {
  let { start, end } = span;
  const freeChars = () => maxChars - (end - start);
  const before = /[^.!?\n]{0,300}$/.exec(text.slice(Math.max(0, start - freeChars()), start))?.[0] ?? "";
  if (before.length < freeChars()) start -= before.trimStart().length;
  const after =
    /^[^.!?\n]{0,300}(?:\.\d[^.!?\n]{0,300}){0,9}[.!?]?/.exec(text.slice(end, end + freeChars()))?.[0] ?? "";
  const extension = after.length < freeChars() ? after.length : after.lastIndexOf(" ");
  if (extension > 0) end += extension;
  return text.slice(start, end).replace(/\s+/g, " ").trim().slice(0, maxChars);
}
