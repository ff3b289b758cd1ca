import { join, relative } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Told } from "../../engine/loop/types.js";
import { isWithin, programIn } from "../../engine/process/search-path.js";
import type { Criterion } from "../generated/ralph.js";
import type { Check } from "../generated/ralph-state.js";
import { checkCoverage } from "./coverage.js";
import { checkHttp } from "./http.js";
import { checkNewTest, type FilesBefore } from "./new-test.js";
import { checkContent, checkJson } from "./content.js";
import { wordsOf } from "./words.js";
import {
  checkCommand,
  type CheckResult,
  endSentence,
  maxDetailChars,
  type Place,
  run,
  undecidedIf,
} from "../place/run.js";
import { isNoTest } from "../test-runs/results.js";
import { checkTests } from "./tests.js";
import { checkTool } from "./types-and-lint.js";

export interface Checked {
  readonly checks: readonly Check[];
  /** Names of all tests that were there. */
  readonly tests: readonly string[];
  /** What the criteria `tests_pass` found, in the order in which they were checked. */
  readonly runs: readonly CheckResult[];
}

/** What checks know of the tests from before. */
export interface KnownTests {
  /** Names of tests that were there before: one that is gone counts as failing. */
  readonly seen: readonly string[];
  /** Tests that are run once more where they fail, and those that passed then: these are not counted. */
  readonly flaky?: readonly string[];
  /** What `new_test_passes` compares with; absent: nothing is known of it yet. */
  readonly before?: FilesBefore;
}

type Known = KnownTests & { readonly runs: CheckResult[] };

/**
 * Checks all criteria, one after the other, and tells when each begins and what came of it. Undefined where it was
 * aborted: what was found until then says nothing of the rest.
 */
export async function checkAll(
  criteria: readonly Criterion[],
  place: Place,
  knownTests: KnownTests,
  tell: (event: Told) => Promise<void>,
): Promise<Checked | undefined> {
  const known: Known = { ...knownTests, runs: [] };
  const checks: Check[] = [];
  const tests = new Set<string>();
  for (const criterion of criteria) {
    const words = wordsOf(criterion);
    await tell({ type: "checking", criterion: words });
    const begun = performance.now();
    const found = await checkOne(criterion, place, known);
    if (place.signal.aborted) return undefined;
    const ms = Math.round(performance.now() - begun);
    const at = reallyAt(criterion, place);
    const really = at === undefined ? "" : ` (Outside of the sandbox: ${at})`;
    const why = found.passed ? really : notThere(found.detail, place);
    const detail = `${found.detail.slice(0, maxDetailChars - why.length)}${why}`;
    // Where tests are gone, those in their place bind nobody: they go again once the others are back.
    if ((found.gone ?? []).length === 0) for (const test of found.tests ?? []) tests.add(test);
    checks.push({
      criterion: words,
      passed: found.passed,
      ms,
      detail,
      ...withoutUndefined({ failing: found.failing, at }),
      ...(found.tests === undefined ? {} : { tests: found.tests.filter((name) => !isNoTest(name)).length }),
      ...withoutUndefined({ unloaded: found.unloaded }),
    });
    await tell({
      type: "checked",
      criterion: words,
      passed: found.passed,
      ms,
      detail,
      ...withoutUndefined({ failing: found.failing }),
    });
  }
  return { checks, tests: [...tests], runs: known.runs };
}

/** Where a file of the sandbox's /home lies on the user's machine; undefined for any other. */
function reallyAt(criterion: Criterion, { home }: Place): string | undefined {
  const { path } = criterion as { readonly path?: string };
  if (home === undefined || path === undefined || !isWithin(path, "/home")) return undefined;
  return join(home, relative("/home", path));
}

/**
 * What a check named in its output that is on the user's machine and not in the sandbox, as a sentence: that is not a
 * fault of what was checked. Empty where it is neither a variable nor a program.
 */
