import { totalUsage } from "../engine/agents/shared/messages.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import type { AgentEvent, Usage } from "../engine/loop/types.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Entry } from "./talk.js";

export type UsedEvent = Extract<AgentEvent, { type: "usage" }>;

/** The received events of one job, from all its attempts. */
export interface JobEvents {
  /**
   * The new events in an entry. Empty if the entry is of an older attempt, was received before, or comes after the end.
   */
  hear(entry: Entry): readonly (FleetItem | AgentEvent)[];
  /** Whether there was an entry of a newer attempt. */
  isOld(attempt: number): boolean;
  /** The worker that has the job. */
  worker(): string | undefined;
  /** The usage of all attempts. */
  used(): UsedEvent | undefined;
}

/**
 * Only the newest attempt counts, each of its entries once and in order, up to its first end. The usage of a lost
 * attempt is added to the usage of the next one. `earlier`: the usage of other jobs for the same brief.
 */
export function makeJobEvents(earlier?: UsedEvent): JobEvents {
  let [attempt, sequence] = [0, -1];
  let isOver = false;
  let worker: string | undefined;
  let [usedBefore, lastUsed]: [UsedEvent | undefined, UsedEvent | undefined] = [earlier, earlier];

  function eventsOf(item: FleetItem): readonly (FleetItem | AgentEvent)[] {
    if (isOver) return [];
    if (item.type === "end") isOver = true;
    if (item.type === "usage") {
      lastUsed = addUsage(usedBefore, item);
      return [lastUsed];
    }
    if (item.type !== "begun") return [item];
    const lostWorker = worker;
    worker = item.worker;
    if (lostWorker === undefined) return [item];
    usedBefore = lastUsed;
    const message = `Begun again on ${item.worker} (attempt ${attempt}): ${lostWorker}, which had it before, is gone or lost it.`;
    return [{ type: "notice", message }, item];
  }

  return {
    hear(entry) {
      if (isOver || entry.attempt < attempt) return [];
      if (entry.attempt > attempt) [attempt, sequence] = [entry.attempt, -1];
      // A command is sent again if its answer was lost with the connection.
      if (entry.sequence <= sequence) return [];
      sequence = entry.sequence;
      return entry.items.flatMap(eventsOf);
    },
    isOld: (other) => other < attempt,
    worker: () => worker,
    used: () => lastUsed,
  };
}

/** The usage of an attempt plus the usage of the attempts before it. */
function addUsage(usedBefore: UsedEvent | undefined, usedNow: UsedEvent): UsedEvent {
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
