import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";

/**
 * An embedder that adds the vector length to its model name if stored vectors have another length. A service may change
 * its model but keep the name, and vectors of different lengths can't be compared. `model` is final after the first
 * call of `embed`.
 */
export class LengthAwareEmbedder implements Embedder {
  readonly #database: Database;
  readonly #embedder: Embedder;
  #modelName: Promise<string> | undefined;
  model: string;

  constructor(database: Database, embedder: Embedder) {
    this.#database = database;
    this.#embedder = embedder;
    this.model = embedder.model;
  }

  get minCosine(): number {
    return this.#embedder.minCosine ?? Number.NEGATIVE_INFINITY;
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await this.#embedder.embed(texts);
    const [firstVector] = vectors;
    if (firstVector !== undefined) this.model = await (this.#modelName ??= this.#nameFor(firstVector.length));
    return vectors;
  }

  /** The plain model name, unless a stored vector under it has another length. */
  async #nameFor(length: number): Promise<string> {
    const { model } = this.#embedder;
    const [storedRow] = await this.#database.rows(
      "SELECT length(vector) / 4 AS dimension FROM chunks WHERE model = ? LIMIT 1",
      [model],
    );
    const nameWithLength = `${model}/${length}`;
    if (storedRow !== undefined) return Number(storedRow["dimension"]) === length ? model : nameWithLength;
    const [longNameRow] = await this.#database.rows("SELECT 1 FROM chunks WHERE model = ? LIMIT 1", [nameWithLength]);
    return longNameRow === undefined ? model : nameWithLength;
  }
}
