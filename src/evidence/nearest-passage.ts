/** A word and where it stands. Numbers keep their decimals: 0.304 is one word. */
interface Word {
  readonly word: string;
  readonly at: number;
  readonly end: number;
}

const longest = 300;
const known = new WeakMap<object, readonly Word[]>();

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => positionedWords(text).map(({ word }) => word);

function positionedWords(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(/\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)?|\p{N}+(?:[.,]\p{N}+)*/gu)) {
    words.push({ word: match[0].toLowerCase(), at: match.index, end: match.index + match[0].length });
  }
  return words;
}

/**
 * The stretch of a text, at most 300 characters on one line, that shares most with a quote: pairs and triples of words in a row weigh more
 * than words. Empty where nothing is shared. It is what a repair asks the agent to quote instead.
 */
export function nearestPassage(searchable: { readonly text: string }, quote: string): string {
  const { text } = searchable;
  let words = known.get(searchable);
  if (words === undefined) {
    words = positionedWords(text);
    known.set(searchable, words);
  }
  const quoted = wordsOf(quote).slice(0, 80);
  if (quoted.length === 0 || words.length === 0) return "";

  const weights = weighWords(words, quoted);
  const best = heaviestWindow(words, weights, quoted.length);
  return best === undefined ? "" : cut(text, words, best.first, best.last);
}

/** For each word of the text what it adds: a shared word 1, ending a shared pair 3 more, ending a shared triple 6 more. */
function weighWords(words: readonly Word[], quoted: readonly string[]): number[] {
  const shared = new Set<string>(quoted);
  const pairs = new Set(quoted.slice(1).map((word, index) => `${quoted[index]} ${word}`));
  const triples = new Set(quoted.slice(2).map((word, index) => `${quoted[index]} ${quoted[index + 1]} ${word}`));
  const common = /^(?:an?|and|are|as|at|be|by|for|from|in|is|it|of|on|or|that|the|this|to|was|we|were|with)$/;
  return words.map(({ word }, index) => {
    if (!shared.has(word)) return 0;
    const [last, beforeLast] = [words[index - 1]?.word, words[index - 2]?.word];
    const pair = last !== undefined && pairs.has(`${last} ${word}`);
    const triple = pair && triples.has(`${beforeLast} ${last} ${word}`);
    return (common.test(word) ? 0.2 : 1) + (pair ? 3 : 0) + (triple ? 6 : 0);
  });
}

/** The window about as long as the quote, and at most as long as a passage may be, with the greatest weight. */
function heaviestWindow(words: readonly Word[], weights: readonly number[], length: number): { first: number; last: number } | undefined {
  let best: { first: number; last: number; weight: number } | undefined;
  let first = 0;
  let weight = 0;
  for (const [last, { end }] of words.entries()) {
    weight += weights[last] ?? 0;
    while (first < last && (last - first >= Math.max(length + 4, 12) || end - (words[first]?.at ?? 0) > longest)) {
      weight -= weights[first] ?? 0;
      first += 1;
    }
    if (weight >= 1 && weight > (best?.weight ?? 0) + 1e-9) best = { first, last, weight };
  }
  if (best === undefined) return undefined;
  // The window slid in from the left: let it begin at the first word that is shared.
  let { first: from } = best;
  while (from < best.last && weights[from] === 0) from += 1;
  return { first: from, last: best.last };
}

/** Widens a window to whole sentences as far as the length allows, else to as many words. */
function cut(text: string, words: readonly Word[], first: number, last: number): string {
  let [start, end] = [words[first]?.at ?? 0, words[last]?.end ?? 0];
  const room = () => longest - (end - start);
  const before = /[^.!?\n]*$/.exec(text.slice(Math.max(0, start - room()), start))?.[0] ?? "";
  if (before.length < room()) start -= before.trimStart().length;
  const after = /^[^.!?\n]*(?:\.\d[^.!?\n]*)*[.!?]?/.exec(text.slice(end, end + room()))?.[0] ?? "";
  const whole = after.length < room() ? after.length : after.lastIndexOf(" ");
  if (whole > 0) end += whole;
  return text.slice(start, end).replace(/\s+/g, " ").trim().slice(0, longest);
}
