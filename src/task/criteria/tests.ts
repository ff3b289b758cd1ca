import { existsSync, statSync } from "node:fs";
import { basename, join, normalize } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { TestResult, TestResults } from "../generated/test-results.js";
import type { TestsPass } from "../generated/ralph.js";
import { quantity } from "../../engine/lib/words.js";
import { frameworkCalledBy, detectTests, frameworks, ownTestCommand } from "../test-runs/detect.js";
import { coverageIn } from "../test-runs/coverage.js";
import { runTests } from "../test-runs/run-tests.js";
import { unloadedFileIn, isFailing, isNotATest, notLoadedName, streamEnd } from "../test-runs/results.js";
import { readOnlyHint, placeOfTests } from "../test-runs/seen-place.js";
import {
  type CheckResult,
  endSentence,
  lastCharsOf,
  maxDetailChars,
  outputOf,
  type Place,
  runShell,
  timeoutOf,
  undecidedField,
} from "../place/run.js";

/** Maximum number of failing tests that are named. */
const maxNamedTests = 8;

/**
 * Whether all tests of the project pass. `seenTests`: names of tests that ran before. `flaky`: tests that fail now and
 * then. If `flaky` is given, failed tests are run again, and tests that then pass are flaky too.
 */
export async function checkTests(
  criterion: TestsPass,
  place: Place,
  { seenTests, flaky }: { readonly seenTests: readonly string[]; readonly flaky?: readonly string[] },
): Promise<CheckResult> {
  const timeoutMs = timeoutOf(criterion);
  const calledFramework = criterion.command === undefined ? undefined : frameworkCalledBy(criterion.command);
  if (criterion.command !== undefined && calledFramework === undefined)
    return await checkByExitCode(criterion.command, timeoutMs, place);
  const detected = detectTests(place.cwd);
  const chosen =
    criterion.framework === undefined || calledFramework !== undefined
      ? (calledFramework ?? detected[0])
      : (detected.find(({ framework }) => framework === criterion.framework) ?? { framework: criterion.framework });
  if (chosen === undefined) {
    const ownCommand = ownTestCommand(place.cwd);
    const example = ownCommand === undefined ? "" : ` such as "${ownCommand}"`;
    const detail = `No supported test framework detected (${frameworks.join(", ")}); name the command that runs the tests${example}: --test-command, or "command" in the criterion.`;
    return { passed: false, detail };
  }
  const results = await runTests(chosen, place, timeoutMs);
  const failedTests = results.tests.filter(
    ({ status, test_name: name }) => status === "fail" && !isNotATest(name) && flaky?.includes(name) === false,
  );
  const secondRun =
    failedTests.length > 0 && !place.signal.aborted ? await runTests(chosen, place, timeoutMs) : undefined;
  const passedInSecondRun = new Set(
    secondRun?.tests.flatMap(({ status, test_name }) => (status === "pass" ? [test_name] : [])),
  );
  const flakyTests = [
    ...(flaky ?? []),
    ...failedTests.map(({ test_name }) => test_name).filter((name) => passedInSecondRun.has(name)),
  ];
  const result = { ...judgeTests(results, seenTests, place.cwd, flakyTests), ...(flaky && { flaky: flakyTests }) };
  const hint = result.passed ? undefined : readOnlyHint(place, `${results.stdout}${results.stderr}${result.detail}`);
  return hint === undefined ? result : { ...result, detail: `${hint}\n${result.detail}` };
}

async function checkByExitCode(command: string, timeoutMs: number, place: Place): Promise<CheckResult> {
  const startedAt = Date.now();
  const ms = Math.min(timeoutMs, place.testPlace?.maxMs ?? timeoutMs);
  const result = await runShell(placeOfTests(place).place, command, { timeoutMs: ms });
  const coverage = await coverageIn(place.cwd, startedAt);
  const results: TestResults = {
    framework: "command",
    tests: [],
    ...(result.ok ? {} : { problem: endSentence(result, ms) }),
    stdout: streamEnd(result.stdout),
    stderr: streamEnd(result.stderr),
    ...withoutUndefined({ coverage }),
  };
  const hint = readOnlyHint(place, result.stdout + result.stderr);
  const reason = [endSentence(result, ms), ...(hint === undefined ? [] : [hint])].join(" ");
  const detail = result.ok
    ? "The tests pass."
    : `${reason}\n${outputOf(result, maxDetailChars - 100 - reason.length)}`.trim();
  return { passed: result.ok, detail, failing: result.ok ? 0 : 1, results, ...undecidedField(result) };
}

/**
 * Judges a test run. It fails if no test ran, or if a test that ran before is missing. A skipped test counts as
 * missing, and so does a test file that could not be loaded, whose tests are unknown. `root`: the project's folder;
 * `flaky`: tests that are not counted.
 */
