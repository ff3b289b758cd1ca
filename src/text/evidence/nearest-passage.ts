import type { Span } from "./passage.js";

/** The words of a text as numbers, so that forty quotes can be compared with sixty thousand words in milliseconds. */
interface Words {
  readonly numbers: ReadonlyMap<string, number>;
  /** For each word of the text, in order: its number, and its first and last offset. */
  readonly word: Int32Array;
  readonly at: Int32Array;
  readonly end: Int32Array;
}

const maxChars = 300;
const cache = new WeakMap<object, Words>();
/** Numbers include their decimals: 0.304 is one word. */
const wordPattern = /\p{L}[\p{L}\p{M}]{0,60}(?:['’]\p{L}{1,20})?|\p{N}{1,60}(?:[.,]\p{N}{1,60}){0,9}/gu;

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => (text.match(wordPattern) ?? []).map((word) => word.toLowerCase());

/**
 * The part of a text, at most 300 characters, that shares most with a quote. Pairs and triples of successive words have
 * more weight than words. It begins and ends with a shared word; undefined if no word is shared.
 */
export function nearestStretch(searchable: { readonly text: string }, quote: string): Span | undefined {
  let words = cache.get(searchable);
  if (words === undefined) {
    words = numberWords(searchable.text);
    cache.set(searchable, words);
  }
  const quoteWords = wordsOf(quote).slice(0, 80);
  const best = heaviestWindow(words, weigh(words, quoteWords), quoteWords.length);
  return best === undefined ? undefined : { start: words.at[best.first] ?? 0, end: words.end[best.last] ?? 0 };
}

function numberWords(text: string): Words {
  const numbers = new Map<string, number>();
  const [word, at, end]: [number[], number[], number[]] = [[], [], []];
  for (const match of text.matchAll(wordPattern)) {
    const lower = match[0].toLowerCase();
    const number = numbers.get(lower) ?? numbers.size;
    numbers.set(lower, number);
    word.push(number);
    at.push(match.index);
    end.push(match.index + match[0].length);
  }
  return { numbers, word: Int32Array.from(word), at: Int32Array.from(at), end: Int32Array.from(end) };
}

const common = new Set(
  "a an and are as at be by for from in is it of on or that the this to was we were with".split(" "),
);

/**
 * The weights of the text's words: 1 for a shared word (less for a common one), 3 more if it ends a shared pair, and 6
 * more if it ends a shared triple.
 */
function weigh({ numbers, word }: Words, quoteWords: readonly string[]): Float32Array {
  const single = new Float32Array(numbers.size);
  const ids = quoteWords.map((each) => numbers.get(each) ?? -1);
  for (const [index, id] of ids.entries()) if (id >= 0) single[id] = common.has(quoteWords[index] ?? "") ? 0.2 : 1;
  const pairs = new Set(ids.slice(1).map((id, index) => pairOf(ids[index] ?? -1, id)));
  const triples = new Set(ids.slice(2).map((id, index) => tripleOf(ids[index] ?? -1, ids[index + 1] ?? -1, id)));

  const weights = new Float32Array(word.length);
  for (let index = 0; index < word.length; index += 1) {
    const id = word[index] as number;
    const ownWeight = single[id] as number;
    if (ownWeight === 0) continue;
    const previous = word[index - 1] ?? -2;
    const pair = pairs.has(pairOf(previous, id));
    weights[index] =
      ownWeight + (pair ? 3 : 0) + (pair && triples.has(tripleOf(word[index - 2] ?? -2, previous, id)) ? 6 : 0);
  }
  return weights;
}

/** Exact for up to 2^26 different words, which no text has. */
const pairOf = (a: number, b: number) => (a + 3) * 67_108_864 + b;
const tripleOf = (a: number, b: number, c: number) => `${a} ${b} ${c}`;

/**
 * The part with the greatest weight that is about as long as the quote and not longer than a passage may be. It begins
 * and ends with a shared word.
 */
function heaviestWindow(
  { at, end }: Words,
  weights: Float32Array,
  length: number,
): { first: number; last: number } | undefined {
  const maxWords = Math.max(length + 4, 12);
  const shared: number[] = [];
  for (let index = 0; index < weights.length; index += 1) if ((weights[index] as number) > 0) shared.push(index);

  let best: { first: number; last: number; weight: number } | undefined;
  let from = 0;
  let weight = 0;
  for (const last of shared) {
    weight += weights[last] as number;
    let first = shared[from] as number;
    while (first < last && (last - first >= maxWords || (end[last] as number) - (at[first] as number) > maxChars)) {
      weight -= weights[first] as number;
      from += 1;
      first = shared[from] as number;
    }
    if (weight >= 0.99 && weight > (best?.weight ?? 0) + 0.01) best = { first, last, weight };
  }
  return best;
}

/**
 * A part of the text on one line, extended to complete sentences within 300 characters, otherwise to as many words. In
 * a repair, the agent is asked to quote it instead.
 */
export function extended(text: string, stretch: Span): string {
  let { start, end } = stretch;
  const freeChars = () => maxChars - (end - start);
  const before = /[^.!?\n]{0,300}$/.exec(text.slice(Math.max(0, start - freeChars()), start))?.[0] ?? "";
  if (before.length < freeChars()) start -= before.trimStart().length;
  const after =
    /^[^.!?\n]{0,300}(?:\.\d[^.!?\n]{0,300}){0,9}[.!?]?/.exec(text.slice(end, end + freeChars()))?.[0] ?? "";
  const extension = after.length < freeChars() ? after.length : after.lastIndexOf(" ");
  if (extension > 0) end += extension;
  return text.slice(start, end).replace(/\s+/g, " ").trim().slice(0, maxChars);
}
