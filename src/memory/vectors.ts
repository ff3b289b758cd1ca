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

/**
 * A vector in one byte a number, the largest of them 127: a cosine does not depend on its length. Where many numbers
 * are 0, as those of the built-in embedder, a bit for each says which are not, and the bytes of these follow.
 */
export function packed(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const bytes = Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((value / largest) * 127)));
  const some = bytes.filter((value) => value !== 0);
  const marks = new Uint8Array(Math.ceil(bytes.length / 8));
  if (marks.length + some.length >= bytes.length) return new Uint8Array(bytes.buffer);
  for (const [at, value] of bytes.entries()) if (value !== 0) marks[at >> 3] = (marks[at >> 3] ?? 0) | (1 << (at & 7));
  const whole = new Uint8Array(marks.length + some.length);
  whole.set(marks);
  whole.set(new Uint8Array(some.buffer), marks.length);
  return whole;
}

/**
 * Cosine of a vector of length 1 and another of the same dimension, which may be a blob: of four bytes a number, of
 * one, or of one for each number that is not 0. Its length says which.
 */
export function cosine(a: Float32Array, other: Float32Array | ArrayBuffer): number {
  if (other instanceof Float32Array) return cosineOf(a, other, undefined);
  if (other.byteLength === 4 * a.length) return cosineOf(a, new Float32Array(other), undefined);
  const numbers = new Int8Array(other);
  return cosineOf(a, numbers, numbers.length === a.length ? undefined : new Uint8Array(other));
}

/** `marks`: a bit for each number that is not 0, where only these follow behind the bits. */
function cosineOf(a: Float32Array, numbers: Float32Array | Int8Array, marks: Uint8Array | undefined): number {
  let next = marks === undefined ? 0 : Math.ceil(a.length / 8);
  let [sum, square] = [0, 0];
  for (let at = 0; at < a.length; at += 1) {
    if (marks !== undefined && ((marks[at >> 3] as number) & (1 << (at & 7))) === 0) continue;
    const value = numbers[next] as number;
    next += 1;
    sum += (a[at] as number) * value;
    square += value * value;
  }
  return square === 0 ? 0 : sum / Math.sqrt(square);
}