export function judgeTests(
  results: TestResults,
  seenTests: readonly string[],
  root: string,
  flaky: readonly string[] = [],
): CheckResult {
  const { tests, framework, problem } = results;
  const testsRun = tests.filter(({ status }) => status !== "skip");
  const namesRun = new Set(testsRun.map(({ test_name }) => test_name));
  const failedTests = testsRun.filter((test) => isFailing(test) && !flaky.includes(test.test_name));
  const missingTests = seenTests.flatMap((name) => {
    if (flaky.includes(name)) return [];
    const file = unloadedFileIn(name);
    if (file === undefined) return namesRun.has(name) ? [] : [name];
    return existsSync(join(root, file)) ? [] : [`${file} (never loaded)`];
  });
  const failingCount = failedTests.length + missingTests.length;
  const unloadedCount = missingTests.length + failedTests.filter(({ test_name }) => isNotATest(test_name)).length;
  const skippedCount = tests.length - testsRun.length;
  const knownNames = [
    ...testsRun.map(({ test_name }) => test_name).filter((name) => !isNotATest(name)),
    ...new Set(failedTests.flatMap((test) => unloadedFile(test, results.framework, root) ?? []).map(notLoadedName)),
  ];
  if (testsRun.length === 0) {
    const noneText =
      skippedCount > 0 ? `${quantity(skippedCount, "test")} skipped, none has run.` : (problem ?? "No test has run.");
    const output = outputText(results);
    const detail = `${framework}: ${noneText}${noneText.includes(output.trim()) ? "" : output}`;
    return {
      passed: false,
      detail,
      failing: Math.max(1, missingTests.length),
      unloaded: Math.max(1, missingTests.length),
      tests: knownNames,
      missingTests,
      results,
    };
  }
  if (failingCount === 0) {
    const detail = `${framework}: ${quantity(testsRun.length, "test")} passed${skippedCount === 0 ? "" : `, ${skippedCount} skipped`}.`;
    return { passed: true, detail, failing: 0, unloaded: 0, tests: knownNames, results };
  }
  const failedLines = failedTests.slice(0, maxNamedTests).map(failureLine);
  const missingLines =
    missingTests.length === 0
      ? []
      : [
          `${quantity(missingTests.length, "test")} that ${missingTests.length === 1 ? "was there is" : "were there are"} gone or skipped: ${missingTests.slice(0, maxNamedTests).join(", ")}`,
        ];
  const moreLines = failedTests.length > maxNamedTests ? [`and ${failedTests.length - maxNamedTests} more`] : [];
  const firstLine = `${framework}: ${failedTests.length} failed of ${quantity(testsRun.length, "test")}.`;
  const detail = [firstLine, ...missingLines, ...failedLines, ...moreLines].join("\n");
  return {
    passed: false,
    detail,
    failing: failingCount,
    unloaded: unloadedCount,
    tests: knownNames,
    missingTests,
    results,
  };
}

/**
 * The path, relative to the project, of a test file that could not be loaded; undefined if the result does not name it,
 * or it does not exist.
 */
function unloadedFile({ test_name, error }: TestResult, framework: string, root: string): string | undefined {
  if (!isNotATest(test_name)) return undefined;
  const name = unloadedFileIn(test_name)?.split(" > ").at(-1) ?? "";
  // Python's tools name a module, which is in one of these folders.
  const modules = ["", "tests/", "test/"].map((folder) => `${folder}${name.replaceAll(".", "/")}.py`);
  const location = normalize(error?.source_location?.file ?? "");
  // Compilers name any file that does not compile. A source file may be deleted on purpose, so only test files count.
  const candidates = framework === "cargo" || framework === "go" ? [name].filter(isTestFile) : [name, ...modules];
  return [...candidates, location].find(
    (path) =>
      path !== "" &&
      (path !== location || isTestFile(path)) &&
      statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** Whether a file contains tests, judged by its path. */
export const isTestFile = (path: string): boolean =>
  /(?:^|\/)(?:tests?|spec|__tests__)\//.test(path) || /(?:^test_|[._-](?:test|spec)\.)[^/]*$/.test(basename(path));

function failureLine({ test_name, error }: TestResult): string {
  const location = error?.source_location;
  const locationText =
    location === undefined ? "" : ` (${location.file}${location.line === undefined ? "" : `:${location.line}`})`;
  return `- ${test_name}${locationText}: ${(error?.message ?? "").replace(/\s+/g, " ").slice(0, 200)}`;
}

/** The output without the line that names the path of the report. */
const withoutPath = (stdout: string): string =>
  stdout
    .split("\n")
    .filter((line) => !/report written to/.test(line))
    .join("\n")
    .trim();

const outputText = ({ stdout, stderr }: TestResults): string => {
  const output = lastCharsOf(stderr.trim() || withoutPath(stdout), 600);
  return output === "" ? "" : `\n${output}`;
};
