import { describe, expect, it } from "vitest";
import { whyNotBegin } from "../../../src/code/workflow/start-refusal.js";
import type { TestResults } from "../../../src/task/generated/test-results.js";
import { type Case, cases } from "../../fixtures/test-projects/projects.js";
import { recordedResults, resultsFrom } from "../../task/test-runs/recorded.js";

const job = { rounds: 10 };

describe.each(["jest", "mocha", "pytest", "cargo", "go"] as const)("after the first run of %s", (framework) => {
  it.each(cases)("agents begin with tests that are %s, unless there is none to repair", async (which: Case) => {
    const results = await recordedResults(framework, which);
    const why = whyNotBegin(job, results);
    if (which === "none" || which === "skipped") expect(why?.reason).toContain("There is no test to repair");
    else expect(why).toBeUndefined();
    expect(whyNotBegin({ ...job, text: "add a flag" }, results)).toBeUndefined();
  });
});

describe("a test program that is not installed", () => {
  it.each([
    ["vitest", 127, "sh: 1: vitest: not found\n"],
    ["jest", 127, "bash: line 1: jest: command not found"],
    ["jest", 1, "Error: spawn jest ENOENT\n    at x"],
    ["jest", 1, "Error: Cannot find module '/p/node_modules/jest/bin/jest.js'"],
    ["pytest", 1, "/usr/bin/python3: No module named pytest\n"],
    ["go", 1, "bwrap: execvp go: No such file or directory"],
  ] as const)("%s keeps agents from beginning (%i, %s)", async (framework, exitCode, stderr) => {
    const results = await resultsFrom(framework, { exitCode, stdout: "", stderr });
    for (const text of [undefined, "add a flag"])
      expect(whyNotBegin({ ...job, ...(text === undefined ? {} : { text }) }, results)).toMatchObject({
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
    expect(whyNotBegin({ ...job, text: "write check.sh" }, results)).toBeUndefined();
    expect(whyNotBegin(job, results)?.verdict).toBe("blocked");
  });
});
