import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import fastGlob from "fast-glob";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const linesOf = (path: string) => read(path).trimEnd().split("\n").length;

describe("files stay small enough to read", () => {
  test("no source file has more than 300 lines", async () => {
    const files = await fastGlob("src/**/*.ts", { cwd: root, ignore: ["src/generated/**"] });
    expect(files.length).toBeGreaterThan(0);

    expect(files.filter((file) => linesOf(file) > 300)).toEqual([]);
  });

  test("the loop has fewer than 100 lines", () => {
    expect(linesOf("src/loop/run-loop.ts")).toBeLessThan(100);
  });
});

test("the lockfile carries no download addresses", () => {
  expect(read("package-lock.json")).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/);
});

test("dependencies are pinned to exact versions", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;

  expect(Object.values({ ...dependencies, ...devDependencies }).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("generated types and pages are fresh", async () => {
  await execa(process.execPath, ["scripts/generate-types.mjs", "--check"], { cwd: root });
  await execa(process.execPath, ["scripts/generate-docs.mjs", "--check"], { cwd: root });
});
