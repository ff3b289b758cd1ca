import { defineConfig } from "vitest/config";
import { deadlines } from "./tests/support/runner/deadlines.js";

/** The kills of `npm test`, many more of them: RR_KILLS=1000, two researches at a time (RR_LANES). RR_SEED repeats a run's random numbers. */
export default defineConfig({
  test: {
    include: ["tests/system/crash/**/*.test.ts"],
    globalSetup: ["tests/support/runner/own-temp-folder.ts"],
    setupFiles: ["tests/support/runner/reader-program.ts", "tests/support/runner/loopback-only.ts"],
    // Tests write the settings that they run by.
    env: {
      RR_KILLS: process.env.RR_KILLS ?? "1000",
      RR_LANES: process.env.RR_LANES ?? "2",
      RESEARCH_RALPH_TRUST: "true",
      RESEARCH_RALPH_CHECK: "false",
    },
    ...deadlines,
    testTimeout: 6 * 60 * 60_000,
  },
});
