// Generated from schemas/fleet-item.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { AgentBegun, AgentEnd, AgentNotice, AgentText, AgentTool, Usage } from "./event.js";

/**
 * One thing that a worker says to a coordinator: an event of the agent, or the result that it left.
 */
export type FleetItem = (AgentBegun | AgentText | AgentTool | AgentUsage | AgentNotice | AgentEnd) | FleetResult;

/**
 * Totals of the run so far.
 */
export interface AgentUsage {
  type: "usage";
  usage: Usage;
  cost_usd?: number;
  /**
   * cost_usd is an estimate from a dated price table, not what the CLI reported.
   */
  estimated?: true;
  model?: string;
  /**
   * Version of the CLI, if it reports one.
   */
  version?: string;
  /**
   * Maximum tokens of one request to the model, if known.
   */
  window?: number;
  /**
   * How the use is paid for; absent if unknown.
   */
  billing?: "subscription" | "api";
  /**
   * The CLI has said that it is done.
   */
  final?: true;
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
   * When a rate limit ends, if the service said so.
   */
  reset_at?: string;
}
/**
 * Comes before the agent's end, where it left a result.json.
 */
export interface FleetResult {
  type: "result";
  /**
   * The file, without the worker's secrets.
   */
  text: string;
}
