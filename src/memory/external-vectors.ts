import type { Database } from "./database.js";
import { invalidParameterProblem, type MemoryProblem, missingChunkProblem } from "./problem.js";

/** The model name of vectors that no embedder made. They are compared only with each other and never computed again. */
export const externalModel = "own";

/** Maximum number of dimensions of a vector. */
const maxDimension = 4096;

/** Vectors that a caller made, each with a text that describes it. All vectors of one index have the same length. */
export class ExternalVectors {
  readonly #database: Database;
  /** The problem if an index has no room for `more` chunks. */
  readonly #capacityProblem: (index: string, more: number) => Promise<MemoryProblem | undefined>;

  constructor(
    database: Database,
    capacityProblem: (index: string, more: number) => Promise<MemoryProblem | undefined>,
  ) {
    this.#database = database;
    this.#capacityProblem = capacityProblem;
  }

  /** Adds a vector. Returns its id. */
  async add(index: string, vector: readonly number[], content: string): Promise<number | MemoryProblem> {
    const problem = (await this.#capacityProblem(index, 1)) ?? (await this.#vectorProblem(index, vector));
    if (problem !== undefined) return problem;
    const [row] = await this.#database.rows(
      `INSERT INTO chunks (index_name, content, type, source, importance, created_at, document, model, vector)
       VALUES (?, ?, 'general', '', 'normal', ?, NULL, ?, ?) RETURNING id`,
      [index, content, new Date().toISOString(), externalModel, blobOf(vector)],
    );
    return Number(row?.["id"]);
  }

  /** Replaces a vector, and its text if `content` is given. */
  async update(
    index: string,
    id: number,
    vector: readonly number[],
    content?: string,
  ): Promise<MemoryProblem | undefined> {
    const problem = await this.#vectorProblem(index, vector, id);
    if (problem !== undefined) return problem;
    const rows = await this.#database.rows(
      "UPDATE chunks SET vector = ?, content = coalesce(?, content) WHERE id = ? AND index_name = ? AND model = ? RETURNING id",
      [blobOf(vector), content ?? null, id, index, externalModel],
    );
    return rows.length === 0 ? missingChunkProblem(id) : undefined;
  }

  /** A chunk's vector and its model: `own`, or that of an embedder. */
  async get(id: number): Promise<{ readonly model: string; readonly vector: readonly number[] } | MemoryProblem> {
    const [row] = await this.#database.rows("SELECT model, vector FROM chunks WHERE id = ?", [id]);
    if (row === undefined) return missingChunkProblem(id);
    return { model: String(row["model"]), vector: Array.from(new Float32Array(row["vector"] as ArrayBuffer)) };
  }

  /** The `limit` vectors of an index with the highest cosine. Every vector is compared. */
  async nearest(
    index: string,
    vector: readonly number[],
    limit: number,
  ): Promise<readonly { readonly id: number; readonly similarity: number }[] | MemoryProblem> {
    const problem = await this.#vectorProblem(index, vector);
    if (problem !== undefined) return problem;
    const rows = await this.#database.rows(
      `SELECT id, 1 - vector_distance_cos(vector, ?) AS similarity FROM chunks
       WHERE index_name = ? AND model = ? ORDER BY similarity DESC, id LIMIT ?`,
      [blobOf(vector), index, externalModel, limit],
    );
    return rows.map((row) => ({ id: Number(row["id"]), similarity: Number(row["similarity"]) }));
  }

  /** The problem if a vector does not fit an index. `replacedId`: the id of the vector that it replaces. */
  async #vectorProblem(index: string, vector: readonly number[], replacedId = -1): Promise<MemoryProblem | undefined> {
    const squares = vector.reduce((sum, value) => sum + Math.fround(value) ** 2, 0);
    if (vector.length === 0 || vector.length > maxDimension || !(squares > 0 && Number.isFinite(squares)))
      return invalidParameterProblem(`A vector has 1 to ${maxDimension} finite numbers, not all of them 0.`);
    const [existingRow] = await this.#database.rows(
      "SELECT length(vector) / 4 AS dimension FROM chunks WHERE index_name = ? AND model = ? AND id <> ? LIMIT 1",
      [index, externalModel, replacedId],
    );
    const dimension = existingRow === undefined ? vector.length : Number(existingRow["dimension"]);
    return dimension === vector.length
      ? undefined
      : invalidParameterProblem(`The vectors of ${index} have ${dimension} numbers, this one ${vector.length}.`);
  }
}

const blobOf = (vector: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(vector).buffer);
