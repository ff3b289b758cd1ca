import { parseXml } from "../../../text/xml.js";
import type { TestResult } from "../../generated/test-results.js";
import {
  errorOf,
  failedResult,
  notLoadedName,
  type ParsedTests,
  pathInProject,
  type TestRunOutput,
} from "../results.js";
import { crashWithoutReport } from "./javascript.js";

/** An element as the parser returns it: attributes begin with "@", and "#text" is the text. */
interface Element {
  readonly [name: string]: unknown;
}

const listElements = ["testsuite", "testcase", "failure", "error", "skipped"];

const listOf = (element: Element, name: string): readonly (Element | string)[] => {
  const value = element[name];
  return Array.isArray(value) ? (value as (Element | string)[]) : [];
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const partOf = (element: Element | string | undefined, name: string): string =>
  typeof element === "object" ? textOf(element[name]) : name === "#text" ? textOf(element) : "";

/** Reads a JUnit report of node:test or pytest. A file that can't be loaded is a test case with an error. */
export async function readJunit({ file, root, stdout, stderr, exitCode }: TestRunOutput): Promise<ParsedTests> {
  if (file === undefined) return crashWithoutReport(stdout, stderr, root);
  const parsed = await parseXml(file, listElements, "all");
  if ("reason" in parsed) return crashWithoutReport(stdout, stderr, root);
  const report = parsed.value as Element;
  const tests: TestResult[] = [];
  const walk = (element: Element, parentTitles: readonly string[]): void => {
    for (const child of listOf(element, "testcase"))
      if (typeof child === "object") tests.push(withReason(testOf(child, parentTitles, root), stdout));
    for (const child of listOf(element, "testsuite"))
      if (typeof child === "object") walk(child, [...parentTitles, ...titleOf(child)]);
  };
  const rootElement = report["testsuites"];
  walk(typeof rootElement === "object" && rootElement !== null ? (rootElement as Element) : report, []);
  // 5 is pytest's exit code for a run without tests.
  return tests.length === 0 && exitCode === 5 ? { tests, problem: "No tests were found." } : { tests };
}

/** The title of a suite, as a list. Empty for "pytest", because that is the name of every suite of pytest. */
const titleOf = (suite: Element): string[] => {
  const name = textOf(suite["@name"]);
  return name === "" || name === "pytest" ? [] : [name];
};

/** Adds the reason from stdout to a failed test without a reason: node:test reports so if it could not load a file. */
function withReason(test: TestResult, stdout: string): TestResult {
  if (test.error?.message !== "test failed") return test;
  const lines = stdout.split("\n");
  const errorIndex = lines.findIndex((line) => /^\w*Error\b/.test(line));
  if (errorIndex === -1) return test;
  const stack = lines.slice(Math.max(0, errorIndex - 6), errorIndex + 12).join("\n");
  return { ...test, error: errorOf(lines[errorIndex] ?? "", stack, "/") };
}

function testOf(test: Element, parentTitles: readonly string[], root: string): TestResult {
  const classname = textOf(test["@classname"]);
  const filePart = textOf(test["@file"]) || (classname === "test" ? "" : classname);
  const name = pathInProject(root, withQuotes(textOf(test["@name"])));
  const test_name = [...(filePart === "" ? [] : [pathInProject(root, filePart)]), ...parentTitles, name].join(" > ");
  const seconds = Number.parseFloat(textOf(test["@time"]));
  const duration = seconds >= 0 ? { duration_ms: Math.round(seconds * 1000) } : {};
  const [problem] = [...listOf(test, "failure"), ...listOf(test, "error")];
  if (problem !== undefined) {
    const details = partOf(problem, "#text");
    const message = withBreaks(withQuotes(partOf(problem, "@message")), details);
    const summary = message === "collection failure" || message === "" ? lastLine(details) : message;
    const isFileFailure = message === "collection failure" || message === "test failed";
    return {
      ...failedResult(
        isFileFailure ? notLoadedName(test_name) : test_name,
        errorOf(summary, details, root, partOf(problem, "@type")),
      ),
      ...duration,
    };
  }
  if (test["skipped"] !== undefined) return { status: "skip", test_name };
  return { status: "pass", test_name, ...duration };
}

/** Restores quotes in an attribute: node:test escapes a quote, and then escapes the ampersand of that entity again. */
const withQuotes = (attribute: string): string => attribute.replaceAll("&quot;", '"');

/**
 * Restores the line breaks of a message, which node:test removes from the attribute, if the text contains the message.
 */
function withBreaks(message: string, fullText: string): string {
  const matchIndex = message === "" ? -1 : fullText.replaceAll("\n", "").indexOf(message);
  if (matchIndex === -1) return message;
  let [index, start] = [0, 0];
  for (let seenChars = 0; seenChars < matchIndex + message.length; index += 1) {
    if (fullText[index] === "\n") continue;
    if (seenChars === matchIndex) start = index;
    seenChars += 1;
  }
  return fullText.slice(start, index);
}

const lastLine = (textOf: string): string =>
  textOf
    .split("\n")
    .map((line) => line.replace(/^E\s+/, "").trim())
    .filter((line) => line !== "")
    .slice(-2)
    .join("\n");
