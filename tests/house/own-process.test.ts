import { readFileSync } from "node:fs";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { needOwnProcess } from "../support/own-process.js";

/** What changes the process for the test files after it. */
const changes = /\bvi\.(?:do)?mock\(|\bvi\.resetModules\(|\bcountWork\(|node:inspector|\bprocess\.chdir\(/;

test("a test file that replaces a module or counts work has a process of its own, and no other", async () => {
  const files = await fastGlob(["tests/**/*.test.ts", "!tests/{system,page}/**"], { cwd: packageFile(".") });
  const own = files.filter((file) => changes.test(readFileSync(packageFile(file), "utf8")));

  // This file itself names what it looks for.
  expect(own.filter((file) => file !== "tests/house/own-process.test.ts").sort()).toEqual([...needOwnProcess]);
});

test("cases of property tests are the same in each run, so the shared process is told once which they are", async () => {
  const files = await fastGlob("tests/**/*.ts", { cwd: packageFile(".") });
  const own = files.filter((file) => /from "fast-check"/.test(readFileSync(packageFile(file), "utf8")));

  expect(own.filter((file) => !file.startsWith("tests/house/"))).toEqual(["tests/support/fast-check.ts"]);
});
