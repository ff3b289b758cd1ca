import { defineConfig } from "vitest/config";
import { deadlines } from "./tests/support/runner/deadlines.js";
import { StartersFirst } from "./tests/support/runner/order.js";
import { needOwnProcess } from "./tests/support/runner/own-process.js";

/**
 * `npm test`: every rule, in process. What drives real processes for long, or needs a process of its own, is in
 * vitest.system.config.ts. Test files share processes, as starting one and loading the sources again costs 0.3 CPU
 * seconds a file, and Node loads them itself: through vite's runner they cost a third of the whole.
 */
export default defineConfig({
  test: {
    name: "unit",
    globalSetup: ["tests/support/runner/own-temp-folder.ts", "tests/support/runner/count-cpu.ts"],
    // Half of the time a test waits for a timer, a child process or the disk, but each process loads all sources.
    maxWorkers: 2,
    sequence: { sequencer: StartersFirst },
    projects: [
      {
        test: {
          ...{ name: "shared", include: ["tests/**/*.test.ts"], isolate: false },
          exclude: ["tests/{system,page}/**", "tests/**/*.property.test.ts", "node_modules/**", ...needOwnProcess],
          setupFiles: [
            "tests/support/runner/cpu-setup.ts",
            "tests/support/runner/reader-program.ts",
            "tests/support/runner/loopback-only.ts",
          ],
          env: {
            // A small part of the cases that `npm run test:system` tries.
            RR_FUZZ_CASES: process.env.RR_FUZZ_CASES ?? "40",
            // Times are shown as local ones; tests compare them as text.
            TZ: "UTC",
            // Each start of Node reads them, for 50 ms of CPU where they are many; no test asks another machine.
            NODE_EXTRA_CA_CERTS: "",
          },
          ...deadlines,
          execArgv: ["--import", new URL("tests/support/runner/load-typescript.mjs", import.meta.url).href],
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
    ],
  },
});
