import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../../../scripts/bundle.mjs";
import { lexicalEmbedder } from "../../../src/memory/embedder.js";
import { longTermIndex, openMemory } from "../../../src/memory/memory.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";

let folder: string;
beforeAll(async () => {
  // Within the package, so that the writers find its packages.
  mkdirSync(packageFile(".build"), { recursive: true });
  folder = mkdtempSync(packageFile(".build", "memory-"));
  const input = { memory: packageFile("src/memory/memory.ts"), embedder: packageFile("src/memory/embedder.ts") };
  await bundle({ input, outDir: join(folder, "built") });
  writeFileSync(
    join(folder, "writer.mjs"),
    `const { openMemory } = await import("./built/memory.js");
const { lexicalEmbedder } = await import("./built/embedder.js");
const [path, name, count] = process.argv.slice(2);
const memory = await openMemory(path, lexicalEmbedder);
if (typeof memory === "string") throw new Error(memory);
for (let at = 0; at < Number(count); at += 1) {
  const added = await memory.add("long_term_memory", [{ content: name + " wrote entry " + at }]);
  if ("problem" in added) throw new Error(added.problem);
  console.log(at);
}
await memory.close();`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writer = (path: string, name: string, count: number) =>
  spawn(process.execPath, [join(folder, "writer.mjs"), path, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });

/** Numbers that a writer says it has written, and its exit code. */
async function watched(child: ReturnType<typeof writer>): Promise<{ said: number; code: number | null }> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { said: text.split("\n").filter((line) => line !== "").length, code };
}

const chunksAt = async (path: string) => {
  const memory = await openMemory(path, lexicalEmbedder);
  if (typeof memory === "string") throw new Error(memory);
  const stats = (await memory.indices()).find(({ name }) => name === longTermIndex);
  const found = await memory.search("entry", 5);
  await memory.close();
  return { chunks: stats?.chunks ?? 0, found: found.length };
};

test("three processes write a thousand entries each, and none is lost", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "memory-")), "memory.db");
  const ended = await Promise.all(["one", "two", "three"].map((name) => watched(writer(path, name, 1000))));
  expect(ended).toEqual([1, 2, 3].map(() => ({ said: 1000, code: 0 })));
  expect((await chunksAt(path)).chunks).toBe(3000);
});

test("a process that is killed while it writes leaves a whole memory with all that it had said", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "memory-")), "memory.db");
  let said = 0;
  for (let round = 0; round < 15; round += 1) {
    const child = writer(path, `round ${round}`, 1000);
    const watching = watched(child);
    // After so many entries, at a random instant of the next ones.
    await new Promise<void>((resolve) => {
      let lines = 0;
      child.stdout?.on("data", (chunk: Buffer) => {
        lines += chunk.toString().split("\n").length - 1;
        if (lines >= 3) setTimeout(resolve, Math.random() * 40);
      });
    });
    child.kill("SIGKILL");
    said += (await watching).said;
    const { chunks } = await chunksAt(path);
    // One more may be written and not yet said, in each round.
    expect(chunks).toBeGreaterThanOrEqual(said);
    expect(chunks).toBeLessThanOrEqual(said + round + 1);
  }
});
