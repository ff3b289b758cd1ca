import { totalUsage } from "../engine/agents/shared/messages.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import type { AgentEvent, Usage } from "../engine/loop/types.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Entry } from "./talk.js";

export type UsageEvent = Extract<AgentEvent, { type: "usage" }>;

/** The received events of one job, from all its attempts. */
export interface JobEvents {
  /**
   * The new events in an entry. Empty if the entry is of an older attempt, was received before, or comes after the end.
   */
  newEventsOf(entry: Entry): readonly (FleetItem | AgentEvent)[];
  /** Whether there was an entry of a newer attempt. */
  isOldAttempt(attempt: number): boolean;
  /** The worker that has the job. */
  worker(): string | undefined;
  /** The usage of all attempts. */
  usage(): UsageEvent | undefined;
}

/**
 * Only the newest attempt counts, each of its entries once and in order, up to its first end. The usage of a lost
 * attempt is added to the usage of the next one. `earlierUsage`: the usage of other jobs for the same brief.
 */
export function makeJobEvents(earlierUsage?: UsageEvent): JobEvents {
  let [attempt, sequence] = [0, -1];
  let hasEnded = false;
  let worker: string | undefined;
  let [usedBefore, lastUsed]: [UsageEvent | undefined, UsageEvent | undefined] = [earlierUsage, earlierUsage];

  function eventsOf(item: FleetItem): readonly (FleetItem | AgentEvent)[] {
    if (hasEnded) return [];
    if (item.type === "end") hasEnded = true;
    if (item.type === "usage") {
      lastUsed = addUsage(usedBefore, item);
      return [lastUsed];
    }
    if (item.type !== "begun") return [item];
    const lostWorker = worker;
    worker = item.worker;
    if (lostWorker === undefined) return [item];
    usedBefore = lastUsed;
    const message = `${item.worker} starts the job again (attempt ${attempt}): ${lostWorker}, which had it before, has stopped or lost it.`;
    return [{ type: "notice", message }, item];
  }

  return {
    newEventsOf(entry) {
      if (hasEnded || entry.attempt < attempt) return [];
      if (entry.attempt > attempt) [attempt, sequence] = [entry.attempt, -1];
      // If a connection breaks, a command may be sent twice, so an entry may be stored twice.
      if (entry.sequence <= sequence) return [];
      sequence = entry.sequence;
      return entry.items.flatMap(eventsOf);
    },
    isOldAttempt: (other) => other < attempt,
    worker: () => worker,
    usage: () => lastUsed,
  };
}

/** The usage of an attempt plus the usage of the attempts before it. */
function addUsage(usedBefore: UsageEvent | undefined, usedNow: UsageEvent): UsageEvent {
  if (usedBefore === undefined) return usedNow;
  const usage: Usage = {
    ...totalUsage([usedBefore.usage, usedNow.usage]),
    ...withoutUndefined({ largest: maxOf(usedBefore.usage.largest, usedNow.usage.largest) }),
  };
  const { cost_usd, estimated, ...others } = usedNow;
  const cost =
    cost_usd === undefined && usedBefore.cost_usd === undefined
      ? undefined
      : (usedBefore.cost_usd ?? 0) + (cost_usd ?? 0);
  return { ...others, usage, ...withoutUndefined({ cost_usd: cost, estimated: usedBefore.estimated ?? estimated }) };
}

const maxOf = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
