// Generated from schemas/ledger.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * One line of ledger.jsonl: what one iteration was about, what it cost and how it ended.
 */
export interface LedgerLine {
  /**
   * How the line is written; absent: 1. A ledger with a line of a later format than the program knows is only read.
   */
  format?: number;
  iteration: number;
  /**
   * End of the iteration, ISO 8601 in UTC.
   */
  at: string;
  /**
   * 'discovery', a paper's id, 'report', 'ideas'.
   */
  unit: string;
  /**
   * The phase of the work that the unit belongs to; of a project DISCOVERY, ANALYSIS, IDEATION or COMPLETE.
   */
  phase: string;
  /**
   * noted: several agents share the unit, and what this one left is kept for the next of them; it is not judged yet. reset: a person reset the unit.
   */
  outcome: "accepted" | "refused" | "failed" | "noted" | "reset";
  /**
   * Where several agents share the unit, the part that this one did: draft, critic, answer; reader-1, reader-2, reader-3.
   */
  role?: string;
  /**
   * Which time the part was done.
   */
  round?: number;
  /**
   * Of a noted line: hash of .ralph/noted/<iteration>.json, which holds what the agent left.
   */
  kept_sha256?: string;
  /**
   * Why it was refused or failed.
   */
  reasons?: string[];
  /**
   * Fields of an accepted result that nobody asked for, by their JSON pointers. They were dropped.
   */
  dropped?: string[];
  /**
   * Kind of failure, if the run failed.
   */
  failure?: string;
  /**
   * Of a reset: the last iteration that still counts; absent when only 'unit' was reset.
   */
  to?: number;
  /**
   * Of a reset that takes an earlier one back: the iteration of that one.
   */
  undoes?: number;
  /**
   * Of a reset: the folder in .ralph/backups with the files as they were before it.
   */
  backup?: string;
  /**
   * Of a reset of several units, whose 'unit' is '*': these units.
   */
  units?: string[];
  agent?: string;
  model?: string;
  /**
   * Version of the agent's program, where it reported one.
   */
  agent_version?: string;
  /**
   * SHA-256 of the parts of prompt.md that the brief was made from, before anything was filled in.
   */
  prompt_sha256?: string;
  /**
   * workspace: flags of its own kept the agent in its workspace. sandbox: a sandbox of research-ralph did. unconfined: it could reach everything its user can.
   */
  confinement?: "workspace" | "sandbox" | "unconfined";
  /**
   * Of an agent on another machine: the worker that ran it.
   */
  worker?: string;
  duration_seconds?: number;
  /**
   * What code took beforehand to bring what the unit needed: searches, the paper's text, checks. Not part of duration_seconds.
   */
  prepare_seconds?: number;
  tokens?: {
    /**
     * Input tokens over all requests, including cached ones.
     */
    input: number;
    /**
     * The part of input that came from the provider's cache.
     */
    cached?: number;
    output: number;
    requests?: number;
    [k: string]: unknown;
  };
  /**
   * Estimated tokens of the brief.
   */
  brief_tokens?: number;
  /**
   * What the CLI reported, or an estimate.
   */
  cost_usd?: number;
  /**
   * cost_usd is an estimate from a dated price table, not what the CLI reported.
   */
  estimated?: true;
  /**
   * How the use is paid for; the cost_usd of a subscription is what the same use would cost by API. Absent if unknown.
   */
  billing?: "subscription" | "api";
  /**
   * The largest share of the model's context window that was filled.
   */
  context?: {
    /**
     * Tokens of the largest single request, including cached ones, with its answer.
     */
    largest_request: number;
    /**
     * Maximum tokens of one request to the model.
     */
    window: number;
    share: number;
    [k: string]: unknown;
  };
  /**
   * In the ledger of the state folder: the command that did this work and left no project folder.
   */
  command?: "new" | "read";
  /**
   * Whether <promise>COMPLETE</promise> stood in the final message: seen or absent when the work was done, false-claim when work was pending.
   */
  sentinel?: "seen" | "absent" | "false-claim";
  evidence?: {
    verified?: number;
    near?: number;
    not_in_text?: number;
    could_not_check?: number;
    [k: string]: unknown;
  };
  /**
   * Fields that plugins have put beside the result, by the name of the plugin. Those of a paper's reading stand in its record.
   */
  plugins?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
  /**
   * Papers that the check before this iteration found retracted.
   */
  retracted?: string[];
  /**
   * Papers that a discovery batch added.
   */
  new_papers?: number;
  [k: string]: unknown;
}
