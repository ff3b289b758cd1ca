import { defineConfig } from "vitest/config";
import { deadlines } from "./tests/support/runner/deadlines.js";

/** The real agent CLIs, installed into .e2e/, against a scripted model server on 127.0.0.1. */
export default defineConfig({
  test: {
    include: ["tests/system/real-agents/**/*.test.ts"],
    globalSetup: [
      "tests/support/runner/own-temp-folder.ts",
      "tests/support/processes/install-bubblewrap.ts",
      "tests/system/real-agents/support/install.ts",
    ],
    // Eight CLIs at once on two cores take 3-5 s each; one file after the other keeps the clocks of the tests honest.
    fileParallelism: false,
    // Tests write the settings that they run by.
    env: { RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" },
    ...deadlines,
  },
});
