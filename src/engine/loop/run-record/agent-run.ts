import { digestOf, emptyDigest } from "./digest.js";
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

/** How long the agent worked, in milliseconds; never negative, even if the clock was set back meanwhile. */
export const workedMs = ({ startedAt, endedAt, asleepMs = 0 }: AgentRun): number =>
  Math.max(0, endedAt - startedAt - asleepMs);

/** The run after one more event. Pure. */
export function runAfter(run: AgentRun, event: AgentEvent): AgentRun {
  const next = { ...run, digest: digestOf(run.digest ?? emptyDigest, event) };
  if (event.type === "end") return { ...next, message: event.message, ...withoutUndefined({ failure: event.failure }) };
  if (event.type === "begun") return { ...next, confinement: event.confinement, worker: event.worker };
  if (event.type !== "usage") return next;
  const { type: _type, final: _final, cost_usd, estimated, ...reported } = event;
  // A cost that the CLI reports replaces our estimate and the mark `estimated`.
  const { estimated: _estimated, ...withoutEstimate } = next;
  return cost_usd === undefined
    ? { ...next, ...reported }
    : { ...withoutEstimate, ...reported, cost_usd, ...withoutUndefined({ estimated }) };
}
