import { digestWithEvent, emptyDigest } from "./digest.js";
import type { Agent, AgentEvent, AgentRun, Brief } from "../types.js";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** The record of a run before its first event. `now`: milliseconds since the epoch. */
export function newRun(agent: Agent, brief: Brief, now: number): AgentRun {
  return {
    iteration: brief.iteration,
    agent: agent.name,
    confinement: agent.confinement,
    ...(agent.free === true ? { free: true as const, cost_usd: 0 } : {}),
    startedAt: now,
    endedAt: now,
    usage: { input: 0, cached: 0, output: 0, requests: 0 },
    brief,
    message: "",
  };
}

/** The working time of the agent in milliseconds. Not negative, even if the clock was set back. */
export const workedMs = ({ startedAt, endedAt, asleepMs = 0 }: AgentRun): number =>
  Math.max(0, endedAt - startedAt - asleepMs);

/** The run after one more event. Pure. */
export function withEvent(run: AgentRun, event: AgentEvent): AgentRun {
  const updatedRun = { ...run, digest: digestWithEvent(run.digest ?? emptyDigest, event) };
  if (event.type === "end") return { ...updatedRun, message: event.message, failure: event.failure };
  if (event.type === "begun") return { ...updatedRun, confinement: event.confinement, worker: event.worker };
  if (event.type !== "usage") return updatedRun;
  const { type: _type, final: _final, cost_usd, estimated, ...otherFields } = event;
  // A cost that the CLI reports replaces an estimate.
  const { estimated: _estimated, ...withoutEstimate } = updatedRun;
  return cost_usd === undefined
    ? { ...updatedRun, ...otherFields }
    : { ...withoutEstimate, ...otherFields, cost_usd, ...withoutUndefined({ estimated }) };
}
