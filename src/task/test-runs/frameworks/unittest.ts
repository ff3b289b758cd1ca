import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { TestResult } from "../../generated/test-results.js";
import {
  errorOf,
  failedResult,
  notLoadedName,
  type ParsedTests,
  pathInProject,
  type TestRunOutput,
} from "../results.js";
import { fieldsIn } from "../../../engine/lib/json-fields.js";
import { crashWithoutReport } from "./javascript.js";

/** A runner that writes a line of JSON for each test, because unittest itself writes no report that can be parsed. */
export const unittestRunner = `
import json, os, sys, time, traceback, unittest
out = open(sys.argv[1], "w")
def say(test, status, err=None):
    ms = round((time.monotonic() - began.get(test.id(), time.monotonic())) * 1000)
    said = {"name": test.id(), "status": status, "ms": ms}
    if err is not None:
        said["type"] = err[0].__name__
        said["message"] = str(err[1])
        said["stack"] = "".join(traceback.format_exception(*err))
        frames = [f for f in traceback.extract_tb(err[2]) if "/unittest/" not in f.filename]
        if frames:
            said["file"], said["line"] = frames[-1].filename, frames[-1].lineno
    out.write(json.dumps(said) + "\\n")
    out.flush()
began = {}
class Result(unittest.TextTestResult):
    def startTest(self, test):
        began[test.id()] = time.monotonic()
        super().startTest(test)
    def addSuccess(self, test): say(test, "pass"); super().addSuccess(test)
    def addFailure(self, test, err): say(test, "fail", err); super().addFailure(test, err)
    def addError(self, test, err): say(test, "error", err); super().addError(test, err)
    def addSkip(self, test, reason): say(test, "skip"); super().addSkip(test, reason)
    def addExpectedFailure(self, test, err): say(test, "pass"); super().addExpectedFailure(test, err)
    def addUnexpectedSuccess(self, test): say(test, "fail"); super().addUnexpectedSuccess(test)
    def addSubTest(self, test, subtest, err):
        if err is not None: say(subtest, "fail", err)
        super().addSubTest(test, subtest, err)
sys.path.insert(0, ".")
suite = unittest.TestSuite()
seen = set()
def flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite): yield from flat(test)
        else: yield test
usual, loose = sys.argv[2:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
for start in usual + loose:
    if start in loose and suite.countTestCases() > 0: break
    # A package is found from the root, and its tests would have two names.
    if start != "." and os.path.exists(os.path.join(start, "__init__.py")): continue
    for test in flat(unittest.TestLoader().discover(start, pattern="*test*.py", top_level_dir=None)):
        if test.id() not in seen:
            seen.add(test.id())
            suite.addTest(test)
result = unittest.TextTestRunner(resultclass=Result).run(suite)
out.write(json.dumps({"done": True}) + "\\n")
sys.exit(0 if result.wasSuccessful() else 1)
`;

interface Line {
  readonly name?: string;
  readonly status?: "pass" | "fail" | "error" | "skip";
  readonly ms?: number;
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly file?: string;
  readonly line?: number;
  readonly done?: true;
}

export function readUnittest({ file, root, stdout, stderr }: TestRunOutput): ParsedTests {
  const lines = (file ?? "").split("\n").flatMap((line) => fieldsIn<Line>(line) ?? []);
  const tests = lines.flatMap(
    ({ name, status, ms, type, message = "", stack = "", file: path, line }): TestResult[] => {
      if (name === undefined || status === undefined) return [];
      const duration = ms === undefined ? {} : { duration_ms: ms };
      if (status === "pass" || status === "skip")
        return [{ status, test_name: name, ...(status === "pass" ? duration : {}) }];
      const summary = message.startsWith("Failed to import") ? message.trim().split("\n").at(-1) : message;
      const error = errorOf(
        summary || (type ?? "it succeeded unexpectedly"),
        stack,
        root,
        importErrorName(stack) ?? type,
      );
      const location =
        path === undefined || line === undefined ? {} : { source_location: { file: pathInProject(root, path), line } };
      const file = /^unittest\.loader\._FailedTest\.(.+)$/.exec(name)?.[1];
      return [
        { ...failedResult(file === undefined ? name : notLoadedName(file), { ...error, ...location }), ...duration },
      ];
    },
  );
  if (lines.some(({ done }) => done === true))
    return tests.length > 0 ? { tests } : { tests, problem: "No tests were found." };
  const { tests: crashResults, problem } = crashWithoutReport(stdout, stderr, root);
  return { tests: [...tests, ...crashResults], ...withoutUndefined({ problem }) };
}

/** The name of the real error in a module that can't be imported. unittest reports it as part of an ImportError. */
const importErrorName = (stack: string): string | undefined =>
  /^(\w*(?:Syntax|Indentation|Tab)Error)\b/m.exec(stack)?.[1];
