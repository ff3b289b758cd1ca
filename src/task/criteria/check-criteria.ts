import { join, relative } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { NewEvent } from "../../engine/loop/types.js";
import { isWithin, programIn } from "../../engine/process/search-path.js";
import type { Criterion } from "../generated/ralph.js";
import type { Check } from "../generated/ralph-state.js";
import { checkCoverage } from "./coverage.js";
import { checkHttp } from "./http.js";
import { checkNewTest, type FilesBefore } from "./new-test.js";
import { checkContent, checkJson } from "./content.js";
import { criterionText } from "./words.js";
import {
  checkCommand,
  type CheckResult,
  endSentence,
  maxDetailChars,
  type Place,
  run,
  undecidedField,
} from "../place/run.js";
import { isNotATest } from "../test-runs/results.js";
import { checkTests } from "./tests.js";
import { checkTool } from "./types-and-lint.js";

export interface CriteriaResults {
  readonly checks: readonly Check[];
  /** Names of all tests that ran in the checks. */
  readonly tests: readonly string[];
  /** The results of the criteria `tests_pass`, in the order of the checks. */
  readonly runs: readonly CheckResult[];
}

/** Facts about the tests from before a check. */
export interface KnownTests {
  /** Names of tests that ran before. If one of them is missing now, it counts as failing. */
  readonly seenTests: readonly string[];
  /** Names of flaky tests, which are not counted. If the list is given, failed tests are run again to find more. */
  readonly flaky?: readonly string[];
  /** The files with which `new_test_passes` compares; absent if they are not known yet. */
  readonly filesBefore?: FilesBefore;
}

type CheckContext = KnownTests & { readonly runs: CheckResult[] };

/**
 * Checks all criteria, one after the other, and reports the start and the result of each. Returns undefined if it was
 * aborted; then no result counts.
 */
export async function checkAll(
  criteria: readonly Criterion[],
  place: Place,
  knownTests: KnownTests,
  tell: (event: NewEvent) => Promise<void>,
): Promise<CriteriaResults | undefined> {
  const context: CheckContext = { ...knownTests, runs: [] };
  const checks: Check[] = [];
  const tests = new Set<string>();
  for (const criterion of criteria) {
    const text = criterionText(criterion);
    await tell({ type: "checking", criterion: text });
    const startedAt = performance.now();
    const result = await checkOne(criterion, place, context);
    if (place.signal.aborted) return undefined;
    const ms = Math.round(performance.now() - startedAt);
    const realPath = realPathOf(criterion, place);
    const realPathText = realPath === undefined ? "" : ` (Outside of the sandbox: ${realPath})`;
    const note = result.passed ? realPathText : notInSandbox(result.detail, place);
    const detail = `${result.detail.slice(0, maxDetailChars - note.length)}${note}`;
    // If tests are missing, no tests are recorded: new tests may stand in their place only for now.
    if ((result.missingTests ?? []).length === 0) for (const test of result.tests ?? []) tests.add(test);
    const { passed, failing } = result;
    const outcome = { criterion: text, passed, ms, detail, ...withoutUndefined({ failing }) };
    checks.push({
      ...outcome,
      ...withoutUndefined({ at: realPath }),
      ...(result.tests === undefined ? {} : { tests: result.tests.filter((name) => !isNotATest(name)).length }),
      ...withoutUndefined({ unloaded: result.unloaded }),
    });
    await tell({ type: "checked", ...outcome });
  }
  return { checks, tests: [...tests], runs: context.runs };
}

/** The path on the user's machine of a file in the sandbox's /home; undefined for other files. */
function realPathOf(criterion: Criterion, { home }: Place): string | undefined {
  const { path } = criterion as { readonly path?: string };
  if (home === undefined || path === undefined || !isWithin(path, "/home")) return undefined;
  return join(home, relative("/home", path));
}

/**
 * A note about a variable or program in the check's output that exists on the user's machine but not in the sandbox:
 * the agent's work did not cause its absence. Empty for other output.
 */
