import { createHash } from "node:crypto";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { makeFolder, readRegularFile } from "../../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../../engine/storage/state/format-version.js";
import { dirname } from "node:path";
import type { PaperWords } from "./paper-words.js";
import type { CountedWords, Vocabulary } from "./text-index.js";

/** The words of a project's papers on the disk, so that a later question need not split their texts again. */
export interface WordStore {
  /**
   * The stored papers of a project by id, with the numbers of this vocabulary; empty if nothing is stored, or the file
   * is damaged.
   */
  load(folder: string, vocabulary: Vocabulary): Promise<ReadonlyMap<string, StoredPaper>>;
  /** Stores these papers and removes all others. Failures are ignored, because it is only a cache. */
  save(folder: string, papers: ReadonlyMap<string, StoredPaper>, vocabulary: Vocabulary): Promise<void>;
}

/** A paper's words, with a stamp of their source. */
export interface StoredPaper {
  /** A stamp of the text's file and the record. If it changes, the words are made again. */
  readonly stamp: string;
  readonly words: PaperWords;
}

/** With fewer passages, splitting the texts is faster than reading the file. */
export const minStoredPassages = 500;

/** The first line of the file, in JSON. */
interface Head {
  readonly format: number;
  /** The hash of everything after this line. */
  readonly sha256: string;
  /** Bytes of the vocabulary, and the numbers of values in the table, the words and their counts. */
  readonly sizes: readonly [number, number, number, number];
  readonly locators: readonly string[];
  readonly papers: readonly {
    readonly id: string;
    readonly stamp: string;
    readonly tokens: number;
    readonly passages: number;
  }[];
}

/**
 * Values in the table for each text: number of words, number of distinct words; for a passage also start, end and
 * locator.
 */
const columns = 5;

/**
 * Stores the words in one file per project: a line of JSON, the vocabulary, a table of texts, and the words and counts
 * of all texts, in the byte order of the machine. `fileOf`: its path; with `readOnly`, nothing is stored.
 */
export const wordStore = (
  fileOf: (folder: string) => string,
  { readOnly }: { readonly readOnly: boolean },
): WordStore => ({
  async load(folder, vocabulary) {
    try {
      return decode(await readRegularFile(fileOf(folder)), vocabulary);
    } catch {
      // The file is missing or damaged, so the texts are split again.
      return new Map();
    }
  },
  async save(folder, papers, vocabulary) {
    if (readOnly) return;
    const path = fileOf(folder);
    try {
      makeFolder(dirname(path));
      await writeFileAtomic(path, encode(papers, vocabulary), { isDurable: false });
    } catch {
      // Nothing was stored, so the texts are split again.
    }
  },
});

const countedTexts = ({ card, body, record, passageWords }: PaperWords): readonly CountedWords[] => [
  ...[card, body, record],
  ...passageWords,
];
/** Number of texts of a paper before its passages. */
const textsBeforePassages = 3;

function encode(papers: ReadonlyMap<string, StoredPaper>, vocabulary: Vocabulary): Buffer {
  const locators = new Map<string, number>();
  const numberOf = (locator: string | undefined): number => {
    if (locator === undefined) return 0;
    const number = locators.get(locator) ?? locators.size + 1;
    locators.set(locator, number);
    return number;
  };
  const papersWithTexts = [...papers.values()].map(({ words }) => ({ words, texts: countedTexts(words) }));
  const rows = papersWithTexts.reduce((sum, { texts }) => sum + texts.length, 0);
  const size = papersWithTexts.reduce(
    (sum, { texts }) => sum + texts.reduce((subtotal, { ids }) => subtotal + ids.length, 0),
    0,
  );
  const table = new Uint32Array(rows * columns);
  const ids = new Uint32Array(size);
  const counts = new Uint8Array(size);
  let [row, position] = [0, 0];
  for (const { words, texts } of papersWithTexts)
    for (const [index, text] of texts.entries()) {
      const { start = 0, end = 0, locator } = words.passages[index - textsBeforePassages] ?? {};
      table.set([text.length, text.ids.length, start, end, numberOf(locator)], row++ * columns);
      ids.set(text.ids, position);
      counts.set(text.counts, position);
      position += text.ids.length;
    }
  const stems = Buffer.from(vocabulary.stems().join("\n"));
  const parts = [stems, bytesOf(table), bytesOf(ids), bytesOf(counts)];
  const sha256 = hashOf(parts);
  const head: Head = {
    format: stateVersion,
    sha256,
    locators: [...locators.keys()],
    sizes: [stems.length, table.length, ids.length, counts.length],
    papers: [...papers].map(([id, { stamp, words }]) => ({
      id,
      stamp,
      tokens: words.tokens,
      passages: words.passages.length,
    })),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...parts]);
}

/** @throws if the file is incomplete or has another format. */
function decode(file: Buffer, vocabulary: Vocabulary): Map<string, StoredPaper> {
  const lineEnd = file.indexOf(10);
  const head = JSON.parse(file.subarray(0, lineEnd).toString("utf8")) as Head;
  const body = file.subarray(lineEnd + 1);
  const [bytes, cells, size, countsSize] = head.sizes;
  const end = bytes + 4 * cells + 4 * size + countsSize;
  if (isNewer(head) || body.length !== end || size !== countsSize || hashOf([body]) !== head.sha256)
    throw new Error("the file is damaged");
  // The numbers must begin at a multiple of four bytes.
  const numbers = (from: number, count: number): Uint32Array =>
    new Uint32Array(Uint8Array.from(body.subarray(from, from + 4 * count)).buffer);
  const table = numbers(bytes, cells);
  const ids = numbers(bytes + 4 * cells, size);
  const counts = Uint8Array.from(body.subarray(bytes + 4 * cells + 4 * size));
  const stems = body.subarray(0, bytes).toString("utf8").split("\n");
  const numberOf = Uint32Array.from(stems, (stem) => vocabulary.numberOf(stem));
  for (let at = 0; at < ids.length; at += 1) ids[at] = numberOf[ids[at] as number] as number;
  const papers = new Map<string, StoredPaper>();
  let [row, position] = [0, 0];
  const nextText = () => {
    const [length = 0, distinctCount = 0, from = 0, to = 0, locator = 0] = table.subarray(
      row * columns,
      ++row * columns,
    );
    const words = {
      ids: ids.subarray(position, position + distinctCount),
      counts: counts.subarray(position, position + distinctCount),
      length,
    };
    position += distinctCount;
    const label = head.locators[locator - 1];
    return { words, passage: { start: from, end: to, ...(label === undefined ? {} : { locator: label }) } };
  };
  for (const { id, stamp, tokens, passages: count } of head.papers) {
    const [card, body, record] = [nextText().words, nextText().words, nextText().words];
    const texts = Array.from({ length: count }, nextText);
    const passages = texts.map(({ passage }) => passage);
    papers.set(id, {
      stamp,
      words: { passages, tokens, card, body, record, passageWords: texts.map(({ words }) => words) },
    });
  }
  return papers;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array | Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function hashOf(parts: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
