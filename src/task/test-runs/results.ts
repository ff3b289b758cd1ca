import { isAbsolute, relative } from "node:path";
import type { SourceLocation, TestError, TestResult, TestResults } from "../generated/test-results.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** Maximum characters of a message. */
const maxMessageChars = 1_000;
/** Maximum lines of a stack. */
const maxStackLines = 20;

/** Maximum bytes that are stored of each stream. */
const maxStreamBytes = 4_096;

/** The last 4 KB of a program's output. */
export function streamEnd(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxStreamBytes) return text;
  // The first character may be cut in half.
  return bytes
    .subarray(bytes.length - maxStreamBytes + 3)
    .toString("utf8")
    .replace(/^\uFFFD+/, "");
}

type ErrorType = TestError["type"];

const errorPatterns: readonly (readonly [RegExp, ErrorType])[] = [
  [/timed? ?out|timeout|ERR_MOCHA_TIMEOUT|Timeout >/i, "timeout"],
  [
    /SyntaxError|IndentationError|TabError|Transform failed|Parse failure|PARSE_ERROR|could not compile|Unexpected token|build failed/i,
    "syntax",
  ],
  [/Assertion|\bassert\b|\bexpect(?:ed)?\b|toBe|toEqual|assertion `/i, "assertion"],
  [/\b[A-Z]\w*(?:Error|Exception)\b|panicked|panic:|Cannot find module|No module named/i, "runtime"],
];

/** The kind of an error, from its message and stack. `hint`: the name of the error, if the framework reports it. */
export function errorTypeOf(message: string, hint = "", stack = ""): ErrorType {
  for (const text of [hint, message, stack.slice(0, 2_000)])
    for (const [pattern, type] of errorPatterns) if (pattern.test(text)) return type;
  return "logic";
}

/** The location of an error: the first frame of its stack that lies in the project. */
export function locationIn(stack: string, root: string): SourceLocation | undefined {
  const lines = stack.split("\n").slice(0, 200);
  // Python's stacks end with the location of the error; all others begin with it.
  for (const line of /^Traceback/m.test(stack) ? lines.toReversed() : lines) {
    const frame = frameInFolder(root, line) ?? frameIn(line);
    if (frame === undefined || /node_modules|node:internal|site-packages|\/rustc\//.test(frame.file)) continue;
    if (isAbsolute(frame.file) && !frame.file.startsWith(`${root}/`)) continue;
    return { ...frame, file: isAbsolute(frame.file) ? relative(root, frame.file) : frame.file };
  }
  return undefined;
}

const framePatterns = [
  // at f (file:///a/b.js:1:2), ❯ a/b.js:1:2, panicked at src/lib.rs:1:2:
  /(?:^|[\s(])(?:file:\/\/)?((?:\.{0,2}\/)?[\p{L}\p{M}\p{N}_./@~+-]+\.\w{1,5}):(\d{1,7}):(\d{1,7})/u,
  /File "([^"]+)", line (\d{1,7})/,
  // a_test.go:12: …, test_a.py:3: AssertionError
  /(?:^|\s)([\p{L}\p{M}\p{N}_./@~+-]+\.(?:py|go|rs|[cm]?[jt]sx?)):(\d{1,7})(?::|\s|$)/u,
] as const;

/**
 * The frame of a line with a path in the folder `root`. The path may contain any characters and ends before the line
 * number.
 */
function frameInFolder(root: string, line: string): SourceLocation | undefined {
  const text = decodeFileUrl(line.slice(0, 1_000));
  const pathStart = text.indexOf(`${root}/`);
  if (pathStart === -1) return undefined;
  const [, file, lineNumber, column] =
    /^([^:"()]+\.\w{1,5}):(\d{1,7})(?::(\d{1,7}))?/.exec(text.slice(pathStart)) ?? [];
  if (file === undefined || Number(lineNumber) < 1) return undefined;
  return { file, line: Number(lineNumber), ...(Number(column) >= 1 ? { column: Number(column) } : {}) };
}

/** A line of a stack with its file URL decoded to a path. */
function decodeFileUrl(line: string): string {
  if (!line.includes("file://")) return line;
  try {
    return decodeURI(line);
  } catch {
    return line;
  }
}

function frameIn(line: string): SourceLocation | undefined {
  for (const pattern of framePatterns) {
    const [, file, lineNumber, column] = pattern.exec(line.slice(0, 1_000)) ?? [];
    if (file === undefined || Number(lineNumber) < 1) continue;
    const columnNumber = Number(column);
    return { file, line: Number(lineNumber), ...(columnNumber >= 1 ? { column: columnNumber } : {}) };
  }
  return undefined;
}

/** An error in the format of the schema. */
export function errorOf(message: string, stack: string, root: string, hint?: string): TestError {
  // oxlint-disable-next-line no-control-regex -- colours of a terminal
  const withoutColours = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, "");
  const lines = withoutColours(stack)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "");
  const location = locationIn(withoutColours(`${stack}\n${message}`), root);
  return {
    type: errorTypeOf(withoutColours(message), hint, withoutColours(stack)),
    message: withoutColours(message).trim().slice(0, maxMessageChars) || "it failed without a message",
    ...(lines.length === 0 ? {} : { stack_trace: lines.slice(0, maxStackLines) }),
    ...withoutUndefined({ source_location: location }),
  };
}

/** The result of a failed test. Its status is `timeout` if the error is a timeout. */
export const failedResult = (name: string, error: TestError): TestResult => ({
  status: error.type === "timeout" ? "timeout" : "fail",
  test_name: name,
  error,
});

/** Whether a test failed or timed out. */
export const isFailing = ({ status }: TestResult): boolean => status === "fail" || status === "timeout";

/** A path in the project's folder, relative to it; other paths stay as they are. */
export const pathInProject = (root: string, path: string): string =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;

/** Name for the result of a whole run. Such a result is not a test, so it is never reported as missing. */
export const wholeRunName = "the test run";
export const notLoadedName = (file: string): string => `${file} could not be loaded`;
/** The file or module in a name of `notLoadedName`; undefined for other names. */
export const unloadedFileIn = (name: string): string | undefined =>
  name.endsWith(notLoadedName("")) ? name.slice(0, -notLoadedName("").length) : undefined;
export const isNotATest = (name: string): boolean => name === wholeRunName || name.endsWith(notLoadedName(""));

/** Numbers tests with equal names, so that none is lost. */
export function withUniqueNames(tests: readonly TestResult[]): TestResult[] {
  const countByName = new Map<string, number>();
  return tests.map((test) => {
    const count = (countByName.get(test.test_name) ?? 0) + 1;
    countByName.set(test.test_name, count);
    return count === 1 ? test : { ...test, test_name: `${test.test_name} (${count})` };
  });
}

/** The output of a test run, as the reader of a framework needs it. */
export interface TestRunOutput {
  /** The folder that the tests belong to; paths in results are relative to it. */
  readonly root: string;
  /** The content of the framework's result file; undefined if the file is missing. */
  readonly file: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

/** What a reader returns. The streams are added for all readers. */
export type ParsedTests = Pick<TestResults, "tests" | "coverage" | "problem">;
