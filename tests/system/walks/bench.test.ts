import { basename, join } from "node:path";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { run, sharedPackage } from "../../support/processes/built.js";

/** Rows that take a minute each however small they are made, and one that installs from the registry. */
const left = ["arxiv-feed", "crash", "discovery-time", "endurance", "fleet", "growth", "update", "install"];

/** The others; a file of rows/ is named as its row. */
const names = fastGlob
  .sync("rows/**/*.mjs", { cwd: packageFile("bench") })
  .map((path) => basename(path, ".mjs"))
  .filter((name) => !left.includes(name));

// They wait more than they work.
test.concurrent.each(names)(
  "the row '%s' of the benchmark runs with its smallest sizes, or says what it lacks",
  async (name) => {
    const built = await sharedPackage();
    const env = { BENCH_DIST: join(built, "dist"), HOME: join(built, "..", "home-of-bench") };
    const args = [packageFile("bench/run.mjs"), "--rehearse", name];
    const { code, out, err } = await run(process.execPath, args, packageFile("."), env);
    expect(out + err).not.toContain("| broken: ");
    expect(out.split("\n").filter((line) => line.startsWith("| "))).toHaveLength(3);
    expect(code).toBe(0);
  },
);
