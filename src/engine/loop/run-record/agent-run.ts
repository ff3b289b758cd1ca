import { digestOf, emptyDigest } from "./digest.js";
import type { Agent, AgentEvent, AgentRun, Brief } from "../types.js";
import { given } from "../../lib/given.js";

/** A run of which nothing is known yet. `now`: milliseconds since the epoch. */
export function begun(agent: Agent, brief: Brief, now: number): AgentRun {
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

/** How long the agent worked, in milliseconds; never negative: a clock may be set back meanwhile. */
export const workedMs = ({ startedAt, endedAt, asleepMs = 0 }: AgentRun): number =>
  Math.max(0, endedAt - startedAt - asleepMs);

/** The run after one more event. Pure. */
export function folded(run: AgentRun, event: AgentEvent): AgentRun {
  const next = { ...run, digest: digestOf(run.digest ?? emptyDigest, event) };
  if (event.type === "end") return { ...next, message: event.message, ...given({ failure: event.failure }) };
  if (event.type === "begun") return { ...next, confinement: event.confinement, worker: event.worker };
  if (event.type !== "usage") return next;
  const { type: _, final: __, cost_usd, estimated, ...told } = event;
  // A cost that the CLI reports takes the place of our estimate, and with it the mark.
  const { estimated: ___, ...unmarked } = next;
  return cost_usd === undefined ? { ...next, ...told } : { ...unmarked, ...told, cost_usd, ...given({ estimated }) };
}
