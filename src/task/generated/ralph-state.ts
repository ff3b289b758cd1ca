// Generated from schemas/ralph-state.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { RalphTask } from "./ralph.js";
import type { HistoryMetrics, Observation, Steering } from "../../engine/generated/memory.js";

/**
 * The tests cover at least so much of the code, by the report that their run leaves: coverage/coverage-summary.json (c8, nyc, vitest, jest), coverage.json (coverage.py), coverage.xml or cobertura.xml (tarpaulin, llvm-cov).
 */
export type CoverageAtLeast = {
  [k: string]: unknown;
} & {
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
};

/**
 * ralph.state.json: how far a task is. Written by this program alone; deleting it starts the task again.
 */
export interface TaskState {
  /**
   * Address of this schema, by which an editor checks the file and completes what you type. It has no effect otherwise.
   */
  $schema?: string;
  /**
   * How the file is written; absent: 1.
   */
  format?: number;
  /**
   * Names the task in refs/ralph/<id>/<iteration>.
   */
  id: string;
  /**
   * Name of the file that the task was read from; absent: the command line.
   */
  source?: string;
  task: RalphTask;
  /**
   * The criteria as they were checked last, in the task's order; empty: not checked since the task changed.
   */
  checks: Check[];
  /**
   * ISO 8601 in UTC.
   */
  checked_at?: string;
  /**
   * The iterations so far, oldest first.
   */
  attempts: Attempt[];
  best?: Best;
  /**
   * Names of tests that were there once: one that is gone counts as failing.
   */
  tests_seen?: string[];
  plan?: Plan;
  /**
   * The last iteration that was folded in.
   */
  iteration?: number;
  /**
   * All criteria are met.
   */
  done?: boolean;
  /**
   * How the last run ended.
   */
  status?: "running" | "success" | "max_iterations" | "budget_exhausted" | "error";
  loop?: TaskLoop;
  /**
   * The attempts of a team, oldest first.
   */
  rounds?: Round[];
  /**
   * The last round before the task was to be done again: rounds are counted from then on.
   */
  begun?: number;
  tested?: Tested;
  /**
   * Names of tests that failed and then passed on an unchanged tree: they neither stop nor complete.
   */
  flaky?: string[];
  /**
   * The snapshot of the files before the first attempt.
   */
  base?: string;
  /**
   * Names of the tests that passed before the first attempt.
   */
  tests_before?: string[];
  [k: string]: unknown;
}
export interface Check {
  /**
   * The criterion in words.
   */
  criterion: string;
  passed: boolean;
  ms: number;
  /**
   * What was found, at most 1,500 characters.
   */
  detail: string;
  /**
   * Of tests: how many fail.
   */
  failing?: number;
  /**
   * Of tests: how many there are.
   */
  tests?: number;
  /**
   * Of tests: how many files could not be loaded, and how many tests ran before and no longer did.
   */
  unloaded?: number;
  /**
   * Where the file that it names lies outside of the sandbox: at /home a sandbox has a folder of the task's own.
   */
  at?: string;
}
export interface Attempt {
  id: string;
  iteration: number;
  /**
   * ISO 8601 in UTC.
   */
  at: string;
  agent?: string;
  outcome: "accepted" | "refused" | "failed";
  /**
   * Kind of failure, if the run failed.
   */
  failure?: string;
  /**
   * Criteria met after it; absent: a role of a team, after which none is checked.
   */
  met?: number;
  /**
   * Tests failing after it.
   */
  failing?: number;
  duration_seconds?: number;
  tokens?: number;
  cost_usd?: number;
  /**
   * Commit that holds the folder as it was after the iteration.
   */
  snapshot?: string;
  /**
   * A person has put the folder back to before it.
   */
  undone?: true;
  /**
   * Of a team: its role.
   */
  role?: string;
  /**
   * Of a team: the round.
   */
  round?: number;
  /**
   * Its requests filled 40 % of the model's window or more, on average where the agent tells no more: the next briefs of its role are smaller.
   */
  full?: boolean;
  /**
   * The agent's last sentence, at most 300 characters: what it did or found.
   */
  said?: string;
}
/**
 * The most that an iteration has reached; accepted is only what is better.
 */
export interface Best {
  /**
   * Criteria met.
   */
  met: number;
  /**
   * Tests failing.
   */
  failing: number;
  /**
   * Test files that could not be loaded, and tests that ran before and no longer did.
   */
  unloaded?: number;
  /**
   * Tests that ran.
   */
  tests?: number;
  /**
   * When; 0: before the first.
   */
  iteration?: number;
  /**
   * Its snapshot: a round that leaves more tests failing is put back to it.
   */
  commit?: string;
}
export interface Plan {
  tasks: PlanTask[];
  /**
   * The first that is not done.
   */
  current_task_id: string | null;
}
export interface PlanTask {
  id: string;
  title: string;
  done: boolean;
  /**
   * step: the agent's own, read from the plan file.
   */
  kind?: "criterion" | "step";
}
/**
 * What the loop remembers between iterations.
 */
