import type { Transaction } from "@libsql/client";
import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";
import { bytesOf } from "./vectors.js";

/** Number of vectors in one packed row. */
const vectorsPerBlock = 1000;

/** The sign bits and the ids of vectors, in memory: 48 bytes for a vector of 384 numbers. */
export interface SignBits {
  readonly ids: number[];
  /** `wordsPerVector` words of 32 bits for each vector. */
  bits: Uint32Array;
  readonly wordsPerVector: number;
}

export const wordCountOf = (dimension: number): number => Math.ceil(dimension / 32);

/** One bit for each number of the vector; it is set if the number is positive. */
export function signsOf(vector: Float32Array): Uint32Array {
  const bits = new Uint32Array(wordCountOf(vector.length));
  for (let index = 0; index < vector.length; index += 1)
    if ((vector[index] ?? 0) > 0) bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31));
  return bits;
}

/** Adds vectors. `bits`: `signBits.wordsPerVector` words for each id. */
export function addSigns(signBits: SignBits, ids: readonly number[], bits: Uint32Array): void {
  const neededLength = (signBits.ids.length + ids.length) * signBits.wordsPerVector;
  if (signBits.bits.length < neededLength) {
    const largerBits = new Uint32Array(Math.max(neededLength, signBits.bits.length * 2));
    largerBits.set(signBits.bits);
    signBits.bits = largerBits;
  }
  signBits.bits.set(bits, signBits.ids.length * signBits.wordsPerVector);
  for (const id of ids) signBits.ids.push(id);
}

/**
 * The ids of the `limit` vectors whose signs differ least from those of a query, nearest first (random hyperplanes,
 * Charikar 2002, https://doi.org/10.1145/509907.509965). The distance of every vector is computed, which takes some
 * milliseconds for 100,000 vectors of 384 numbers.
 */
export function nearestBySigns({ ids, bits, wordsPerVector }: SignBits, query: Uint32Array, limit: number): number[] {
  const distances = new Uint16Array(ids.length);
  const histogram = new Uint32Array(wordsPerVector * 32 + 1);
  for (let vector = 0, at = 0; vector < ids.length; vector += 1) {
    let distance = 0;
    for (let word = 0; word < wordsPerVector; word += 1, at += 1) {
      // Set bits of a word, https://graphics.stanford.edu/~seander/bithacks.html#CountBitsSetParallel
      let x = (bits[at] as number) ^ (query[word] as number);
      x -= (x >>> 1) & 0x55555555;
      x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
      distance += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    distances[vector] = distance;
    histogram[distance] = (histogram[distance] as number) + 1;
  }
  let maxDistance = 0;
  for (let sum = 0; maxDistance < histogram.length; maxDistance += 1) {
    sum += histogram[maxDistance] as number;
    if (sum >= limit) break;
  }
  const nearIndices: number[] = [];
  for (let vector = 0; vector < ids.length; vector += 1)
    if ((distances[vector] as number) <= maxDistance) nearIndices.push(vector);
  return nearIndices
    .sort((a, b) => (distances[a] as number) - (distances[b] as number) || a - b)
    .slice(0, limit)
    .map((vector) => ids[vector] as number);
}

/**
 * The sign bits of one embedder's vectors. They are stored in the tables `signs`, one row for each vector, and
 * `packed_signs`, one row for 1,000 vectors. Rows that were read stay in memory.
 */
export class SignIndex {
  readonly #database: Database;
  readonly #embedder: Pick<Embedder, "model">;
  /** The rows in memory, and the last block and id that were read. */
  #loaded: { readonly signBits: SignBits; lastBlock: number; lastId: number } | undefined;

  constructor(database: Database, embedder: Pick<Embedder, "model">) {
    this.#database = database;
    this.#embedder = embedder;
  }

  async store(transaction: Transaction, id: number, vector: Float32Array): Promise<void> {
    await transaction.execute({
      sql: "INSERT OR REPLACE INTO signs (id, model, bits) VALUES (?, ?, ?)",
      args: [id, this.#embedder.model, bytesOf(signsOf(vector))],
    });
  }

  /** Packs 1,000 single rows into one: 100,000 rows take seconds to read, 100 rows take milliseconds. */
  async pack(transaction: Transaction): Promise<void> {
    for (;;) {
      const { rows } = await transaction.execute({
        sql: "SELECT id, bits FROM signs WHERE model = ? ORDER BY id LIMIT ?",
        args: [this.#embedder.model, vectorsPerBlock],
      });
      if (rows.length < vectorsPerBlock) return;
      const ids = Float64Array.from(rows, (row) => Number(row["id"]));
      const bits = Buffer.concat(rows.map((row) => Buffer.from(row["bits"] as ArrayBuffer)));
      await transaction.execute({
        sql: "INSERT INTO packed_signs (model, ids, bits) VALUES (?, ?, ?)",
        args: [this.#embedder.model, bytesOf(ids), bits],
      });
      await transaction.execute(`DELETE FROM signs WHERE id IN (${Array.from(ids).join(",")})`);
    }
  }

  /** The ids of the `limit` vectors whose signs differ least, including those that other processes have added. */
  async nearest(vector: Float32Array, limit: number): Promise<number[]> {
    this.#loaded ??= {
      signBits: { ids: [], bits: new Uint32Array(0), wordsPerVector: wordCountOf(vector.length) },
      lastBlock: 0,
      lastId: 0,
    };
    const blocks = await this.#database.rows(
      "SELECT block, ids, bits FROM packed_signs WHERE model = ? AND block > ? ORDER BY block",
      [this.#embedder.model, this.#loaded.lastBlock],
    );
    for (const row of blocks) {
      this.#addRows(
        Array.from(new Float64Array(row["ids"] as ArrayBuffer)),
        new Uint32Array(row["bits"] as ArrayBuffer),
      );
      this.#loaded.lastBlock = Number(row["block"]);
    }
    const singleRows = await this.#database.rows("SELECT id, bits FROM signs WHERE model = ? ORDER BY id", [
      this.#embedder.model,
    ]);
    for (const row of singleRows) this.#addRows([Number(row["id"])], new Uint32Array(row["bits"] as ArrayBuffer));
    return nearestBySigns(this.#loaded.signBits, signsOf(vector), limit);
  }

  #addRows(ids: readonly number[], bits: Uint32Array): void {
    const loaded = this.#loaded;
    if (loaded === undefined) return;
    const { signBits } = loaded;
    // Ids only increase. A known id belongs to a chunk that has been packed since, or whose content was edited.
    if ((ids[0] ?? 0) > loaded.lastId) addSigns(signBits, ids, bits);
    else
      for (const [index, id] of ids.entries()) {
        const vectorBits = bits.subarray(index * signBits.wordsPerVector, (index + 1) * signBits.wordsPerVector);
        const existingIndex = id > loaded.lastId ? -1 : signBits.ids.indexOf(id);
        if (existingIndex === -1) addSigns(signBits, [id], vectorBits);
        else signBits.bits.set(vectorBits, existingIndex * signBits.wordsPerVector);
      }
    loaded.lastId = Math.max(loaded.lastId, ids.at(-1) ?? 0);
  }
}
