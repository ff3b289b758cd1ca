import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { shellWord } from "../../engine/lib/sanitise.js";
import { readTextSync } from "../../engine/storage/regular-file.js";
import { endSentence, type Place, type ProgramResult, run, runShell } from "../place/run.js";
import type { TestResults } from "../generated/test-results.js";
import { coverageIn } from "./coverage.js";
import { localProgram, pythonOf } from "../place/project.js";
import { type Detected, type Framework, looseTestFolders } from "./detect.js";
import { readCargo } from "./frameworks/cargo.js";
import { readGo } from "./frameworks/go.js";
import { readJest, readMocha } from "./frameworks/javascript.js";
import { readJunit } from "./frameworks/junit.js";
import { readUnittest, unittestRunner } from "./frameworks/unittest.js";
import { seenByTests } from "./seen-place.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { withArguments, withSteps } from "./own-command.js";
import { distinct, errorOf, failed, type ReadTests, type RunOfTests, streamEnd, wholeRun } from "./results.js";

/** What is kept of a report on stdout: some thousand tests with their output. */
const maxReport = 20_000_000;

/** Runs all tests of the project with this framework. Never throws for what they do. */
export async function runTests(detected: Detected, place: Place, timeoutMs: number): Promise<TestResults> {
  const file = join(place.scratch, `${randomUUID()}.report`);
  mkdirSync(place.scratch, { recursive: true });
  const begun = Date.now();
  const seen = seenByTests(place);
  const ms = Math.min(timeoutMs, place.tests?.maxMs ?? timeoutMs);
  const started = await start(detected, file, place.cwd, seen, ms);
  try {
    const results = await resultsOf(detected, started, readTextSync(file, maxReport), seen.place.cwd, ms);
    const coverage = results.coverage ?? (await coverageIn(place.cwd, begun));
    return { ...results, ...withoutUndefined({ coverage }) };
  } finally {
    rmSync(file, { force: true });
  }
}

/** What a run that has ended shows; `file`: the text of its report. */
export async function resultsOf(
  { framework }: Pick<Detected, "framework">,
  ran: ProgramResult,
  file: string | undefined,
  root: string,
  timeoutMs: number,
): Promise<TestResults> {
  const { stdout, stderr, end } = ran;
  const read = await readers[framework]({ root, file, stdout, stderr, exitCode: end.exitCode });
  return { framework, ...withEnd(read, ran, timeoutMs, root), stdout: streamEnd(stdout), stderr: streamEnd(stderr) };
}

const readers: Readonly<Record<Framework, (run: RunOfTests) => ReadTests | Promise<ReadTests>>> = {
  vitest: readJest,
  jest: readJest,
  mocha: readMocha,
  "node:test": readJunit,
  pytest: readJunit,
  unittest: readUnittest,
  cargo: readCargo,
  go: readGo,
};

