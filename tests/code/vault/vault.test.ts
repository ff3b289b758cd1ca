import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { type NewFix, openVault, requireKnownVault, type Vault } from "../../../src/code/vault/vault.js";
import { Database } from "../../../src/memory/database.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vault-"));
  mkdirSync(join(folder, ".ralph"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = async (): Promise<Vault> => {
  const vault = await openVault(folder, () => undefined);
  if (typeof vault === "string") throw new Error(vault);
  return vault;
};

const fix = (key: string, test: string, success = true): NewFix => ({
  key,
  run: "run",
  test,
  frame: "",
  error_signature: `logic: ${test}`,
  changed: [],
  success,
  hypothesis: `why ${key}`,
  action_taken: `did ${key}`,
  cost_tokens: 10,
  timestamp: "2026-01-01T00:00:00.000Z",
  framework: "vitest",
  language: "javascript",
});

describe("the memory of fixes", () => {
  it("finds by test or frame what helped, the newest first, and nothing that failed", async () => {
    const vault = await opened();
    const framed = { ...fix("d", "other"), frame: "src/a.ts#f" };
    await vault.add([fix("a", "adds"), fix("b", "waits"), fix("c", "adds", false), framed]);
    const [byTest, byBoth] = [await vault.helped("adds", ""), await vault.helped("adds", "src/a.ts#f")];
    await vault.close();
    expect(byTest.map(({ action_taken }) => action_taken)).toEqual(["did a"]);
    expect(byBoth.map(({ action_taken }) => action_taken)).toEqual(["did d", "did a"]);
  });

  it("keeps an entry once, however often it is written", async () => {
    const vault = await opened();
    await vault.add([fix("a", "adds")]);
    await vault.add([fix("a", "adds"), fix("b", "waits")]);
    expect(await vault.list(10)).toHaveLength(2);
    expect(await vault.forget(1)).toBe(true);
    expect(await vault.forget(1)).toBe(false);
    expect((await vault.list(10)).map(({ action_taken }) => action_taken)).toEqual(["did b"]);
    await vault.close();
  });

  it("of a later format is neither written nor read, exit 5, and stays as it is", async () => {
    await (await opened()).close();
    await requireKnownVault(folder);
    const path = join(folder, ".ralph", "memory.db");
    const database = await Database.at(path);
    await database.rows(`PRAGMA user_version = ${stateVersion + 1}`);
    await database.closeToOneFile();
    const before = readFileSync(path);
    const refused = expect.objectContaining({
      exitCode: 5,
      message: expect.stringMatching(
        new RegExp(`memory\\.db was written in format ${stateVersion + 1} .*update research-ralph`),
      ),
    });
    await expect(requireKnownVault(folder)).rejects.toEqual(refused);
    await expect(openVault(folder, () => undefined)).rejects.toEqual(refused);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(join(folder, ".ralph"))).toEqual(["memory.db"]);
  });

  it("of this format, or none or a broken one, is no reason to begin nothing", async () => {
    await requireKnownVault(folder);
    expect(readdirSync(join(folder, ".ralph"))).toEqual([]);
    writeFileSync(join(folder, ".ralph", "memory.db"), "no database".repeat(500));
    await requireKnownVault(folder);
  });

  it("is one file once it is closed, so that nothing changes while an agent is at work", async () => {
    const vault = await opened();
    await vault.add([fix("a", "adds")]);
    await vault.helped("adds", "");
    await vault.close();
    expect(readdirSync(join(folder, ".ralph"))).toEqual(["memory.db"]);
    const [one, other] = [await opened(), await opened()];
    await one.add([fix("b", "adds")]);
    await one.close();
    expect(await other.list(5)).toHaveLength(2);
    await other.close();
    expect(await (await opened()).list(5)).toHaveLength(2);
  });

  it("takes entries of several processes at once", async () => {
    const vaults = await Promise.all([opened(), opened(), opened(), opened()]);
    await Promise.all(
      vaults.flatMap((vault, at) => Array.from({ length: 10 }, (_, n) => vault.add([fix(`${at}-${n}`, `adds ${n}`)]))),
    );
    const all = await vaults[0]?.list(100);
    for (const vault of vaults) await vault.close();
    expect(all).toHaveLength(40);
  });

  it("keeps a thousand entries within 600 KB", async () => {
    const vault = await opened();
    const lines = Array.from({ length: 4 }, (_, at) => [`0123456${at}`, at % 2, 1 - (at % 2)] as const);
    await vault.add(
      Array.from({ length: 1_000 }, (_, at) => ({
        ...fix(`k${at}`, `orders of kind ${at} are priced`),
        changed: [{ file: "src/prices.ts", symbol: "priceOf", lines }],
      })),
    );
    expect((await vault.helped("orders of kind 500 are priced", "")).map(({ id }) => id)).toEqual([501]);
    await vault.close();
    expect(statSync(join(folder, ".ralph/memory.db")).size).toBeLessThan(600_000);
  });

  it("takes over what an earlier version kept, and recommends none of it", async () => {
    const database = await Database.at(join(folder, ".ralph/memory.db"));
    await database.write([
      `CREATE TABLE fix_attempts (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE,
         error_signature TEXT NOT NULL, hypothesis TEXT NOT NULL, action_taken TEXT NOT NULL, success INTEGER NOT NULL,
         timestamp TEXT NOT NULL, cost_tokens INTEGER NOT NULL, framework TEXT NOT NULL, language TEXT NOT NULL,
         model TEXT NOT NULL, dimension INTEGER NOT NULL, embedding BLOB NOT NULL)`,
      `INSERT INTO fix_attempts VALUES (7, x'01', 'runtime: no dash', 'h', 'split at dashes', 1, 't', 1, 'vitest', 'javascript', 'm', 1, x'00')`,
    ]);
    await database.closeToOneFile();
    for (const _ of [1, 2]) {
      const vault = await opened();
      expect(await vault.list(5)).toMatchObject([{ test: "", action_taken: "split at dashes", success: true }]);
      await vault.close();
    }
  });
});
