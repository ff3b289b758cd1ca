// Generated from schemas/event.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a running loop tells whoever watches: terminal, JSON lines, transcripts. One union for all of them.
 */
export type LoopEvent =
  | RunStarted
  | Preparing
  | PreparedEvent
  | IterationStarted
  | AgentChanged
  | Searching
  | AgentSaid
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
 * costUsd is our estimate from a dated price table, not what the CLI reported.
 */
export type Estimated = true;
export type AgentEvent = AgentText | AgentTool | AgentUsage | AgentNotice | AgentEnd;
/**
 * How the use is paid for; absent where that is not known.
 */
export type Billing = "subscription" | "api";
export type Outcome = Accepted | Refused | Failed;

export interface RunStarted {
  type: "run-started";
  at: Time;
  workflow: string;
  agent: string;
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
  durationMs: number;
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
  briefTokens: number;
  workspace: string;
  progress: Progress;
  agent?: string;
  forecast?: Forecast;
}
export interface Progress {
  done: number;
  total: number;
}
/**
 * What the rest of a research will take: its units that are left times the median of what one took.
 */
export interface Forecast {
  /**
   * Papers that are left to read.
   */
  papers: number;
  /**
   * Units that are left, each counted once.
   */
  iterations: number;
  tokens: number;
  /**
   * In which agents work; side by side they take less on the clock.
   */
  minutes: number;
  /**
   * Absent where the model's price is not known.
   */
  costUsd?: number;
  estimated?: Estimated;
  /**
   * What it rests on: this research's own iterations, other researches beside it, or dated figures.
   */
  from: string;
}
/**
 * The next iteration goes to another agent than the last one.
 */
export interface AgentChanged {
  type: "agent-changed";
  at: Time;
  from: string;
  to: string;
  reason: string;
}
/**
 * How far one source is with a round of a search: at its start, after each answer, and when it is asked nothing more. Told while the search goes on, between other events.
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
   * Questions answered in this round, by failures too.
   */
  done: number;
  /**
   * Most questions of this round.
   */
  all: number;
  /**
   * Records listed so far in this round.
   */
  found: number;
  /**
   * The question that was answered just now, for people.
   */
  asked?: string;
  /**
   * Records that it brought.
   */
  listed?: number;
  /**
   * Why it brought none, or not all.
   */
  reason?: string;
  /**
   * The question had no answer, or the source can't be asked.
   */
  failed?: true;
  /**
   * The source is asked nothing more in this round.
   */
  over?: true;
}
export interface AgentSaid {
  type: "agent";
  at: Time;
  iteration: number;
  event: AgentEvent;
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
   * Stands for all that the tool was asked: the same is told by it from the like. Absent where the CLI does not tell all.
   */
  key?: string;
}
/**
 * Totals of the run so far.
 */
export interface AgentUsage {
  type: "usage";
  usage: Usage;
  costUsd?: number;
  estimated?: Estimated;
  model?: string;
  /**
   * Tokens that the model takes in one request, as far as known.
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
   * Input tokens over all requests, cached ones included.
   */
  input: number;
  cached: number;
  output: number;
  requests: number;
  /**
   * Tokens of the largest single request, cached ones included, with its answer. Absent where the CLI does not tell requests apart.
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
    | "too-large"
    | "crashed"
    | "no-answer"
    | "aborted"
    | "budget"
    | "context";
  /**
   * One sentence: what happened and, where a person can help, what to do.
   */
  message: string;
  /**
   * ISO 8601 in UTC.
   */
  resetAt?: string;
}
export interface IterationEnded {
  type: "iteration-ended";
  at: Time;
  iteration: number;
  unit: string;
  outcome: Outcome;
  durationMs: number;
  usage: Usage;
  costUsd?: number;
  estimated?: Estimated;
}
export interface Accepted {
  outcome: "accepted";
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
  charsBefore: number;
  charsAfter: number;
  /**
   * Estimated tokens by which the summary is shorter, less 'tokens'.
   */
  tokensSaved: number;
  /**
   * Tokens that the historian's model used.
   */
  tokens: number;
  costUsd?: number;
  estimated?: Estimated;
  /**
   * Of the research so far.
   */
  compressions: number;
  /**
   * Of the research so far.
   */
  totalTokensSaved: number;
}
export interface Notice {
  type: "notice";
  at: Time;
  level: "info" | "warning";
  message: string;
}
export interface RunEnded {
  type: "run-ended";
  at: Time;
  verdict: Verdict;
  progress?: Progress;
}
export interface Verdict {
  verdict: "complete" | "limit" | "stuck" | "blocked" | "failed" | "interrupted";
  /**
   * One sentence for a person: what happened and what to do.
   */
  reason: string;
  /**
   * Which signal interrupted the run.
   */
  signal?: "SIGINT" | "SIGTERM" | "SIGHUP";
}