function notThere(detail: string, { missing, reach }: Place): string {
  if (missing === undefined) return "";
  const words = new Set(detail.match(/[\w.+-]+/g));
  const variables = missing.variables.filter((name) => words.has(name));
  const [, program = ""] = /(?<![\w.+-])([\w.+-]{1,100}): (?:command )?not found/.exec(detail) ?? [];
  const there = program === "" ? undefined : programIn(missing.path, program);
  const shown = [...reach.read, ...reach.write].map((mount) => (typeof mount === "string" ? mount : mount.from));
  const isHidden = there !== undefined && !["/usr", "/bin", ...shown].some((folder) => isWithin(there, folder));
  return [
    variables.length === 0
      ? ""
      : ` (Outside of the sandbox: ${variables.join(", ")}. --env ${variables[0]} lets it in.)`,
    isHidden ? ` (${there} is on this machine, and the sandbox does not show it.)` : "",
  ].join("");
}

async function checkOne(criterion: Criterion, place: Place, known: Known): Promise<CheckResult> {
  switch (criterion.type) {
    case "file_exists": {
      const ran = await run(place, "sh", ["-c", '[ -e "$1" ]', "sh", criterion.path], { timeoutMs: 60_000 });
      if (ran.ok) return { passed: true, detail: `${criterion.path} is there.` };
      const why = ran.end.exitCode === 1 ? `There is no ${criterion.path}.` : endSentence(ran, 60_000);
      return { passed: false, detail: why, ...undecidedIf(ran) };
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
      return await checkSome(criterion, place, known);
    case "not": {
      const { passed, detail, undecided } = await checkOne(criterion.criterion, place, known);
      const words = wordsOf(criterion.criterion);
      if (undecided === true)
        return { passed: false, detail: `It is unknown whether it is met: ${words}: ${detail}`, undecided };
      return {
        passed: !passed,
        detail: passed ? `It is met, and should not be: ${words}.` : `It is not met, as required: ${words}.`,
      };
    }
    case "no_type_errors":
    case "lint_clean":
      return await checkTool(criterion, place);
    case "coverage":
      return await checkCoverage(criterion, place);
    case "tests_pass": {
      const found = await checkTests(criterion, place, known);
      known.runs.push(found);
      return found;
    }
    case "new_test_passes":
      return await checkNewTest(place, known);
  }
}

async function checkSome(
  { type, criteria }: Extract<Criterion, { type: "all_of" | "any_of" }>,
  place: Place,
  known: Known,
): Promise<CheckResult> {
  const all: { readonly words: string; readonly found: CheckResult }[] = [];
  for (const each of criteria) {
    const found = await checkOne(each, place, known);
    all.push({ words: wordsOf(each), found });
    // The rest would say nothing new of a choice that is made.
    if (type === "any_of" && found.passed) break;
  }
  const passed = type === "all_of" ? all.every(({ found }) => found.passed) : all.some(({ found }) => found.passed);
  const failed = all.filter(({ found }) => !found.passed);
  const share = Math.floor(maxDetailChars / Math.max(1, failed.length));
  const detail = passed
    ? type === "all_of"
      ? "All of them are met."
      : `Met: ${all.at(-1)?.words}.`
    : failed.map(({ words, found }) => `✗ ${words}: ${found.detail}`.slice(0, share)).join("\n");
  // Of all, one that is surely not met decides.
  const open = failed.filter(({ found }) => found.undecided === true);
  const isOpen = !passed && (type === "all_of" ? open.length === failed.length : open.length > 0);
  const undecided = isOpen ? { undecided: true as const } : {};
  const counted = all.filter(({ found }) => found.failing !== undefined);
  if (counted.length === 0) return { passed, detail, ...undecided };
  const failing = counted.reduce((sum, { found }) => sum + (found.failing ?? 0), 0);
  const unloaded = counted.reduce((sum, { found }) => sum + (found.unloaded ?? 0), 0);
  return { passed, detail, ...undecided, failing, unloaded, tests: all.flatMap(({ found }) => found.tests ?? []) };
}
