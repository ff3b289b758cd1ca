import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const groups = JSON.parse(readFileSync(new URL("tests/mutation-groups.json", import.meta.url), "utf8")) as Record<
  string,
  { tests: string[] }
>;
const name = process.env.RR_GROUP;

/**
 * The tests that mutants are tried against: those that run in this process, as a mutant is switched on here and not in a child.
 * RR_GROUP names a group of tests/mutation-groups.json; all by default.
 */
export default defineConfig({
  test: {
    include: Object.entries(groups).flatMap(([group, { tests }]) =>
      name === undefined || name === group ? tests : [],
    ),
    globalSetup: ["tests/support/runner/own-temp-folder.ts"],
    setupFiles: ["tests/support/runner/reader-program.ts"],
    testTimeout: 60_000,
  },
});
