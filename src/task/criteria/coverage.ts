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

/** Whether a run of the tests covers at least the required percentages, according to its coverage report. */
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
    const { testPlace: _, ...writable } = place;
    await runTests(framework, writable, timeoutMs);
  }
  const { line_coverage, branch_coverage } = (await coverageIn(place.cwd, startedAt)) ?? {};
  const measures = [
    { kind: "lines", required: lines, measured: line_coverage },
    { kind: "branches", required: branches, measured: branch_coverage },
  ].filter(({ required }) => required !== undefined);
  const sentences = measures.map(({ kind, required, measured }) =>
    measured === undefined
      ? `The run left no report of covered ${kind}; ${required} % are asked for.`
      : `${measured} % of ${kind} are covered; ${required} % are asked for.`,
  );
  return {
    passed: measures.every(({ required = 0, measured }) => measured !== undefined && measured >= required),
    detail: sentences.join(" "),
  };
}