/** `cwd`: the project as this process sees it. */
async function start(
  { framework, script, steps = {}, only = [] }: Detected,
  file: string,
  cwd: string,
  { place, path }: ReturnType<typeof seenByTests>,
  timeoutMs: number,
): Promise<ProgramResult> {
  const how = { timeoutMs, maxOutput: maxReport };
  const local = (name: string) => path(localProgram(cwd, name));
  // Programs of the project, those of the packages around it too, as npm finds them.
  const around = [join(place.cwd, "node_modules/.bin"), dirname(local(framework)), place.env["PATH"] ?? ""];
  const asNpm = { ...how, env: { PATH: around.filter((each) => each !== ".").join(":") } };
  // The script's own variables, options and steps belong to the tests. What would wait for a person does not, nor what
  // ends at the first failure, and neither does another report: of two files for it vitest wants none, and writes both
  // reports into one.
  const byScript = async (
    args: readonly string[],
    drop: RegExp,
    valued: RegExp,
    command?: string,
  ): Promise<ProgramResult> => {
    const without = place.tests === undefined ? drop : new RegExp(`${drop.source}|^--coverage(?:[.=].*)?$`);
    const kept = { drop: without, valued, ...withoutUndefined({ command }) };
    const words = [local(framework), ...(command === undefined ? [] : [command]), ...args, ...only];
    const own = words.map(shellWord).join(" ");
    const line = (script && withArguments(script, framework, args.map(shellWord), kept)) ?? own;
    return await runShell(place, withSteps(line, steps), asNpm);
  };
  switch (framework) {
    case "vitest":
      return await byScript(
        ["--reporter=json", `--outputFile=${file}`],
        /^(?:--watch(?:=.*)?|-w|watch|dev|--ui|--bail(?:=.*)?)$/,
        /^--(?:reporter|output-?[fF]ile)(?:\..*)?$/,
        "run",
      );
    case "jest": {
      const byPath = only.length === 0 ? [] : ["--runTestsByPath"];
      const args = ["--ci", "--json", `--outputFile=${file}`, "--testLocationInResults", ...byPath];
      return await byScript(args, /^(?:--watch(?:All)?(?:=.*)?|--json|--bail(?:=.*)?|-b)$/, /^--outputFile$/);
    }
    case "mocha": {
      const args = ["--reporter", "json", "--reporter-option", `output=${file}`];
      return await byScript(args, /^(?:--watch|-w|--bail|-b)$/, /^(?:--reporter(?:-options?)?|-[RO])$/);
    }
    case "node:test": {
      // Why a file could not be loaded stands in the report for people alone.
      const forPeople = "--test-reporter=spec --test-reporter-destination=stdout";
      const reporter = `--test --test-reporter=junit --test-reporter-destination=${shellWord(file)} ${forPeople} `;
      // Node wants as many destinations as reporters.
      const plain = (script ?? "node --test").replaceAll(/\s--test-reporter(?:-destination)?[=\s]\s*\S+/g, "");
      const line = plain.replace(/--test(?=[\s)]|$)\s*/, reporter);
      return await runShell(place, withSteps([line, ...only.map(shellWord)].join(" "), steps), asNpm);
    }
    case "pytest": {
      const args = ["--continue-on-collection-errors", "--maxfail=0", `--junitxml=${file}`, "-p", "no:cacheprovider"];
      const kept = { drop: /^(?:-x|--exitfirst)$/, valued: /^--(?:maxfail|junit-?xml)$/ };
      const line = script && withArguments(script, "pytest", args.map(shellWord), kept);
      if (line !== undefined) return await runShell(place, line, how);
      return await run(place, path(pythonOf(cwd)), ["-m", "pytest", ...args, ...only], how);
    }
    case "unittest": {
      const folders = ["tests", "test"].filter((name) => isFolder(join(cwd, name)));
      const loose = looseTestFolders(cwd).filter((name) => !folders.includes(name));
      const all = only.length === 0 ? [".", ...folders, "--", ...loose] : ["--", ...new Set(only.map(dirname))];
      const args = ["-c", unittestRunner, file, ...all];
      return await run(place, path(pythonOf(cwd)), args, how);
    }
    case "cargo": {
      const plain = { drop: /^--no-fail-fast$/, valued: /^--message-format$/ };
      const cargo = async (...args: readonly string[]) => {
        const line = script && withArguments(script, "cargo", args, plain);
        return await (line ? runShell(place, line, how) : run(place, "cargo", ["test", ...args], how));
      };
      const built = await cargo("--no-run", "--message-format", "json");
      return built.ok ? await cargo("--no-fail-fast") : built;
    }
    case "go":
      return await run(place, "go", ["test", "-json", "./..."], how);
  }
}

/** What was read, and what the end of the run says of it: a run that failed has no passing tests alone. */
function withEnd(read: ReadTests, ran: ProgramResult, timeoutMs: number, root: string): ReadTests {
  const tests = distinct(read.tests);
  const isFine = ran.end.cause === "exited" && tests.every(({ status }) => status === "pass" || status === "skip");
  if (ran.end.cause !== "exited") {
    const message = endSentence(ran, timeoutMs);
    const error = {
      ...errorOf(message, "", root),
      ...(ran.end.cause === "timeout" ? { type: "timeout" as const } : {}),
    };
    return {
      ...read,
      tests: [...tests.filter(({ test_name }) => test_name !== wholeRun), failed(wholeRun, error)],
      problem: message,
    };
  }
  if (isFine && !ran.ok && read.problem === undefined && tests.length > 0) {
    const message = `${endSentence(ran, timeoutMs)} No single test failed.`;
    return { ...read, tests: [...tests, failed(wholeRun, errorOf(message, ran.stderr, root))], problem: message };
  }
  return { ...read, tests };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
