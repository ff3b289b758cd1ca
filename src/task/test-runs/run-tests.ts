import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord } from "../../engine/lib/sanitise.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import { endSentence, type Place, type ProgramResult, run, runShell } from "../place/run.js";
import type { TestResults } from "../generated/test-results.js";
import { coverageIn } from "./coverage.js";
import { localProgram, pythonOf } from "../place/project.js";
import { type DetectedFramework, type Framework, looseTestFolders } from "./detect.js";
import { readCargo } from "./frameworks/cargo.js";
import { readGo } from "./frameworks/go.js";
import { readJest, readMocha } from "./frameworks/javascript.js";
import { readJunit } from "./frameworks/junit.js";
import { readUnittest, unittestRunner } from "./frameworks/unittest.js";
import { placeOfTests } from "./seen-place.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { withArguments, withSteps } from "./own-command.js";
import {
  withUniqueNames,
  errorOf,
  failedResult,
  type ParsedTests,
  type TestRunOutput,
  streamEnd,
  wholeRunName,
} from "./results.js";

/** Maximum bytes of a report. Reports of several thousand tests with their output are smaller. */
const maxReportBytes = 20_000_000;

/** Runs all tests of the project with this framework. Never throws, whatever the tests do. */
export async function runTests(detected: DetectedFramework, place: Place, timeoutMs: number): Promise<TestResults> {
  const file = join(place.scratch, `${randomUUID()}.report`);
  mkdirSync(place.scratch, { recursive: true });
  const startedAt = Date.now();
  const testPlace = placeOfTests(place);
  const ms = Math.min(timeoutMs, place.testPlace?.maxMs ?? timeoutMs);
  const result = await runFramework(detected, file, place.cwd, testPlace, ms);
  try {
    const results = await resultsOf(detected, result, readTextSync(file, maxReportBytes), testPlace.place.cwd, ms);
    const coverage = results.coverage ?? (await coverageIn(place.cwd, startedAt));
    return { ...results, ...withoutUndefined({ coverage }) };
  } finally {
    rmSync(file, { force: true });
  }
}

/** The results of a test run that has ended. `file`: the text of its report. */
export async function resultsOf(
  { framework }: Pick<DetectedFramework, "framework">,
  result: ProgramResult,
  file: string | undefined,
  root: string,
  timeoutMs: number,
): Promise<TestResults> {
  const { stdout, stderr, end } = result;
  const parsed = await readers[framework]({ root, file, stdout, stderr, exitCode: end.exitCode });
  return {
    framework,
    ...withRunFailure(parsed, result, timeoutMs, root),
    stdout: streamEnd(stdout),
    stderr: streamEnd(stderr),
  };
}

const readers: Readonly<Record<Framework, (run: TestRunOutput) => ParsedTests | Promise<ParsedTests>>> = {
  vitest: readJest,
  jest: readJest,
  mocha: readMocha,
  "node:test": readJunit,
  pytest: readJunit,
  unittest: readUnittest,
  cargo: readCargo,
  go: readGo,
};

