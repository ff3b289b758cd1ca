/** A text as weights of its words and pairs of words; together of length 1. */
export interface TextVector {
  readonly ids: Int32Array;
  readonly weights: Float64Array;
}

/** Texts as vectors over the same terms. */
export interface TextVectors {
  readonly vectors: readonly TextVector[];
  /** Each term's word, by its id; undefined for a pair. */
  readonly words: readonly (string | undefined)[];
}

/**
 * Texts as words and pairs of neighbouring words weighted by rarity (tf-idf). Each text is given in parts, such as
 * title and abstract, and no pair reaches from one into the next. Terms of one text alone are left out: they tell
 * nothing about another.
 */
export function vectorsOf(texts: readonly (readonly (readonly string[])[])[]): TextVectors {
  const wordIds = new Map<string, number>();
  /** Of each word by its id: the ids of its pairs with the word behind it. */
  const pairIds: Map<number, number>[] = [];
  const holders: number[] = [];
  const lastIn: number[] = [];
  const idIn = <Key>(ids: Map<Key, number>, key: Key): number => {
    let id = ids.get(key);
    if (id === undefined) ids.set(key, (id = holders.push(0) - 1));
    return id;
  };
  const numbered = texts.map((parts, index) => {
    const all: number[] = [];
    const add = (id: number): void => {
      if (lastIn[id] !== index) holders[id] = (holders[id] ?? 0) + 1;
      lastIn[id] = index;
      all.push(id);
    };
    for (const part of parts) {
      let before: number | undefined;
      for (const word of part) {
        const id = idIn(wordIds, word);
        add(id);
        if (before !== undefined) add(idIn((pairIds[before] ??= new Map<number, number>()), id));
        before = id;
      }
    }
    return Int32Array.from(all);
  });
  let size = 0;
  const sharedIds = Int32Array.from(holders, (held) => (held >= 2 ? size++ : -1));
  const words = Array.from({ length: size }, (): string | undefined => undefined);
  for (const [word, id] of wordIds) if ((sharedIds[id] ?? -1) >= 0) words[sharedIds[id] ?? 0] = word;
  const rarity = Float64Array.from(holders, (held) => Math.log((1 + texts.length) / (1 + held)) + 1);
  const count = new Int32Array(holders.length);
  return { vectors: numbered.map((all) => vectorOf(all, sharedIds, rarity, count)), words };
}

/** The vector of a text's terms, those without a shared id left out. `count` is all zeros, before and after. */
function vectorOf(all: Int32Array, sharedIds: Int32Array, rarity: Float64Array, count: Int32Array): TextVector {
  const own: number[] = [];
  for (const id of all) {
    if (count[id] === 0 && (sharedIds[id] ?? -1) >= 0) own.push(id);
    count[id] = (count[id] ?? 0) + 1;
  }
  const weights = new Float64Array(own.length);
  let square = 0;
  for (let at = 0; at < own.length; at++) {
    const id = own[at] ?? 0;
    const weight = (1 + Math.log(count[id] ?? 1)) * (rarity[id] ?? 0);
    weights[at] = weight;
    square += weight * weight;
  }
  for (const id of all) count[id] = 0;
  const length = Math.sqrt(square) || 1;
  return { ids: Int32Array.from(own, (id) => sharedIds[id] ?? 0), weights: weights.map((weight) => weight / length) };
}
