import { describe, expect, test } from "vitest";
import { judgeTests } from "../../../src/task/criteria/tests.js";
import type { TestResults } from "../../../src/task/generated/test-results.js";
import { notLoadedName } from "../../../src/task/test-runs/results.js";
import { isBetter, resultOf } from "../../../src/task/workflow/status.js";

/** What a run of these tests reaches, each written as `name` or, failing, as `!name`; `seen`: those of before. */
function after(tests: readonly string[], seen: readonly string[] = []) {
  const results: TestResults = {
    framework: "vitest",
    stdout: "",
    stderr: "",
    tests: tests.map((name) => ({
      test_name: name.replace("!", ""),
      status: name.startsWith("!") ? "fail" : "pass",
      duration_ms: 1,
    })),
  };
  const { passed, failing = 0, unloaded = 0, tests: names = [] } = judgeTests(results, seen, "/project");
  return resultOf([{ criterion: "tests", passed, ms: 1, detail: "", failing, unloaded, tests: names.length }], 1);
}

const broken = `!${notLoadedName("a.test.js")}`;

describe("progress of tests", () => {
  const cases: [string, boolean, readonly string[], readonly string[], readonly string[]][] = [
    ["a file that loads now, its tests failing", true, [broken], ["!one", "!two"], []],
    ["the same beside tests that pass", true, ["x", broken], ["x", "!one", "!two"], ["x"]],
    ["fewer failing", true, ["!one", "!two"], ["one", "!two"], ["one", "two"]],
    ["more failing tests beside those that fail", false, ["!one"], ["!one", "!two"], ["one"]],
    ["a file that can't be loaded any more: one failure instead of two", false, ["!one", "!two"], [broken], []],
    ["failing tests that are gone", false, ["x", "!one", "!two"], ["x"], ["x", "one", "two"]],
    ["one that is gone for one that loads", false, ["x", broken], ["!one", "!two"], ["x"]],
    ["none where there were none", false, [], [], []],
    ["the first tests, failing", true, [], ["!one", "!two"], []],
    ["the file that loads is gone instead", false, ["x", broken], ["x", "!one", broken], ["x"]],
  ];
  test.each(cases)("%s: %s", (_, expected, before, now, seen) => {
    expect(isBetter(after(now, seen), after(before, seen))).toBe(expected);
  });
});
