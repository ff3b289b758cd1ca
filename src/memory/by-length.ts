import type { Database } from "./database.js";
import type { Embedder } from "./embedder.js";

/**
 * An embedder whose vectors of another length have another name: a service may change its model under one name, and
 * vectors of two lengths are never compared. Which name counts is known once it has made a vector.
 */
export class ByLength implements Embedder {
  readonly #database: Database;
  readonly #embedder: Embedder;
  #named: Promise<string> | undefined;
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
    if (first !== undefined) this.model = await (this.#named ??= this.#nameFor(first.length));
    return vectors;
  }

  /** The name without its length where no stored vector under it has another one. */
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
