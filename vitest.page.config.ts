import { defineConfig } from "vitest/config";

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
    setupFiles: ["tests/support/runner/reader-program.ts"],
    env: { TZ: "UTC" },
    testTimeout: 180_000,
    hookTimeout: 60_000,
    // Vitest's own limit of one second is a matter of how busy the machine is.
    expect: { poll: { timeout: 60_000 } },
    // One browser at a time: two cores.
    fileParallelism: false,
  },
});
