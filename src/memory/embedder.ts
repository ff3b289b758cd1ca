import { createHash } from "node:crypto";
import type { Database } from "./database.js";

/** Turns texts into vectors. Similar texts get similar vectors. */
export interface Embedder {
  /** The name of the model. Vectors of different models are never compared. */
  readonly model: string;
  /** The minimum cosine of two related texts; absent: no minimum. */
  readonly minCosine?: number;
  /** The vectors of the texts in the same order, all of the same length. Rejects if the service fails. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** Number of dimensions of a built-in vector. */
const lexicalDimension = 384;

/** Unrelated texts have lower cosines; measured with questions and memories of a few words. */
const lexicalMinCosine = 0.14;

/**
 * The built-in embedder, without model or network: words and their parts of three to five letters, hashed into 384
 * signed numbers (feature hashing, Weinberger et al. 2009, https://doi.org/10.1145/1553374.1553516). It finds other
 * forms of a word, but no synonyms.
 */
export const lexicalEmbedder: Embedder = {
  model: "lexical-384",
  minCosine: lexicalMinCosine,
  embed: async (texts) => texts.map(lexicalVector),
};

function lexicalVector(text: string): Float32Array {
  const counts = new Map<string, number>();
  for (const [word] of text
    .toLowerCase()
    .normalize("NFKD")
    .matchAll(/[\p{L}\p{N}]{1,64}/gu)) {
    const paddedWord = `<${word}>`;
    count(counts, paddedWord);
    for (let size = 3; size <= 5; size += 1)
      for (let index = 0; index + size <= paddedWord.length; index += 1)
        count(counts, paddedWord.slice(index, index + size));
  }
  const vector = new Float32Array(lexicalDimension);
  for (const [feature, featureCount] of counts) {
    const hash = hashOf(feature);
    const sign = hash & 1 ? 1 : -1;
    const index = (hash >>> 1) % lexicalDimension;
    vector[index] = (vector[index] ?? 0) + sign * (1 + Math.log(featureCount));
  }
  return normalise(vector);
}

const count = (counts: Map<string, number>, feature: string): void =>
  void counts.set(feature, (counts.get(feature) ?? 0) + 1);

/** FNV-1a, 32 bits. http://www.isthe.com/chongo/tech/comp/fnv/ */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // The lowest bits depend only on the lowest bits of the characters, so the higher bits are mixed into them.
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

/** Scales a vector to length 1, so that the dot product is the cosine. A zero vector stays. */
function normalise(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** With the models of services, unrelated texts have lower cosines. */
const serviceMinCosine = 0.2;

/** Maximum number of texts in one request. */
const maxTextsPerRequest = 64;

/**
 * An OpenAI-compatible embedding service. https://platform.openai.com/docs/api-reference/embeddings
 * `fetch` must limit time and size.
 */
export function embeddingService({
  url,
  model,
  key,
  fetch,
}: {
  readonly url: string;
  readonly model: string;
  readonly key?: string;
  readonly fetch: typeof globalThis.fetch;
}): Embedder {
  const requestVectors = async (input: readonly string[]): Promise<Float32Array[]> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input }),
    });
    if (!response.ok) throw new Error(`the embedding service answered with HTTP ${response.status}`);
    const { data } = (await response.json()) as { readonly data?: readonly { readonly embedding?: unknown }[] };
    const vectors = (data ?? []).map(({ embedding }) => Float32Array.from(Array.isArray(embedding) ? embedding : []));
    const isComplete =
      vectors.length === input.length &&
      vectors.every(
        (vector) => vector.length > 0 && vector.length === vectors[0]?.length && vector.every(Number.isFinite),
      );
    if (!isComplete) throw new Error("the embedding service sent no vectors for the texts");
    return vectors.map(normalise);
  };
  return {
    // Another address may serve another model under the same name.
    model: `${model}@${createHash("sha256").update(url).digest("hex").slice(0, 8)}`,
    minCosine: serviceMinCosine,
    async embed(texts) {
      const vectors: Float32Array[] = [];
      for (let index = 0; index < texts.length; index += maxTextsPerRequest)
        vectors.push(...(await requestVectors(texts.slice(index, index + maxTextsPerRequest))));
      return vectors;
    },
  };
}

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

  /** The model of the newest stored vectors, because `model` is not final before the first call of `embed`. */
  async storedModel(): Promise<string> {
    if (this.#modelName !== undefined) return await this.#modelName;
    const [newest] = await this.#database.rows(
      `SELECT model, max(id) AS id FROM chunks GROUP BY model HAVING model = ?1 OR instr(model, ?1 || '/') = 1
       ORDER BY id DESC LIMIT 1`,
      [this.model],
    );
    return newest === undefined ? this.model : String(newest["model"]);
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
