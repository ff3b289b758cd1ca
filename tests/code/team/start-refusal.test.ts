import { describe, expect, it } from "vitest";
import { startRefusal } from "../../../src/code/team/start-refusal.js";
import type { RalphTask } from "../../../src/task/generated/ralph.js";
import type { TestResults } from "../../../src/task/generated/test-results.js";
import { type Case, cases } from "../../fixtures/test-projects/projects.js";
import { recordedResults, resultsFrom } from "../../task/test-runs/recorded.js";

const repair: RalphTask = { task: "Repair the tests.", acceptance_criteria: [{ type: "tests_pass" }] };
const more: RalphTask = {
  task: "add a flag",
  acceptance_criteria: [{ type: "tests_pass" }, { type: "new_test_passes" }],
};

describe.each(["jest", "mocha", "pytest", "cargo", "go"] as const)("after the first run of %s", (framework) => {
  it.each(cases)("agents begin with tests that are %s, unless there is none to repair", async (which: Case) => {
    const results = await recordedResults(framework, which);
    const why = startRefusal(repair, results);
    if (which === "none" || which === "skipped") expect(why?.reason).toContain("There is no test to repair");
    else expect(why).toBeUndefined();
    expect(startRefusal(more, results)).toBeUndefined();
  });
});

describe("a test program that is not installed", () => {
  it.each([
    ["vitest", 127, "sh: 1: vitest: not found\n"],
    ["jest", 127, "bash: line 1: jest: command not found"],
    ["jest", 1, "Error: spawn jest ENOENT\n    at x"],
    ["jest", 1, "Error: Cannot find module '/p/node_modules/jest/bin/jest.js'"],
    ["pytest", 1, "/usr/bin/python3: No module named pytest\n"],
    ["cargo", 1, "error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly\n"],
    ["go", 1, "bwrap: execvp go: No such file or directory"],
  ] as const)("%s keeps agents from beginning (%i, %s)", async (framework, exitCode, stderr) => {
    const results = await resultsFrom(framework, { exitCode, stdout: "", stderr });
    for (const task of [repair, more])
      expect(startRefusal(task, results)).toMatchObject({
        verdict: "blocked",
        reason: expect.stringContaining("Install what the project needs"),
      });
  });

  it("may be what a task in words asks for, where it is a command", () => {
    const results: TestResults = {
      framework: "command",
      tests: [],
      stdout: "",
      problem: "It ended with exit code 127.",
      stderr: "sh: 1: ./check.sh: not found",
    };
    expect(startRefusal(more, results)).toBeUndefined();
    expect(startRefusal(repair, results)?.verdict).toBe("blocked");
  });
});
