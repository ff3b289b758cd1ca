import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import type { CriteriaResults } from "../../task/criteria/check-criteria.js";
import type { TestResult } from "../../task/generated/test-results.js";
import type { Tested, TestFailure } from "../../task/generated/ralph-state.js";
import type { CheckResult, Place } from "../../task/place/run.js";
import { detectTests } from "../../task/test-runs/detect.js";
import { isFailing, wholeRunName } from "../../task/test-runs/results.js";
import { runTests } from "../../task/test-runs/run-tests.js";
import { signatureOf } from "../round/signature.js";

/** Maximum number of stored failures. */
const maxFailures = 50;
/** Maximum milliseconds of a run of single test files. */
const maxRunMs = 300_000;

/** The test results from the criteria of a task, checked at `at`. Flaky tests are not counted. */
export function testSummaryOf({ runs }: CriteriaResults, at: string): Tested {
  const allTests = runs.flatMap(({ results }) => results?.tests ?? []);
  const countOf = (wantedStatus: TestResult["status"]) =>
    allTests.filter(({ status }) => status === wantedStatus).length;
  const failures = runs.flatMap(failuresIn);
  const { framework = "command", coverage, problem } = runs[0]?.results ?? {};
  return {
    at,
    framework,
    passed: countOf("pass"),
    failing: failures.length,
    skipped: countOf("skip"),
    failures: failures.slice(0, maxFailures),
    signatures: [...new Set(failures.map(({ signature }) => signature))].slice(0, maxFailures),
    ...withoutUndefined({ coverage, problem }),
  };
}

/** The failures of a test run: failed tests and missing tests. Without them, the failure of the whole run. */
function failuresIn({ passed, detail, results, missingTests: gone = [], flaky = [] }: CheckResult): TestFailure[] {
  const failing = (results?.tests ?? []).filter((test) => isFailing(test) && !flaky.includes(test.test_name));
  const missingTests = gone.map((name) => ({
    test: name,
    signature: "gone: a test no longer runs",
    message: "It ran before, and it no longer runs.",
  }));
  const failures = [...failing.map(failureOf), ...missingTests];
  if (passed || failures.length > 0) return failures;
  return [failureOf({ status: "fail", test_name: wholeRunName, error: { type: "logic", message: detail } })];
}

/** The flaky tests, which failed and then passed on the same files, and those that were known before. */
export const flakyTestsIn = ({ runs }: CriteriaResults, knownFlaky: readonly string[] = []): string[] => [
  ...new Set([...knownFlaky, ...runs.flatMap(({ flaky = [] }) => flaky)]),
];

/** Runs only these test files. Answers with the number of tests that ran, and the failures. */
export async function runTestFiles(
  place: Place,
  files: readonly string[],
): Promise<{ readonly ran: number; readonly failures: readonly TestFailure[] }> {
  const [detected] = detectTests(place.cwd);
  if (detected === undefined) return { ran: 0, failures: [] };
  const { tests } = await runTests({ framework: detected.framework, files }, place, maxRunMs);
  // A run that ended before its first test says nothing about these files.
  const testsOfFiles = tests.filter(({ test_name, status }) => status !== "skip" && test_name !== wholeRunName);
  return { ran: testsOfFiles.length, failures: testsOfFiles.filter(isFailing).map(failureOf) };
}

function failureOf(test: TestResult): TestFailure {
  const { error, test_name } = test;
  const { file, line } = error?.source_location ?? {};
  return {
    test: sanitise(test_name).slice(0, 300),
    signature: signatureOf(test),
    message: sanitise(error?.message ?? "").slice(0, 1_000),
    ...withoutUndefined({ type: error?.type, file, line, stack: error?.stack_trace?.slice(0, 10) }),
  };
}
