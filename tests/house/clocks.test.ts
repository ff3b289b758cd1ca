import { readFileSync } from "node:fs";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";

/** All tests, benches and scripts that find `end` in their text, or what `end` finds there. */
async function found(end: (text: string) => boolean): Promise<string[]> {
  const files = await fastGlob(["{tests,bench,scripts,.ci}/**/*.{ts,mjs}", "vitest*.ts"], {
    cwd: packageFile("."),
    dot: true,
    ignore: ["tests/house/clocks.test.ts"],
  });
  return files.filter((file) => end(readFileSync(packageFile(file), "utf8"))).toSorted();
}

/** A wait that ends by a clock of its own, `vi.waitFor` after a second where nothing is said; a deadline of one test. */
const ownDeadline = /\.poll\([^;]*\btimeout:|\bvi\.wait(?:For|Until)\(|\.waitFor\([^;]*\btimeout:|^\}, [\d_]+\);$/m;

test("no test waits by a deadline of its own, as a busy machine would fail it; vitest's configurations have one for all", async () => {
  for (const wait of [
    "expect.poll(read, { timeout: 1 })",
    "vi.waitFor(read)",
    'page.waitFor({ state: "", timeout: 9 })',
    "beforeAll(async () => {\n  await build();\n}, 180_000);",
  ])
    expect(wait).toMatch(ownDeadline);

  expect(await found((text) => ownDeadline.test(text))).toEqual([]);
});

/** What says how late it is, or how much CPU was used. */
const clock = /\b(?:(?:performance|Date)\.now|process\.(?:hrtime(?:\.bigint)?|cpuUsage|resourceUsage)|cpuOf)\(/;
/** A name or a pattern of names, and what it is set to. */
const set = /(?:\b(?:const|let)\s+|^\s*)(\w+|\{[^}=]*\}|\[[^\]=]*\])\s*(?:\?\?|\+|-)?=\s*([^=>;][^;]*);/gm;
/** A line that may end a test or a program: what is expected to be more or less, and a condition before a failure. */
const ends =
  /\bexpect\([^;]*\)\s*\.(?:not\.)?toBe(?:Less|Greater|Close)\w+\([^;]*;|\bif \([^;{}]*[<>][^;{}]*\)\s*\{?[^;]*(?:\bthrow\b|\bexit\(|\bexitCode = )[^;]*;|\b(?:exitCode = |exit\()[^;]*[<>][^;]*;|\bassert[.\w]*\([^;]*[<>][^;]*;/gm;

/**
 * The ends of a file by how long something took: by a difference of two times of a clock, or by CPU time. An instant that
 * is held to lie between two others is none.
 */
function endsByClock(text: string): string[] {
  const measured = new Set<string>();
  const uses = (part: string): boolean =>
    (clock.test(part) && /cpuUsage|resourceUsage|cpuOf|[)\w] - /.test(part)) ||
    [...measured].some((name) => new RegExp(`\\b${name}\\b`).test(part));
  // Twice, as a name may be set further down than where it is read.
  for (let round = 0; round < 2; round += 1)
    for (const [, names = "", value = ""] of text.matchAll(set))
      if (uses(value) && !/=>|\bfunction\b/.test(value))
        for (const [name] of names.replaceAll(/\w+:/g, "").matchAll(/\w+/g)) measured.add(name);
  return [...text.matchAll(ends)].map(([end]) => end).filter(uses);
}

test("no test, bench or script fails by how long something took, as machines differ; that is printed", async () => {
  for (const end of [
    "const from = performance.now();\nwork();\nexpect(performance.now() - from).toBeLessThan(500);",
    "const took = Date.now() - from;\nexpect(took / 1000).toBeLessThan(5);",
    "const { user, system } = process.cpuUsage(begun);\nconst ms = (user + system) / 1000;\nif (ms > 400) process.exitCode = 1;",
    "const [bare, ours] = [await cpuOf(a), await cpuOf(b)];\nif (ours > 3 * bare) {\n  throw new Error('slow');\n}",
    "process.exit(performance.now() - from > limit ? 1 : 0);",
  ])
    expect(endsByClock(end), end).not.toEqual([]);
  for (const none of [
    "const before = Date.now();\nexpect(instant).toBeGreaterThanOrEqual(before);\nexpect(instant).toBeLessThanOrEqual(Date.now());",
    "const took = performance.now() - from;\nconsole.log(`${took} ms`);",
  ])
    expect(endsByClock(none), none).toEqual([]);

  expect(await found((text) => endsByClock(text).length > 0)).toEqual([]);
});
