import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";
import { needOwnProcess } from "../support/runner/own-process.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the lockfile carries no download addresses", () => {
  expect(read("package-lock.json")).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/);
});

test("the lockfile has the binaries of every platform, as npm ci would otherwise fail on the others", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, unknown> };

  for (const binary of ["@libsql/", "@oxc-parser/binding-", "@oxc-resolver/binding-", "@ast-grep/napi-"])
    for (const platform of ["darwin-arm64", "darwin-x64", "linux-x64-gnu", "linux-x64-musl", "linux-arm64-gnu"])
      expect(packages).toHaveProperty([`node_modules/${binary}${platform}`]);
});

test("dependencies are pinned to exact versions", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;

  expect(
    Object.values({ ...dependencies, ...devDependencies }).filter((version) => !/^\d+\.\d+\.\d+$/.test(version)),
  ).toEqual([]);
});

/** What changes the process for the test files after it. */
const changes = /\bvi\.(?:do)?mock\(|\bvi\.resetModules\(|\bcountWork\(|node:inspector|\bprocess\.chdir\(/;

test("a test file that replaces a module or counts work has a process of its own, and no other", async () => {
  const files = await fastGlob(["tests/**/*.test.ts", "!tests/{system,page}/**"], { cwd: packageFile(".") });
  const own = files.filter((file) => changes.test(readFileSync(packageFile(file), "utf8")));

  // This file itself names what it looks for.
  expect(own.filter((file) => file !== "tests/house/files.test.ts").sort()).toEqual([...needOwnProcess]);
});

test("cases of property tests are the same in each run, so the shared process is told once which they are", async () => {
  const files = await fastGlob("tests/**/*.ts", { cwd: packageFile(".") });
  const own = files.filter((file) => /from "fast-check"/.test(readFileSync(packageFile(file), "utf8")));

  expect(own.filter((file) => !file.startsWith("tests/house/"))).toEqual(["tests/support/runner/fast-check.ts"]);
});

test("what several test files use has no hook outside of its functions, as the first of them alone would carry it out", async () => {
  const shared = ["tests/**/*.ts", "!tests/**/*.test.ts", "!tests/{system,page}/**"];
  // Loaded anew for each file; in tests/system a file has a process of its own.
  const known = ["tests/support/processes/built-cli.ts", "tests/support/runner/cpu-setup.ts"];
  const files = await fastGlob(shared, { cwd: packageFile("."), ignore: known });
  const hooked = files.filter((file) =>
    /^(?:before|after)(?:All|Each)\(/m.test(readFileSync(packageFile(file), "utf8")),
  );

  expect(hooked).toEqual([]);
});
