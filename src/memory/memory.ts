import { redactFor } from "../engine/lib/redact.js";
import type { InStatement, InValue, Row, Transaction } from "@libsql/client";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import { newerFormat, stateVersion } from "../engine/storage/state/format-version.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { Database } from "./database.js";
import { type Embedder, LengthAwareEmbedder } from "./embedder.js";
import { ExternalVectors, externalModel } from "./external-vectors.js";
import { invalidParameterProblem, type MemoryProblem, missingChunkProblem, missingIndexProblem } from "./problem.js";
import { SignIndex } from "./sign-bits.js";
import { bytesOf, cosine } from "./vectors.js";

export const memoryTypes = ["correction", "preference", "fact", "instruction", "web_content", "general"] as const;
export type MemoryType = (typeof memoryTypes)[number];
/** The least important first. */
export const importances = ["low", "normal", "high", "critical"] as const;
export type Importance = (typeof importances)[number];

/** The names of two indices: the index that `remember` writes to, and the index for documents. */
export const longTermIndex = "long_term_memory";
export const documentsIndex = "documents";

/** Maximum number of chunks of an index, by its kind. */
const maxElements = { memory: 100_000, documents: 50_000 } as const;
export type IndexKind = keyof typeof maxElements;

/** A stored piece of text. */
export interface Chunk {
  readonly id: number;
  readonly index: string;
  readonly content: string;
  readonly type: MemoryType;
  readonly source: string;
  readonly importance: Importance;
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
  /** The id of its document; absent if it is not part of a document. */
  readonly document?: number;
}

/** A chunk that answers a query. */
export interface RecalledChunk extends Chunk {
  /** Cosine of its vector and the query's, from -1 to 1; undefined if it was found by its words alone. */
  readonly similarity?: number;
}

/** The size and state of an index. */
export interface IndexStats {
  readonly name: string;
  readonly kind: IndexKind;
  readonly chunks: number;
  readonly documents: number;
  readonly maxElements: number;
  /** The embedder whose vectors are searched. */
  readonly model: string;
  /** Number of chunks whose vectors another embedder made. A search finds them only by their words. */
  readonly waiting: number;
}

/** A piece of text to store. */
export interface NewChunk {
  readonly content: string;
  readonly type?: MemoryType;
  readonly source?: string;
  readonly importance?: Importance;
  readonly document?: number;
}

/** What to search; by default the contents of all indices. */
export interface Scope {
  readonly indices?: readonly string[];
  /** Absolute path. Only documents of this folder, its subfolders and its parent folders are searched. */
  readonly folder?: string;
  /** True: also search type, source and importance. */
  readonly metadata?: true;
}

/** Texts and vectors of chunks in one SQLite file, which several processes may use at the same time. */
export interface Memory {
  /** Adds chunks. Returns their ids in the same order. */
  add(index: string, chunks: readonly NewChunk[]): Promise<readonly number[] | MemoryProblem>;
  /** Adds a document as its chunks. */
  addDocument(
    index: string,
    about: { readonly title: string; readonly folder: string },
    chunks: readonly NewChunk[],
  ): Promise<{ document: number } | MemoryProblem>;
  /**
   * The `limit` chunks that fit a query best, by their words and their vectors, each text only once. If the
   * embedder fails, the search uses only the words, and rejects if it finds nothing.
   */
  search(query: string, limit: number, scope?: Scope): Promise<readonly RecalledChunk[]>;
  list(index: string, from: number, limit: number): Promise<readonly Chunk[]>;
  get(id: number): Promise<Chunk | MemoryProblem>;
  edit(id: number, field: "type" | "source" | "importance" | "content", value: string): Promise<Chunk | MemoryProblem>;
  forget(id: number): Promise<Chunk | MemoryProblem>;
  createIndex(name: string, kind: IndexKind): Promise<IndexStats | MemoryProblem>;
  deleteIndex(name: string): Promise<{ deleted: number } | MemoryProblem>;
  indices(): Promise<readonly IndexStats[]>;
  documentsOf(index: string): Promise<readonly { id: number; title: string; chunks: number }[]>;
  /** Makes new vectors for all chunks whose vectors another embedder made. Rejects if the embedder fails. */
  embedAgain(signal: AbortSignal): Promise<number>;
  /** Vectors that no embedder of this program made. */
  readonly vectors: ExternalVectors;
  close(): Promise<void>;
}

