import type { Span } from "./passage.js";

/** The words of a text as numbers, so that forty quotes can be compared with sixty thousand words in milliseconds. */
interface Words {
  readonly numbers: ReadonlyMap<string, number>;
  /** For each word of the text, in order: its number, where it begins and where it ends. */
  readonly word: Int32Array;
  readonly at: Int32Array;
  readonly end: Int32Array;
}

const longest = 300;
const known = new WeakMap<object, Words>();
/** Numbers keep their decimals: 0.304 is one word. */
const wordPattern = /\p{L}[\p{L}\p{M}]{0,60}(?:['’]\p{L}{1,20})?|\p{N}{1,60}(?:[.,]\p{N}{1,60}){0,9}/gu;

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => (text.match(wordPattern) ?? []).map((word) => word.toLowerCase());

/**
 * The stretch of a text, at most 300 characters, that shares most with a quote: pairs and triples of words in a row
 * weigh more than words. It begins and ends with a shared word; undefined where nothing is shared.
 */
export function nearestStretch(searchable: { readonly text: string }, quote: string): Span | undefined {
  let words = known.get(searchable);
  if (words === undefined) {
    words = numberWords(searchable.text);
    known.set(searchable, words);
  }
  const quoted = wordsOf(quote).slice(0, 80);
  const best = heaviestWindow(words, weigh(words, quoted), quoted.length);
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
 * For each word of the text what it adds: a shared word 1 (a common one less), ending a shared pair 3 more, ending a
 * shared triple 6 more.
 */
function weigh({ numbers, word }: Words, quoted: readonly string[]): Float32Array {
  const single = new Float32Array(numbers.size);
  const ids = quoted.map((each) => numbers.get(each) ?? -1);
  for (const [index, id] of ids.entries()) if (id >= 0) single[id] = common.has(quoted[index] ?? "") ? 0.2 : 1;
  const pairs = new Set(ids.slice(1).map((id, index) => pairOf(ids[index] ?? -1, id)));
  const triples = new Set(ids.slice(2).map((id, index) => tripleOf(ids[index] ?? -1, ids[index + 1] ?? -1, id)));

  const weights = new Float32Array(word.length);
  for (let index = 0; index < word.length; index += 1) {
    const id = word[index] as number;
    const own = single[id] as number;
    if (own === 0) continue;
    const last = word[index - 1] ?? -2;
    const pair = pairs.has(pairOf(last, id));
    weights[index] = own + (pair ? 3 : 0) + (pair && triples.has(tripleOf(word[index - 2] ?? -2, last, id)) ? 6 : 0);
  }
  return weights;
}

/** Exact up to 2^26 different words, which no text has. */
const pairOf = (a: number, b: number) => (a + 3) * 67_108_864 + b;
const tripleOf = (a: number, b: number, c: number) => `${a} ${b} ${c}`;

/**
 * The window about as long as the quote, and at most as long as a passage may be, with the greatest weight; it begins
 * and ends with a shared word.
 */
function heaviestWindow(
  { at, end }: Words,
  weights: Float32Array,
  length: number,
): { first: number; last: number } | undefined {
  const widest = Math.max(length + 4, 12);
  const shared: number[] = [];
  for (let index = 0; index < weights.length; index += 1) if ((weights[index] as number) > 0) shared.push(index);

  let best: { first: number; last: number; weight: number } | undefined;
  let from = 0;
  let weight = 0;
  for (const last of shared) {
    weight += weights[last] as number;
    let first = shared[from] as number;
    while (first < last && (last - first >= widest || (end[last] as number) - (at[first] as number) > longest)) {
      weight -= weights[first] as number;
      from += 1;
      first = shared[from] as number;
    }
    if (weight >= 0.99 && weight > (best?.weight ?? 0) + 0.01) best = { first, last, weight };
  }
  return best;
}

/**
 * A stretch on one line, widened to whole sentences as far as 300 characters allow, else to as many words. It is what a
 * repair asks the agent to quote instead.
 */
export function widened(text: string, stretch: Span): string {
  let { start, end } = stretch;
  const room = () => longest - (end - start);
  const before = /[^.!?\n]{0,300}$/.exec(text.slice(Math.max(0, start - room()), start))?.[0] ?? "";
  if (before.length < room()) start -= before.trimStart().length;
  const after = /^[^.!?\n]{0,300}(?:\.\d[^.!?\n]{0,300}){0,9}[.!?]?/.exec(text.slice(end, end + room()))?.[0] ?? "";
  const whole = after.length < room() ? after.length : after.lastIndexOf(" ");
  if (whole > 0) end += whole;
  return text.slice(start, end).replace(/\s+/g, " ").trim().slice(0, longest);
}
