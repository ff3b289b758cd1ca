import { createHash } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "@libsql/client";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { newerFormat, stateVersion } from "../../engine/storage/state/format-version.js";
import { Database } from "../../memory/database.js";
import { vaultName } from "../project-files/layout.js";
import type { ChangedSymbol } from "./fault.js";

/** What a round did about a failing test, and whether it helped. */
export interface Fix {
  readonly id: number;
  /**
   * The name of the test; empty if an old version, which did not store it, wrote the fix. Such fixes are not
   * recommended.
   */
  readonly test: string;
  /**
   * The place in the sources where the test failed, as `file#symbol`; empty if only a comparison in the test failed.
   */
  readonly frame: string;
  readonly error_signature: string;
  /** The symbols that the round changed. */
  readonly changed: readonly ChangedSymbol[];
  readonly hypothesis: string;
  readonly action_taken: string;
  /** The test passed at the end of the round, and at the end of each later round of the run. */
  readonly success: boolean;
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly cost_tokens: number;
  readonly framework: string;
  readonly language: string;
}

/** A new fix. `key`: identifies run, round and test; an equal key is stored once. `run`: the id of the run. */
export type NewFix = Omit<Fix, "id"> & { readonly key: string; readonly run: string };

/** The stored fixes of a project and the tests that they repaired: a SQLite file that several processes may use. */
export interface Vault {
  /** Stores fixes. A fix whose key exists is skipped. */
  add(fixes: readonly NewFix[]): Promise<void>;
  /** The fixes that helped this test or this frame, newest first. An empty frame matches nothing. */
  helped(test: string, frame: string): Promise<readonly Fix[]>;
  /** Marks the fixes of a run for these tests as failed, because they did not last. */
  failedAgain(run: string, tests: readonly string[]): Promise<void>;
  /** The newest fixes first, at most `most`. */
  list(most: number): Promise<readonly Fix[]>;
  get(id: number): Promise<Fix | undefined>;
  /** Deletes a fix; returns whether it existed. */
  forget(id: number): Promise<boolean>;
  /**
   * Closes the file and merges SQLite's side files into it, unless another process uses it: they might disappear while
   * an agent works.
   */
  close(): Promise<void>;
}

/**
 * Maximum number of stored fixes. If there are more, failed fixes are deleted first, and older ones before newer ones.
 */
const maxFixes = 10_000;
/** Maximum number of fixes that are read for one test or frame. */
const maxReadFixes = 100;
const columns =
  "id, test, frame, error_signature, changed, hypothesis, action_taken, success, timestamp, cost_tokens, framework, language";

/**
 * Opens the vault of the project in `folder`; creates it if it is missing. A broken file is renamed and replaced by a
 * new vault; `warn` is called with a message. Returns a sentence if the vault can't be opened; then a run continues
 * without it.
 * @throws ExpectedError (exit 5) if a later version wrote it.
 */
export async function openVault(folder: string, warn: (message: string) => void): Promise<Vault | string> {
  const path = join(folder, vaultName);
  try {
    return await open(path);
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    if (!isBroken(error)) return `The memory of fixes ${path} can't be opened (${messageOf(error)}).`;
  }
  try {
    const brokenPath = `${path}.broken-${Date.now()}`;
    renameSync(path, brokenPath);
    for (const ending of ["-wal", "-shm"])
      if (existsSync(`${path}${ending}`)) renameSync(`${path}${ending}`, `${brokenPath}${ending}`);
    warn(`The memory of fixes was broken; it is kept as ${brokenPath}, and a new one is begun.`);
    return await open(path);
  } catch (error) {
    return `The memory of fixes ${path} can't be opened (${messageOf(error)}).`;
  }
}

/**
 * Checks that the vault of the project in `folder` may be written. Writes nothing.
 * @throws ExpectedError (exit 5) if a later version wrote it.
 */
export async function requireKnownVault(folder: string): Promise<void> {
  const path = join(folder, vaultName);
  if (!existsSync(path)) return;
  const database = await Database.at(path);
  try {
    await requireKnownTable(path, database);
  } catch (error) {
    // A broken file is reported and replaced when it is opened for use.
    if (error instanceof ExpectedError) throw error;
  } finally {
    database.close();
  }
}

async function requireKnownTable(path: string, database: Database): Promise<void> {
  const format = Number((await database.rows("PRAGMA user_version"))[0]?.["user_version"]);
  if (format > stateVersion) throw newerFormat(path, { format });
}

/** A key as it is stored: a short hash, because the index stores it too. */
const hashOf = (key: string): Uint8Array => Uint8Array.from(createHash("sha256").update(key).digest().subarray(0, 8));

