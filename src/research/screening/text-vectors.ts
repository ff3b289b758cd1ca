/** A text as a vector of length 1: the weights of its words and pairs of words. */
export interface TextVector {
  readonly ids: Int32Array;
  readonly weights: Float64Array;
}

/** Texts as vectors over the same terms. */
export interface TextVectors {
  readonly vectors: readonly TextVector[];
  /** The word of each term by its id; undefined for a pair. */
  readonly words: readonly (string | undefined)[];
}

/**
 * Texts as vectors of words and pairs of adjacent words, weighted by rarity (tf-idf). Each text has parts, such as
 * title and abstract; pairs are within one part. Terms that occur in only one text are omitted, because they tell
 * nothing about other texts.
 */
export function vectorsOf(texts: readonly (readonly (readonly string[])[])[]): TextVectors {
  const wordIds = new Map<string, number>();
  // For each word (by id): the ids of its pairs with the next word.
  const pairIds: Map<number, number>[] = [];
  const textCounts: number[] = [];
  const lastTextOf: number[] = [];
  const idFor = <Key>(ids: Map<Key, number>, key: Key): number => {
    let id = ids.get(key);
    if (id === undefined) ids.set(key, (id = textCounts.push(0) - 1));
    return id;
  };
  const termsOfTexts = texts.map((parts, index) => {
    const terms: number[] = [];
    const add = (id: number): void => {
      if (lastTextOf[id] !== index) textCounts[id] = (textCounts[id] ?? 0) + 1;
      lastTextOf[id] = index;
      terms.push(id);
    };
    for (const part of parts) {
      let previous: number | undefined;
      for (const word of part) {
        const id = idFor(wordIds, word);
        add(id);
        if (previous !== undefined) add(idFor((pairIds[previous] ??= new Map<number, number>()), id));
        previous = id;
      }
    }
    return Int32Array.from(terms);
  });
  let size = 0;
  // The final id of each term, without gaps; −1 if only one text has the term.
  const finalIds = Int32Array.from(textCounts, (textCount) => (textCount >= 2 ? size++ : -1));
  const words = Array.from({ length: size }, (): string | undefined => undefined);
  for (const [word, id] of wordIds) if ((finalIds[id] ?? -1) >= 0) words[finalIds[id] ?? 0] = word;
  const rarity = Float64Array.from(textCounts, (textCount) => Math.log((1 + texts.length) / (1 + textCount)) + 1);
  const count = new Int32Array(textCounts.length);
  return { vectors: termsOfTexts.map((terms) => vectorOf(terms, finalIds, rarity, count)), words };
}

/** The vector of a text's terms that have a final id. `count` contains only zeros before and after the call. */
function vectorOf(terms: Int32Array, finalIds: Int32Array, rarity: Float64Array, count: Int32Array): TextVector {
  const distinctIds: number[] = [];
  for (const id of terms) {
    if (count[id] === 0 && (finalIds[id] ?? -1) >= 0) distinctIds.push(id);
    count[id] = (count[id] ?? 0) + 1;
  }
  const weights = new Float64Array(distinctIds.length);
  let squareSum = 0;
  for (let position = 0; position < distinctIds.length; position++) {
    const id = distinctIds[position] ?? 0;
    const weight = (1 + Math.log(count[id] ?? 1)) * (rarity[id] ?? 0);
    weights[position] = weight;
    squareSum += weight * weight;
  }
  for (const id of terms) count[id] = 0;
  const length = Math.sqrt(squareSum) || 1;
  return {
    ids: Int32Array.from(distinctIds, (id) => finalIds[id] ?? 0),
    weights: weights.map((weight) => weight / length),
  };
}
