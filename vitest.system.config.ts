import { defineConfig } from "vitest/config";
import { deadlines } from "./tests/support/runner/deadlines.js";
import { needOwnProcess } from "./tests/support/runner/own-process.js";

/**
 * `npm run test:system`: what drives real processes, from the built command to kills, hostile agents and full disks, all cases of the
 * property tests, and what needs a process of its own. The real agent CLIs have a run of their own, vitest.e2e.config.ts, as they must be installed first.
 */
export default defineConfig({
  test: {
    name: "system",
    include: ["tests/system/**/*.test.ts", "tests/fuzz/**/*.test.ts", "tests/**/*.property.test.ts", ...needOwnProcess],
    exclude: ["tests/system/real-agents/**", "node_modules/**"],
    globalSetup: [
      "tests/support/runner/own-temp-folder.ts",
      "tests/support/processes/install-bubblewrap.ts",
      "tests/support/runner/count-cpu.ts",
    ],
    setupFiles: [
      "tests/support/runner/cpu-setup.ts",
      "tests/support/runner/reader-program.ts",
      "tests/support/runner/loopback-only.ts",
    ],
    // Tests write the settings that they run by; those of trust take this away.
    env: {
      RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "1500",
      RESEARCH_RALPH_TRUST: "true",
      RESEARCH_RALPH_CHECK: "false",
    },
    ...deadlines,
    maxWorkers: 2,
  },
});
