import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";

/**
 * An embedder that adds the vector length to its model name if stored vectors have another length. A service may change
 * its model but keep the name, and vectors of different lengths can't be compared. `model` is valid after the first
 * vector.
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

  get floor(): number {
    return this.#embedder.floor ?? Number.NEGATIVE_INFINITY;
  }

  async embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors = await this.#embedder.embed(texts);
    const [first] = vectors;
    if (first !== undefined) this.model = await (this.#modelName ??= this.#nameFor(first.length));
    return vectors;
  }

  /** The plain model name, unless a stored vector under it has another length. */
  async #nameFor(length: number): Promise<string> {
    const { model } = this.#embedder;
    const [stored] = await this.#database.rows(
      "SELECT length(vector) / 4 AS dimension FROM chunks WHERE model = ? LIMIT 1",
      [model],
    );
    const withLength = `${model}/${length}`;
    if (stored !== undefined) return Number(stored["dimension"]) === length ? model : withLength;
    const [other] = await this.#database.rows("SELECT 1 FROM chunks WHERE model = ? LIMIT 1", [withLength]);
    return other === undefined ? model : withLength;
  }
}