export interface TaskLoop {
  observations?: Observation[];
  /**
   * Summary of earlier iterations.
   */
  history_summary?: string;
  rch_metrics?: HistoryMetrics;
  /**
   * The user's words, from 'research-ralph steer'. They stand in every brief until they are cleared.
   */
  steering?: Steering[];
  /**
   * The iteration after which a person last acted: iterations without progress are counted from then on.
   */
  stagnation_since?: number;
  stagnation_count?: number;
  loop_type?: string | null;
  /**
   * Why the last run ended, where something is wrong.
   */
  error?: string | null;
  last_run?: {
    /**
     * ISO 8601 in UTC.
     */
    at?: string;
    verdict?: string;
    reason?: string;
    cause?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An attempt of a team: what its roles left.
 */
export interface Round {
  /**
   * round-1, round-2, …
   */
  id: string;
  round: number;
  /**
   * What came of the roles so far, oldest first; by these the next role is decided.
   */
  steps: Step[];
  plan?: CodePlan;
  /**
   * What the artisan takes for the cause.
   */
  hypothesis?: string;
  /**
   * What it says it did.
   */
  action_taken?: string;
  /**
   * Files that it changed, at most 50.
   */
  changed?: string[];
  review?: Review;
  tests?: Tested;
  /**
   * Files that were put back to the best tree, at most 50; absent: none.
   */
  put_back?: string[];
  /**
   * Files that were not put back, because somebody changed them after the artisan.
   */
  left_alone?: string[];
  /**
   * What the adversary found; it never decides anything.
   */
  findings?: AdversarialFinding[];
  /**
   * The snapshot of the tree before the artisan.
   */
  before?: string;
  /**
   * The snapshot of the tree after the artisan.
   */
  after?: string;
  /**
   * A person has put the folder back to before it.
   */
  undone?: true;
  /**
   * Criteria met after it.
   */
  met?: number;
  /**
   * How many rounds in a row, this one included, have failed with the same tests and errors.
   */
  repeats?: number;
}
export interface Step {
  role: "librarian" | "artisan" | "critic" | "tests" | "adversary";
  /**
   * pass, fail: of the tests, whether they end the job. refused: the answer could not be used. failed: the agent's run failed.
   */
  event: "ok" | "approve" | "revise" | "pass" | "fail" | "refused" | "failed";
  /**
   * Absent: no agent did it.
   */
  iteration?: number;
  /**
   * ISO 8601 in UTC.
   */
  at: string;
}
/**
 * What the librarian left.
 */
export interface CodePlan {
  cause: string;
  files: Place[];
  steps: string[];
}
export interface Place {
  /**
   * Relative to the folder.
   */
  path: string;
  /**
   * First and last line; absent: the whole file.
   *
   * @minItems 2
   * @maxItems 2
   */
  lines?: number[];
  why?: string;
}
/**
 * What the critic left.
 */
export interface Review {
  decision: "approve" | "revise";
  findings: ReviewFinding[];
}
export interface ReviewFinding {
  file?: string;
  line?: number;
  reason: string;
}
/**
 * The tests after the artisan.
 */
export interface Tested {
  /**
   * ISO 8601 in UTC.
   */
  at: string;
  framework: string;
  passed: number;
  /**
   * Flaky ones left out; tests that are gone counted.
   */
  failing: number;
  skipped?: number;
  /**
   * At most 50.
   */
  failures: TestFailure[];
  /**
   * The error signatures of all that fail, each once.
   */
  signatures: string[];
  coverage?: TestCoverage;
  /**
   * Why the run says nothing, or not all.
   */
  problem?: string;
}
export interface TestFailure {
  /**
   * Name.
   */
  test: string;
  /**
   * Type and message without what differs from run to run, and the top frame in the project.
   */
  signature: string;
  type?: string;
  message: string;
  file?: string;
  line?: number;
  /**
   * Its first lines.
   */
  stack?: string[];
}
export interface TestCoverage {
  /**
   * Percent.
   */
  line_coverage?: number;
  /**
   * Percent.
   */
  branch_coverage?: number;
}
export interface AdversarialFinding {
  title: string;
  detail?: string;
  file?: string;
  /**
   * Name of the test that fails; absent: the adversary's word alone.
   */
  test?: string;
}
