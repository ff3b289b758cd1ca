import { defineConfig } from "vitest/config";

/**
 * The tests that mutants are tried against: those that run in this process, as a mutant is switched on here and not in a child.
 * Property tests are short, as each of thousands of mutants runs them.
 */
export default defineConfig({
  test: {
    include: ["tests/{loop,store,workflows,agents}/**/*.test.ts", "tests/fuzz/{fold,streams}.test.ts"],
    exclude: [
      "tests/store/{crash,git,lock}.test.ts",
      "tests/workflows/research/classic.test.ts",
      "tests/agents/baseline/**",
      "tests/agents/{definitions,run-agent,registry}.test.ts",
    ],
    env: { RR_FUZZ_CASES: "100" },
    testTimeout: 60_000,
  },
});
