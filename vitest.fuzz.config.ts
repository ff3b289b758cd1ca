import { defineConfig } from "vitest/config";

const seed = process.env.RR_SEED ?? String(Math.floor(Math.random() * 2 ** 31));
console.log(`RR_SEED=${seed} repeats these cases.`);

/** The property tests of `npm test` with many more cases (RR_FUZZ_CASES=100000), and others in each run (RR_SEED). RR_REPORT: a file for their counts. */
export default defineConfig({
  test: {
    include: ["tests/fuzz/**/*.test.ts"],
    globalSetup: ["tests/support/runner/own-temp-folder.ts"],
    setupFiles: ["tests/support/runner/reader-program.ts"],
    env: { RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "100000", RR_SEED: seed },
    testTimeout: 6 * 60 * 60_000,
    maxWorkers: 2,
  },
});
