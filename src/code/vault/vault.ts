import { createHash } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "@libsql/client";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { newerFormat, stateVersion } from "../../engine/storage/state/format-version.js";
import { Database } from "../../memory/database.js";
import { vaultName } from "../project-files/layout.js";
import type { ChangedSymbol } from "./fault.js";

/** What a round did about a failing test, and whether the tests say that it helped. */
export interface Fix {
  readonly id: number;
  /** The name of the test; empty: written by a version that did not keep it, and recommended to nobody. */
  readonly test: string;
  /** Where in the sources it failed, as `file#symbol`; empty where only the test's own comparison did. */
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

/** A fix as it is written. `key`: of run, round and test; the same is written once. `run`: names the run. */
export type NewFix = Omit<Fix, "id"> & { readonly key: string; readonly run: string };

/** What helped against which failing test, for the life of a project: a SQLite file that several processes may use. */
export interface Vault {
  /** Keeps fixes; one that is there under its key already stays as it is. */
  add(fixes: readonly NewFix[]): Promise<void>;
  /** The fixes of a test, or of a frame that is not empty, that helped, the newest first. */
  helped(test: string, frame: string): Promise<readonly Fix[]>;
  /** Of the fixes of a run those of these tests did not last: they count as failed. */
  failedAgain(run: string, tests: readonly string[]): Promise<void>;
  /** The newest first. */
  list(most: number): Promise<readonly Fix[]>;
  get(id: number): Promise<Fix | undefined>;
  /** Whether there was such a fix. */
  forget(id: number): Promise<boolean>;
  /** Leaves one file, unless another process has it open: what lies next to it would go while an agent is at work. */
  close(): Promise<void>;
}

/** Fixes that are kept; of more, the oldest failures go first. */
const maxFixes = 10_000;
/** Fixes of one test or frame that are looked at. */
const maxLookedAt = 100;
const fields =
  "id, test, frame, error_signature, changed, hypothesis, action_taken, success, timestamp, cost_tokens, framework, language";

/**
 * Opens the vault of the project in `folder`, made where it is missing. A file that is not a database, or is broken, is
 * set aside, and a new one begun; `warn` is told. Resolves with a sentence where the vault can't be had at all: a run
 * then goes on without.
 * @throws ExpectedError (exit 5) where a later version has written it.
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
    const aside = `${path}.broken-${Date.now()}`;
    renameSync(path, aside);
    for (const more of ["-wal", "-shm"])
      if (existsSync(`${path}${more}`)) renameSync(`${path}${more}`, `${aside}${more}`);
    warn(`The memory of fixes was broken; it is kept as ${aside}, and a new one is begun.`);
    return await open(path);
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

async function open(path: string): Promise<Vault> {
  const database = await Database.at(path);
  try {
    await requireKnownTable(path, database);
    // Readers and a writer then don't wait for each other.
    await database.rows("PRAGMA journal_mode = WAL");
    // A kill loses nothing, and a power cut the last rounds at most.
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
    await takeFormer(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return vaultOn(database);
}

/** Takes over what earlier versions kept, which knew errors by their likeness and not by their test. */
async function takeFormer(database: Database): Promise<void> {
  const [former] = await database.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'fix_attempts'");
  if (former === undefined) return;
  await database.write([
    `INSERT OR IGNORE INTO fixes (key, run, test, frame, error_signature, changed, hypothesis, action_taken, success,
         timestamp, cost_tokens, framework, language)
       SELECT key, x'', '', '', error_signature, '[]', hypothesis, action_taken, success, timestamp, cost_tokens,
         framework, language FROM fix_attempts ORDER BY id`,
    "DROP TABLE fix_attempts",
  ]);
}

const vaultOn = (database: Database): Vault => ({
  async add(fixes) {
    if (fixes.length === 0) return;
    await database.write([
      ...fixes.map((fix) => ({
        sql: `INSERT OR IGNORE INTO fixes (key, run, test, frame, error_signature, changed, hypothesis, action_taken,
                success, timestamp, cost_tokens, framework, language) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        args: [
          ...[shortOf(fix.key), shortOf(fix.run), fix.test, fix.frame, fix.error_signature],
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
    const sql = `SELECT ${fields} FROM fixes WHERE success = 1 AND (test = ? OR (frame <> '' AND frame = ?))
                   ORDER BY id DESC LIMIT ${maxLookedAt}`;
    return (await database.rows(sql, [test, frame])).map(fixOf);
  },
  async failedAgain(run, tests) {
    const marks = tests.map(() => "?").join(", ");
    const sql = `UPDATE fixes SET success = 0 WHERE success = 1 AND run = ? AND test IN (${marks})`;
    await database.write([{ sql, args: [shortOf(run), ...tests] }]);
  },
  async list(most) {
    return (await database.rows(`SELECT ${fields} FROM fixes ORDER BY id DESC LIMIT ?`, [most])).map(fixOf);
  },
  async get(id) {
    const [row] = await database.rows(`SELECT ${fields} FROM fixes WHERE id = ?`, [id]);
    return row && fixOf(row);
  },
  async forget(id) {
    return (await database.rows("DELETE FROM fixes WHERE id = ? RETURNING id", [id])).length > 0;
  },
  close: () => database.closeWhole(),
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
