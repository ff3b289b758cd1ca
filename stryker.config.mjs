import { readFileSync } from "node:fs";

// Each part of the source against the tests that are about it, one part a run: all tests for each of 5,000 mutants take a day.
const groups = JSON.parse(readFileSync(new URL("tests/mutation-groups.json", import.meta.url), "utf8"));
const name = process.env.RR_GROUP;
const chosen = name === undefined ? Object.values(groups) : [groups[name]];
if (chosen.includes(undefined))
  throw new Error(`RR_GROUP must be one of ${Object.keys(groups).join(", ")}, is ${name}`);

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "vitest.mutation.config.ts", related: false },
  mutate: chosen.flatMap(({ mutate }) => mutate),
  ignorePatterns: ["dist", "researches", "coverage", ".e2e", "docs", "bench"],
  ignoreStatic: true,
  incremental: true,
  incrementalFile: `reports/mutation/${name ?? "all"}-incremental.json`,
  concurrency: 2,
  coverageAnalysis: "perTest",
  timeoutMS: 20_000,
  tempDirName: ".stryker-tmp",
  reporters: ["clear-text", "progress-append-only", "json"],
  jsonReporter: { fileName: `reports/mutation/${name ?? "all"}.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
};
