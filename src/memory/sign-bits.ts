import type { Transaction } from "@libsql/client";
import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";
import { bytesOf } from "./vectors.js";

/** Vectors in one packed row. */
const perBlock = 1000;

/** The sign bits of vectors and the ids they belong to, in memory: 48 bytes a vector of 384 numbers. */
export interface SignBits {
  readonly ids: number[];
  /** 32 bits a word, `words` words a vector. */
  bits: Uint32Array;
  readonly words: number;
}

export const wordsFor = (dimension: number): number => Math.ceil(dimension / 32);

/** One bit a number: set where it is positive. */
export function signsOf(vector: Float32Array): Uint32Array {
  const bits = new Uint32Array(wordsFor(vector.length));
  for (let at = 0; at < vector.length; at += 1)
    if ((vector[at] ?? 0) > 0) bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
  return bits;
}

/** Adds vectors; `bits` holds as many words for each id. */
export function add(held: SignBits, ids: readonly number[], bits: Uint32Array): void {
  const needed = (held.ids.length + ids.length) * held.words;
  if (held.bits.length < needed) {
    const larger = new Uint32Array(Math.max(needed, held.bits.length * 2));
    larger.set(held.bits);
    held.bits = larger;
  }
  held.bits.set(bits, held.ids.length * held.words);
  for (const id of ids) held.ids.push(id);
}

/**
 * The ids of the `most` vectors whose signs differ least from those of a query, nearest first (random hyperplanes,
 * Charikar 2002, https://doi.org/10.1145/509907.509965). The distance of each is counted: some milliseconds for 100,000
 * vectors of 384 numbers.
 */
export function nearestBySigns({ ids, bits, words }: SignBits, query: Uint32Array, most: number): number[] {
  const distances = new Uint16Array(ids.length);
  const histogram = new Uint32Array(words * 32 + 1);
  for (let vector = 0, at = 0; vector < ids.length; vector += 1) {
    let distance = 0;
    for (let word = 0; word < words; word += 1, at += 1) {
      // Set bits of a word, https://graphics.stanford.edu/~seander/bithacks.html#CountBitsSetParallel
      let x = (bits[at] as number) ^ (query[word] as number);
      x -= (x >>> 1) & 0x55555555;
      x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
      distance += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    distances[vector] = distance;
    histogram[distance] = (histogram[distance] as number) + 1;
  }
  let limit = 0;
  for (let sum = 0; limit < histogram.length; limit += 1) {
    sum += histogram[limit] as number;
    if (sum >= most) break;
  }
  const found: number[] = [];
  for (let vector = 0; vector < ids.length; vector += 1) if ((distances[vector] as number) <= limit) found.push(vector);
  return found
    .sort((a, b) => (distances[a] as number) - (distances[b] as number) || a - b)
    .slice(0, most)
    .map((vector) => ids[vector] as number);
}

/**
 * The sign bits of one embedder's vectors in the tables `signs`, a row a vector, and `packed_signs`, by the thousand;
 * in memory as far as they were read.
 */
export class SignIndex {
  readonly #database: Database;
  readonly #embedder: Pick<Embedder, "model">;
  /** Up to which block and id they were read. */
  #read: { readonly held: SignBits; block: number; last: number } | undefined;

  constructor(database: Database, embedder: Pick<Embedder, "model">) {
    this.#database = database;
    this.#embedder = embedder;
  }

  async keep(transaction: Transaction, id: number, vector: Float32Array): Promise<void> {
    await transaction.execute({
      sql: "INSERT OR REPLACE INTO signs (id, model, bits) VALUES (?, ?, ?)",
      args: [id, this.#embedder.model, bytesOf(signsOf(vector))],
    });
  }

  /** Packs single rows by the thousand: to read 100,000 rows takes seconds, 100 rows milliseconds. */
  async pack(transaction: Transaction): Promise<void> {
    for (;;) {
      const { rows } = await transaction.execute({
        sql: "SELECT id, bits FROM signs WHERE model = ? ORDER BY id LIMIT ?",
        args: [this.#embedder.model, perBlock],
      });
      if (rows.length < perBlock) return;
      const ids = Float64Array.from(rows, (row) => Number(row["id"]));
      const bits = Buffer.concat(rows.map((row) => Buffer.from(row["bits"] as ArrayBuffer)));
      await transaction.execute({
        sql: "INSERT INTO packed_signs (model, ids, bits) VALUES (?, ?, ?)",
        args: [this.#embedder.model, bytesOf(ids), bits],
      });
      await transaction.execute(`DELETE FROM signs WHERE id IN (${Array.from(ids).join(",")})`);
    }
  }

  /** The ids of the `most` vectors whose signs differ least; what other processes added meanwhile is read too. */
  async nearest(vector: Float32Array, most: number): Promise<number[]> {
    this.#read ??= { held: { ids: [], bits: new Uint32Array(0), words: wordsFor(vector.length) }, block: 0, last: 0 };
    const blocks = await this.#database.rows(
      "SELECT block, ids, bits FROM packed_signs WHERE model = ? AND block > ? ORDER BY block",
      [this.#embedder.model, this.#read.block],
    );
    for (const row of blocks) {
      this.#take(Array.from(new Float64Array(row["ids"] as ArrayBuffer)), new Uint32Array(row["bits"] as ArrayBuffer));
      this.#read.block = Number(row["block"]);
    }
    const single = await this.#database.rows("SELECT id, bits FROM signs WHERE model = ? ORDER BY id", [
      this.#embedder.model,
    ]);
    for (const row of single) this.#take([Number(row["id"])], new Uint32Array(row["bits"] as ArrayBuffer));
    return nearestBySigns(this.#read.held, signsOf(vector), most);
  }

  #take(ids: readonly number[], bits: Uint32Array): void {
    const known = this.#read;
    if (known === undefined) return;
    const { held } = known;
    // Ids only grow; one that is not new belongs to a chunk that was packed meanwhile, or whose content was edited.
    if ((ids[0] ?? 0) > known.last) add(held, ids, bits);
    else
      for (const [place, id] of ids.entries()) {
        const own = bits.subarray(place * held.words, (place + 1) * held.words);
        const there = id > known.last ? -1 : held.ids.indexOf(id);
        if (there === -1) add(held, [id], own);
        else held.bits.set(own, there * held.words);
      }
    known.last = Math.max(known.last, ids.at(-1) ?? 0);
  }
}
