import type { Database } from "./database.js";
import { invalid, type MemoryProblem, noElement } from "./problem.js";

/** The model of a vector that no embedder made: it is never made anew, and compared with its own kind alone. */
export const ownModel = "own";

/** Most numbers of a vector. */
const maxDimension = 4096;

/** Vectors that somebody else made, each with a text that says what it stands for; all of an index of one length. */
export class OwnVectors {
  readonly #database: Database;
  /** Why an index does not take so many chunks more. */
  readonly #room: (index: string, more: number) => Promise<MemoryProblem | undefined>;

  constructor(database: Database, room: (index: string, more: number) => Promise<MemoryProblem | undefined>) {
    this.#database = database;
    this.#room = room;
  }

  /** Adds a vector; its id. */
  async add(index: string, vector: readonly number[], content: string): Promise<number | MemoryProblem> {
    const wrong = (await this.#room(index, 1)) ?? (await this.#unlike(index, vector));
    if (wrong !== undefined) return wrong;
    const [row] = await this.#database.rows(
      `INSERT INTO chunks (index_name, content, type, source, importance, created_at, document, model, vector)
       VALUES (?, ?, 'general', '', 'normal', ?, NULL, ?, ?) RETURNING id`,
      [index, content, new Date().toISOString(), ownModel, blobOf(vector)],
    );
    return Number(row?.["id"]);
  }

  /** Replaces a vector, and its text where there is another. */
  async update(
    index: string,
    id: number,
    vector: readonly number[],
    content?: string,
  ): Promise<MemoryProblem | undefined> {
    const wrong = await this.#unlike(index, vector, id);
    if (wrong !== undefined) return wrong;
    const rows = await this.#database.rows(
      "UPDATE chunks SET vector = ?, content = coalesce(?, content) WHERE id = ? AND index_name = ? AND model = ? RETURNING id",
      [blobOf(vector), content ?? null, id, index, ownModel],
    );
    return rows.length === 0 ? noElement(id) : undefined;
  }

  /** The numbers of a chunk's vector, and whose they are: `own`, or an embedder's. */
  async get(id: number): Promise<{ readonly model: string; readonly vector: readonly number[] } | MemoryProblem> {
    const [row] = await this.#database.rows("SELECT model, vector FROM chunks WHERE id = ?", [id]);
    if (row === undefined) return noElement(id);
    return { model: String(row["model"]), vector: Array.from(new Float32Array(row["vector"] as ArrayBuffer)) };
  }

  /** The `most` vectors of an index that are nearest by their cosine, each compared. */
  async nearest(
    index: string,
    vector: readonly number[],
    most: number,
  ): Promise<readonly { readonly id: number; readonly similarity: number }[] | MemoryProblem> {
    const wrong = await this.#unlike(index, vector);
    if (wrong !== undefined) return wrong;
    const rows = await this.#database.rows(
      `SELECT id, 1 - vector_distance_cos(vector, ?) AS similarity FROM chunks
       WHERE index_name = ? AND model = ? ORDER BY similarity DESC, id LIMIT ?`,
      [blobOf(vector), index, ownModel, most],
    );
    return rows.map((row) => ({ id: Number(row["id"]), similarity: Number(row["similarity"]) }));
  }

  /** Why a vector can't stand among those of an index. `except`: the one that it replaces. */
  async #unlike(index: string, vector: readonly number[], except = -1): Promise<MemoryProblem | undefined> {
    const squares = vector.reduce((sum, value) => sum + Math.fround(value) ** 2, 0);
    if (vector.length === 0 || vector.length > maxDimension || !(squares > 0 && Number.isFinite(squares)))
      return invalid(`A vector has 1 to ${maxDimension} finite numbers, not all of them 0.`);
    const [other] = await this.#database.rows(
      "SELECT length(vector) / 4 AS dimension FROM chunks WHERE index_name = ? AND model = ? AND id <> ? LIMIT 1",
      [index, ownModel, except],
    );
    const dimension = other === undefined ? vector.length : Number(other["dimension"]);
    return dimension === vector.length
      ? undefined
      : invalid(`The vectors of ${index} have ${dimension} numbers, this one ${vector.length}.`);
  }
}

const blobOf = (vector: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(vector).buffer);
