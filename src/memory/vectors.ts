import type { InValue } from "@libsql/client";
import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";

/** Rows that are given new vectors at once. */
const batch = 200;

/**
 * A table whose rows have an `id`, a text, the vector of that text, and in the column `model` which embedder made it.
 * The other columns are its owner's.
 */
export interface VectorColumns {
  readonly table: string;
  readonly text: string;
  readonly vector: string;
}

/** The vectors that one embedder made of the texts of a table: compared, and made anew. */
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
   * The rows that meet a condition, the nearest first, of equals the newest; the similarity is the cosine to the
   * nearest of the queries, which are of length 1. Each row is measured.
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
        const stored = row[vector] as ArrayBuffer;
        return { id: Number(row["id"]), similarity: Math.max(...queries.map((query) => cosine(query, stored))) };
      })
      .toSorted((a, b) => b.similarity - a.similarity || b.id - a.id);
  }

  /**
   * Makes the vectors of the rows that meet a condition anew, in the order of their ids, until all are or `signal` is
   * aborted; `keep` writes them. Answers how many. Rejects where the embedder does.
   */
  async embedAgain(
    condition: string,
    args: readonly InValue[],
    keep: (rows: readonly { readonly id: number; readonly vector: Float32Array }[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<number> {
    const { table, text } = this.#columns;
    const sql = `SELECT id, ${text} FROM ${table} WHERE id > ? AND (${condition}) ORDER BY id LIMIT ${batch}`;
    let [done, last] = [0, 0];
    while (signal?.aborted !== true) {
      const rows = await this.#database.rows(sql, [last, ...args]);
      if (rows.length === 0) break;
      const vectors = await this.#embedder.embed(rows.map((row) => String(row[text])));
      await keep(rows.map((row, at) => ({ id: Number(row["id"]), vector: vectors[at] ?? new Float32Array() })));
      last = Number(rows.at(-1)?.["id"]);
      done += rows.length;
    }
    return done;
  }
}

/** Numbers as the bytes of a blob, a vector four a number. */
export const bytesOf = (numbers: Float32Array | Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Cosine of a vector of length 1 and another of the same dimension, or a blob of four bytes a number. */
export function cosine(a: Float32Array, other: Float32Array | ArrayBuffer): number {
  const numbers = other instanceof Float32Array ? other : new Float32Array(other);
  let [sum, square] = [0, 0];
  for (let at = 0; at < a.length; at += 1) {
    const value = numbers[at] as number;
    sum += (a[at] as number) * value;
    square += value * value;
  }
  return square === 0 ? 0 : sum / Math.sqrt(square);
}