/** Starts the framework and waits for its end. `cwd`: the path of the project in this process. */
async function runFramework(
  { framework, script, steps = {}, files = [] }: DetectedFramework,
  file: string,
  cwd: string,
  { place, path }: ReturnType<typeof placeOfTests>,
  timeoutMs: number,
): Promise<ProgramResult> {
  const options = { timeoutMs, maxOutputBytes: maxReportBytes };
  const localPath = (name: string) => path(localProgram(cwd, name));
  // Programs of the project and of the packages around it, in the same order as npm.
  const searchPath = [join(place.cwd, "node_modules/.bin"), dirname(localPath(framework)), place.env["PATH"] ?? ""];
  const npmOptions = { ...options, env: { PATH: searchPath.filter((each) => each !== ".").join(":") } };
  // The variables, options and steps of the project's script are kept. Options are removed that wait for the user, stop
  // at the first failure, or write another report: if two are configured, Vitest writes both into one file.
  const runByScript = async (
    args: readonly string[],
    drop: RegExp,
    valued: RegExp,
    command?: string,
  ): Promise<ProgramResult> => {
    const dropped = place.testPlace === undefined ? drop : new RegExp(`${drop.source}|^--coverage(?:[.=].*)?$`);
    const changes = { drop: dropped, valued, command };
    const commandWords = [localPath(framework), ...(command === undefined ? [] : [command]), ...args, ...files];
    const ownLine = commandWords.map(shellWord).join(" ");
    const line = (script && withArguments(script, framework, args.map(shellWord), changes)) ?? ownLine;
    return await runShell(place, withSteps(line, steps), npmOptions);
  };
  switch (framework) {
    case "vitest":
      return await runByScript(
        ["--reporter=json", `--outputFile=${file}`],
        /^(?:--watch(?:=.*)?|-w|watch|dev|--ui|--bail(?:=.*)?)$/,
        /^--(?:reporter|output-?[fF]ile)(?:\..*)?$/,
        "run",
      );
    case "jest": {
      const byPath = files.length === 0 ? [] : ["--runTestsByPath"];
      const args = ["--ci", "--json", `--outputFile=${file}`, "--testLocationInResults", ...byPath];
      return await runByScript(args, /^(?:--watch(?:All)?(?:=.*)?|--json|--bail(?:=.*)?|-b)$/, /^--outputFile$/);
    }
    case "mocha": {
      const args = ["--reporter", "json", "--reporter-option", `output=${file}`];
      return await runByScript(args, /^(?:--watch|-w|--bail|-b)$/, /^(?:--reporter(?:-options?)?|-[RO])$/);
    }
    case "node:test": {
      // Only the reporter `spec` says why a file could not be loaded.
      const readableReporter = "--test-reporter=spec --test-reporter-destination=stdout";
      const reporter = `--test --test-reporter=junit --test-reporter-destination=${shellWord(file)} ${readableReporter} `;
      // Node needs as many destinations as reporters.
      const scriptWithoutReporters = (script ?? "node --test").replaceAll(
        /\s--test-reporter(?:-destination)?[=\s]\s*\S+/g,
        "",
      );
      const line = scriptWithoutReporters.replace(/--test(?=[\s)]|$)\s*/, reporter);
      return await runShell(place, withSteps([line, ...files.map(shellWord)].join(" "), steps), npmOptions);
    }
    case "pytest": {
      const args = ["--continue-on-collection-errors", "--maxfail=0", `--junitxml=${file}`, "-p", "no:cacheprovider"];
      const changes = { drop: /^(?:-x|--exitfirst)$/, valued: /^--(?:maxfail|junit-?xml)$/ };
      const line = script && withArguments(script, "pytest", args.map(shellWord), changes);
      if (line !== undefined) return await runShell(place, line, options);
      return await run(place, path(pythonOf(cwd)), ["-m", "pytest", ...args, ...files], options);
    }
    case "unittest": {
      const folders = ["tests", "test"].filter((name) => isFolder(join(cwd, name)));
      const looseFolders = looseTestFolders(cwd).filter((name) => !folders.includes(name));
      const searchArgs =
        files.length === 0 ? [".", ...folders, "--", ...looseFolders] : ["--", ...new Set(files.map(dirname))];
      const args = ["-c", unittestRunner, file, ...searchArgs];
      return await run(place, path(pythonOf(cwd)), args, options);
    }
    case "cargo": {
      const changes = { drop: /^--no-fail-fast$/, valued: /^--message-format$/ };
      const cargo = async (...args: readonly string[]) => {
        const line = script && withArguments(script, "cargo", args, changes);
        return await (line ? runShell(place, line, options) : run(place, "cargo", ["test", ...args], options));
      };
      const buildResult = await cargo("--no-run", "--message-format", "json");
      return buildResult.ok ? await cargo("--no-fail-fast") : buildResult;
    }
    case "go":
      return await run(place, "go", ["test", "-json", "./..."], options);
  }
}

/** If the run failed although no test did, adds a failure for the whole run. */
function withRunFailure(parsed: ParsedTests, result: ProgramResult, timeoutMs: number, root: string): ParsedTests {
  const tests = withUniqueNames(parsed.tests);
  const allPassed =
    result.end.cause === "exited" && tests.every(({ status }) => status === "pass" || status === "skip");
  if (result.end.cause !== "exited") {
    const message = endSentence(result, timeoutMs);
    const error = {
      ...errorOf(message, "", root),
      ...(result.end.cause === "timeout" ? { type: "timeout" as const } : {}),
    };
    return {
      ...parsed,
      tests: [...tests.filter(({ test_name }) => test_name !== wholeRunName), failedResult(wholeRunName, error)],
      problem: message,
    };
  }
  if (allPassed && !result.ok && parsed.problem === undefined && tests.length > 0) {
    const message = `${endSentence(result, timeoutMs)} No single test failed.`;
    return {
      ...parsed,
      tests: [...tests, failedResult(wholeRunName, errorOf(message, result.stderr, root))],
      problem: message,
    };
  }
  return { ...parsed, tests };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
