// Generated from schemas/memory.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * ISO 8601 time in UTC, or null when it has not happened.
 *
 * This interface was referenced by `Memory`'s JSON-Schema
 * via the `definition` "isoTime".
 */
export type IsoTime = string | null;

/**
 * What a loop remembers of its earlier iterations, in the state file of whatever it works on.
 */
export interface Memory {
  /**
   * What came of the last iterations.
   */
  observations?: Observation[];
  rch_metrics?: HistoryMetrics;
  /**
   * What a person told the agents.
   */
  steering?: Steering[];
  [k: string]: unknown;
}
/**
 * What came of one iteration, in at most 1,500 characters.
 *
 * This interface was referenced by `Memory`'s JSON-Schema
 * via the `definition` "observation".
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
   * Kind of failure of the run, where it failed.
   */
  failure?: string;
  /**
   * The summary of an accepted result, or why it was refused or failed.
   */
  said?: string;
  /**
   * It left a result; otherwise 'answer' and 'sketch' are of its last words.
   */
  left?: true;
  /**
   * A sketch of the answer's words (MinHash), by which the same in other words is known.
   */
  sketch?: string;
  /**
   * What the agent did and said. Left out once later iterations matter more.
   */
  digest?: string;
  /**
   * Beginning of the hash of what it answered; equal answers have equal ones.
   */
  answer?: string;
  /**
   * Kinds of loop that this one run shows by itself.
   */
  signs?: string[];
  [k: string]: unknown;
}
/**
 * Measures of the history summary.
 *
 * This interface was referenced by `Memory`'s JSON-Schema
 * via the `definition` "historyMetrics".
 */
export interface HistoryMetrics {
  /**
   * How often the history was summarised.
   */
  compressions?: number;
  /**
   * Characters that went into all summaries.
   */
  total_chars_before?: number;
  /**
   * Characters of all summaries.
   */
  total_chars_after?: number;
  /**
   * Estimated tokens by which all summaries are shorter than what went into them, less what a historian's model used.
   */
  total_tokens_saved?: number;
  /**
   * Characters of the last summary by those of what went into it.
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
   * Tokens in and out that historians with a model used.
   */
  historian_tokens?: number;
  /**
   * US dollars that they cost.
   */
  historian_cost_usd?: number;
  /**
   * Part of that is our estimate from a dated price table.
   */
  historian_estimated?: true;
  [k: string]: unknown;
}
/**
 * One thing that a person told the agents.
 *
 * This interface was referenced by `Memory`'s JSON-Schema
 * via the `definition` "steering".
 */
export interface Steering {
  /**
   * Different for each.
   */
  id: string;
  at?: IsoTime;
  /**
   * The person's words.
   */
  text: string;
  [k: string]: unknown;
}