/** Maximum number of candidates whose similarity is computed exactly. */
const maxCandidates = 200;

/**
 * The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009, https://doi.org/10.1145/1571941.1572114)
 */
const rankConstant = 60;
/** For a chunk with a word of the query, this share of the embedder's `minCosine` is enough. */
const wordMatchShare = 0.75;
/** A word that occurs in a larger share of all chunks is not searched. */
const maxWordShare = 0.2;
const chunksPerBatch = 200;

const schemaStatements: readonly string[] = [
  "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS indices (name TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY AUTOINCREMENT, index_name TEXT NOT NULL,
     title TEXT NOT NULL, created_at TEXT NOT NULL, folder TEXT)`,
  `CREATE TABLE IF NOT EXISTS chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, index_name TEXT NOT NULL,
     content TEXT NOT NULL, type TEXT NOT NULL, source TEXT NOT NULL, importance TEXT NOT NULL, created_at TEXT NOT NULL,
     document INTEGER, model TEXT NOT NULL, vector BLOB NOT NULL)`,
  "CREATE INDEX IF NOT EXISTS chunks_by_index ON chunks (index_name, id)",
  // A count must not read the vectors.
  "CREATE INDEX IF NOT EXISTS chunks_by_model ON chunks (index_name, model)",
  "CREATE INDEX IF NOT EXISTS chunks_of_documents ON chunks (document)",
  `CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(content, content='chunks', content_rowid='id',
     tokenize="unicode61 remove_diacritics 2")`,
  "CREATE VIRTUAL TABLE IF NOT EXISTS frequencies USING fts5vocab('words', 'row')",
  `CREATE TRIGGER IF NOT EXISTS words_in AFTER INSERT ON chunks BEGIN
     INSERT INTO words (rowid, content) VALUES (new.id, new.content); END`,
  `CREATE TRIGGER IF NOT EXISTS words_out AFTER DELETE ON chunks BEGIN
     INSERT INTO words (words, rowid, content) VALUES ('delete', old.id, old.content); END`,
  `CREATE TRIGGER IF NOT EXISTS words_changed AFTER UPDATE OF content ON chunks BEGIN
     INSERT INTO words (words, rowid, content) VALUES ('delete', old.id, old.content);
     INSERT INTO words (rowid, content) VALUES (new.id, new.content); END`,
  // Sign bits: first one row for each vector; later, one row for a thousand vectors.
  "CREATE TABLE IF NOT EXISTS signs (id INTEGER PRIMARY KEY, model TEXT NOT NULL, bits BLOB NOT NULL)",
  `CREATE TABLE IF NOT EXISTS packed_signs (block INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL,
     ids BLOB NOT NULL, bits BLOB NOT NULL)`,
];

const chunkColumns = "id, index_name, content, type, source, importance, created_at, document";

/**
 * Opens the memory at `path`, and creates it if it is missing. Returns a sentence if it can't be opened, for example
 * if the file has another format or the folder is not writable.
 * @throws ExpectedError (exit 5) if a later version has written it.
 */
export async function openMemory(path: string, embedder: Embedder): Promise<Memory | string> {
  try {
    const database = await Database.at(path);
    const store = new Store(database, embedder);
    let problem: string | undefined = "";
    try {
      problem = await store.prepare(path);
    } finally {
      if (problem !== undefined) database.close();
    }
    return problem ?? store;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    const advice = adviceOn(error);
    return `The memory ${path} can't be opened (${messageOf(error)})${advice === undefined ? "" : `; ${advice}`}.`;
  }
}

