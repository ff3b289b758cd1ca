// Generated from schemas/ralph-state.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { RalphTask } from "./ralph.js";

/**
 * The tests cover at least so much of the code, by the report that their run leaves: coverage/coverage-summary.json (c8, nyc, vitest, jest), coverage.json (coverage.py), coverage.xml or cobertura.xml (tarpaulin, llvm-cov).
 *
 * This interface was referenced by `RalphTask`'s JSON-Schema
 * via the `definition` "coverage".
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
/**
 * This interface was referenced by `TaskState`'s JSON-Schema
 * via the `definition` "check".
 */
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
/**
 * This interface was referenced by `TaskState`'s JSON-Schema
 * via the `definition` "attempt".
 */
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
/**
 * This interface was referenced by `TaskState`'s JSON-Schema
 * via the `definition` "planTask".
 */
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
 *
 * This interface was referenced by `TaskState`'s JSON-Schema
 * via the `definition` "taskLoop".
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
 * Outcome of one iteration, in at most 'history_observation_chars' (1,500) characters.
 */
export interface Observation {
  /**
   * The iteration's number.
   */
  iteration: number;
  /**
   * A paper's id, a discovery batch, 'report', 'ideas'.
   */
  unit: string;
  /**
   * What came of it.
   */
  outcome: "accepted" | "refused" | "failed";
  /**
   * Kind of failure, if the run failed.
   */
  failure?: string;
  /**
   * The summary of an accepted result, or why it was refused or failed.
   */
  said?: string;
  /**
   * true: the iteration left a result. Otherwise 'answer' and 'sketch' describe its last message.
   */
  left?: true;
  /**
   * MinHash of the answer's words; it recognises the same answer in other words.
   */
  sketch?: string;
  /**
   * What the agent did and said. Removed when later iterations matter more.
   */
  digest?: string;
  /**
   * Start of the hash of the answer; equal answers have equal hashes.
   */
  answer?: string;
  /**
   * Kinds of loop within this single run.
   */
  signs?: string[];
  [k: string]: unknown;
}
/**
 * Measures of the history summary.
 */
export interface HistoryMetrics {
  /**
   * How often the history was summarised.
   */
  compressions?: number;
  /**
   * Characters before all summaries.
   */
  total_chars_before?: number;
  /**
   * Characters after all summaries.
   */
  total_chars_after?: number;
  /**
   * Estimated tokens saved by all summaries, minus what the historian's model used.
   */
  total_tokens_saved?: number;
  /**
   * Characters of the last summary, divided by those before it.
   */
  last_compression_ratio?: number;
  /**
   * Characters of the last twenty summaries, oldest first.
   */
  history_size_trend?: number[];
  /**
   * The last iteration that the summary covers.
   */
  last_iteration?: number;
  /**
   * How long the last summary took.
   */
  last_duration_seconds?: number;
  /**
   * Tokens in and out used by historians with a model.
   */
  historian_tokens?: number;
  /**
   * Their cost in US dollars.
   */
  historian_cost_usd?: number;
  /**
   * Part of the cost is an estimate from a dated price table.
   */
  historian_estimated?: true;
  [k: string]: unknown;
}
/**
 * One steering text.
 */
export interface Steering {
  /**
   * Unique id.
   */
  id: string;
  /**
   * ISO 8601 time in UTC, or null if it has not happened yet.
   */
  at?: string | null;
  /**
   * The user's words.
   */
  text: string;
  [k: string]: unknown;
}
