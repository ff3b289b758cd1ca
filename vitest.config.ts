import { defineConfig } from "vitest/config";

/** `npm test`: every rule, in process. What drives real processes for long is in vitest.system.config.ts. */
export default defineConfig({
  test: {
    name: "unit",
    include: ["tests/**/*.test.ts"],
    exclude: ["tests/system/**", "tests/page/**", "node_modules/**"],
    globalSetup: ["tests/support/own-temp-folder.ts", "tests/support/count-cpu.ts"],
    setupFiles: ["tests/support/cpu-setup.ts", "tests/support/reader-program.ts"],
    // A tenth of the cases that `npm run test:system` tries.
    // People read local times.
    env: { RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "150", TZ: "UTC" },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
  },
});
