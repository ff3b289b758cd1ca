import { defineConfig } from "vitest/config";
import { deadlines } from "./tests/support/runner/deadlines.js";

/**
 * `npm run test:page`: the pages in a real Chromium, at three widths, light and dark, with and without JavaScript. It is
 * skipped, with a message, where there is no Chromium: `apt-get install chromium`, or CHROME_PATH.
 * RR_PROJECTS names a folder of further projects to look at.
 */
export default defineConfig({
  test: {
    name: "page",
    include: ["tests/page/**/*.test.ts"],
    globalSetup: ["tests/support/runner/own-temp-folder.ts"],
    setupFiles: ["tests/support/runner/reader-program.ts", "tests/support/runner/loopback-only.ts"],
    env: { TZ: "UTC" },
    ...deadlines,
    // One browser at a time: two cores.
    fileParallelism: false,
  },
});
