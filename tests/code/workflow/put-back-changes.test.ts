import { describe, expect, it } from "vitest";
import { isOrdinary } from "../../../src/code/workflow/put-back-changes.js";

describe("what the project's own tests change may stay", () => {
  it.each(["coverage/index.html", "coverage/lcov-report/sorter.js", "p/coverage/coverage-final.json", "lcov.info"])(
    "where their programs write it: %s",
    (path) => expect(isOrdinary({ path, kind: "changed" })).toBe(true),
  );

  it.each(["src/coverage/merge.ts", "src/coverage/base.js", "coverage/report.py", "src/coverage.ts"])(
    "and a source may not: %s",
    (path) => expect(isOrdinary({ path, kind: "changed" })).toBe(false),
  );
});
