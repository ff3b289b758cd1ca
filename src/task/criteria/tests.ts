import { existsSync, statSync } from "node:fs";
import { basename, join, normalize } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { TestResult, TestResults } from "../generated/test-results.js";
import type { TestsPass } from "../generated/ralph.js";
import { many } from "../../engine/lib/words.js";
import { calledIn, detectTests, frameworks, ownTestCommand } from "../test-runs/detect.js";
import { coverageIn } from "../test-runs/coverage.js";
import { runTests } from "../test-runs/run-tests.js";
import { fileNotLoaded, isFailing, isNoTest, notLoaded, streamEnd } from "../test-runs/results.js";
import { readOnlyHint, seenByTests } from "../test-runs/seen-place.js";
import {
  type CheckResult,
  endSentence,
  lastCharsOf,
  maxDetailChars,
  outputOf,
  type Place,
  runShell,
  timeoutOf,
  undecidedIf,
} from "../place/run.js";

/** Most failing tests that are named. */
const maxNamed = 8;

/**
 * Whether all tests of the project pass. `seen`: names of tests that have run before; `flaky`: tests that fail now and
 * then. Where it is given, tests that fail are run once more, and what passes then is flaky too.
 */
export async function checkTests(
  criterion: TestsPass,
  place: Place,
  { seen, flaky }: { readonly seen: readonly string[]; readonly flaky?: readonly string[] },
): Promise<CheckResult> {
  const timeoutMs = timeoutOf(criterion);
  const called = criterion.command === undefined ? undefined : calledIn(criterion.command);
  if (criterion.command !== undefined && called === undefined)
    return await byExitCode(criterion.command, timeoutMs, place);
  const found = detectTests(place.cwd);
  const chosen =
    criterion.framework === undefined || called !== undefined
      ? (called ?? found[0])
      : (found.find(({ framework }) => framework === criterion.framework) ?? { framework: criterion.framework });
  if (chosen === undefined) {
    const own = ownTestCommand(place.cwd);
    const such = own === undefined ? "" : ` such as "${own}"`;
    const detail = `No supported test framework detected (${frameworks.join(", ")}); name the command that runs the tests${such}: --test-command, or "command" in the criterion.`;
    return { passed: false, detail };
  }
  const results = await runTests(chosen, place, timeoutMs);
  const broken = results.tests.filter(
    ({ status, test_name: name }) => status === "fail" && !isNoTest(name) && flaky?.includes(name) === false,
  );
  const again = broken.length > 0 && !place.signal.aborted ? await runTests(chosen, place, timeoutMs) : undefined;
  const passed = new Set(again?.tests.flatMap(({ status, test_name }) => (status === "pass" ? [test_name] : [])));
  const unsteady = [...(flaky ?? []), ...broken.map(({ test_name }) => test_name).filter((name) => passed.has(name))];
  const judged = { ...judgeTests(results, seen, place.cwd, unsteady), ...(flaky && { flaky: unsteady }) };
  const hint = judged.passed ? undefined : readOnlyHint(place, `${results.stdout}${results.stderr}${judged.detail}`);
  return hint === undefined ? judged : { ...judged, detail: `${hint}\n${judged.detail}` };
}

async function byExitCode(command: string, timeoutMs: number, place: Place): Promise<CheckResult> {
  const begun = Date.now();
  const ms = Math.min(timeoutMs, place.tests?.maxMs ?? timeoutMs);
  const ran = await runShell(seenByTests(place).place, command, { timeoutMs: ms });
  const coverage = await coverageIn(place.cwd, begun);
  const results: TestResults = {
    framework: "command",
    tests: [],
    ...(ran.ok ? {} : { problem: endSentence(ran, ms) }),
    stdout: streamEnd(ran.stdout),
    stderr: streamEnd(ran.stderr),
    ...withoutUndefined({ coverage }),
  };
  const hint = readOnlyHint(place, ran.stdout + ran.stderr);
  const why = [endSentence(ran, ms), ...(hint === undefined ? [] : [hint])].join(" ");
  const detail = ran.ok ? "The tests pass." : `${why}\n${outputOf(ran, maxDetailChars - 100 - why.length)}`.trim();
  return { passed: ran.ok, detail, failing: ran.ok ? 0 : 1, results, ...undecidedIf(ran) };
}

/**
 * No test run is not a pass, and neither is one without a test that was there before: one that is skipped now is gone
 * too, and so is a test file that could not be loaded, whose tests nobody knows. `root`: the folder of the project;
 * `flaky`: tests that are not counted.
 */
