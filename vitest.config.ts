import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { deadlines } from "./tests/support/runner/deadlines.js";
import { needOwnProcess } from "./tests/support/runner/own-process.js";

/** What looks at the sources or tries many cases. CI runs it once, on the Node that is installed; the rest on each. */
const once = "tests/{house,fuzz}/**";
const isOnce = (file: string): boolean => /^tests\/(house|fuzz)\//.test(file);
const elsewhere = ["tests/system/**", "tests/page/**", "node_modules/**"];

/** Test files that share a process on each core, or, in a group "alone", have one each. */
const group = (name: string, include: string[], exclude: readonly string[]): TestProjectInlineConfiguration => ({
  test: {
    ...{ name, include, isolate: name.includes("alone") },
    exclude: [...elsewhere, ...exclude],
    setupFiles: ["tests/support/runner/cpu-setup.ts", "tests/support/runner/reader-program.ts"],
    env: {
      // A tenth of the cases that `npm run test:system` tries.
      RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "150",
      // Times are shown as local ones; tests compare them as text.
      TZ: "UTC",
    },
    ...deadlines,
  },
});

/**
 * `npm test`: every rule, in process. What drives real processes for long is in vitest.system.config.ts. Test files share
 * processes, as starting one and loading the sources again costs 0.3 CPU seconds a file.
 */
export default defineConfig({
  test: {
    name: "unit",
    globalSetup: ["tests/support/runner/own-temp-folder.ts", "tests/support/runner/count-cpu.ts"],
    // One more than the two cores of CI: half of the time a test waits for a timer, a child process or the disk.
    maxWorkers: 3,
    projects: [
      group("shared", ["tests/**/*.test.ts"], [once, ...needOwnProcess]),
      group("once", [`${once}/*.test.ts`], needOwnProcess),
      group(
        "alone",
        needOwnProcess.filter((file) => !isOnce(file)),
        [],
      ),
      group("once alone", needOwnProcess.filter(isOnce), []),
    ],
  },
});
