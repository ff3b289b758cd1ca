import type { TestResult } from "../../generated/test-results.js";
import { errorOf, failed, isFailing, notLoaded, type ReadTests, type RunOfTests, wholeRun } from "../results.js";
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

/** Reads the events of `go test -json`; a package that does not build fails without a test. */
export function readGo({ root, stdout, stderr }: RunOfTests): ReadTests {
  const output = new Map<string, string>();
  const tests: TestResult[] = [];
  const withTests = new Set<string>();
  let coverage: number | undefined;
  for (const line of stdout.split("\n")) {
    const event = line.startsWith("{") ? fieldsIn<Event>(line) : undefined;
    if (event === undefined) continue;
    const {
      Action: action,
      Package: pack = event.ImportPath?.split(" ")[0] ?? "",
      Test: test,
      Elapsed: seconds,
    } = event;
    const key = `${pack} ${test ?? ""}`;
    if (action === "output" || action === "build-output") {
      const said = `${output.get(key) ?? ""}${event.Output ?? ""}`;
      output.set(key, said.slice(-8_000));
      const percent = /coverage: ([\d.]+)% of statements/.exec(event.Output ?? "")?.[1];
      if (percent !== undefined) coverage = Number(percent);
    }
    if (test !== undefined) withTests.add(pack);
    const isEnd = action === "pass" || action === "fail" || action === "skip";
    if (!isEnd || (test === undefined && (action !== "fail" || hasFailed(tests, pack)))) continue;
    const test_name = test === undefined ? notLoaded(pack) : `${pack} > ${test}`;
    const took = seconds === undefined ? {} : { duration_ms: Math.round(seconds * 1000) };
    if (action === "pass") tests.push({ status: "pass", test_name, ...took });
    else if (action === "skip") tests.push({ status: "skip", test_name });
    else {
      const said = `${output.get(key) ?? ""}${test === undefined ? (output.get(`${pack} `) ?? "") + stderr : ""}`;
      const isBuild = test === undefined && (/build failed|setup failed/.test(said) || !withTests.has(pack));
      const error = errorOf(messageIn(said), said, root, isBuild ? "build failed" : undefined);
      tests.push({ ...failed(test_name, error), ...took });
    }
  }
  if (tests.length === 0 && /\S/.test(stderr) && !stdout.includes('"Action":"pass"'))
    return {
      tests: [
        failed(
          wholeRun,
          errorOf(messageIn(stderr), stderr, root, /\.go:\d+:\d+: /.test(stderr) ? "build failed" : undefined),
        ),
      ],
      problem: "The tests did not run.",
    };
  const covered = coverage === undefined ? {} : { coverage: { line_coverage: coverage } };
  return tests.length === 0 ? { tests, problem: "No tests were found." } : { tests, ...covered };
}

const hasFailed = (tests: readonly TestResult[], pack: string): boolean =>
  tests.some((test) => isFailing(test) && test.test_name.startsWith(`${pack} > `));

/** The first line that says what is wrong. */
const messageIn = (said: string): string => {
  const lines = said.split("\n").map((line) => line.trim());
  const useful = lines.filter((line) => line !== "" && !/^(?:===|---|FAIL|ok\b|PASS|#|exit status)/.test(line));
  return useful.slice(0, 3).join("\n") || lines.find((line) => line !== "") || "it failed";
};
