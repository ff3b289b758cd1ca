// Generated from schemas/event.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * The events of a running loop, for everything that watches it: terminal, JSON lines, transcripts.
 */
export type LoopEvent =
  | RunStarted
  | Preparing
  | PreparedEvent
  | IterationStarted
  | AgentChanged
  | Searching
  | Checking
  | Checked
  | AgentSaid
  | Settled
  | IterationEnded
  | Waiting
  | HistoryCompressed
  | Notice
  | RunEnded;
/**
 * ISO 8601 in UTC.
 */
export type Time = string;
/**
 * cost_usd is an estimate from a dated price table, not what the CLI reported.
 */
export type Estimated = true;
export type AgentEvent = AgentBegun | AgentText | AgentTool | AgentUsage | AgentNotice | AgentEnd;
/**
 * How the use is paid for; absent if unknown.
 */
export type Billing = "subscription" | "api";
export type Outcome = Accepted | Noted | Refused | Failed;

export interface RunStarted {
  type: "run-started";
  at: Time;
  workflow: string;
  agent: string;
  /**
   * Maximum number of agents at work at the same time, if more than one.
   */
  jobs?: number;
  /**
   * Absolute path of the project or task.
   */
  folder?: string;
}
/**
 * Code brings what a unit needs from outside: it searches, fetches, checks. No iteration: it has no number, and no line in the ledger.
 */
export interface Preparing {
  type: "preparing";
  at: Time;
  unit: string;
  phase: string;
  /**
   * What a person reads, such as the paper's title.
   */
  title: string;
}
/**
 * A preparation has ended.
 */
export interface PreparedEvent {
  type: "prepared";
  at: Time;
  unit: string;
  title: string;
  /**
   * ready: an agent can be briefed. settled: code alone does the unit. later: what it needs can't be had for now. aborted: the run is ending. failed: the run ends for 'reason'.
   */
  outcome: "ready" | "settled" | "later" | "aborted" | "failed";
  duration_seconds: number;
  /**
   * ISO 8601 in UTC.
   */
  until?: string;
  /**
   * Of later and failed.
   */
  reason?: string;
}
export interface IterationStarted {
  type: "iteration-started";
  at: Time;
  iteration: number;
  unit: string;
  phase: string;
  /**
   * What a person reads, such as the paper's title.
   */
  title: string;
  brief_tokens: number;
  workspace: string;
  progress: Progress;
  agent?: string;
  /**
   * Where several agents share the unit, the part that this one does, such as critic.
   */
  role?: string;
  /**
   * Which time the part is done.
   */
  round?: number;
  forecast?: Forecast;
}
export interface Progress {
  done: number;
  total: number;
  /**
   * What is counted, such as 'paper'.
   */
  noun?: string;
  /**
   * What became of those that are done, such as included, kept_for_insights and rejected.
   */
  counts?: {
    [k: string]: number;
  };
}
/**
 * What the rest of a project will take: the units left, times the median of what one took.
 */
export interface Forecast {
  /**
   * Papers that are left to read; 0 where the work has none.
   */
  papers: number;
  /**
   * What is left, as the workflow counts it, such as '12 papers'. Absent where nothing but iterations is counted.
   */
  left?: string;
  /**
   * Units that are left, each counted once.
   */
  iterations: number;
  tokens: number;
  /**
   * Time in which agents work; with several at a time the wall time is shorter. Absent if nothing is known of the agent's model yet.
   */
  seconds?: number;
  /**
   * Absent if the price of the model is unknown.
   */
  cost_usd?: number;
  /**
   * Set where the agent chooses between models: the price is then between cost_usd and this.
   */
  cost_usd_most?: number;
  estimated?: Estimated;
  /**
   * Basis of the forecast: the project's own iterations, other projects in the same folder, or dated figures.
   */
  from: string;
}
/**
 * The next iteration uses a different agent than the last one.
 */
export interface AgentChanged {
  type: "agent-changed";
  at: Time;
  from: string;
  to: string;
  reason: string;
}
/**
 * Progress of one source in a round of the search: at its start, after each answer, and at its end. Sent during the search, between other events. Of a folder: how many of its documents were looked at.
 */
export interface Searching {
  type: "searching";
  at: Time;
  source: string;
  /**
   * From 1.
   */
  round: number;
  /**
   * Queries answered in this round, including failures; of a folder, documents looked at.
   */
  done: number;
  /**
   * Maximum number of queries in this round; of a folder, its documents.
   */
  all: number;
  /**
   * Records listed so far in this round; of a folder, documents that can be read.
   */
  found: number;
  /**
   * The query that was just answered, for people.
   */
  asked?: string;
  /**
   * Number of records in the answer.
   */
  listed?: number;
  /**
   * Why there are no records, or not all.
   */
  reason?: string;
  /**
   * The query had no answer, or the source cannot be asked.
   */
  failed?: true;
  /**
   * The source gets no more queries in this round.
   */
  over?: true;
}
/**
 * The check of a task's acceptance criterion begins; 'checked' follows, unless the run is interrupted.
 */
export interface Checking {
  type: "checking";
  at: Time;
  /**
   * The criterion in words, such as 'file_exists hello.txt'.
   */
  criterion: string;
}
/**
 * A task's acceptance criterion was checked.
 */
