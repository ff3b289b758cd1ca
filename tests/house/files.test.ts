import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the lockfile carries no download addresses", () => {
  expect(read("package-lock.json")).not.toMatch(/"resolved"|https?:\/\/[^"]*\.tgz/);
});

test("dependencies are pinned to exact versions", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;

  expect(
    Object.values({ ...dependencies, ...devDependencies }).filter((version) => !/^\d+\.\d+\.\d+$/.test(version)),
  ).toEqual([]);
});

// That the generated pages are fresh too is a step of `npm run check`: they are made with the built command.
test("generated types and validators are fresh", async () => {
  await execa(process.execPath, ["scripts/generate-types.mjs", "--check"], { cwd: root });
  await execa(process.execPath, ["scripts/generate-validators.mjs", "--check"], { cwd: root });
});
