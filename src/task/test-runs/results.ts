import { isAbsolute, relative } from "node:path";
import type { SourceLocation, TestError, TestResult, TestResults } from "../generated/test-results.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** Most characters of a message, and most lines of a stack. */
const maxMessage = 1_000;
const maxStack = 20;

/** Most bytes that are kept of each stream. */
const maxStream = 4_096;

/** The end of what a program printed, of at most 4 KB. */
export function streamEnd(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxStream) return text;
  // A character may be cut in half.
  return bytes
    .subarray(bytes.length - maxStream + 3)
    .toString("utf8")
    .replace(/^\uFFFD+/, "");
}

type ErrorType = TestError["type"];

const signs: readonly (readonly [RegExp, ErrorType])[] = [
  [/timed? ?out|timeout|ERR_MOCHA_TIMEOUT|Timeout >/i, "timeout"],
  [
    /SyntaxError|IndentationError|TabError|Transform failed|Parse failure|PARSE_ERROR|could not compile|Unexpected token|build failed/i,
    "syntax",
  ],
  [/Assertion|\bassert\b|\bexpect(?:ed)?\b|toBe|toEqual|assertion `/i, "assertion"],
  [/\b[A-Z]\w*(?:Error|Exception)\b|panicked|panic:|Cannot find module|No module named/i, "runtime"],
];

/** What kind of error a message tells of. `hint`: the name of the error, where the framework says it. */
export function errorTypeOf(message: string, hint = "", stack = ""): ErrorType {
  for (const text of [hint, message, stack.slice(0, 2_000)])
    for (const [pattern, type] of signs) if (pattern.test(text)) return type;
  return "logic";
}

/** Where a stack says that it happened: its first frame in the project itself. */
export function locationIn(stack: string, root: string): SourceLocation | undefined {
  const lines = stack.split("\n").slice(0, 200);
  // Python's stacks end where it happened, all others begin there.
  for (const line of /^Traceback/m.test(stack) ? lines.toReversed() : lines) {
    const found = frameUnder(root, line) ?? frameIn(line);
    if (found === undefined || /node_modules|node:internal|site-packages|\/rustc\//.test(found.file)) continue;
    if (isAbsolute(found.file) && !found.file.startsWith(`${root}/`)) continue;
    return { ...found, file: isAbsolute(found.file) ? relative(root, found.file) : found.file };
  }
  return undefined;
}

const frames = [
  // at f (file:///a/b.js:1:2), ❯ a/b.js:1:2, panicked at src/lib.rs:1:2:
  /(?:^|[\s(])(?:file:\/\/)?((?:\.{0,2}\/)?[\p{L}\p{M}\p{N}_./@~+-]+\.\w{1,5}):(\d{1,7}):(\d{1,7})/u,
  /File "([^"]+)", line (\d{1,7})/,
  // a_test.go:12: …, test_a.py:3: AssertionError
  /(?:^|\s)([\p{L}\p{M}\p{N}_./@~+-]+\.(?:py|go|rs|[cm]?[jt]sx?)):(\d{1,7})(?::|\s|$)/u,
] as const;

/** A place below the folder `root`, whatever its names are made of: after the folder a path goes on to its line. */
function frameUnder(root: string, line: string): SourceLocation | undefined {
  const text = decoded(line.slice(0, 1_000));
  const at = text.indexOf(`${root}/`);
  if (at === -1) return undefined;
  const [, file, row, column] = /^([^:"()]+\.\w{1,5}):(\d{1,7})(?::(\d{1,7}))?/.exec(text.slice(at)) ?? [];
  if (file === undefined || Number(row) < 1) return undefined;
  return { file, line: Number(row), ...(Number(column) >= 1 ? { column: Number(column) } : {}) };
}

/** A line of a stack with its URL as the path that it stands for. */
function decoded(line: string): string {
  if (!line.includes("file://")) return line;
  try {
    return decodeURI(line);
  } catch {
    return line;
  }
}

function frameIn(line: string): SourceLocation | undefined {
  for (const pattern of frames) {
    const [, file, row, column] = pattern.exec(line.slice(0, 1_000)) ?? [];
    if (file === undefined || Number(row) < 1) continue;
    const at = Number(column);
    return { file, line: Number(row), ...(at >= 1 ? { column: at } : {}) };
  }
  return undefined;
}

/** An error as the schema has it. */
export function errorOf(message: string, stack: string, root: string, hint?: string): TestError {
  // oxlint-disable-next-line no-control-regex -- colours of a terminal
  const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, "");
  const lines = plain(stack)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "");
  const place = locationIn(plain(`${stack}\n${message}`), root);
  return {
    type: errorTypeOf(plain(message), hint, plain(stack)),
    message: plain(message).trim().slice(0, maxMessage) || "it failed without a message",
    ...(lines.length === 0 ? {} : { stack_trace: lines.slice(0, maxStack) }),
    ...withoutUndefined({ source_location: place }),
  };
}

/** A test that failed, `timeout` where its error says so. */
export const failed = (name: string, error: TestError): TestResult => ({
  status: error.type === "timeout" ? "timeout" : "fail",
  test_name: name,
  error,
});

/** Whether a test has not passed, although it was to run. */
export const isFailing = ({ status }: TestResult): boolean => status === "fail" || status === "timeout";

/** A path below the folder of the project as it is there; another one stays as it is. */
export const relativeTo = (root: string, path: string): string =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;

/** The run as a whole, and a file of tests: neither is a test that may be missed once it works again. */
export const wholeRun = "the test run";
export const notLoaded = (file: string): string => `${file} could not be loaded`;
/** The file or module in such a name; undefined where it is the name of a test. */
export const fileNotLoaded = (name: string): string | undefined =>
  name.endsWith(notLoaded("")) ? name.slice(0, -notLoaded("").length) : undefined;
export const isNoTest = (name: string): boolean => name === wholeRun || name.endsWith(notLoaded(""));

/** Tests whose names are the same get a number each, so that none is lost. */
export function distinct(tests: readonly TestResult[]): TestResult[] {
  const times = new Map<string, number>();
  return tests.map((test) => {
    const count = (times.get(test.test_name) ?? 0) + 1;
    times.set(test.test_name, count);
    return count === 1 ? test : { ...test, test_name: `${test.test_name} (${count})` };
  });
}

/** What a framework's reader is given. */
export interface RunOfTests {
  /** The folder that the tests belong to; paths in results are relative to it. */
  readonly root: string;
  /** What the framework wrote into its result file; undefined: it wrote none. */
  readonly file: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | undefined;
}

/** What a reader says; the streams are the same for all. */
export type ReadTests = Pick<TestResults, "tests" | "coverage" | "problem">;
