// Generated from schemas/test-results.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a run of a project's tests has shown, whatever framework ran them.
 */
export interface TestResults {
  /**
   * vitest, jest, mocha, node:test, pytest, unittest, cargo, go, or 'command' where only an exit code is known.
   */
  framework: string;
  tests: TestResult[];
  coverage?: Coverage;
  /**
   * Why the run says nothing, or not all: no tests, a crash, no result file.
   */
  problem?: string;
  /**
   * Its last 4 KB.
   */
  stdout: string;
  /**
   * Its last 4 KB.
   */
  stderr: string;
}
export interface TestResult {
  status: "pass" | "fail" | "skip" | "timeout";
  /**
   * Unique name: the file or suite, then the test.
   */
  test_name: string;
  duration_ms?: number;
  error?: TestError;
}
export interface TestError {
  /**
   * syntax: the file cannot be read or compiled. assertion: an expectation was not met. runtime: an exception. timeout: it took too long. logic: anything else.
   */
  type: "syntax" | "logic" | "runtime" | "assertion" | "timeout";
  message: string;
  stack_trace?: string[];
  source_location?: SourceLocation;
}
export interface SourceLocation {
  file: string;
  line?: number;
  column?: number;
}
/**
 * Percent, where the framework reports it.
 */
export interface Coverage {
  line_coverage?: number;
  branch_coverage?: number;
}
