import type { CoverageAtLeast } from "../generated/ralph.js";
import {
  type CheckResult,
  endSentence,
  maxDetailChars,
  outputOf,
  type Place,
  runShell,
  timeoutOf,
} from "../place/run.js";
import { coverageIn } from "../test-runs/coverage.js";
import { detectTests } from "../test-runs/detect.js";
import { runTests } from "../test-runs/run-tests.js";

/** Whether a run of the tests covers at least the wanted percentages, according to its coverage report. */
export async function checkCoverage(criterion: CoverageAtLeast, place: Place): Promise<CheckResult> {
  const { command, lines, branches } = criterion;
  const timeoutMs = timeoutOf(criterion);
  const startedAt = Date.now();
  if (command !== undefined) {
    const result = await runShell(place, command, { timeoutMs });
    if (!result.ok)
      return {
        passed: false,
        detail: `${endSentence(result, timeoutMs)}\n${outputOf(result, maxDetailChars - 100)}`.trim(),
      };
  } else {
    const [framework] = detectTests(place.cwd);
    if (framework === undefined)
      return {
        passed: false,
        detail: 'No supported test framework detected; name a "command" that measures the coverage.',
      };
    // The coverage report is written into the project, so the project must be writable.
    const { tests: _, ...writable } = place;
    await runTests(framework, writable, timeoutMs);
  }
  const { line_coverage, branch_coverage } = (await coverageIn(place.cwd, startedAt)) ?? {};
  const measures = [
    { what: "lines", wanted: lines, is: line_coverage },
    { what: "branches", wanted: branches, is: branch_coverage },
  ].filter(({ wanted }) => wanted !== undefined);
  const sentences = measures.map(({ what: kind, wanted, is }) =>
    is === undefined
      ? `The run left no report of covered ${kind}; ${wanted} % are asked for.`
      : `${is} % of ${kind} are covered; ${wanted} % are asked for.`,
  );
  return {
    passed: measures.every(({ wanted = 0, is }) => is !== undefined && is >= wanted),
    detail: sentences.join(" "),
  };
}
