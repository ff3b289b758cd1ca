import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";

const src = packageFile("src");

/** The files of src/ that one loads, itself included; types are not loaded. `later`: what `import()` loads as well. */
function closureOf(file: string, later: boolean, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(src, file), "utf8");
  const atOnce = /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)\.js";/gm;
  const all = [...text.matchAll(atOnce), ...(later ? text.matchAll(/\bimport\("(\.[^"]+)\.js"\)/g) : [])];
  for (const [, other = ""] of all) closureOf(relative(src, join(src, dirname(file), `${other}.ts`)), later, found);
  return found;
}

test("the loop that others import has 17 to 30 files, and loads agents with the first one that is opened", () => {
  const files = [...closureOf("loop.ts", false)];
  expect(files).toContain("engine/loop/run-loop.ts");
  expect(files.length).toBeGreaterThanOrEqual(17);
  expect(files.length).toBeLessThanOrEqual(30);
  expect(files.filter((file) => !/^loop\.ts$|^engine\/(?:lib|loop|ui)\//.test(file))).toEqual([]);
});

test("the loop that others import never reaches papers, tasks, the network or files of a state, agents included", () => {
  const files = [...closureOf("loop.ts", true)];
  expect(files).toContain("engine/agents/claude/claude.ts");
  expect(files).toContain("engine/sandbox/docker.ts");
  expect(
    files.filter((file) => !/^loop\.ts$|^engine\//.test(file) || file.startsWith("engine/storage/state/")),
  ).toEqual([]);
});
