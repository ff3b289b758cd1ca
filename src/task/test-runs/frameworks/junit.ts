import { parseXml } from "../../../text/xml.js";
import type { TestResult } from "../../generated/test-results.js";
import { errorOf, failed, notLoaded, type ReadTests, relativeTo, type RunOfTests } from "../results.js";
import { withoutReport } from "./javascript.js";

/** An element as the parser gives it: attributes under "@", its text under "#text". */
interface Element {
  readonly [name: string]: unknown;
}

const arrays = ["testsuite", "testcase", "failure", "error", "skipped"];

const listOf = (element: Element, name: string): readonly (Element | string)[] => {
  const value = element[name];
  return Array.isArray(value) ? (value as (Element | string)[]) : [];
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const part = (element: Element | string | undefined, name: string): string =>
  typeof element === "object" ? text(element[name]) : name === "#text" ? text(element) : "";

/** Reads a JUnit report of node:test or pytest: a file that can't be loaded is a test case with an error. */
export async function readJunit({ file, root, stdout, stderr, exitCode }: RunOfTests): Promise<ReadTests> {
  if (file === undefined) return withoutReport(stdout, stderr, root);
  const read = await parseXml(file, arrays, "all");
  if ("reason" in read) return withoutReport(stdout, stderr, root);
  const report = read.value as Element;
  const tests: TestResult[] = [];
  const walk = (element: Element, above: readonly string[]): void => {
    for (const each of listOf(element, "testcase"))
      if (typeof each === "object") tests.push(explained(testOf(each, above, root), stdout));
    for (const each of listOf(element, "testsuite"))
      if (typeof each === "object") walk(each, [...above, ...titleOf(each)]);
  };
  const top = report["testsuites"];
  walk(typeof top === "object" && top !== null ? (top as Element) : report, []);
  // pytest's code for a run that found none.
  return tests.length === 0 && exitCode === 5 ? { tests, problem: "No tests were found." } : { tests };
}

/** pytest calls its one suite "pytest", which tells nothing. */
const titleOf = (suite: Element): string[] => {
  const name = text(suite["@name"]);
  return name === "" || name === "pytest" ? [] : [name];
};

/** A file that node:test could not load fails as a test without a reason; what it printed tells. */
function explained(test: TestResult, stdout: string): TestResult {
  if (test.error?.message !== "test failed") return test;
  const lines = stdout.split("\n");
  const at = lines.findIndex((line) => /^\w*Error\b/.test(line));
  if (at === -1) return test;
  const stack = lines.slice(Math.max(0, at - 6), at + 12).join("\n");
  return { ...test, error: errorOf(lines[at] ?? "", stack, "/") };
}

function testOf(test: Element, above: readonly string[], root: string): TestResult {
  const classname = text(test["@classname"]);
  const place = text(test["@file"]) || (classname === "test" ? "" : classname);
  const name = relativeTo(root, withQuotes(text(test["@name"])));
  const test_name = [...(place === "" ? [] : [relativeTo(root, place)]), ...above, name].join(" > ");
  const seconds = Number.parseFloat(text(test["@time"]));
  const took = seconds >= 0 ? { duration_ms: Math.round(seconds * 1000) } : {};
  const [problem] = [...listOf(test, "failure"), ...listOf(test, "error")];
  if (problem !== undefined) {
    const said = part(problem, "#text");
    const message = withBreaks(withQuotes(part(problem, "@message")), said);
    const short = message === "collection failure" || message === "" ? lastLine(said) : message;
    const isFile = message === "collection failure" || message === "test failed";
    return {
      ...failed(isFile ? notLoaded(test_name) : test_name, errorOf(short, said, root, part(problem, "@type"))),
      ...took,
    };
  }
  if (test["skipped"] !== undefined) return { status: "skip", test_name };
  return { status: "pass", test_name, ...took };
}

/** node:test writes a quote of an attribute as an entity, and then the ampersand of that as another one. */
const withQuotes = (attribute: string): string => attribute.replaceAll("&quot;", '"');

/** node:test leaves the line breaks out of the attribute; where its text says the same with them, that counts. */
function withBreaks(message: string, said: string): string {
  const at = message === "" ? -1 : said.replaceAll("\n", "").indexOf(message);
  if (at === -1) return message;
  let [place, first] = [0, 0];
  for (let seen = 0; seen < at + message.length; place += 1) {
    if (said[place] === "\n") continue;
    if (seen === at) first = place;
    seen += 1;
  }
  return said.slice(first, place);
}

const lastLine = (said: string): string =>
  said
    .split("\n")
    .map((line) => line.replace(/^E\s+/, "").trim())
    .filter((line) => line !== "")
    .slice(-2)
    .join("\n");
