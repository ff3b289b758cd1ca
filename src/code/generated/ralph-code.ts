// Generated from schemas/ralph-code.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { HistoryMetrics, Observation, Steering } from "../../engine/generated/memory.js";

/**
 * ralph.code.json: how far a coding run is. Written by this program alone; deleting it starts again.
 */
export interface CodeState {
  /**
   * How the file is written; absent: 1.
   */
  format?: number;
  /**
   * Names the snapshots in refs/ralph/<id>/<iteration>.
   */
  id: string;
  job: Job;
  /**
   * The last round before this job; its rounds are counted from then on.
   */
  begun?: number;
  baseline?: Tested;
  best?: BestTree;
  /**
   * Oldest first.
   */
  rounds: Round[];
  /**
   * The iterations of the roles so far, oldest first.
   */
  attempts: RoleRun[];
  /**
   * Names of tests that failed and then passed on an unchanged tree: they neither stop nor complete.
   */
  flaky?: string[];
  /**
   * Names of tests that were there once: one that is gone counts as failing.
   */
  tests_seen?: string[];
  /**
   * The last iteration that was folded in.
   */
  iteration?: number;
  /**
   * The last round has reached the end of the job.
   */
  done?: boolean;
  loop?: CodeLoop;
  /**
   * The snapshot of the tree before the first round of this job.
   */
  base?: string;
  /**
   * Names of the tests that passed before the first round of this job.
   */
  tests_before?: string[];
  [k: string]: unknown;
}
/**
 * What is to be done, as the command line said it last.
 */
export interface Job {
  /**
   * The task in words; absent: the failing tests are to be repaired.
   */
  text?: string;
  /**
   * The file that the task is about, relative to the folder.
   */
  target?: string;
  /**
   * The command that runs the tests.
   */
  test_command?: string;
  /**
   * Commands that must succeed at the end.
   */
  checks?: string[];
  /**
   * Most rounds.
   */
  rounds: number;
}
/**
 * The tests before the first round of this job.
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
  /**
   * What the job still lacks besides passing tests, a sentence each; absent: nothing.
   */
  unmet?: string[];
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
/**
 * The tree with the fewest failing tests of this job; a round that leaves more is put back to it, but where files of tests can be loaded that could not be before.
 */
export interface BestTree {
  /**
   * After which round; 0: before the first.
   */
  round: number;
  /**
   * Tests failing.
   */
  failing: number;
  /**
   * Files of tests that can't be loaded, or 1 where no test ran at all; 0 where it is absent.
   */
  unloaded?: number;
  /**
   * Its snapshot.
   */
  commit?: string;
}
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
   * Why a hook says that the job is not done.
   */
  veto?: string[];
  /**
   * How many rounds in a row, this one included, have failed with the same signatures.
   */
  repeats?: number;
  /**
   * The snapshot of the tree before the artisan.
   */
  before?: string;
  /**
   * The snapshot of the tree after the artisan.
   */
  after?: string;
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
export interface AdversarialFinding {
  title: string;
  detail?: string;
  file?: string;
  /**
   * Name of the test that fails; absent: the adversary's word alone.
   */
  test?: string;
}
export interface RoleRun {
  id: string;
  iteration: number;
  /**
   * ISO 8601 in UTC.
   */
  at: string;
  agent?: string;
  role: string;
  round: number;
  outcome: "accepted" | "refused" | "failed";
  /**
   * Kind of failure, if the run failed.
   */
  failure?: string;
  /**
   * Its requests filled 40 % of the model's window or more, on average where the agent tells no more: the next briefs of its role are smaller.
   */
  full?: boolean;
  duration_seconds?: number;
  tokens?: number;
  cost_usd?: number;
  /**
   * Commit that holds the folder as it was after the artisan.
   */
  snapshot?: string;
}
/**
 * What the loop remembers between iterations.
 */
export interface CodeLoop {
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
   * The round after which a person last acted: rounds without progress are counted from then on.
   */
  since?: number;
  /**
   * The same, as an iteration.
   */
  stagnation_since?: number;
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
