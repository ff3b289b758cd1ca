import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { problemsOf } from "../../../src/engine/storage/schema-check.js";
import { judgeTests } from "../../../src/task/criteria/tests.js";
import type { Framework } from "../../../src/task/test-runs/detect.js";
import { readCargo } from "../../../src/task/test-runs/frameworks/cargo.js";
import { readJunit } from "../../../src/task/test-runs/frameworks/junit.js";
import { resultsOf } from "../../../src/task/test-runs/run-tests.js";
import { errorTypeOf, locationIn, streamEnd } from "../../../src/task/test-runs/results.js";
import { cases, writeProject } from "../../fixtures/test-projects/projects.js";
import { placeOnHost } from "../place.js";
import { expected } from "./expected.js";
import { recordedResults } from "./recorded.js";

/** What the real tools said of the sample projects, with their own paths taken out. */
describe.each(["jest", "mocha", "pytest", "cargo", "go"] as const)("what %s has said", (framework: Framework) => {
  it.each(cases)("of a project with tests that are %s", async (which) => {
    const results = await recordedResults(framework, which);
    const wanted = expected[framework][which];
    expect(problemsOf("test-results", results)).toEqual([]);
    expect(results.tests.map(({ status }) => status).toSorted()).toEqual(wanted.statuses.toSorted());
    const [broken] = results.tests.filter(({ error }) => error !== undefined);
    expect(broken?.error?.type).toBe(wanted.error);
    if (which !== "slow") expect(broken?.error?.source_location?.line).toBe(wanted.line);
    expect(judgeTests(results, [], "/project")).toMatchObject({ passed: wanted.passed, failing: wanted.failing });
  });
});

describe("a test file that never loaded and is gone is failing", () => {
  it.each([
    ["jest", "sample.test.js"],
    ["mocha", "test/sample.js"],
    ["pytest", "test_sample.py"],
    ["go", "sample_test.go"],
  ] as const)("%s", async (framework, file) => {
    const { cwd } = placeOnHost();
    writeProject(cwd, framework, "crashed");
    const { tests: seen = [] } = judgeTests(await recordedResults(framework, "crashed"), [], cwd);
    expect(seen).toEqual([`${file} could not be loaded`]);
    const other = { framework, stdout: "", stderr: "", tests: [{ test_name: "other", status: "pass" as const }] };
    expect(judgeTests(other, seen, cwd)).toMatchObject({ passed: true, failing: 0 });
    rmSync(join(cwd, file));
    expect(judgeTests(other, seen, cwd)).toMatchObject({
      passed: false,
      failing: 1,
      detail: expect.stringContaining(`1 test that was there is gone or skipped: ${file} (never loaded)`),
    });
  });

  it("but a source file that did not compile may go", async () => {
    const { cwd } = placeOnHost();
    writeProject(cwd, "cargo", "crashed");
    expect(judgeTests(await recordedResults("cargo", "crashed"), [], cwd).tests).toEqual([]);
  });
});

describe("the message of a test of node:test", () => {
  it("has its line breaks, which the report's attribute leaves out", async () => {
    const message = "Expected &lt;two>:+ actual  [    1,-   3  ]";
    const file = `<testsuites><testcase name="counts" time="0.01" classname="test"><failure type="testCodeFailure" message="${message}">
Error [ERR_TEST_FAILURE]: Expected &lt;two>:
+ actual

  [
    1,
-   3
  ]
    at new Test (/project/test/a.test.mjs:4:1)
</failure></testcase></testsuites>`;
    const ran = { end: { cause: "exited", exitCode: 1, stderr: "" }, ok: false, stdout: "", stderr: "" } as const;
    const { tests } = await resultsOf({ framework: "node:test" }, ran, file, "/project", 10);
    expect(tests[0]?.error?.message).toBe("Expected <two>:\n+ actual\n\n  [\n    1,\n-   3\n  ]");
  });
});

