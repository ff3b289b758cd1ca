import type { Case } from "../../fixtures/test-projects/projects.js";
import type { Framework } from "../../../src/task/test-runs/detect.js";

/** What a run of a sample project shows: its tests by status, the kind and line of the first error, and whether it passes. */
export interface Shown {
  readonly statuses: readonly string[];
  readonly error?: string;
  readonly line?: number;
  readonly passed: boolean;
  readonly failing: number;
}

const none: Shown = { statuses: [], passed: false, failing: 1 };
const passing: Shown = { statuses: ["pass"], passed: true, failing: 0 };
const skipped: Shown = { statuses: ["skip"], passed: false, failing: 1 };
const slow: Shown = { statuses: ["timeout"], error: "timeout", passed: false, failing: 1 };

const of = (failing: Shown, crashed: Shown): Record<Case, Shown> => ({
  none,
  passing,
  skipped,
  slow,
  failing,
  crashed,
});

const two = (line: number, error = "assertion"): Shown => ({
  statuses: ["pass", "fail"],
  error,
  line,
  passed: false,
  failing: 1,
});
const three: Shown = { statuses: ["pass", "fail", "fail"], error: "assertion", line: 4, passed: false, failing: 2 };
const crash = (line?: number, error = "runtime"): Shown => ({
  statuses: ["fail"],
  error,
  ...(line === undefined ? {} : { line }),
  passed: false,
  failing: 1,
});

export const expected: Readonly<Record<Framework, Readonly<Record<Case, Shown>>>> = {
  vitest: of(three, crash()),
  jest: of({ ...three, line: 3 }, crash(1)),
  mocha: of(two(4), crash(2)),
  "node:test": of(two(4), crash()),
  pytest: of(two(5), crash(1)),
  unittest: of(two(7), crash(1)),
  cargo: of(two(4), crash(2, "syntax")),
  go: of(two(7, "logic"), crash(6, "syntax")),
};
