import { relative } from "node:path";
import { fieldsIn } from "../../../engine/lib/json-fields.js";
import type { TestResult } from "../../generated/test-results.js";
import {
  errorOf,
  failedResult,
  notLoadedName,
  type ParsedTests,
  type TestRunOutput,
  wholeRunName,
} from "../results.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** The report of jest; vitest writes the same format. */
interface JestReport {
  readonly testResults?: readonly {
    readonly name?: string;
    readonly status?: string;
    readonly message?: string;
    readonly assertionResults?: readonly {
      readonly title?: string;
      readonly ancestorTitles?: readonly string[];
      readonly status?: string;
      readonly duration?: number | null;
      readonly failureMessages?: readonly string[] | null;
      readonly location?: { readonly line?: number; readonly column?: number } | null;
    }[];
  }[];
}

/** Reads the report of vitest or jest. A file that can't be loaded is a suite without tests. */
export function readJest({ file, root, stdout, stderr }: TestRunOutput): ParsedTests {
  const report = fieldsIn<JestReport>(file ?? "");
  if (report === undefined) return crashWithoutReport(stdout, stderr);
  const tests: TestResult[] = [];
  for (const suite of report.testResults ?? []) {
    const name = suite.name === undefined ? "tests" : relative(root, suite.name);
    for (const assertion of suite.assertionResults ?? []) {
      const titles = [...(assertion.ancestorTitles ?? []), assertion.title ?? ""].filter((title) => title !== "");
      const test_name = `${name} > ${titles.join(" > ")}`;
      const duration = typeof assertion.duration === "number" ? { duration_ms: Math.max(0, assertion.duration) } : {};
      if (assertion.status === "passed") tests.push({ status: "pass", test_name, ...duration });
      else if (assertion.status !== "failed") tests.push({ status: "skip", test_name });
      else {
        const stack = readableStack(assertion.failureMessages?.join("\n") ?? "");
        const { line, column } = assertion.location ?? {};
        const error = errorOf(stack.split("\n    at ")[0] ?? "", stack, root);
        const location =
          error.source_location ??
          (line === undefined
            ? undefined
            : { file: name, line, ...(column === undefined ? {} : { column: column + 1 }) });
        tests.push({
          ...failedResult(test_name, { ...error, ...withoutUndefined({ source_location: location }) }),
          ...duration,
        });
      }
    }
    if ((suite.assertionResults ?? []).length === 0 && suite.status === "failed") {
      const message = suite.message ?? "";
      tests.push(failedResult(notLoadedName(name), errorOf(firstLines(message), message, root)));
    }
  }
  return { tests };
}

/** Replaces the title that vitest writes into its report if a test takes too long, which does not mention the time. */
const readableStack = (stack: string): string =>
  stack.replace(/^Error: STACK_TRACE_ERROR/, "Error: Test timed out; a test is given more by its own timeout");

/** The first lines of a crash, without jest's own title. */
const firstLines = (message: string): string =>
  message
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("●"))
    .slice(0, 3)
    .join("\n");

interface MochaReport {
  readonly tests?: readonly {
    readonly fullTitle?: string;
    readonly file?: string;
    readonly duration?: number;
    readonly err?: {
      readonly message?: string;
      readonly stack?: string;
      readonly code?: string;
      readonly name?: string;
    };
  }[];
  readonly pending?: readonly { readonly fullTitle?: string; readonly file?: string }[];
  readonly failures?: MochaReport["tests"];
}

/** Reads the report of mocha. If a file can't be loaded, there is no report. */
export function readMocha({ file, root, stdout, stderr }: TestRunOutput): ParsedTests {
  const report = fieldsIn<MochaReport>(file ?? "");
  if (report === undefined) return crashWithoutReport(stdout, stderr, root);
  const nameOf = (test: { readonly fullTitle?: string; readonly file?: string }) =>
    `${test.file === undefined ? "tests" : relative(root, test.file)} > ${test.fullTitle ?? ""}`;
  const pending = new Set((report.pending ?? []).map(nameOf));
  const tests = (report.tests ?? []).map((test): TestResult => {
    const test_name = nameOf(test);
    const duration = test.duration === undefined ? {} : { duration_ms: Math.max(0, test.duration) };
    if (pending.has(test_name)) return { status: "skip", test_name };
    const { message = "", stack = message, code, name } = test.err ?? {};
    if (test.err === undefined || (message === "" && stack === "")) return { status: "pass", test_name, ...duration };
    return { ...failedResult(test_name, errorOf(message, stack, root, `${code ?? ""} ${name ?? ""}`)), ...duration };
  });
  // A failed hook is only in the list of failures.
  const testNames = new Set(tests.map(({ test_name }) => test_name));
  const failedHooks = (report.failures ?? []).filter((test) => !testNames.has(nameOf(test)));
  const hookFailures = failedHooks.map((test) =>
    failedResult(nameOf(test), errorOf(test.err?.message ?? "a hook failed", test.err?.stack ?? "", root)),
  );
  return { tests: [...tests, ...hookFailures] };
}

/** The result of a run without a report: it crashed before its first test. */
export function crashWithoutReport(stdout: string, stderr: string, root = "/"): ParsedTests {
  const output = `${stderr.trim()}\n${stdout.trim()}`.trim();
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const errorIndex = lines.findIndex((line) => /\b\w*Error\b/.test(line));
  const message = (errorIndex === -1 ? lines.slice(-3) : lines.slice(errorIndex, errorIndex + 3)).join("\n");
  if (/no test(?:s| files)? found/i.test(output)) return { tests: [], problem: "No tests were found." };
  return {
    tests: [failedResult(wholeRunName, errorOf(message || "it ended without a report", output, root))],
    problem: "The test run left no report.",
  };
}
