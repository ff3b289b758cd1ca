// Generated from schemas/ralph.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

export type Criterion =
  | FileExists
  | CommandSucceeds
  | TestsPass
  | NewTestPasses
  | NoTypeErrors
  | LintClean
  | CoverageAtLeast
  | ContainsText
  | JsonValid
  | HttpOk
  | AllOf
  | AnyOf
  | Not;
/**
 * The tests cover at least so much of the code, by the report that their run leaves: coverage/coverage-summary.json (c8, nyc, vitest, jest), coverage.json (coverage.py), coverage.xml or cobertura.xml (tarpaulin, llvm-cov).
 */
export type CoverageAtLeast = Coverage & Coverage1;
export type Coverage = {
  [k: string]: unknown;
};

/**
 * ralph.json: a task, the criteria by which it is accepted, and its limits. Written by people; agents may not change it.
 */
export interface RalphTask {
  /**
   * Address of this schema, by which an editor checks the file and completes what you type. It has no effect otherwise.
   */
  $schema?: string;
  /**
   * What is to be done, in words for an agent.
   */
  task: string;
  /**
   * The task is complete when all of them are met.
   *
   * @minItems 1
   * @maxItems 100
   */
  acceptance_criteria: Criterion[];
  /**
   * Most iterations in the life of the task.
   */
  max_iterations?: number;
  /**
   * Limits for the life of the task. A limit that is reached exactly is used up.
   */
  budget?: {
    /**
     * Tokens in and out, cached ones included.
     */
    max_tokens?: number;
    /**
     * US dollars.
     */
    max_usd?: number;
    /**
     * Minutes of agents' work.
     */
    max_minutes?: number;
  };
  /**
   * Agent to use, as with --agent; a flag or an environment variable counts before it.
   */
  agent?: string;
  /**
   * Where agents and commands run, as with --sandbox; a flag counts before it.
   */
  sandbox?: "auto" | "host" | "bubblewrap" | "docker";
  /**
   * Files that the brief names, for the agent to read first.
   *
   * @maxItems 20
   *
   * Items: Path of a file or folder.
   */
  context?: string[];
  /**
   * Roles share each attempt: a librarian, an artisan, a critic and an adversary, each a fresh agent. Needs a git repository.
   */
  team?: boolean;
  /**
   * The file that the task is about, relative to the folder: a team begins to look there.
   */
  target?: string;
  [k: string]: unknown;
}
/**
 * A file or folder is there.
 */
export interface FileExists {
  type: "file_exists";
  /**
   * Path of a file, relative to the workspace or absolute. A path that exists only in the sandbox is looked for there.
   */
  path: string;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * A shell command ends with exit code 0; one that is ended by a signal has failed.
 */
export interface CommandSucceeds {
  type: "command_succeeds";
  /**
   * Command line for sh, run in the workspace.
   */
  command: string;
  /**
   * Most seconds; 300 by default. A command that takes longer has failed.
   */
  timeout_seconds?: number;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * All tests pass: at least one has run, none failed, and none that was there before is gone. The test framework is found by manifest and script: vitest, jest, mocha, node:test, pytest, unittest, cargo, go.
 */
export interface TestsPass {
  type: "tests_pass";
  /**
   * Command that runs the tests, in place of the framework's own. Its exit code decides.
   */
  command?: string;
  /**
   * Framework to use where several are there.
   */
  framework?: "vitest" | "jest" | "mocha" | "node:test" | "pytest" | "unittest" | "cargo" | "go";
  /**
   * Most seconds; 300 by default. A command that takes longer has failed.
   */
  timeout_seconds?: number;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * A test that did not pass before the task passes now, and fails with the files as they were before. The criterion tests_pass of the task says how tests are run. Needs a git repository.
 */
export interface NewTestPasses {
  type: "new_test_passes";
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * The type checker finds nothing: tsc --noEmit, mypy or cargo check, whichever the project is set up for.
 */
export interface NoTypeErrors {
  type: "no_type_errors";
  /**
   * Type checker to run instead.
   */
  command?: string;
  /**
   * Most seconds; 300 by default. A command that takes longer has failed.
   */
  timeout_seconds?: number;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * The linter finds nothing: the script 'lint' of package.json, else eslint, oxlint, biome, ruff or clippy, whichever the project is set up for.
 */
export interface LintClean {
  type: "lint_clean";
  /**
   * Linter to run instead.
   */
  command?: string;
  /**
   * Most seconds; 300 by default. A command that takes longer has failed.
   */
  timeout_seconds?: number;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
export interface Coverage1 {
  type: "coverage";
  /**
   * Percent of lines.
   */
  lines?: number;
  /**
   * Percent of branches.
   */
  branches?: number;
  /**
   * Command that runs the tests and measures their coverage, such as 'npx vitest run --coverage'; absent: the framework's own run of the tests.
   */
  command?: string;
  /**
   * Most seconds; 300 by default. A command that takes longer has failed.
   */
  timeout_seconds?: number;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * A file contains a text, or matches a regular expression.
 */
export interface ContainsText {
  type: "contains_text";
  /**
   * Path of a file, relative to the workspace or absolute. A path that exists only in the sandbox is looked for there.
   */
  path: string;
  /**
   * Text that the file must contain.
   */
  text?: string;
  /**
   * Regular expression of JavaScript that the file must match, where no 'text' is given. It is given up after one second.
   */
  pattern?: string;
  /**
   * Flags of the regular expression.
   */
  flags?: string;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * A file is valid JSON.
 */
export interface JsonValid {
  type: "json_valid";
  /**
   * Path of a file, relative to the workspace or absolute. A path that exists only in the sandbox is looked for there.
   */
  path: string;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * A URL answers with a status from 200 to 299. It is asked where commands run: in a sandbox nothing outside of it is reached.
 */
export interface HttpOk {
  type: "http_ok";
  /**
   * http or https address.
   */
  url: string;
  /**
   * The status that is wanted instead.
   */
  status?: number;
  /**
   * Command that starts the server; it is ended after the check.
   */
  start?: string;
  /**
   * Most seconds until it answers; 10 by default, 60 with 'start'.
   */
  timeout_seconds?: number;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * All of these are met.
 */
export interface AllOf {
  type: "all_of";
  /**
   * @minItems 1
   * @maxItems 50
   */
  criteria: Criterion[];
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * At least one of these is met.
 */
export interface AnyOf {
  type: "any_of";
  /**
   * @minItems 1
   * @maxItems 50
   */
  criteria: Criterion[];
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
/**
 * This is not met.
 */
export interface Not {
  type: "not";
  criterion: Criterion;
  /**
   * What the criterion is for, in the user's words.
   */
  description?: string;
}
