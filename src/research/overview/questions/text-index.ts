import { normalTitle } from "../../papers/normalise-title.js";
import { unifiedStem, stemsOf } from "../../screening/bm25.js";

/** Words that are kept with their numbers, and how long one may be. */
const maxPieces = 300_000;
const longestPiece = 40;
/** What parts words, of the characters of ASCII; a piece with others is looked at more closely. */
const between = /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+/;
const isPlain = /^[a-zA-Z\d]+$/;
/** How fast further occurrences of a word cease to count, and how far long texts are held against their length. */
const saturation = 1.2;
const lengthShare = 0.75;

/** Numbers for words, shared by the indexes of one pool. British and American endings are one word here. */
export interface Vocabulary {
  /** The numbers of a text's distinctive words, in order. */
  idsOf(text: string): number[];
  /** Once all texts are read, the words as they stand in them need no room any more. */
  forgetPieces(): void;
  /** Undefined for a stem that no text has. */
  known(stem: string): number | undefined;
  /** All stems, in the order of their numbers, with British and American endings as one. */
  stems(): readonly string[];
  /** The number of such a stem, which gets one where it has none. */
  numberOf(stem: string): number;
}

export function openVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  /** Words as they stand in texts, with the numbers of what they say. Cutting each down again takes twice the time. */
  const ofPieces = new Map<string, readonly number[]>();
  const stems: string[] = [];
  const numberOf = (stem: string): number => {
    const known = ids.get(stem);
    if (known !== undefined) return known;
    ids.set(stem, stems.length);
    return stems.push(stem) - 1;
  };
  const idOf = (stem: string): number => {
    const known = ids.get(stem);
    if (known !== undefined) return known;
    const id = numberOf(unifiedStem(stem));
    ids.set(stem, id);
    return id;
  };
  /** What a piece of a text says: its words' numbers. A piece in letters without accents is one word. */
  const idsOfPiece = (piece: string): readonly number[] => {
    const words = isPlain.test(piece) ? [piece.toLowerCase()] : normalTitle(piece).split(" ");
    return words.flatMap((word) => stemsOf(word).map(idOf));
  };
  return {
    idsOf(text) {
      const found: number[] = [];
      for (const piece of text.split(between)) {
        let ids = ofPieces.get(piece);
        if (ids === undefined) {
          // A part of a string keeps the whole in memory.
          const own = Buffer.from(piece).toString();
          ids = idsOfPiece(own);
          if (ofPieces.size < maxPieces && piece.length <= longestPiece) ofPieces.set(own, ids);
        }
        for (const id of ids) found.push(id);
      }
      return found;
    },
    forgetPieces: () => ofPieces.clear(),
    stems: () => stems,
    numberOf,
    known: (stem) => ids.get(stem) ?? ids.get(unifiedStem(stem)),
  };
}

/** The words of one text by their numbers, each once, with how often it stands there. */
export interface CountedWords {
  readonly ids: Uint32Array;
  readonly counts: Uint8Array;
  /** How many words the text has, repetitions included. */
  readonly length: number;
}

/** The words of a text that is made of these parts, each once. */
export function counted(parts: readonly (readonly number[])[]): CountedWords {
  const times = new Map<number, number>();
  let length = 0;
  for (const part of parts) {
    length += part.length;
    for (const id of part) times.set(id, (times.get(id) ?? 0) + 1);
  }
  const ids = new Uint32Array(times.size);
  const counts = new Uint8Array(times.size);
  let at = 0;
  for (const [id, count] of times) {
    ids[at] = id;
    counts[at++] = Math.min(count, 255);
  }
  return { ids, counts, length };
}

/** Texts by their words, scored by BM25 (Robertson's usual values). Kept in arrays of numbers: five bytes a word. */
export interface TextIndex {
  readonly size: number;
  /** How rare a word is among these texts. */
  rarity(id: number): number;
  /** Adds `share` of each text's score to `scores`, at the text's number; `query`: words and how much each counts. */
  score(query: ReadonlyMap<number, number>, share: number, scores: Float64Array): void;
  /** The texts that hold a word. */
  holders(id: number): Uint32Array;
}

/** Takes texts one after the other; their numbers are their order. */
export interface TextIndexBuilder {
  add(text: CountedWords): void;
  build(): TextIndex;
}

export function textIndexBuilder(): TextIndexBuilder {
  let words = new Uint32Array(1 << 12);
  let counts = new Uint8Array(1 << 12);
  let used = 0;
  let most = 0;
  /** Where each text's words begin. */
  const starts: number[] = [0];
  const lengths: number[] = [];
  return {
    add(text) {
      while (used + text.ids.length > words.length) {
        words = grown(words, new Uint32Array(words.length * 2));
        counts = grown(counts, new Uint8Array(counts.length * 2));
      }
      words.set(text.ids, used);
      counts.set(text.counts, used);
      used += text.ids.length;
      for (const id of text.ids) if (id >= most) most = id + 1;
      starts.push(used);
      lengths.push(text.length);
    },
    build() {
      const size = lengths.length;
      // Turned from words by text to texts by word.
      const from = new Uint32Array(most + 1);
      for (let at = 0; at < used; at += 1)
        from[(words[at] as number) + 1] = (from[(words[at] as number) + 1] as number) + 1;
      for (let id = 0; id < most; id += 1) from[id + 1] = (from[id + 1] as number) + (from[id] as number);
      const texts = new Uint32Array(used);
      const times = new Uint8Array(used);
      const next = from.slice();
      for (let text = 0; text < size; text += 1)
        for (let at = starts[text] as number; at < (starts[text + 1] as number); at += 1) {
          const word = words[at] as number;
          const place = next[word] as number;
          next[word] = place + 1;
          texts[place] = text;
          times[place] = counts[at] as number;
        }
      words = new Uint32Array(0);
      counts = new Uint8Array(0);
      const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(size, 1) || 1;
      const norms = Float32Array.from(
        lengths,
        (length) => saturation * (1 - lengthShare + (lengthShare * length) / average),
      );
      const span = (id: number): readonly [number, number] =>
        id < most ? [from[id] as number, from[id + 1] as number] : [0, 0];
      const rarity = (id: number): number => {
        const [start, end] = span(id);
        return Math.log(1 + (size - (end - start) + 0.5) / (end - start + 0.5));
      };
      return {
        size,
        rarity,
        score(query, share, scores) {
          for (const [id, weight] of query) {
            const [start, end] = span(id);
            const worth = share * weight * rarity(id) * (saturation + 1);
            for (let at = start; at < end; at += 1) {
              const text = texts[at] as number;
              const count = times[at] as number;
              scores[text] = (scores[text] as number) + (worth * count) / (count + (norms[text] as number));
            }
          }
        },
        holders: (id) => texts.subarray(...span(id)),
      };
    },
  };
}

function grown<Kind extends Uint32Array | Uint8Array>(before: Kind, larger: Kind): Kind {
  larger.set(before);
  return larger;
}