describe("the verdict on tests", () => {
  const results = (...tests: [string, "pass" | "fail" | "skip"][]) => ({
    framework: "vitest",
    tests: tests.map(([test_name, status]) => ({ test_name, status })),
    stdout: "",
    stderr: "",
  });

  it("counts a test that was there and is gone, or is skipped now, as failing", () => {
    expect(judgeTests(results(["a", "pass"]), ["a", "b"], "/project")).toMatchObject({ passed: false, failing: 1 });
    expect(judgeTests(results(["a", "pass"], ["b", "skip"]), ["a", "b"], "/project")).toMatchObject({
      passed: false,
      failing: 1,
    });
    expect(judgeTests(results(["a", "pass"], ["b", "pass"]), ["a", "b"], "/project")).toMatchObject({
      passed: true,
      failing: 0,
    });
  });

  it("does not miss a file that could not be loaded once it can", () => {
    const crashed = judgeTests(results(["a.js could not be loaded", "fail"]), [], "/project");
    expect(crashed).toMatchObject({ passed: false, tests: [] });
  });
});

it("kinds of errors are told apart by their names first", () => {
  expect(errorTypeOf("boom", "AssertionError")).toBe("assertion");
  expect(errorTypeOf("TypeError: x is not a function")).toBe("runtime");
  expect(errorTypeOf("SyntaxError: Unexpected token")).toBe("syntax");
  expect(errorTypeOf("Test timed out in 5000ms")).toBe("timeout");
  expect(errorTypeOf("it is wrong")).toBe("logic");
});

it("the place of an error is the first frame in the project itself", () => {
  const stack = "Error: x\n    at f (/else/node_modules/a/b.js:1:2)\n    at g (/project/src/c.ts:3:4)";
  expect(locationIn(stack, "/project")).toEqual({ file: "src/c.ts", line: 3, column: 4 });
  const python = 'Traceback:\n  File "/project/a.py", line 1, in f\n  File "/project/b.py", line 2, in g\nValueError';
  expect(locationIn(python, "/project")).toEqual({ file: "b.py", line: 2 });
});

it.each([
  ["    at f (/my project/é b/c d.ts:3:4)", { file: "é b/c d.ts", line: 3, column: 4 }],
  ["    at async file:///my%20project/%C3%A9%20b.js:3:4", { file: "é b.js", line: 3, column: 4 }],
  ["    at file:///my%20project/100%.js:3:4", undefined],
  ['  File "/my project/a b.py", line 2, in g', { file: "a b.py", line: 2 }],
  ["    at f (/my project/node_modules/a b/c.js:1:2)", undefined],
  ["größe_test.py:3: AssertionError", { file: "größe_test.py", line: 3 }],
])("names with spaces and any letters are places too: %s", (stack, place) =>
  expect(locationIn(stack, "/my project")).toEqual(place),
);

it("tests of the same file in several crates have names of their own", () => {
  const run = (crate: string) => `     Running unittests src/lib.rs (target/debug/deps/${crate}-0123456789abcdef)\n`;
  const stdout = "running 1 test\ntest it_works ... ok\n\nrunning 1 test\ntest it_works ... FAILED\n";
  const { tests } = readCargo({ root: "/p", file: undefined, stdout, stderr: run("a") + run("b"), exitCode: 101 });
  expect(tests.map(({ test_name, status }) => [test_name, status])).toEqual([
    ["a: src/lib.rs > it_works", "pass"],
    ["b: src/lib.rs > it_works", "fail"],
  ]);
});

it("of a stream at most 4 KB are kept, the last", () => {
  const end = streamEnd(`${"é".repeat(5_000)}end`);
  expect(Buffer.byteLength(end)).toBeLessThanOrEqual(4_096);
  expect(end.endsWith("end")).toBe(true);
  expect(end).not.toContain("\uFFFD");
});

it("quotes in names and messages of node:test are quotes", async () => {
  const attributes = `name="says &amp;quot;hi&amp;quot; &amp; &lt;b>" classname="test"`;
  const file = `<testsuites><testcase ${attributes}><failure type="testCodeFailure" message="&amp;quot;a&amp;quot; == 1">Error</failure></testcase></testsuites>`;
  const { tests } = await readJunit({ root: "/project", file, stdout: "", stderr: "", exitCode: 1 });
  expect(tests).toMatchObject([{ test_name: 'says "hi" & <b>', error: { message: '"a" == 1' } }]);
});
