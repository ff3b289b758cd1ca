import { createHash } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "@libsql/client";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { Database } from "../../memory/database.js";
import type { Embedder } from "../../memory/embedder.js";
import { packed, Vectors } from "../../memory/vectors.js";
import { newerFormat, stateVersion } from "../../engine/storage/state/format-version.js";
import { vaultName } from "../project-files/layout.js";

/** What a round did about an error, and whether the tests say that it helped. */
export interface Fix {
  readonly id: number;
  readonly error_signature: string;
  readonly hypothesis: string;
  readonly action_taken: string;
  readonly success: boolean;
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly cost_tokens: number;
  readonly framework: string;
  readonly language: string;
}

/** A fix as it is written. `key`: of the run, the round and the signature; the same is written once. */
export type NewFix = Omit<Fix, "id"> & { readonly key: string };

/** A fix of an error like the one that was asked for. */
export interface SimilarFix extends Fix {
  /** Cosine of the two signatures, to 1. */
  readonly similarity: number;
}

/** What helped against which error, for the life of a project: one SQLite file, which several processes may use. */
export interface Vault {
  /** Keeps fixes; one that is there under its key already stays as it is. */
  add(fixes: readonly NewFix[]): Promise<void>;
  /** The fixes that helped against the errors that are most like these, the nearest first, each action once. */
  similar(signatures: readonly string[], most: number): Promise<readonly SimilarFix[]>;
  /** The newest first. */
  list(most: number): Promise<readonly Fix[]>;
  get(id: number): Promise<Fix | undefined>;
  /** Whether there was such a fix. */
  forget(id: number): Promise<boolean>;
  /** Leaves one file, unless another process has it open: what lies next to it would go while an agent is at work. */
  close(): Promise<void>;
}

/** From this cosine on an error is like another. */
const minSimilarity = 0.5;
/** Fixes that are kept; of more, the oldest failures go first. */
const maxFixes = 10_000;
const fields = "id, error_signature, hypothesis, action_taken, success, timestamp, cost_tokens, framework, language";

/**
 * Opens the vault of the project in `folder`, made where it is missing. A file that is not a database, or is broken, is
 * set aside, and a new one begun; `warn` is told. Resolves with a sentence where the vault can't be had at all: a run
 * then goes on without.
 * @throws ExpectedError (exit 5) where a later version has written it.
 */
export async function openVault(
  folder: string,
  embedder: Embedder,
  warn: (message: string) => void,
): Promise<Vault | string> {
  const path = join(folder, vaultName);
  try {
    return await open(path, embedder);
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    if (!isBroken(error)) return `The memory of fixes ${path} can't be opened (${messageOf(error)}).`;
  }
  try {
    const aside = `${path}.broken-${Date.now()}`;
    renameSync(path, aside);
    for (const more of ["-wal", "-shm"])
      if (existsSync(`${path}${more}`)) renameSync(`${path}${more}`, `${aside}${more}`);
    warn(`The memory of fixes was broken; it is kept as ${aside}, and a new one is begun.`);
    return await open(path, embedder);
  } catch (error) {
    return `The memory of fixes ${path} can't be opened (${messageOf(error)}).`;
  }
}

/**
 * Makes sure that the vault of the project in `folder` may be written. Writes nothing.
 * @throws ExpectedError (exit 5) where a later version has written it.
 */
export async function requireKnownVault(folder: string): Promise<void> {
  const path = join(folder, vaultName);
  if (!existsSync(path)) return;
  const database = await Database.at(path);
  try {
    await requireKnownTable(path, database);
  } catch (error) {
    // What is broken is told of, and mended, where it is opened for use.
    if (error instanceof ExpectedError) throw error;
  } finally {
    database.close();
  }
}

async function requireKnownTable(path: string, database: Database): Promise<void> {
  const format = Number((await database.rows("PRAGMA user_version"))[0]?.["user_version"]);
  if (format > stateVersion) throw newerFormat(path, { format });
}

/** A key as it is stored: it stands in the index too. */
const shortOf = (key: string): Uint8Array => Uint8Array.from(createHash("sha256").update(key).digest().subarray(0, 8));

const isBroken = (error: unknown): boolean =>
  /SQLITE_NOTADB|SQLITE_CORRUPT|not a database|malformed|no such column/i.test(messageOf(error));

