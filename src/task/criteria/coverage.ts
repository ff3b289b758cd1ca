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

/** Whether a run of the tests covers at least so much, by the report that it leaves. */
export async function checkCoverage(criterion: CoverageAtLeast, place: Place): Promise<CheckResult> {
  const { command, lines, branches } = criterion;
  const timeoutMs = timeoutOf(criterion);
  const begun = Date.now();
  if (command !== undefined) {
    const ran = await runShell(place, command, { timeoutMs });
    if (!ran.ok)
      return { passed: false, detail: `${endSentence(ran, timeoutMs)}\n${outputOf(ran, maxDetailChars - 100)}`.trim() };
  } else {
    const [chosen] = detectTests(place.cwd);
    if (chosen === undefined)
      return {
        passed: false,
        detail: 'No supported test framework detected; name a "command" that measures the coverage.',
      };
    // The report is written into the project.
    const { tests: _, ...writable } = place;
    await runTests(chosen, writable, timeoutMs);
  }
  const { line_coverage, branch_coverage } = (await coverageIn(place.cwd, begun)) ?? {};
  const rows = [
    { what: "lines", wanted: lines, is: line_coverage },
    { what: "branches", wanted: branches, is: branch_coverage },
  ].filter(({ wanted }) => wanted !== undefined);
  const words = rows.map(({ what, wanted, is }) =>
    is === undefined
      ? `The run left no report of covered ${what}; ${wanted} % are asked for.`
      : `${is} % of ${what} are covered; ${wanted} % are asked for.`,
  );
  return { passed: rows.every(({ wanted = 0, is }) => is !== undefined && is >= wanted), detail: words.join(" ") };
}