export interface Checked {
  type: "checked";
  at: Time;
  /**
   * The criterion in words, such as 'file_exists hello.txt'.
   */
  criterion: string;
  passed: boolean;
  /**
   * How long the check took, in milliseconds.
   */
  ms: number;
  /**
   * What was found, in one sentence; of a failure, what is missing.
   */
  detail: string;
  /**
   * Tests that failed, where the criterion counts them.
   */
  failing?: number;
}
export interface AgentSaid {
  type: "agent";
  at: Time;
  iteration: number;
  event: AgentEvent;
}
/**
 * Of an agent on another machine: a worker has begun it. Again where the worker before it is gone.
 */
export interface AgentBegun {
  type: "begun";
  /**
   * Name of the worker.
   */
  worker: string;
  /**
   * What confines the agent there.
   */
  confinement: "workspace" | "sandbox" | "unconfined";
  /**
   * Where the worker keeps what the agent prints, on its own machine.
   */
  transcript?: string;
}
export interface AgentText {
  type: "text";
  text: string;
}
export interface AgentTool {
  type: "tool";
  name: string;
  detail: string;
  /**
   * Hash of everything the tool was asked, which distinguishes equal calls from similar ones. Absent if the CLI does not report the whole call.
   */
  key?: string;
}
/**
 * Totals of the run so far.
 */
export interface AgentUsage {
  type: "usage";
  usage: Usage;
  cost_usd?: number;
  estimated?: Estimated;
  model?: string;
  /**
   * Version of the CLI, if it reports one.
   */
  version?: string;
  /**
   * Maximum tokens of one request to the model, if known.
   */
  window?: number;
  billing?: Billing;
  /**
   * The CLI has said that it is done.
   */
  final?: true;
}
export interface Usage {
  /**
   * Input tokens over all requests, including cached ones.
   */
  input: number;
  cached: number;
  output: number;
  requests: number;
  /**
   * Tokens of the largest single request, including cached ones, with its answer. Absent if the CLI does not report single requests.
   */
  largest?: number;
}
export interface AgentNotice {
  type: "notice";
  message: string;
}
export interface AgentEnd {
  type: "end";
  /**
   * The agent's final message; empty after a failure.
   */
  message: string;
  failure?: Failure;
}
export interface Failure {
  kind:
    | "timeout"
    | "idle"
    | "rate-limit"
    | "auth"
    | "network"
    | "missing"
    | "unusable"
    | "too-large"
    | "crashed"
    | "no-answer"
    | "aborted"
    | "budget"
    | "context"
    | "resources";
  /**
   * One sentence: what happened and, if a person can help, what to do.
   */
  message: string;
  /**
   * ISO 8601 in UTC.
   */
  reset_at?: string;
}
/**
 * Code alone did a unit, such as a paper that is retracted: an iteration without an agent.
 */
export interface Settled {
  type: "settled";
  at: Time;
  iteration: number;
  unit: string;
  phase: string;
  /**
   * What a person reads, such as the paper's title.
   */
  title: string;
  /**
   * What came of it.
   */
  summary: string;
}
export interface IterationEnded {
  type: "iteration-ended";
  at: Time;
  iteration: number;
  unit: string;
  outcome: Outcome;
  duration_seconds: number;
  usage: Usage;
  cost_usd?: number;
  estimated?: Estimated;
}
export interface Accepted {
  outcome: "accepted";
  summary: string;
  /**
   * What the workflow thinks of it: a paper that is included, kept for its insights, or rejected.
   */
  grade?: "high" | "middle" | "low";
}
/**
 * Where several agents share the unit: what this one left is kept for the next of them; it is not judged yet.
 */
export interface Noted {
  outcome: "noted";
  summary: string;
}
export interface Refused {
  outcome: "refused";
  reasons: string[];
}
export interface Failed {
  outcome: "failed";
  failure: Failure;
}
export interface Waiting {
  type: "waiting";
  at: Time;
  until: Time;
  reason: string;
}
export interface HistoryCompressed {
  type: "history-compressed";
  at: Time;
  /**
   * The last iteration that the summary covers.
   */
  iteration: number;
  /**
   * 'built-in', or the name of the agent that summarised.
   */
  by: string;
  chars_before: number;
  chars_after: number;
  /**
   * How long the summary took.
   */
  duration_seconds: number;
  /**
   * Characters of the last twenty summaries, oldest first.
   */
  trend: number[];
  /**
   * Estimated tokens saved by the summary, minus 'tokens'.
   */
  tokens_saved: number;
  /**
   * Tokens that the historian's model used.
   */
  tokens: number;
  cost_usd?: number;
  estimated?: Estimated;
  /**
   * Of the project so far.
   */
  compressions: number;
  /**
   * Of the project so far.
   */
  total_tokens_saved: number;
}
export interface Notice {
  type: "notice";
  at: Time;
  level: "info" | "warning";
  message: string;
  /**
   * Name of the plugin that is left out for the rest of the run, which the message gives the reason of.
   */
  plugin?: string;
}
export interface RunEnded {
  type: "run-ended";
  at: Time;
  verdict: Verdict;
  progress?: Progress;
  /**
   * Absolute path of the project or task.
   */
  folder?: string;
  /**
   * Absolute path of the report's page, report.html; null before it is first written.
   */
  report?: string | null;
}
export interface Verdict {
  verdict: "complete" | "limit" | "stuck" | "blocked" | "failed" | "interrupted";
  /**
   * One sentence for a person: what happened and what to do.
   */
  reason: string;
  /**
   * Of limit: what is used up.
   */
  cause?: "iterations" | "tokens" | "usd" | "minutes";
  /**
   * Which signal interrupted the run.
   */
  signal?: "SIGINT" | "SIGTERM" | "SIGHUP";
}