const isBroken = (error: unknown): boolean =>
  /SQLITE_NOTADB|SQLITE_CORRUPT|not a database|malformed|no such column/i.test(messageOf(error));

async function open(path: string): Promise<Vault> {
  const database = await Database.at(path);
  try {
    await requireKnownTable(path, database);
    // In this mode readers and a writer do not wait for each other.
    await database.rows("PRAGMA journal_mode = WAL");
    // A killed process loses nothing; a power cut loses at most the last rounds.
    await database.rows("PRAGMA synchronous = NORMAL");
    await database.write([
      `CREATE TABLE IF NOT EXISTS fixes (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE,
         run BLOB NOT NULL, test TEXT NOT NULL, frame TEXT NOT NULL, error_signature TEXT NOT NULL, changed TEXT NOT NULL,
         hypothesis TEXT NOT NULL, action_taken TEXT NOT NULL, success INTEGER NOT NULL, timestamp TEXT NOT NULL,
         cost_tokens INTEGER NOT NULL, framework TEXT NOT NULL, language TEXT NOT NULL)`,
      "CREATE INDEX IF NOT EXISTS fixes_by_test ON fixes (test)",
      "CREATE INDEX IF NOT EXISTS fixes_by_frame ON fixes (frame) WHERE frame <> ''",
      `PRAGMA user_version = ${stateVersion}`,
    ]);
    await importOldTable(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return vaultOf(database);
}

/** Imports the table of earlier versions, which did not store the test of an error. */
async function importOldTable(database: Database): Promise<void> {
  const [oldTable] = await database.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'fix_attempts'");
  if (oldTable === undefined) return;
  await database.write([
    `INSERT OR IGNORE INTO fixes (key, run, test, frame, error_signature, changed, hypothesis, action_taken, success,
         timestamp, cost_tokens, framework, language)
       SELECT key, x'', '', '', error_signature, '[]', hypothesis, action_taken, success, timestamp, cost_tokens,
         framework, language FROM fix_attempts ORDER BY id`,
    "DROP TABLE fix_attempts",
  ]);
}

const vaultOf = (database: Database): Vault => ({
  async add(fixes) {
    if (fixes.length === 0) return;
    await database.write([
      ...fixes.map((fix) => ({
        sql: `INSERT OR IGNORE INTO fixes (key, run, test, frame, error_signature, changed, hypothesis, action_taken,
                success, timestamp, cost_tokens, framework, language) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        args: [
          ...[hashOf(fix.key), hashOf(fix.run), fix.test, fix.frame, fix.error_signature],
          ...[JSON.stringify(fix.changed), fix.hypothesis, fix.action_taken, fix.success ? 1 : 0],
          ...[fix.timestamp, fix.cost_tokens, fix.framework, fix.language],
        ],
      })),
      {
        sql: `DELETE FROM fixes WHERE id IN (SELECT id FROM fixes
                WHERE (SELECT max(id) FROM fixes) > ? ORDER BY success DESC, id DESC LIMIT -1 OFFSET ?)`,
        args: [maxFixes, maxFixes],
      },
    ]);
  },
  async helped(test, frame) {
    const sql = `SELECT ${columns} FROM fixes WHERE success = 1 AND (test = ? OR (frame <> '' AND frame = ?))
                   ORDER BY id DESC LIMIT ${maxReadFixes}`;
    return (await database.rows(sql, [test, frame])).map(fixOf);
  },
  async failedAgain(run, tests) {
    const placeholders = tests.map(() => "?").join(", ");
    const sql = `UPDATE fixes SET success = 0 WHERE success = 1 AND run = ? AND test IN (${placeholders})`;
    await database.write([{ sql, args: [hashOf(run), ...tests] }]);
  },
  async list(maxCount) {
    return (await database.rows(`SELECT ${columns} FROM fixes ORDER BY id DESC LIMIT ?`, [maxCount])).map(fixOf);
  },
  async get(id) {
    const [row] = await database.rows(`SELECT ${columns} FROM fixes WHERE id = ?`, [id]);
    return row && fixOf(row);
  },
  async forget(id) {
    return (await database.rows("DELETE FROM fixes WHERE id = ? RETURNING id", [id])).length > 0;
  },
  close: () => database.closeToOneFile(),
});

const fixOf = (row: Row): Fix => ({
  id: Number(row["id"]),
  test: String(row["test"]),
  frame: String(row["frame"]),
  error_signature: String(row["error_signature"]),
  changed: JSON.parse(String(row["changed"])),
  hypothesis: String(row["hypothesis"]),
  action_taken: String(row["action_taken"]),
  success: Number(row["success"]) === 1,
  timestamp: String(row["timestamp"]),
  cost_tokens: Number(row["cost_tokens"]),
  framework: String(row["framework"]),
  language: String(row["language"]),
});
