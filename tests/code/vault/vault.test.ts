import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { fixesIn } from "../../../src/code/vault/fixes.js";
import { type NewFix, openVault, requireKnownVault, type Vault } from "../../../src/code/vault/vault.js";
import { Database } from "../../../src/memory/database.js";
import { type Embedder, embeddingService, lexical } from "../../../src/memory/embedder.js";

const listening = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vault-"));
  mkdirSync(join(folder, ".ralph"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = async (embedder: Embedder = lexical): Promise<Vault> => {
  const vault = await openVault(folder, embedder, () => undefined);
  if (typeof vault === "string") throw new Error(vault);
  return vault;
};

const fix = (key: string, error_signature: string, success = true): NewFix => ({
  ...{ key, error_signature, success, hypothesis: `why ${key}`, action_taken: `did ${key}`, cost_tokens: 10 },
  ...{ timestamp: "2026-01-01T00:00:00.000Z", framework: "vitest", language: "javascript" },
});

const missing = "runtime: TypeError: Cannot read properties of undefined (reading <value>) @ src/user.ts";
const timeout = "timeout: Test timed out in <n>ms @ src/queue.ts";

describe("the memory of fixes", () => {
  it("finds what helped against errors that are alike, the nearest first, and nothing that failed", async () => {
    const vault = await opened();
    await vault.add([fix("a", missing), fix("b", timeout), fix("c", missing, false)]);
    const like = "runtime: TypeError: Cannot read properties of null (reading <value>) @ src/account.ts";
    const found = await vault.similar([like], 5);
    await vault.close();
    expect(found.map(({ action_taken }) => action_taken)).toEqual(["did a"]);
    expect(found[0]?.similarity).toBeGreaterThan(0.7);
  });

  it("keeps an entry once, however often it is written", async () => {
    const vault = await opened();
    await vault.add([fix("a", missing)]);
    await vault.add([fix("a", missing), fix("b", timeout)]);
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
    await database.closeWhole();
    const before = readFileSync(path);
    const refused = expect.objectContaining({
      exitCode: 5,
      message: expect.stringMatching(
        new RegExp(`memory\\.db was written in format ${stateVersion + 1} .*update research-ralph`),
      ),
    });
    await expect(requireKnownVault(folder)).rejects.toEqual(refused);
    await expect(openVault(folder, lexical, () => undefined)).rejects.toEqual(refused);
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
    await vault.add([fix("a", missing)]);
    await vault.similar([missing], 5);
    await vault.close();
    expect(readdirSync(join(folder, ".ralph"))).toEqual(["memory.db"]);
    const [one, other] = [await opened(), await opened()];
    await one.add([fix("b", missing)]);
    await one.close();
    expect(await other.list(5)).toHaveLength(2);
    await other.close();
    expect(await (await opened()).list(5)).toHaveLength(2);
  });

  it("takes entries of several processes at once", async () => {
    const vaults = await Promise.all([opened(), opened(), opened(), opened()]);
    await Promise.all(
      vaults.flatMap((vault, at) =>
        Array.from({ length: 10 }, (_, n) => vault.add([fix(`${at}-${n}`, `${missing} ${n}`)])),
      ),
    );
    const all = await vaults[0]?.list(100);
    for (const vault of vaults) await vault.close();
    expect(all).toHaveLength(40);
  });

  it("gives entries of another embedder new vectors, of another dimension too", async () => {
    const first = await opened();
    await first.add([fix("a", missing)]);
    await first.close();
    const short: Embedder = { model: "short", embed: async (texts) => texts.map(() => Float32Array.of(1, 0, 0)) };
    const second = await opened(short);
    expect(await second.similar(["anything"], 5)).toHaveLength(1);
    await second.close();
    const third = await opened();
    expect(await third.similar([missing], 5)).toHaveLength(1);
    await third.close();
  });

  it("sets a broken file aside and goes on with a new one", async () => {
    writeFileSync(
      join(folder, ".ralph/memory.db"),
      "this is no database at all, but long enough to be looked at\n".repeat(20),
    );
    const warnings: string[] = [];
    const fixes = fixesIn(
      folder,
      lexical,
      () => 0,
      (message) => warnings.push(message),
    );
    expect(await fixes.recall([missing])).toBe("");
    await fixes.keep(
      "run",
      { id: "round-1", round: 1, steps: [], hypothesis: "h", action_taken: "added a check" },
      { signatures: [{ signature: missing, success: true }], tokens: 5 },
      "vitest",
    );
    expect(await fixes.recall([missing])).toContain("added a check");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/was broken; it is kept as .*memory\.db\.broken-\d+, and a new one is begun/);
    expect(readdirSync(join(folder, ".ralph")).some((name) => name.startsWith("memory.db.broken-"))).toBe(true);
  });

  it("takes a service's vectors, makes those of another dimension anew, and goes on where it does not answer", async () => {
    const asked: { readonly model: string; readonly input: readonly string[]; readonly key: string | undefined }[] = [];
    let [dimension, isDown] = [4, false];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (data: Buffer) => (body += data.toString()));
      request.on("end", () => {
        const { model, input } = JSON.parse(body) as { model: string; input: string[] };
        asked.push({ model, input, key: request.headers.authorization });
        const embedding = (text: string) => Array.from({ length: dimension }, (_, at) => (text.length % (at + 3)) + 1);
        const data = input.map((text) => ({ embedding: embedding(text) }));
        response.writeHead(isDown ? 503 : 200).end(JSON.stringify({ data }));
      });
    });
    const url = `http://127.0.0.1:${await listening(server)}/v1/embeddings`;
    const service = embeddingService({ url, model: "all-MiniLM-L6-v2", key: "k", fetch });
    const warnings: string[] = [];
    const fixes = fixesIn(
      folder,
      service,
      () => 0,
      (message) => warnings.push(message),
    );
    const round = { id: "round-1", round: 1, steps: [], hypothesis: "h", action_taken: "added a check" };
    await fixes.keep("run", round, { signatures: [{ signature: missing, success: true }], tokens: 5 }, "vitest");
    expect(await fixes.recall([missing])).toContain("added a check");
    expect(asked[0]).toEqual({ model: "all-MiniLM-L6-v2", input: [missing], key: "Bearer k" });
    dimension = 7;
    const before = asked.length;
    expect(await fixes.recall([missing])).toContain("added a check");
    expect(asked.length - before).toBe(2);
    // Who only lists them asks nobody, and leaves the vectors as they are.
    const vault = await opened();
    expect(await vault.list(5)).toHaveLength(1);
    await vault.close();
    expect(await fixes.recall([missing])).toContain("added a check");
    expect(asked.length - before).toBe(3);
    isDown = true;
    expect(await fixes.recall([missing])).toBe("");
    expect(warnings).toEqual([expect.stringMatching(/HTTP 503.*the run goes on without it/)]);
    await new Promise((resolve) => server.close(resolve));
  });

  it("goes on without a memory where there can't be one, and says so once", async () => {
    rmSync(join(folder, ".ralph"), { recursive: true });
    writeFileSync(join(folder, ".ralph"), "a file");
    const warnings: string[] = [];
    const fixes = fixesIn(
      folder,
      lexical,
      () => 0,
      (message) => warnings.push(message),
    );
    expect([await fixes.recall([missing]), await fixes.recall([timeout])]).toEqual(["", ""]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("goes on without");
  });

  it("keeps a thousand entries within 600 KB, and finds each by its own error", async () => {
    const vault = await opened();
    const words = ["user", "order", "cart", "price", "token", "socket", "parser", "cache", "route", "worker"];
    const all = Array.from({ length: 1_000 }, (_, at) => {
      const word = (shift: number) => words[Math.floor(at / 10 ** shift) % 10] ?? "";
      return fix(
        `k${at}`,
        `runtime: Error: ${word(0)} of ${word(1)} is not a ${word(2)} @ src/${word(0)}-${word(2)}.ts`,
      );
    });
    await vault.add(all);
    let hits = 0;
    for (let at = 0; at < 1_000; at += 50) {
      const found = await vault.similar([all[at]?.error_signature ?? ""], 5);
      if (found.some(({ action_taken }) => action_taken === `did k${at}`)) hits += 1;
    }
    await vault.close();
    const database = await Database.at(join(folder, ".ralph/memory.db"));
    await database.rows("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    expect(hits).toBe(20);
    expect(statSync(join(folder, ".ralph/memory.db")).size).toBeLessThan(600_000);
  });
});
