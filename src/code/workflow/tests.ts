import { given } from "../../engine/lib/given.js";
import { sanitise } from "../../engine/lib/sanitise.js";
import { checkTests } from "../../task/criteria/tests.js";
import type { TestResult, TestResults } from "../../task/generated/test-results.js";
import type { Found, Place } from "../../task/place/run.js";
import { detectTests } from "../../task/test-runs/detect.js";
import { isFailing, isNoTest, wholeRun } from "../../task/test-runs/results.js";
import { runTests } from "../../task/test-runs/run-tests.js";
import type { CodeState, Job, Tested, TestFailure } from "../generated/ralph-code.js";
import { signatureOf } from "../round/signature.js";

/** Seconds that a run of the tests may take. */
const usualSeconds = 300;
/** Most failures that are kept. */
const maxFailures = 50;

/** A run of the project's tests, and what it adds to what is known of them. */
export interface TestRun {
  readonly tested: Tested;
  /** Tests that failed, and then passed on the same tree; those known before included. */
  readonly flaky: readonly string[];
  /** Names of all tests that were there once. */
  readonly seen: readonly string[];
  /** Names of the tests that pass now. */
  readonly passing: readonly string[];
  readonly results: TestResults | undefined;
}

/**
 * Runs all tests; where some fail, once more: what passes then is flaky. `now`: milliseconds since the epoch;
 * `seconds`: what each run may take.
 */
export async function testProject(
  place: Place,
  job: Job,
  { flaky: known = [], tests_seen: seen = [] }: Pick<CodeState, "flaky" | "tests_seen">,
  now: () => number,
  seconds = usualSeconds,
): Promise<TestRun> {
  const first = await once(place, job, seen, seconds);
  const broken = failuresIn(first).filter(({ test_name }) => !known.includes(test_name));
  const isWorthIt = broken.some(({ status, test_name }) => status === "fail" && !isNoTest(test_name));
  const second = isWorthIt && !place.signal.aborted ? await once(place, job, seen, seconds) : undefined;
  const passed = new Set(
    second?.results?.tests.filter(({ status }) => status === "pass").map(({ test_name }) => test_name),
  );
  const unsteady = broken.filter(({ test_name }) => passed.has(test_name)).map(({ test_name }) => test_name);
  const flaky = [...new Set([...known, ...unsteady])];
  const all = first.results?.tests ?? [];
  const failing = failuresIn(first).filter(({ test_name }) => !flaky.includes(test_name));
  const gone = (first.gone ?? []).filter((name) => !flaky.includes(name));
  // Without single tests only the whole run is known to fail.
  const isWhole = !first.passed && failing.length === 0 && gone.length === 0 && flaky.length === 0;
  const whole: TestFailure[] = isWhole
    ? [failureOf({ status: "fail", test_name: "the test run", error: { type: "logic", message: first.detail } })]
    : [];
  const lost = gone.map((name) => ({
    test: name,
    signature: "gone: a test no longer runs",
    message: "It ran before, and it no longer runs.",
  }));
  const failures = [...failing.map(failureOf), ...lost, ...whole];
  const { framework = "command", coverage, problem } = first.results ?? {};
  return {
    tested: {
      at: new Date(now()).toISOString(),
      framework,
      passed: all.filter(({ status }) => status === "pass").length,
      failing: failures.length,
      skipped: all.filter(({ status }) => status === "skip").length,
      failures: failures.slice(0, maxFailures),
      signatures: [...new Set(failures.map(({ signature }) => signature))].slice(0, maxFailures),
      ...given({ coverage, problem }),
    },
    flaky,
    seen: [...new Set([...seen, ...(first.tests ?? [])])],
    passing: all.filter(({ status }) => status === "pass").map(({ test_name }) => test_name),
    results: first.results,
  };
}

/** Runs these files of tests alone: how many tests ran, and what failed. */
export async function testFiles(
  place: Place,
  only: readonly string[],
): Promise<{ readonly ran: number; readonly failures: readonly TestFailure[] }> {
  const [detected] = detectTests(place.cwd);
  if (detected === undefined) return { ran: 0, failures: [] };
  const { tests } = await runTests({ framework: detected.framework, only }, place, usualSeconds * 1000);
  // A run that ended before its first test says nothing of these files.
  const own = tests.filter(({ test_name, status }) => status !== "skip" && test_name !== wholeRun);
  return { ran: own.length, failures: own.filter(isFailing).map(failureOf) };
}

const failuresIn = ({ results }: Found): readonly TestResult[] => (results?.tests ?? []).filter(isFailing);

const once = (place: Place, { test_command: command }: Job, seen: readonly string[], seconds: number): Promise<Found> =>
  checkTests({ type: "tests_pass", timeout_seconds: seconds, ...given({ command }) }, place, seen);

function failureOf(test: TestResult): TestFailure {
  const { error, test_name } = test;
  const { file, line } = error?.source_location ?? {};
  return {
    test: sanitise(test_name).slice(0, 300),
    signature: signatureOf(test),
    message: sanitise(error?.message ?? "").slice(0, 1_000),
    ...given({ type: error?.type, file, line, stack: error?.stack_trace?.slice(0, 10) }),
  };
}
