import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const script = fileURLToPath(new URL("../../.ci/sum-tests.mjs", import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sum-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function report(
  name: string,
  counts: { passed?: number; failed?: number; pending?: number },
  testResults: object[] = [],
): string {
  const path = join(folder, name);
  const { passed = 0, failed = 0, pending = 0 } = counts;
  writeFileSync(
    path,
    JSON.stringify({
      numPassedTests: passed,
      numFailedTests: failed,
      numPendingTests: pending,
      numTodoTests: 0,
      testResults,
    }),
  );
  return path;
}

const sum = async (...reports: string[]) => await execa(process.execPath, [script, ...reports], { reject: false });

describe("the last line of .ci/run", () => {
  test("sums every run", async () => {
    const { stdout, exitCode } = await sum(report("a", { passed: 3, pending: 1 }), report("b", { passed: 4 }));

    expect([stdout, exitCode]).toEqual(["7 passed, 0 failed, 1 skipped", 0]);
  });

  test("counts a file that did not load as a failure, though no test of it failed", async () => {
    const testResults = [
      { name: "a.test.ts", status: "failed", message: "no such file\n  at 1", assertionResults: [] },
    ];
    const { stdout, exitCode } = await sum(report("a", { passed: 3 }, testResults));

    expect(stdout.split("\n")).toEqual(["failed to load: a.test.ts: no such file", "3 passed, 1 failed, 0 skipped"]);
    expect(exitCode).toBe(1);
  });

  test("counts a failed test once, not once more for its file, and names it", async () => {
    const assertionResults = [
      { status: "failed", fullName: "broken", failureMessages: ["expected 1 to be 2\n  at 3"] },
    ];
    const { stdout } = await sum(
      report("a", { failed: 1 }, [{ name: "a.test.ts", status: "failed", assertionResults }]),
    );

    expect(stdout.split("\n")).toEqual([
      "failed: broken (a.test.ts): expected 1 to be 2",
      "0 passed, 1 failed, 0 skipped",
    ]);
  });

  test("stands under the name of each test that passed only when it was tried again", async () => {
    const assertionResults = [
      { status: "passed", fullName: "steady", failureMessages: [] },
      { status: "passed", fullName: "shaky", failureMessages: ["expected 1 to be 2\n    at line 3"] },
    ];
    const { stdout, exitCode } = await sum(
      report("a", { passed: 2 }, [{ name: "a.test.ts", status: "passed", assertionResults }]),
    );

    expect(stdout.split("\n")).toEqual([
      "passed only at the second try: shaky (a.test.ts): expected 1 to be 2",
      "2 passed, 0 failed, 0 skipped",
    ]);
    expect(exitCode).toBe(0);
  });

  test("counts a run without a report as a failure", async () => {
    const { stdout, exitCode } = await sum(join(folder, "missing"));

    expect(stdout.split("\n")).toEqual([
      expect.stringContaining("missing: no report"),
      "0 passed, 1 failed, 0 skipped",
    ]);
    expect(exitCode).toBe(1);
  });

  test("is a failure when nothing ran", async () => {
    expect((await sum()).exitCode).toBe(1);
  });
});
