import type { TestResult } from "../../generated/test-results.js";
import {
  errorOf,
  failedResult,
  isFailing,
  notLoadedName,
  type ParsedTests,
  type TestRunOutput,
  wholeRunName,
} from "../results.js";
import { fieldsIn } from "../../../engine/lib/json-fields.js";

/** A line of `go test -json`: https://pkg.go.dev/cmd/test2json */
interface Event {
  readonly Action?: string;
  readonly Package?: string;
  readonly ImportPath?: string;
  readonly Test?: string;
  readonly Elapsed?: number;
  readonly Output?: string;
}

/** Reads the events of `go test -json`. A package that does not build fails without a test. */
export function readGo({ root, stdout, stderr }: TestRunOutput): ParsedTests {
  const outputByKey = new Map<string, string>();
  const tests: TestResult[] = [];
  const packagesWithTests = new Set<string>();
  let coverage: number | undefined;
  for (const line of stdout.split("\n")) {
    const event = line.startsWith("{") ? fieldsIn<Event>(line) : undefined;
    if (event === undefined) continue;
    const {
      Action: action,
      Package: packageName = event.ImportPath?.split(" ")[0] ?? "",
      Test: test,
      Elapsed: seconds,
    } = event;
    const key = `${packageName} ${test ?? ""}`;
    if (action === "output" || action === "build-output") {
      const output = `${outputByKey.get(key) ?? ""}${event.Output ?? ""}`;
      outputByKey.set(key, output.slice(-8_000));
      const percent = /coverage: ([\d.]+)% of statements/.exec(event.Output ?? "")?.[1];
      if (percent !== undefined) coverage = Number(percent);
    }
    if (test !== undefined) packagesWithTests.add(packageName);
    const isEnd = action === "pass" || action === "fail" || action === "skip";
    if (!isEnd || (test === undefined && (action !== "fail" || hasFailed(tests, packageName)))) continue;
    const test_name = test === undefined ? notLoadedName(packageName) : `${packageName} > ${test}`;
    const duration = seconds === undefined ? {} : { duration_ms: Math.round(seconds * 1000) };
    if (action === "pass") tests.push({ status: "pass", test_name, ...duration });
    else if (action === "skip") tests.push({ status: "skip", test_name });
    else {
      const output = `${outputByKey.get(key) ?? ""}${test === undefined ? (outputByKey.get(`${packageName} `) ?? "") + stderr : ""}`;
      const isBuild =
        test === undefined && (/build failed|setup failed/.test(output) || !packagesWithTests.has(packageName));
      const error = errorOf(messageOf(output), output, root, isBuild ? "build failed" : undefined);
      tests.push({ ...failedResult(test_name, error), ...duration });
    }
  }
  if (tests.length === 0 && /\S/.test(stderr) && !stdout.includes('"Action":"pass"'))
    return {
      tests: [
        failedResult(
          wholeRunName,
          errorOf(messageOf(stderr), stderr, root, /\.go:\d+:\d+: /.test(stderr) ? "build failed" : undefined),
        ),
      ],
      problem: "The tests did not run.",
    };
  const coverageResult = coverage === undefined ? {} : { coverage: { line_coverage: coverage } };
  return tests.length === 0 ? { tests, problem: "No tests were found." } : { tests, ...coverageResult };
}

const hasFailed = (tests: readonly TestResult[], packageName: string): boolean =>
  tests.some((test) => isFailing(test) && test.test_name.startsWith(`${packageName} > `));

/** The first lines of an output that describe the failure. */
const messageOf = (output: string): string => {
  const lines = output.split("\n").map((line) => line.trim());
  const usefulLines = lines.filter((line) => line !== "" && !/^(?:===|---|FAIL|ok\b|PASS|#|exit status)/.test(line));
  return usefulLines.slice(0, 3).join("\n") || lines.find((line) => line !== "") || "it failed";
};