async function open(path: string, embedder: Embedder): Promise<Vault> {
  const database = await Database.at(path);
  try {
    await requireKnownTable(path, database);
    // Readers and a writer then don't wait for each other.
    await database.rows("PRAGMA journal_mode = WAL");
    // A kill loses nothing, and a power cut the last rounds at most.
    await database.rows("PRAGMA synchronous = NORMAL");
    await database.write([
      `CREATE TABLE IF NOT EXISTS fix_attempts (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE,
         error_signature TEXT NOT NULL, hypothesis TEXT NOT NULL, action_taken TEXT NOT NULL, success INTEGER NOT NULL,
         timestamp TEXT NOT NULL, cost_tokens INTEGER NOT NULL, framework TEXT NOT NULL, language TEXT NOT NULL,
         model TEXT NOT NULL, dimension INTEGER NOT NULL, embedding BLOB NOT NULL)`,
      `PRAGMA user_version = ${stateVersion}`,
    ]);
  } catch (error) {
    database.close();
    throw error;
  }

  const columns = { table: "fix_attempts", text: "error_signature", vector: "embedding" };
  const vectors = new Vectors(database, embedder, columns);
  return {
    async add(fixes) {
      if (fixes.length === 0) return;
      const embedded = await embedder.embed(fixes.map(({ error_signature }) => error_signature));
      await database.write([
        ...fixes.map((fix, at) => {
          const vector = embedded[at] ?? new Float32Array();
          return {
            sql: `INSERT OR IGNORE INTO fix_attempts (key, error_signature, hypothesis, action_taken, success, timestamp,
                    cost_tokens, framework, language, model, dimension, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
            args: [
              ...[shortOf(fix.key), fix.error_signature, fix.hypothesis, fix.action_taken, fix.success ? 1 : 0],
              ...[fix.timestamp, fix.cost_tokens, fix.framework, fix.language],
              ...[embedder.model, vector.length, packed(vector)],
            ],
          };
        }),
        {
          sql: `DELETE FROM fix_attempts WHERE id IN (SELECT id FROM fix_attempts
                  WHERE (SELECT max(id) FROM fix_attempts) > ? ORDER BY success DESC, id DESC LIMIT -1 OFFSET ?)`,
          args: [maxFixes, maxFixes],
        },
      ]);
    },
    async similar(signatures, most) {
      if (signatures.length === 0) return [];
      const wanted = await embedder.embed(signatures.slice(0, 20));
      const dimension = wanted[0]?.length ?? 0;
      await vectors.embedAgain("model <> ? OR dimension <> ?", [embedder.model, dimension], async (rows) => {
        await database.write(
          rows.map(({ id, vector }) => ({
            sql: "UPDATE fix_attempts SET model = ?, dimension = ?, embedding = ? WHERE id = ?",
            args: [embedder.model, vector.length, packed(vector), id],
          })),
        );
      });
      const near = (await vectors.nearest(wanted, "success = 1 AND dimension = ?", [dimension]))
        .filter(({ similarity }) => similarity >= minSimilarity)
        .slice(0, most * 4);
      if (near.length === 0) return [];
      const found = await database.rows(
        `SELECT ${fields} FROM fix_attempts WHERE id IN (${near.map(({ id }) => id).join(",")})`,
      );
      const byId = new Map(found.map((row) => [Number(row["id"]), fixOf(row)]));
      const actions = new Set<string>();
      return near
        .flatMap(({ id, similarity }) => {
          const fix = byId.get(id);
          return fix === undefined || actions.has(fix.action_taken) || !actions.add(fix.action_taken)
            ? []
            : [{ ...fix, similarity }];
        })
        .slice(0, most);
    },
    async list(most) {
      return (await database.rows(`SELECT ${fields} FROM fix_attempts ORDER BY id DESC LIMIT ?`, [most])).map(fixOf);
    },
    async get(id) {
      const [row] = await database.rows(`SELECT ${fields} FROM fix_attempts WHERE id = ?`, [id]);
      return row && fixOf(row);
    },
    async forget(id) {
      const gone = await database.rows("DELETE FROM fix_attempts WHERE id = ? RETURNING id", [id]);
      return gone.length > 0;
    },
    close: () => database.closeWhole(),
  };
}

const fixOf = (row: Row): Fix => ({
  id: Number(row["id"]),
  error_signature: String(row["error_signature"]),
  hypothesis: String(row["hypothesis"]),
  action_taken: String(row["action_taken"]),
  success: Number(row["success"]) === 1,
  timestamp: String(row["timestamp"]),
  cost_tokens: Number(row["cost_tokens"]),
  framework: String(row["framework"]),
  language: String(row["language"]),
});
