import { defineConfig } from "vitest/config";

/** The property tests of `npm test` with many more cases: RR_FUZZ_CASES=100000. */
export default defineConfig({
  test: {
    include: ["tests/fuzz/**/*.test.ts"],
    env: { RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "100000" },
    testTimeout: 6 * 60 * 60_000,
    maxWorkers: 2,
  },
});
