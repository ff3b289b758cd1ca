import { createHash } from "node:crypto";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { makeFolder, readRegularFile } from "../../../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../../../engine/storage/state/format-version.js";
import { dirname } from "node:path";
import type { PaperWords } from "./paper-words.js";
import type { CountedWords, Vocabulary } from "./text-index.js";

/** The words of a project's papers, kept on the disk so that a later question need not cut their texts again. */
export interface KeptWords {
  /**
   * The papers kept of a project by id, their words numbered by this vocabulary; empty where nothing is kept, or what
   * is there is damaged.
   */
  load(folder: string, vocabulary: Vocabulary): Promise<ReadonlyMap<string, KeptPaper>>;
  /** Keeps these and no others. May fail: it is only a cache. */
  save(folder: string, papers: ReadonlyMap<string, KeptPaper>, vocabulary: Vocabulary): Promise<void>;
}

/** A paper's words with what they were made of. */
export interface KeptPaper {
  /** Of the text's file and the record. Another stamp: they are made anew. */
  readonly stamp: string;
  readonly words: PaperWords;
}

/** Fewer passages are cut again quicker than they are read. */
export const minPassagesKept = 500;

/** What stands at the head of the file, in JSON on its first line. */
interface Head {
  readonly format: number;
  /** Of everything behind this line. */
  readonly sha256: string;
  /** Bytes of the vocabulary, and numbers in the table, the words and their counts. */
  readonly sizes: readonly [number, number, number, number];
  readonly locators: readonly string[];
  readonly papers: readonly {
    readonly id: string;
    readonly stamp: string;
    readonly tokens: number;
    readonly passages: number;
  }[];
}

/** Numbers in the table for each text: how many words, how many different ones; of a passage start, end and locator. */
const columns = 5;

/**
 * Words in one file a project: a line of JSON, then the vocabulary, a table of texts, and the words and counts of all
 * texts one after the other, in the byte order of the machine. `fileOf`: where it is kept; `readOnly`: nothing is.
 */
export const keptWords = (
  fileOf: (folder: string) => string,
  { readOnly }: { readonly readOnly: boolean },
): KeptWords => ({
  async load(folder, vocabulary) {
    try {
      return decoded(await readRegularFile(fileOf(folder)), vocabulary);
    } catch {
      // Missing or damaged: the texts are cut again.
      return new Map();
    }
  },
  async save(folder, papers, vocabulary) {
    if (readOnly) return;
    const path = fileOf(folder);
    try {
      makeFolder(dirname(path));
      await writeFileAtomic(path, encoded(papers, vocabulary), { durable: false });
    } catch {
      // Nothing is kept: the texts are cut again.
    }
  },
});

const textsOf = ({ card, body, record, ofPassages }: PaperWords): readonly CountedWords[] => [
  ...[card, body, record],
  ...ofPassages,
];
/** Texts of a paper besides its passages. */
const others = 3;

function encoded(papers: ReadonlyMap<string, KeptPaper>, vocabulary: Vocabulary): Buffer {
  const locators = new Map<string, number>();
  const numberOf = (locator: string | undefined): number => {
    if (locator === undefined) return 0;
    const known = locators.get(locator) ?? locators.size + 1;
    locators.set(locator, known);
    return known;
  };
  const all = [...papers.values()].map(({ words }) => ({ words, texts: textsOf(words) }));
  const rows = all.reduce((sum, { texts }) => sum + texts.length, 0);
  const size = all.reduce((sum, { texts }) => sum + texts.reduce((of, { ids }) => of + ids.length, 0), 0);
  const table = new Uint32Array(rows * columns);
  const ids = new Uint32Array(size);
  const counts = new Uint8Array(size);
  let [row, at] = [0, 0];
  for (const { words, texts } of all)
    for (const [index, text] of texts.entries()) {
      const { start = 0, end = 0, locator } = words.passages[index - others] ?? {};
      table.set([text.length, text.ids.length, start, end, numberOf(locator)], row++ * columns);
      ids.set(text.ids, at);
      counts.set(text.counts, at);
      at += text.ids.length;
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

/** @throws where the file is not a whole one of this form. */
function decoded(file: Buffer, vocabulary: Vocabulary): Map<string, KeptPaper> {
  const first = file.indexOf(10);
  const head = JSON.parse(file.subarray(0, first).toString("utf8")) as Head;
  const body = file.subarray(first + 1);
  const [bytes, cells, size, counted] = head.sizes;
  const end = bytes + 4 * cells + 4 * size + counted;
  if (isNewer(head) || body.length !== end || size !== counted || hashOf([body]) !== head.sha256)
    throw new Error("the file is damaged");
  // Numbers have to begin at a multiple of four.
  const numbers = (from: number, count: number): Uint32Array =>
    new Uint32Array(Uint8Array.from(body.subarray(from, from + 4 * count)).buffer);
  const table = numbers(bytes, cells);
  const ids = numbers(bytes + 4 * cells, size);
  const counts = Uint8Array.from(body.subarray(bytes + 4 * cells + 4 * size));
  const stems = body.subarray(0, bytes).toString("utf8").split("\n");
  const numberOf = Uint32Array.from(stems, (stem) => vocabulary.numberOf(stem));
  for (let at = 0; at < ids.length; at += 1) ids[at] = numberOf[ids[at] as number] as number;
  const papers = new Map<string, KeptPaper>();
  let [row, at] = [0, 0];
  const next = () => {
    const [length = 0, different = 0, from = 0, to = 0, locator = 0] = table.subarray(row * columns, ++row * columns);
    const words = { ids: ids.subarray(at, at + different), counts: counts.subarray(at, at + different), length };
    at += different;
    const label = head.locators[locator - 1];
    return { words, passage: { start: from, end: to, ...(label === undefined ? {} : { locator: label }) } };
  };
  for (const { id, stamp, tokens, passages: count } of head.papers) {
    const [card, body, record] = [next().words, next().words, next().words];
    const cut = Array.from({ length: count }, next);
    const passages = cut.map(({ passage }) => passage);
    papers.set(id, {
      stamp,
      words: { passages, tokens, card, body, record, ofPassages: cut.map(({ words }) => words) },
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
