import { closeSync, existsSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder } from "../engine/storage/regular-file.js";
import type { Client, InStatement, InValue, Row, Transaction } from "@libsql/client";
import { machineFault, messageOf } from "../engine/lib/errors.js";
import { packageFile } from "../engine/lib/package-root.js";

/** Milliseconds that a write waits for the write of another process. */
const lockWaitMs = 5_000;
/** Maximum number of attempts on a busy file. Each uses a new connection: one that found the file busy stays broken. */
const maxAttempts = 20;

/** One SQLite file, which several processes may use at the same time. */
export class Database {
  readonly #connect: () => Client;
  #client: Client | undefined;

  private constructor(connect: () => Client) {
    this.#connect = connect;
  }

  /** Opens the file at `path`; creates it and its folder if they are missing. */
  static async at(path: string): Promise<Database> {
    const { createClient } = loadLibrary();
    makeFolder(dirname(path), 0o700);
    // Only its user may read it. The database gives its additional files the same mode.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    return new Database(() => createClient({ url: `file:${path}`, timeout: lockWaitMs }));
  }

  async rows(sql: string, args: readonly InValue[] = []): Promise<readonly Row[]> {
    return await this.#retryWhileBusy(async (client) => (await client.execute({ sql, args: [...args] })).rows);
  }

  async write(statements: readonly InStatement[]): Promise<void> {
    await this.#retryWhileBusy(async (client) => void (await client.batch([...statements], "write")));
  }

  async transact<Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value> {
    return await this.#retryWhileBusy(async (client) => {
      const transaction = await client.transaction("write");
      try {
        const value = await work(transaction);
        await transaction.commit();
        return value;
      } finally {
        transaction.close();
      }
    });
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  /**
   * Closes the database and removes its additional files, such as the write-ahead log, unless another process has it
   * open. After `close` these files would remain until the connection is garbage-collected.
   */
  async closeToOneFile(): Promise<void> {
    try {
      await this.#client?.execute("PRAGMA busy_timeout = 0");
      await this.#client?.execute("PRAGMA journal_mode = DELETE");
    } catch {
      // Another process has it open; the last process removes the additional files.
    }
    this.close();
  }

  /** Runs `work`. If the file is busy, runs it again on a new connection. */
  async #retryWhileBusy<Value>(work: (client: Client) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      this.#client ??= this.#connect();
      try {
        return await work(this.#client);
      } catch (error) {
        if (attempt >= maxAttempts || !isBusy(error)) throw error;
        this.close();
        await sleep(10 * attempt);
      }
    }
  }
}

const isBusy = (error: unknown): boolean =>
  /SQLITE_BUSY|SQLITE_LOCKED|database is locked|statements in progress/i.test(messageOf(error));

/**
 * Loads the library, which needs a package of its own for each system. It is not imported, because Node 20 ends the
 * process if that package is missing, even if the error is caught.
 */
function loadLibrary(): typeof import("@libsql/client") {
  try {
    return createRequire(packageFile("package.json"))("@libsql/client") as typeof import("@libsql/client");
  } catch (error) {
    throw new Error(machineFault(error)?.replace(/\.$/, "") ?? messageOf(error), { cause: error });
  }
}
