// Clocks and child processes of the benchmarks.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
/** What is measured: this folder's build, or the one that BENCH_DIST names. */
export const dist = process.env.BENCH_DIST ?? join(root, "dist");
export const cli = join(dist, "cli.js");

/** `run.mjs --rehearse` runs every row once with its smallest sizes: not for the numbers, but to see that it runs. */
const isRehearsal = process.argv.includes("--rehearse");
/** How often something is measured, and how much of it is made; in a rehearsal once, and `small`. */
export const rounds = (times) => (isRehearsal ? 1 : times);
export const size = (normal, small) => (isRehearsal ? small : normal);

/** Why a row can't be measured here although nothing is wrong with it: data, a program or a service is absent. */
export class Absent extends Error {}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

export const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const thousands = (value) => Math.round(value).toLocaleString("en");

/**
 * Runs a program to its end. Resolves with its exit code, output and wall time in milliseconds; rejects when it does
 * not start.
 */
export function run(command, args, options = {}) {
  const started = performance.now();
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
  const out = [];
  const err = [];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => err.push(chunk));
  child.stdin.on("error", () => {}); // A program may end before it has read everything.
  child.stdin.end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const took = performance.now() - started;
      resolve({ code, took, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}

/** As `run`, but any exit code outside `codes` is an error with the end of what the program said. */
export async function mustRun(command, args, options = {}, codes = [0]) {
  const result = await run(command, args, options);
  if (!codes.includes(result.code))
    throw new Error(`exit ${result.code}: ${(result.stderr || result.stdout).trim().split("\n").at(-1)}`);
  return result;
}

/**
 * Median milliseconds of each of `tasks` over `times` rounds, one after the other in each round so that the machine's
 * moods hit all alike.
 */
export async function interleaved(times, tasks) {
  const taken = tasks.map(() => []);
  for (let round = 0; round < rounds(times); round++) {
    for (const [index, task] of tasks.entries()) taken[index].push((await task()).took);
  }
  return taken.map(median);
}

/** Calls `use` with a fresh folder that is gone afterwards. */
export async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
