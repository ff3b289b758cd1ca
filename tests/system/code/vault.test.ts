import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openVault } from "../../../src/code/vault/vault.js";
import { compileEntries } from "../../support/processes/compiled.js";

let programs: string;
let folder: string;
beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), "vault-programs-"));
  const dist = await compileEntries(programs, { vault: "src/code/vault/vault.ts" });
  writeFileSync(
    join(dist, "writer.js"),
    `import { openVault } from "./vault.js";
const [folder, name, rounds] = process.argv.slice(2);
for (let round = 1; round <= Number(rounds); round += 1) {
  const vault = await openVault(folder, (message) => process.stderr.write(message));
  if (typeof vault === "string") throw new Error(vault);
  const fix = (half) => ({
    key: name + "/" + round + "/" + half, run: name, test: "t", frame: "", changed: [], error_signature: "runtime: Error of " + name + " " + round, success: true,
    hypothesis: "h".repeat(500), action_taken: name + " " + round + " " + half, cost_tokens: 1,
    timestamp: "2026-01-01T00:00:00.000Z", framework: "vitest", language: "javascript",
  });
  await vault.add([fix("a"), fix("b")]);
  await vault.close();
  process.stdout.write(round + "\\n");
}
`,
  );
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(programs, "project-"));
  mkdirSync(join(folder, ".ralph"));
});

/** A process that writes two entries a round, and what it said: the number of each round that is written. */
function writer(
  name: string,
  rounds: number,
): { child: ChildProcess; done: Promise<{ code: number | null; said: number[]; err: string }> } {
  const child = spawn(process.execPath, [join(programs, "dist/writer.js"), folder, name, String(rounds)]);
  let [out, err] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (err += data.toString()));
  const done = new Promise<{ code: number | null; said: number[]; err: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, said: out.split("\n").filter(Boolean).map(Number), err }));
  });
  return { child, done };
}

const written = async (): Promise<string[]> => {
  const warnings: string[] = [];
  const vault = await openVault(folder, (message) => warnings.push(message));
  if (typeof vault === "string") throw new Error(vault);
  const all = await vault.list(10_000);
  await vault.close();
  expect(warnings).toEqual([]);
  return all.map(({ action_taken }) => action_taken);
};

describe("the memory of fixes on the disk", () => {
  it("loses nothing that was written to a kill in the middle of a write, and keeps no half of a round", async () => {
    let kept = 0;
    for (let kill = 0; kill < 12; kill += 1) {
      const { child, done } = writer(`run${kill}`, 100_000);
      await new Promise((resolve) => child.stdout?.once("data", resolve));
      await new Promise((resolve) => setTimeout(resolve, 5 + ((kill * 37) % 60)));
      child.kill("SIGKILL");
      const { said, err } = await done;
      expect(err).toBe("");
      const all = await written();
      for (const round of said) for (const half of ["a", "b"]) expect(all).toContain(`run${kill} ${round} ${half}`);
      expect(all.length % 2).toBe(0);
      expect(all.length).toBeGreaterThan(kept);
      kept = all.length;
    }
    expect(readdirSync(join(folder, ".ralph")).some((name) => name.includes("broken"))).toBe(false);
  });

  it("takes what two processes write at once", async () => {
    const both = await Promise.all([writer("one", 40).done, writer("two", 40).done]);
    expect(both.map(({ code, err }) => [code, err])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    const all = await written();
    expect(new Set(all).size).toBe(160);
  });
});
