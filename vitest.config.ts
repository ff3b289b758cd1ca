import { defineConfig } from "vitest/config";
import { needOwnProcess } from "./tests/support/own-process.js";

/** What the two groups of test files have in common. */
const rules = {
  include: ["tests/**/*.test.ts"],
  exclude: ["tests/system/**", "tests/page/**", "node_modules/**"],
  setupFiles: ["tests/support/cpu-setup.ts", "tests/support/reader-program.ts"],
  // A tenth of the cases that `npm run test:system` tries.
  // People read local times.
  env: { RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "150", TZ: "UTC" },
  testTimeout: 180_000,
  hookTimeout: 180_000,
};

/**
 * `npm test`: every rule, in process. What drives real processes for long is in vitest.system.config.ts. Test files share
 * a process on each core, as starting one and loading the sources again costs 0.3 CPU seconds a file.
 */
export default defineConfig({
  test: {
    name: "unit",
    globalSetup: ["tests/support/own-temp-folder.ts", "tests/support/count-cpu.ts"],
    maxWorkers: 2,
    projects: [
      { test: { ...rules, name: "shared", isolate: false, exclude: [...rules.exclude, ...needOwnProcess] } },
      { test: { ...rules, name: "alone", include: [...needOwnProcess] } },
    ],
  },
});
