import { normalTitle } from "../../papers/normalise-title.js";
import { unifiedStem, stemsOf } from "../../screening/bm25.js";

/** Maximum number of different words that are cached with their numbers. */
const maxPieces = 300_000;
/** Maximum characters of such a word. */
const maxPieceChars = 40;
/** Separators of words in ASCII. Words with other characters are split further. */
const separators = /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+/;
const asciiWord = /^[a-zA-Z\d]+$/;
/** How soon more occurrences of a word no longer raise the score (k1 of BM25). */
const saturation = 1.2;
/** How much the length of a text lowers its score (b of BM25). */
const lengthShare = 0.75;

/** Numbers for words, shared by the indexes of a pool. British and American endings count as the same word. */
export interface Vocabulary {
  /** The numbers of a text's distinctive words, in order. */
  idsOf(text: string): number[];
  /** Frees the memory of the cached words, when all texts are read. */
  forgetPieces(): void;
  /** The number of a stem; undefined if no text has it. */
  findNumber(stem: string): number | undefined;
  /** All stems in the order of their numbers. */
  stems(): readonly string[];
  /** The number of a stem, which is added if it is new. */
  numberOf(stem: string): number;
}

export function openVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  /** Words as written in texts, with their numbers. Without this cache, indexing takes twice the time. */
  const idsByPiece = new Map<string, readonly number[]>();
  const stems: string[] = [];
  const numberOf = (stem: string): number => {
    const number = ids.get(stem);
    if (number !== undefined) return number;
    ids.set(stem, stems.length);
    return stems.push(stem) - 1;
  };
  const idOf = (stem: string): number => {
    const number = ids.get(stem);
    if (number !== undefined) return number;
    const id = numberOf(unifiedStem(stem));
    ids.set(stem, id);
    return id;
  };
  /** The numbers of the words in a piece of text. A piece of ASCII letters is one word. */
  const idsOfPiece = (piece: string): readonly number[] => {
    const words = asciiWord.test(piece) ? [piece.toLowerCase()] : normalTitle(piece).split(" ");
    return words.flatMap((word) => stemsOf(word).map(idOf));
  };
  return {
    idsOf(text) {
      const numbers: number[] = [];
      for (const piece of text.split(separators)) {
        let ids = idsByPiece.get(piece);
        if (ids === undefined) {
          // A copy, because a substring keeps the complete text in memory.
          const copy = Buffer.from(piece).toString();
          ids = idsOfPiece(copy);
          if (idsByPiece.size < maxPieces && piece.length <= maxPieceChars) idsByPiece.set(copy, ids);
        }
        for (const id of ids) numbers.push(id);
      }
      return numbers;
    },
    forgetPieces: () => idsByPiece.clear(),
    stems: () => stems,
    numberOf,
    findNumber: (stem) => ids.get(stem) ?? ids.get(unifiedStem(stem)),
  };
}

/** The distinct words of a text by their numbers, with their counts. */
export interface CountedWords {
  readonly ids: Uint32Array;
  readonly counts: Uint8Array;
  /** Number of words of the text, with repetitions. */
  readonly length: number;
}

/** The distinct words of a text that consists of these parts. */
export function countWords(parts: readonly (readonly number[])[]): CountedWords {
  const times = new Map<number, number>();
  let length = 0;
  for (const part of parts) {
    length += part.length;
    for (const id of part) times.set(id, (times.get(id) ?? 0) + 1);
  }
  const ids = new Uint32Array(times.size);
  const counts = new Uint8Array(times.size);
  let index = 0;
  for (const [id, count] of times) {
    ids[index] = id;
    counts[index++] = Math.min(count, 255);
  }
  return { ids, counts, length };
}

/** Texts by their words, scored with BM25. Stored in typed arrays: five bytes per word. */
export interface TextIndex {
  readonly size: number;
  /** How rare a word is in these texts. */
  rarity(id: number): number;
  /** Adds the score of each text, multiplied by `share`, to `scores`. `query`: the weights of words. */
  score(query: ReadonlyMap<number, number>, share: number, scores: Float64Array): void;
}

/** Collects texts; their numbers are their order. */
export interface TextIndexBuilder {
  add(text: CountedWords): void;
  build(): TextIndex;
}

export function textIndexBuilder(): TextIndexBuilder {
  let words = new Uint32Array(1 << 12);
  let counts = new Uint8Array(1 << 12);
  let usedLength = 0;
  let wordCount = 0;
  /** The index of each text's first word. */
  const starts: number[] = [0];
  const lengths: number[] = [];
  return {
    add(text) {
      while (usedLength + text.ids.length > words.length) {
        words = copyInto(words, new Uint32Array(words.length * 2));
        counts = copyInto(counts, new Uint8Array(counts.length * 2));
      }
      words.set(text.ids, usedLength);
      counts.set(text.counts, usedLength);
      usedLength += text.ids.length;
      for (const id of text.ids) if (id >= wordCount) wordCount = id + 1;
      starts.push(usedLength);
      lengths.push(text.length);
    },
    build() {
      const size = lengths.length;
      // Reorders the words of texts to the texts of words.
      const firstIndexes = new Uint32Array(wordCount + 1);
      for (let at = 0; at < usedLength; at += 1)
        firstIndexes[(words[at] as number) + 1] = (firstIndexes[(words[at] as number) + 1] as number) + 1;
      for (let id = 0; id < wordCount; id += 1)
        firstIndexes[id + 1] = (firstIndexes[id + 1] as number) + (firstIndexes[id] as number);
      const texts = new Uint32Array(usedLength);
      const times = new Uint8Array(usedLength);
      const next = firstIndexes.slice();
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
        id < wordCount ? [firstIndexes[id] as number, firstIndexes[id + 1] as number] : [0, 0];
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
            const factor = share * weight * rarity(id) * (saturation + 1);
            for (let at = start; at < end; at += 1) {
              const text = texts[at] as number;
              const count = times[at] as number;
              scores[text] = (scores[text] as number) + (factor * count) / (count + (norms[text] as number));
            }
          }
        },
      };
    },
  };
}

function copyInto<Kind extends Uint32Array | Uint8Array>(source: Kind, target: Kind): Kind {
  target.set(source);
  return target;
}