function notInSandbox(detail: string, { missingInSandbox, access }: Place): string {
  if (missingInSandbox === undefined) return "";
  const namesInDetail = new Set(detail.match(/[\w.+-]+/g));
  const variables = missingInSandbox.variables.filter((name) => namesInDetail.has(name));
  const [, program = ""] = /(?<![\w.+-])([\w.+-]{1,100}): (?:command )?not found/.exec(detail) ?? [];
  const realProgram = program === "" ? undefined : programIn(missingInSandbox.path, program);
  const mountedFolders = [...access.read, ...access.write].map((mount) =>
    typeof mount === "string" ? mount : mount.from,
  );
  const isHidden =
    realProgram !== undefined && !["/usr", "/bin", ...mountedFolders].some((folder) => isWithin(realProgram, folder));
  return [
    variables.length === 0
      ? ""
      : ` (Outside of the sandbox: ${variables.join(", ")}. --env ${variables[0]} lets it in.)`,
    isHidden ? ` (${realProgram} is on this machine, and the sandbox does not show it.)` : "",
  ].join("");
}

async function checkOne(criterion: Criterion, place: Place, context: CheckContext): Promise<CheckResult> {
  switch (criterion.type) {
    case "file_exists": {
      const result = await run(place, "sh", ["-c", '[ -e "$1" ]', "sh", criterion.path], { timeoutMs: 60_000 });
      if (result.ok) return { passed: true, detail: `${criterion.path} is there.` };
      const reason = result.end.exitCode === 1 ? `There is no ${criterion.path}.` : endSentence(result, 60_000);
      return { passed: false, detail: reason, ...undecidedField(result) };
    }
    case "command_succeeds":
      return await checkCommand(criterion.command, criterion, place);
    case "contains_text":
      return await checkContent(criterion, place);
    case "json_valid":
      return await checkJson(criterion, place);
    case "http_ok":
      return await checkHttp(criterion, place);
    case "all_of":
    case "any_of":
      return await checkGroup(criterion, place, context);
    case "not": {
      const { passed, detail, isUndecided } = await checkOne(criterion.criterion, place, context);
      const text = criterionText(criterion.criterion);
      if (isUndecided === true)
        return { passed: false, detail: `It is unknown whether it is met: ${text}: ${detail}`, isUndecided };
      return {
        passed: !passed,
        detail: passed ? `It is met, and should not be: ${text}.` : `It is not met, as required: ${text}.`,
      };
    }
    case "no_type_errors":
    case "lint_clean":
      return await checkTool(criterion, place);
    case "coverage":
      return await checkCoverage(criterion, place);
    case "tests_pass": {
      const result = await checkTests(criterion, place, context);
      context.runs.push(result);
      return result;
    }
    case "new_test_passes":
      return await checkNewTest(place, context);
  }
}

async function checkGroup(
  { type, criteria }: Extract<Criterion, { type: "all_of" | "any_of" }>,
  place: Place,
  context: CheckContext,
): Promise<CheckResult> {
  const results: { readonly words: string; readonly result: CheckResult }[] = [];
  for (const criterion of criteria) {
    const result = await checkOne(criterion, place, context);
    results.push({ words: criterionText(criterion), result });
    // One met criterion is enough for `any_of`.
    if (type === "any_of" && result.passed) break;
  }
  const passed =
    type === "all_of" ? results.every(({ result }) => result.passed) : results.some(({ result }) => result.passed);
  const failed = results.filter(({ result }) => !result.passed);
  const maxChars = Math.floor(maxDetailChars / Math.max(1, failed.length));
  const detail = passed
    ? type === "all_of"
      ? "All of them are met."
      : `Met: ${results.at(-1)?.words}.`
    : failed.map(({ words: text, result }) => `✗ ${text}: ${result.detail}`.slice(0, maxChars)).join("\n");
  // For `all_of`, one criterion that is certainly not met is enough for a decision.
  const undecidedChecks = failed.filter(({ result }) => result.isUndecided === true);
  const isUndecided =
    !passed && (type === "all_of" ? undecidedChecks.length === failed.length : undecidedChecks.length > 0);
  const undecided = isUndecided ? { isUndecided: true as const } : {};
  const resultsOfTests = results.filter(({ result }) => result.failing !== undefined);
  if (resultsOfTests.length === 0) return { passed, detail, ...undecided };
  const failing = resultsOfTests.reduce((sum, { result }) => sum + (result.failing ?? 0), 0);
  const unloaded = resultsOfTests.reduce((sum, { result }) => sum + (result.unloaded ?? 0), 0);
  return {
    passed,
    detail,
    ...undecided,
    failing,
    unloaded,
    tests: results.flatMap(({ result }) => result.tests ?? []),
  };
}
