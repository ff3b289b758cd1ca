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
   * Criteria met after it.
   */
  met: number;
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
