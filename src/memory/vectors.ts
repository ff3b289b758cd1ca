import type { InValue } from "@libsql/client";
import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";

/** Number of rows that get new vectors in one batch. */
const rowsPerBatch = 200;

/**
 * The names of a table and its columns. A row also has an `id`, and in `model` the name of the embedder that made the
 * vector.
 */
export interface VectorColumns {
  readonly table: string;
  readonly text: string;
  readonly vector: string;
}

/** The vectors that one embedder made for the texts of a table. They can be compared with a query and made again. */
export class Vectors {
  readonly #database: Database;
  readonly #embedder: Embedder;
  readonly #columns: VectorColumns;

  constructor(database: Database, embedder: Embedder, columns: VectorColumns) {
    this.#database = database;
    this.#embedder = embedder;
    this.#columns = columns;
  }

  /**
   * The rows that meet a condition, the most similar first, and among equals the newest first. The similarity is the
   * highest cosine to one of the queries, which have length 1. Every row is compared.
   */
  async nearest(
    queries: readonly Float32Array[],
    condition: string,
    args: readonly InValue[] = [],
  ): Promise<readonly { readonly id: number; readonly similarity: number }[]> {
    const { table, vector } = this.#columns;
    const rows = await this.#database.rows(`SELECT id, ${vector} FROM ${table} WHERE model = ? AND ${condition}`, [
      this.#embedder.model,
      ...args,
    ]);
    return rows
      .map((row) => {
        const storedVector = row[vector] as ArrayBuffer;
        return { id: Number(row["id"]), similarity: Math.max(...queries.map((query) => cosine(query, storedVector))) };
      })
      .toSorted((a, b) => b.similarity - a.similarity || b.id - a.id);
  }

  /**
   * Makes new vectors for the rows that meet a condition, in the order of their ids, until all are done or `signal` is
   * aborted. `storeVectors` writes them. Returns the number of rows. Rejects if the embedder fails.
   */
  async embedAgain(
    condition: string,
    args: readonly InValue[],
    storeVectors: (rows: readonly { readonly id: number; readonly vector: Float32Array }[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<number> {
    const { table, text } = this.#columns;
    const sql = `SELECT id, ${text} FROM ${table} WHERE id > ? AND (${condition}) ORDER BY id LIMIT ${rowsPerBatch}`;
    let [doneCount, lastId] = [0, 0];
    while (signal?.aborted !== true) {
      const rows = await this.#database.rows(sql, [lastId, ...args]);
      if (rows.length === 0) break;
      const vectors = await this.#embedder.embed(rows.map((row) => String(row[text])));
      await storeVectors(
        rows.map((row, index) => ({ id: Number(row["id"]), vector: vectors[index] ?? new Float32Array() })),
      );
      lastId = Number(rows.at(-1)?.["id"]);
      doneCount += rows.length;
    }
    return doneCount;
  }
}

/** The bytes of numbers, for a blob. */
export const bytesOf = (numbers: Float32Array | Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Cosine of a vector of length 1 and another of the same dimension, or a blob with four bytes for each number. */
export function cosine(a: Float32Array, other: Float32Array | ArrayBuffer): number {
  const numbers = other instanceof Float32Array ? other : new Float32Array(other);
  let [sum, squareSum] = [0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const value = numbers[index] as number;
    sum += (a[index] as number) * value;
    squareSum += value * value;
  }
  return squareSum === 0 ? 0 : sum / Math.sqrt(squareSum);
}