export function judgeTests(
  results: TestResults,
  seen: readonly string[],
  root: string,
  flaky: readonly string[] = [],
): CheckResult {
  const { tests, framework, problem } = results;
  const ran = tests.filter(({ status }) => status !== "skip");
  const names = new Set(ran.map(({ test_name }) => test_name));
  const broken = ran.filter((test) => isFailing(test) && !flaky.includes(test.test_name));
  const gone = seen.flatMap((name) => {
    if (flaky.includes(name)) return [];
    const file = fileNotLoaded(name);
    if (file === undefined) return names.has(name) ? [] : [name];
    return existsSync(join(root, file)) ? [] : [`${file} (never loaded)`];
  });
  const failing = broken.length + gone.length;
  const unloaded = gone.length + broken.filter(({ test_name }) => isNoTest(test_name)).length;
  const skipped = tests.length - ran.length;
  const known = [
    ...ran.map(({ test_name }) => test_name).filter((name) => !isNoTest(name)),
    ...new Set(broken.flatMap((test) => brokenFile(test, results.framework, root) ?? []).map(notLoaded)),
  ];
  if (ran.length === 0) {
    const none = skipped > 0 ? `${many(skipped, "test")} skipped, none has run.` : (problem ?? "No test has run.");
    const words = said(results);
    const detail = `${framework}: ${none}${none.includes(words.trim()) ? "" : words}`;
    return {
      passed: false,
      detail,
      failing: Math.max(1, gone.length),
      unloaded: Math.max(1, gone.length),
      tests: known,
      gone,
      results,
    };
  }
  if (failing === 0) {
    const detail = `${framework}: ${many(ran.length, "test")} passed${skipped === 0 ? "" : `, ${skipped} skipped`}.`;
    return { passed: true, detail, failing: 0, unloaded: 0, tests: known, results };
  }
  const named = broken.slice(0, maxNamed).map(inOneLine);
  const lost =
    gone.length === 0
      ? []
      : [
          `${many(gone.length, "test")} that ${gone.length === 1 ? "was there is" : "were there are"} gone or skipped: ${gone.slice(0, maxNamed).join(", ")}`,
        ];
  const more = broken.length > maxNamed ? [`and ${broken.length - maxNamed} more`] : [];
  const head = `${framework}: ${broken.length} failed of ${many(ran.length, "test")}.`;
  const detail = [head, ...lost, ...named, ...more].join("\n");
  return { passed: false, detail, failing, unloaded, tests: known, gone, results };
}

/** The test file that could not be loaded, relative to the project, where a result says which, and it is there. */
function brokenFile({ test_name, error }: TestResult, framework: string, root: string): string | undefined {
  if (!isNoTest(test_name)) return undefined;
  const name = fileNotLoaded(test_name)?.split(" > ").at(-1) ?? "";
  // Python's tools name a module, in one of the folders that they look through.
  const modules = ["", "tests/", "test/"].map((folder) => `${folder}${name.replaceAll(".", "/")}.py`);
  const place = normalize(error?.source_location?.file ?? "");
  // Compilers name whatever does not compile, and a source file may well have to go.
  const named = framework === "cargo" || framework === "go" ? [name].filter(isTestFile) : [name, ...modules];
  return [...named, place].find(
    (path) =>
      path !== "" &&
      (path !== place || isTestFile(path)) &&
      statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** Whether a file holds tests, by its name. */
export const isTestFile = (path: string): boolean =>
  /(?:^|\/)(?:tests?|spec|__tests__)\//.test(path) || /(?:^test_|[._-](?:test|spec)\.)[^/]*$/.test(basename(path));

function inOneLine({ test_name, error }: TestResult): string {
  const place = error?.source_location;
  const where = place === undefined ? "" : ` (${place.file}${place.line === undefined ? "" : `:${place.line}`})`;
  return `- ${test_name}${where}: ${(error?.message ?? "").replace(/\s+/g, " ").slice(0, 200)}`;
}

/** Where a report was written helps nobody. */
const withoutPath = (stdout: string): string =>
  stdout
    .split("\n")
    .filter((line) => !/report written to/.test(line))
    .join("\n")
    .trim();

const said = ({ stdout, stderr }: TestResults): string => {
  const words = lastCharsOf(stderr.trim() || withoutPath(stdout), 600);
  return words === "" ? "" : `\n${words}`;
};
