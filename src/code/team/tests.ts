import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import type { Checked } from "../../task/criteria/check-criteria.js";
import type { TestResult } from "../../task/generated/test-results.js";
import type { Tested, TestFailure } from "../../task/generated/ralph-state.js";
import type { CheckResult, Place } from "../../task/place/run.js";
import { detectTests } from "../../task/test-runs/detect.js";
import { isFailing, wholeRunName } from "../../task/test-runs/results.js";
import { runTests } from "../../task/test-runs/run-tests.js";
import { signatureOf } from "../round/signature.js";

/** Most failures that are kept. */
const maxFailures = 50;
/** Most milliseconds of some files of tests. */
const maxMs = 300_000;

/** The tests as the criteria of a task have found them; `at`: when. Flaky tests are not counted. */
export function testedIn({ runs }: Checked, at: string): Tested {
  const all = runs.flatMap(({ results }) => results?.tests ?? []);
  const number = (wanted: TestResult["status"]) => all.filter(({ status }) => status === wanted).length;
  const failures = runs.flatMap(failuresIn);
  const { framework = "command", coverage, problem } = runs[0]?.results ?? {};
  return {
    at,
    framework,
    passed: number("pass"),
    failing: failures.length,
    skipped: number("skip"),
    failures: failures.slice(0, maxFailures),
    signatures: [...new Set(failures.map(({ signature }) => signature))].slice(0, maxFailures),
    ...withoutUndefined({ coverage, problem }),
  };
}

/** What fails in a run of tests: single tests, tests that are gone, else the run as a whole. */
function failuresIn({ passed, detail, results, gone = [], flaky = [] }: CheckResult): TestFailure[] {
  const failing = (results?.tests ?? []).filter((test) => isFailing(test) && !flaky.includes(test.test_name));
  const lost = gone.map((name) => ({
    test: name,
    signature: "gone: a test no longer runs",
    message: "It ran before, and it no longer runs.",
  }));
  const failures = [...failing.map(failureOf), ...lost];
  if (passed || failures.length > 0) return failures;
  return [failureOf({ status: "fail", test_name: wholeRunName, error: { type: "logic", message: detail } })];
}

/** Tests that failed, and then passed on the same files; those known before included. */
export const flakyIn = ({ runs }: Checked, known: readonly string[] = []): string[] => [
  ...new Set([...known, ...runs.flatMap(({ flaky = [] }) => flaky)]),
];

/** Runs these files of tests alone: how many tests ran, and what failed. */
export async function testFiles(
  place: Place,
  only: readonly string[],
): Promise<{ readonly ran: number; readonly failures: readonly TestFailure[] }> {
  const [detected] = detectTests(place.cwd);
  if (detected === undefined) return { ran: 0, failures: [] };
  const { tests } = await runTests({ framework: detected.framework, only }, place, maxMs);
  // A run that ended before its first test says nothing of these files.
  const own = tests.filter(({ test_name, status }) => status !== "skip" && test_name !== wholeRunName);
  return { ran: own.length, failures: own.filter(isFailing).map(failureOf) };
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
