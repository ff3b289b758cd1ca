// Generated from schemas/memory.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a loop remembers of its earlier iterations, in the state file of whatever it works on.
 */
export interface Memory {
  /**
   * Outcomes of the last iterations.
   */
  observations?: Observation[];
  rch_metrics?: HistoryMetrics;
  /**
   * The user's steering texts.
   */
  steering?: Steering[];
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
