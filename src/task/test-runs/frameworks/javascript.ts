import { relative } from "node:path";
import { fieldsIn } from "../../../engine/lib/json-fields.js";
import type { TestResult } from "../../generated/test-results.js";
import { errorOf, failed, notLoaded, type ReadTests, type RunOfTests, wholeRun } from "../results.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** The result file of jest, which vitest writes too. */
interface JestReport {
  readonly testResults?: readonly {
    readonly name?: string;
    readonly status?: string;
    readonly message?: string;
    readonly assertionResults?: readonly {
      readonly fullName?: string;
      readonly title?: string;
      readonly ancestorTitles?: readonly string[];
      readonly status?: string;
      readonly duration?: number | null;
      readonly failureMessages?: readonly string[] | null;
      readonly location?: { readonly line?: number; readonly column?: number } | null;
    }[];
  }[];
}

/** Reads what vitest and jest report: a file that can't be loaded is a suite without tests. */
export function readJest({ file, root, stdout, stderr }: RunOfTests): ReadTests {
  const report = fieldsIn<JestReport>(file ?? "");
  if (report === undefined) return withoutReport(stdout, stderr);
  const tests: TestResult[] = [];
  for (const suite of report.testResults ?? []) {
    const name = suite.name === undefined ? "tests" : relative(root, suite.name);
    for (const each of suite.assertionResults ?? []) {
      const titles = [...(each.ancestorTitles ?? []), each.title ?? ""].filter((title) => title !== "");
      const test_name = `${name} > ${titles.join(" > ")}`;
      const took = typeof each.duration === "number" ? { duration_ms: Math.max(0, each.duration) } : {};
      if (each.status === "passed") tests.push({ status: "pass", test_name, ...took });
      else if (each.status !== "failed") tests.push({ status: "skip", test_name });
      else {
        const stack = readable(each.failureMessages?.join("\n") ?? "");
        const { line, column } = each.location ?? {};
        const error = errorOf(stack.split("\n    at ")[0] ?? "", stack, root);
        const place =
          error.source_location ??
          (line === undefined
            ? undefined
            : { file: name, line, ...(column === undefined ? {} : { column: column + 1 }) });
        tests.push({ ...failed(test_name, { ...error, ...withoutUndefined({ source_location: place }) }), ...took });
      }
    }
    if ((suite.assertionResults ?? []).length === 0 && suite.status === "failed") {
      const message = suite.message ?? "";
      tests.push(failed(notLoaded(name), errorOf(firstWords(message), message, root)));
    }
  }
  return { tests };
}

/**
 * What vitest writes into its report where a test takes too long: the place where it was made, and nothing of the time.
 */
const readable = (stack: string): string =>
  stack.replace(/^Error: STACK_TRACE_ERROR/, "Error: Test timed out; a test is given more by its own timeout");

/** The first sentence of a crash: after jest's own title. */
const firstWords = (message: string): string =>
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
    readonly pending?: boolean;
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

/** Reads what mocha reports; a file that can't be loaded leaves no report at all. */
export function readMocha({ file, root, stdout, stderr }: RunOfTests): ReadTests {
  const report = fieldsIn<MochaReport>(file ?? "");
  if (report === undefined) return withoutReport(stdout, stderr, root);
  const nameOf = (test: { readonly fullTitle?: string; readonly file?: string }) =>
    `${test.file === undefined ? "tests" : relative(root, test.file)} > ${test.fullTitle ?? ""}`;
  const pending = new Set((report.pending ?? []).map(nameOf));
  const tests = (report.tests ?? []).map((test): TestResult => {
    const test_name = nameOf(test);
    const took = test.duration === undefined ? {} : { duration_ms: Math.max(0, test.duration) };
    if (pending.has(test_name)) return { status: "skip", test_name };
    const { message = "", stack = message, code, name } = test.err ?? {};
    if (test.err === undefined || (message === "" && stack === "")) return { status: "pass", test_name, ...took };
    return { ...failed(test_name, errorOf(message, stack, root, `${code ?? ""} ${name ?? ""}`)), ...took };
  });
  // A hook that fails is among the failures alone.
  const known = new Set(tests.map(({ test_name }) => test_name));
  const hooks = (report.failures ?? []).filter((test) => !known.has(nameOf(test)));
  const more = hooks.map((test) =>
    failed(nameOf(test), errorOf(test.err?.message ?? "a hook failed", test.err?.stack ?? "", root)),
  );
  return { tests: [...tests, ...more] };
}

/** A run that left no report has crashed before its first test. */
export function withoutReport(stdout: string, stderr: string, root = "/"): ReadTests {
  const said = `${stderr.trim()}\n${stdout.trim()}`.trim();
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  const at = lines.findIndex((line) => /\b\w*Error\b/.test(line));
  const message = (at === -1 ? lines.slice(-3) : lines.slice(at, at + 3)).join("\n");
  if (/no test(?:s| files)? found/i.test(said)) return { tests: [], problem: "No tests were found." };
  return {
    tests: [failed(wholeRun, errorOf(message || "it ended without a report", said, root))],
    problem: "The test run left no report.",
  };
}
