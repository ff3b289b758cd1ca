import { expect, test } from "vitest";
import type { Verdict } from "../../../src/engine/loop/types.js";
import { exitCodeOf } from "../../../src/engine/loop/exit-codes.js";

test.each([
  [{ verdict: "complete", reason: "" }, 0],
  [{ verdict: "failed", reason: "" }, 1],
  [{ verdict: "limit", reason: "" }, 3],
  [{ verdict: "stuck", reason: "" }, 4],
  [{ verdict: "blocked", reason: "" }, 5],
  [{ verdict: "interrupted", reason: "", signal: "SIGINT" }, 130],
  [{ verdict: "interrupted", reason: "", signal: "SIGTERM" }, 143],
  [{ verdict: "interrupted", reason: "", signal: "SIGHUP" }, 129],
] as [Verdict, number][])("the verdict %o has the exit code %i", (ended, code) => {
  expect(exitCodeOf(ended)).toBe(code);
});