/** What a person can do about a file that can't be opened; undefined for an unknown error. */
function adviceOn(error: unknown): string | undefined {
  const message = messageOf(error);
  if (/SQLITE_(?:NOTADB|CORRUPT)/.test(message)) return "restore a copy of it, or move it away to start a new one";
  if (/SQLITE_(?:IOERR|FULL)/.test(message)) return "the disk may be full";
  return /SQLITE_(?:CANTOPEN|READONLY)/.test(message) ? "it and its folder must be writable" : undefined;
}

/** Removes keys and tokens of known forms, because stored texts are sent to models. */
const redactKeys = redactFor();
const withoutKeys = (chunk: NewChunk): NewChunk => ({ ...chunk, content: redactKeys(chunk.content) });

class Store implements Memory {
  readonly #database: Database;
  readonly #embedder: LengthAwareEmbedder;
  readonly #signs: SignIndex;
  readonly vectors: ExternalVectors;

  constructor(database: Database, embedder: Embedder) {
    this.#database = database;
    this.#embedder = new LengthAwareEmbedder(database, embedder);
    this.#signs = new SignIndex(database, this.#embedder);
    this.vectors = new ExternalVectors(database, (index, addedCount) => this.#capacityProblem(index, addedCount));
  }

  async prepare(path: string): Promise<string | undefined> {
    const tables = await this.#database.rows("SELECT name FROM sqlite_master WHERE name IN ('meta', 'chunks')");
    const version =
      tables.length === 0 ? undefined : await this.#database.rows("SELECT value FROM meta WHERE key = 'format'");
    const storedVersion = version?.[0]?.["value"];
    if (Number(storedVersion) > stateVersion) throw newerFormat(path, { format: storedVersion });
    if (version !== undefined && !(Number(storedVersion) >= 1))
      return `The memory ${path} has a format that this program cannot read (${String(storedVersion)}); move it away to start a new one.`;
    if (version !== undefined) return await this.#addFolders();
    // With WAL, readers and a writer don't wait for each other, and a write needs one sync instead of several.
    await this.#database.rows("PRAGMA journal_mode = WAL");
    await this.#database.write([
      ...schemaStatements,
      { sql: "INSERT OR IGNORE INTO meta (key, value) VALUES ('format', ?)", args: [String(stateVersion)] },
      { sql: "INSERT OR IGNORE INTO indices (name, kind) VALUES (?, 'memory')", args: [longTermIndex] },
      { sql: "INSERT OR IGNORE INTO indices (name, kind) VALUES (?, 'documents')", args: [documentsIndex] },
    ]);
    return undefined;
  }

  /** Adds the column for folders. Older documents have no folder; they are found if their index is named. */
  async #addFolders(): Promise<undefined> {
    const existing = await this.#database.rows("SELECT 1 FROM pragma_table_info('documents') WHERE name = 'folder'");
    if (existing.length === 0)
      await this.#database.rows("ALTER TABLE documents ADD COLUMN folder TEXT").catch((error: unknown) => {
        // Another process added it first.
        if (!/duplicate column/.test(messageOf(error))) throw error;
      });
  }

  async add(index: string, newChunks: readonly NewChunk[]): Promise<readonly number[] | MemoryProblem> {
    const chunks = newChunks.map(withoutKeys);
    if (chunks.some(({ content }) => content.trim() === ""))
      return invalidParameterProblem("There is nothing to remember: the content is empty.");
    const problem = await this.#capacityProblem(index, chunks.length);
    if (problem !== undefined) return problem;
    const vectors = await this.#embedder.embed(chunks.map(({ content }) => content));
    const { model } = this.#embedder;
    const createdAt = new Date().toISOString();
    return await this.#database.transact(async (transaction) => {
      const addedIds: number[] = [];
      for (const [place, chunk] of chunks.entries()) {
        const vector = vectors[place] ?? new Float32Array();
        const { content, type = "general", source = "", importance = "normal", document = null } = chunk;
        const { lastInsertRowid } = await transaction.execute({
          sql: `INSERT INTO chunks (index_name, content, type, source, importance, created_at, document, model, vector)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          args: [index, content, type, source, importance, createdAt, document, model, bytesOf(vector)],
        });
        const id = Number(lastInsertRowid);
        addedIds.push(id);
        await this.#signs.store(transaction, id, vector);
      }
      await this.#signs.pack(transaction);
      return addedIds;
    });
  }

  async addDocument(
    index: string,
    { title, folder }: { readonly title: string; readonly folder: string },
    newChunks: readonly NewChunk[],
  ): Promise<{ document: number } | MemoryProblem> {
    const chunks = newChunks.map(withoutKeys);
    const problem = await this.#capacityProblem(index, chunks.length);
    if (problem !== undefined) return problem;
    const document = await this.#database.transact(async (transaction) => {
      const { lastInsertRowid } = await transaction.execute({
        sql: "INSERT INTO documents (index_name, title, created_at, folder) VALUES (?, ?, ?, ?)",
        args: [index, title, new Date().toISOString(), folder],
      });
      return Number(lastInsertRowid);
    });
    let isComplete = false;
    try {
      for (let start = 0; start < chunks.length; start += chunksPerBatch) {
        const part = chunks.slice(start, start + chunksPerBatch).map((chunk) => ({ ...chunk, document }));
        const added = await this.add(index, part);
        if ("problem" in added) return added;
      }
      isComplete = true;
      return { document };
    } finally {
      // A search would return half a document as if it were complete.
      if (!isComplete)
        await this.#database.write([
          ...deletionsOfChunks("document", document),
          { sql: "DELETE FROM documents WHERE id = ?", args: [document] },
        ]);
    }
  }

  async search(query: string, limit: number, scope: Scope = {}): Promise<readonly RecalledChunk[]> {
    const [byVector, byWords, byMetadata] = await Promise.all([
      this.#byVector(query, scope).catch((error: unknown) => ({ problem: error })),
      this.#byWords(query, scope),
      scope.metadata === true ? this.#byMetadata(query, scope) : [],
    ]);
    if ("problem" in byVector && byWords.length + byMetadata.length === 0) throw byVector.problem;
    const measuredChunks = "problem" in byVector ? [] : byVector;
    const similarities = new Map(measuredChunks.map(({ id, similarity }) => [id, similarity]));
    const { minCosine } = this.#embedder;
    const nearChunks = measuredChunks.filter(({ similarity }) => similarity >= minCosine);
    // A chunk that shares only a chance word with the query, such as "is", is not returned.
    const wordMatches = byWords.filter(({ id }) => (similarities.get(id) ?? minCosine) >= minCosine * wordMatchShare);
    const scores = new Map<number, number>();
    for (const hits of [nearChunks.map(({ id, similarity }) => ({ id, score: similarity })), wordMatches, byMetadata]) {
      let rank = 0;
      for (const [index, { id, score }] of hits.entries()) {
        // Equal scores get the same rank, so that the importance decides.
        if (score !== hits[index - 1]?.score) rank = index + 1;
        scores.set(id, (scores.get(id) ?? 0) + 1 / (rankConstant + rank));
      }
    }
    const bestScores = [...scores].sort((a, b) => b[1] - a[1]).slice(0, limit * 4);
    const chunks = await this.#chunksOf(bestScores.map(([id]) => id));
    chunks.sort((a, b) => {
      const scoreDifference = (scores.get(b.id) ?? 0) - (scores.get(a.id) ?? 0);
      const rank = (chunk: Chunk) => importances.indexOf(chunk.importance);
      return scoreDifference !== 0 ? scoreDifference : rank(b) - rank(a) || b.id - a.id;
    });
    const texts = chunks.map(({ content }) => content.trim());
    return chunks
      .filter((_, index) => texts.indexOf(texts[index] ?? "") === index)
      .slice(0, limit)
      .map((chunk) => ({ ...chunk, ...withoutUndefined({ similarity: similarities.get(chunk.id) }) }));
  }

  async list(index: string, from: number, limit: number): Promise<readonly Chunk[]> {
    const rows = await this.#database.rows(
      `SELECT ${chunkColumns} FROM chunks WHERE index_name = ? AND id > ? ORDER BY id LIMIT ?`,
      [index, from, limit],
    );
    return rows.map(chunkOf);
  }

  async get(id: number): Promise<Chunk | MemoryProblem> {
    const [chunk] = await this.#chunksOf([id]);
    return chunk ?? missingChunkProblem(id);
  }

  async edit(id: number, field: "type" | "source" | "importance" | "content", newValue: string) {
    const value = redactKeys(newValue);
    const chunk = await this.get(id);
    if ("problem" in chunk) return chunk;
    const allowedValues: readonly string[] | undefined =
      field === "type" ? memoryTypes : field === "importance" ? importances : undefined;
    if (allowedValues !== undefined && !allowedValues.includes(value))
      return invalidParameterProblem(`'${value}' is no ${field}; there are ${allowedValues.join(", ")}.`);
    if (field === "content" && value.trim() === "") return invalidParameterProblem("The content must not be empty.");
    const [storedRow] = await this.#database.rows("SELECT model FROM chunks WHERE id = ?", [id]);
    const isExternal = storedRow?.["model"] === externalModel;
    const [vector] = field === "content" && !isExternal ? await this.#embedder.embed([value]) : [];
    await this.#database.transact(async (transaction) => {
      // The name of the column is one of four words above.
      await transaction.execute({ sql: `UPDATE chunks SET ${field} = ? WHERE id = ?`, args: [value, id] });
      if (vector !== undefined) await this.#setVector(transaction, id, vector);
    });
    return await this.get(id);
  }

  async forget(id: number): Promise<Chunk | MemoryProblem> {
    const chunk = await this.get(id);
    if ("problem" in chunk) return chunk;
    await this.#database.write(deletionsOfChunks("id", id));
    return chunk;
  }

  async createIndex(name: string, kind: IndexKind): Promise<IndexStats | MemoryProblem> {
    if (!/^[\p{L}\p{N}_.-]{1,64}$/u.test(name))
      return invalidParameterProblem(
        `'${name.slice(0, 80)}' is not a valid name of an index; use up to 64 letters, digits, '_', '.' and '-'.`,
      );
    const rows = await this.#database.rows("SELECT kind FROM indices WHERE name = ?", [name]);
    if (rows.length > 0) return invalidParameterProblem(`The index ${name} already exists.`);
    await this.#database.write([
      { sql: "INSERT OR IGNORE INTO indices (name, kind) VALUES (?, ?)", args: [name, kind] },
    ]);
    const createdIndex = (await this.indices()).find((index) => index.name === name);
    return createdIndex ?? invalidParameterProblem(`The index ${name} could not be made.`);
  }

  async deleteIndex(name: string): Promise<{ deleted: number } | MemoryProblem> {
    const rows = await this.#database.rows("SELECT count(*) AS count FROM chunks WHERE index_name = ?", [name]);
    const existing = await this.#database.rows("SELECT kind FROM indices WHERE name = ?", [name]);
    if (existing.length === 0) return missingIndexProblem(name);
    await this.#database.write([
      ...deletionsOfChunks("index_name", name),
      { sql: "DELETE FROM documents WHERE index_name = ?", args: [name] },
      { sql: "DELETE FROM indices WHERE name = ?", args: [name] },
    ]);
    return { deleted: Number(rows[0]?.["count"] ?? 0) };
  }

  async indices(): Promise<readonly IndexStats[]> {
    const model = await this.#embedder.storedModel();
    const rows = await this.#database.rows(
      `SELECT name, kind, (SELECT count(*) FROM chunks WHERE index_name = name) AS chunks,
              (SELECT count(*) FROM documents WHERE index_name = name) AS documents,
              (SELECT count(*) FROM chunks WHERE index_name = name AND model NOT IN (?, '${externalModel}')) AS waiting
       FROM indices ORDER BY name`,
      [model],
    );
    return rows.map((row) => {
      const kind: IndexKind = row["kind"] === "documents" ? "documents" : "memory";
      return {
        name: String(row["name"]),
        kind,
        chunks: Number(row["chunks"]),
        documents: Number(row["documents"]),
        maxElements: maxElements[kind],
        model,
        waiting: Number(row["waiting"]),
      };
    });
  }

  async documentsOf(index: string): Promise<readonly { id: number; title: string; chunks: number }[]> {
    const rows = await this.#database.rows(
      `SELECT id, title, (SELECT count(*) FROM chunks WHERE document = documents.id) AS chunks
       FROM documents WHERE index_name = ? ORDER BY id`,
      [index],
    );
    return rows.map((row) => ({ id: Number(row["id"]), title: String(row["title"]), chunks: Number(row["chunks"]) }));
  }

  async embedAgain(signal: AbortSignal): Promise<number> {
    const { model } = this.#embedder;
    let [updatedCount, lastId] = [0, 0];
    while (!signal.aborted) {
      const rows = await this.#database.rows(
        "SELECT id, content FROM chunks WHERE id > ? AND model NOT IN (?, ?) ORDER BY id LIMIT ?",
        [lastId, model, externalModel, chunksPerBatch],
      );
      if (rows.length === 0) break;
      const vectors = await this.#embedder.embed(rows.map((row) => String(row["content"])));
      await this.#database.transact(async (transaction) => {
        for (const [index, row] of rows.entries())
          await this.#setVector(transaction, Number(row["id"]), vectors[index] ?? new Float32Array());
        await this.#signs.pack(transaction);
      });
      lastId = Number(rows.at(-1)?.["id"]);
      updatedCount += rows.length;
    }
    // The sign bits of models that no chunk uses any more are removed.
    if (updatedCount > 0)
      await this.#database.write([
        { sql: "DELETE FROM packed_signs WHERE model NOT IN (SELECT DISTINCT model FROM chunks)", args: [] },
      ]);
    return updatedCount;
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  /** The problem if an index has no room for `addedCount` more chunks. */
  async #capacityProblem(index: string, addedCount: number): Promise<MemoryProblem | undefined> {
    const existing = (await this.indices()).find(({ name }) => name === index);
    if (existing === undefined) return missingIndexProblem(index);
    if (existing.chunks + addedCount <= existing.maxElements) return undefined;
    return {
      code: "VECTOR_DB_ERROR_FULL",
      problem: `The index ${index} is full: it holds at most ${existing.maxElements} chunks. Forget some, or use another index.`,
    };
  }

  /** The nearest candidates by their sign bits, with exact similarities, nearest first. */
  async #byVector(
    query: string,
    scope: Scope,
  ): Promise<readonly { readonly id: number; readonly similarity: number }[]> {
    const [vector] = await this.#embedder.embed([query]);
    if (vector === undefined || vector.every((value) => value === 0)) return [];
    const ids = await this.#signs.nearest(vector, maxCandidates);
    if (ids.length === 0) return [];
    const { sql, args } = scopeCondition(scope);
    const rows = await this.#database.rows(
      `SELECT id, vector FROM chunks WHERE model = ? AND id IN (${ids.join(",")})${sql}`,
      [this.#embedder.model, ...args],
    );
    return rows
      .map((row) => ({ id: Number(row["id"]), similarity: cosine(vector, row["vector"] as ArrayBuffer) }))
      .toSorted((a, b) => b.similarity - a.similarity || b.id - a.id);
  }

  /** Chunks whose type, importance or source matches a word of the query, newest first. */
  async #byMetadata(query: string, scope: Scope): Promise<readonly { readonly id: number; readonly score: number }[]> {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    const { sql, args } = scopeCondition(scope);
    const wordConditions = words.map(() => "type = ? OR importance = ? OR instr(lower(source), ?)").join(" OR ");
    const rows = await this.#database.rows(
      `SELECT id FROM chunks WHERE (${wordConditions})${sql} ORDER BY id DESC LIMIT ?`,
      [...words.flatMap((word) => [word, word, word]), ...args, maxCandidates],
    );
    return rows.map((row) => ({ id: Number(row["id"]), score: 0 }));
  }

  /** Chunks by the words of the query, best first. */
  async #byWords(query: string, scope: Scope): Promise<readonly { readonly id: number; readonly score: number }[]> {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    const [total] = await this.#database.rows("SELECT count(*) AS count FROM chunks");
    const limit = Math.max(10, maxWordShare * Number(total?.["count"] ?? 0));
    const frequencies = await this.#database.rows(
      `SELECT term, doc FROM frequencies WHERE term IN (${words.map(() => "?").join(",")})`,
      words,
    );
    const rareWords = frequencies.filter((row) => Number(row["doc"]) <= limit).map((row) => String(row["term"]));
    if (rareWords.length === 0) return [];
    const { sql, args } = scopeCondition(scope);
    const rows = await this.#database.rows(
      `SELECT words.rowid AS id, bm25(words) AS score FROM words ${sql === "" ? "" : "JOIN chunks ON chunks.id = words.rowid"}
       WHERE words MATCH ?${sql} ORDER BY score LIMIT ?`,
      [rareWords.map((word) => `"${word}"`).join(" OR "), ...args, maxCandidates],
    );
    return rows.map((row) => ({ id: Number(row["id"]), score: Number(row["score"]) }));
  }

  async #setVector(transaction: Transaction, id: number, vector: Float32Array): Promise<void> {
    await transaction.execute({
      sql: "UPDATE chunks SET model = ?, vector = ? WHERE id = ?",
      args: [this.#embedder.model, bytesOf(vector), id],
    });
    await this.#signs.store(transaction, id, vector);
  }

  async #chunksOf(ids: readonly number[]): Promise<Chunk[]> {
    if (ids.length === 0) return [];
    const rows = await this.#database.rows(
      `SELECT ${chunkColumns} FROM chunks WHERE id IN (${ids.map(Number).join(",")})`,
    );
    return rows.map(chunkOf);
  }
}

/** The statements that delete chunks and their sign bits. Packed sign bits stay: no chunk has their ids any more. */
const deletionsOfChunks = (column: "id" | "document" | "index_name", value: InValue): InStatement[] => [
  { sql: `DELETE FROM signs WHERE id IN (SELECT id FROM chunks WHERE ${column} = ?)`, args: [value] },
  { sql: `DELETE FROM chunks WHERE ${column} = ?`, args: [value] },
];

/** The SQL condition for a scope, to append to other conditions. */
function scopeCondition({ indices, folder }: Scope): { readonly sql: string; readonly args: readonly string[] } {
  const indexCondition = indices === undefined ? "" : ` AND index_name IN (${indices.map(() => "?").join(",")})`;
  const folderCondition = "instr(folder || '/', ? || '/') = 1 OR instr(? || '/', folder || '/') = 1";
  const documentCondition =
    folder === undefined
      ? ""
      : ` AND (document IS NULL OR document IN (SELECT id FROM documents WHERE ${folderCondition}))`;
  return {
    sql: `${indexCondition}${documentCondition}`,
    args: [...(indices ?? []), ...(folder === undefined ? [] : [folder, folder])],
  };
}

/** The distinct words of a query, at most 32, in the form of the word index. */
function wordsOf(query: string): string[] {
  const normalisedQuery = query.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  return [...new Set(normalisedQuery.match(/[\p{L}\p{N}]{1,64}/gu) ?? [])].slice(0, 32);
}

function chunkOf(row: Row): Chunk {
  const document = row["document"];
  return {
    id: Number(row["id"]),
    index: String(row["index_name"]),
    content: String(row["content"]),
    type: row["type"] as MemoryType,
    source: String(row["source"]),
    importance: row["importance"] as Importance,
    createdAt: String(row["created_at"]),
    ...(document === null ? {} : { document: Number(document) }),
  };
}
