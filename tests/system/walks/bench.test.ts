import { basename, join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { run, sharedPackage } from "../../support/processes/built.js";

/** Rows that take a minute each however small they are made. */
const long = new Set(["arxiv-feed", "crash", "discovery-time", "endurance", "fleet", "growth", "update"]);

/** The others; a file of rows/ is named as its row. */
const names = fastGlob
  .sync("rows/**/*.mjs", { cwd: packageFile("bench") })
  .map((path) => basename(path, ".mjs"))
  .filter((name) => !long.has(name));

test.each(names)("the row '%s' of the benchmark runs with its smallest sizes, or says what it lacks", async (name) => {
  const env = { BENCH_DIST: join(await sharedPackage(), "dist") };
  const args = [packageFile("bench/run.mjs"), "--rehearse", name];
  const { code, out, err } = await run(process.execPath, args, packageFile("."), env);
  expect(out + err).not.toContain("| broken: ");
  expect(out.split("\n").filter((line) => line.startsWith("| "))).toHaveLength(3);
  expect(code).toBe(0);
});
