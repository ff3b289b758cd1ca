import { totalUsage } from "../engine/agents/shared/messages.js";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import type { AgentEvent, Usage } from "../engine/loop/types.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Entry } from "./talk.js";

export type Used = Extract<AgentEvent, { type: "usage" }>;

/** What a coordinator hears of one job, attempt by attempt. */
export interface Hearing {
  /**
   * The events that an entry adds. None where it is of an older attempt, was heard already, or comes after the end.
   */
  hear(entry: Entry): readonly (FleetItem | AgentEvent)[];
  /** Whether it is an attempt before the newest one that was heard. */
  isOld(attempt: number): boolean;
  /** Who has it now. */
  worker(): string | undefined;
  /** What all attempts have used. */
  used(): Used | undefined;
}

/**
 * Fencing: the newest attempt alone is heard, each of its entries once and in order, up to its first end. What a lost
 * attempt used was used, and is added to what the next one tells. `earlier`: what other jobs for the same brief used.
 */
export function hearingOf(earlier?: Used): Hearing {
  let [attempt, sequence] = [0, -1];
  let isOver = false;
  let worker: string | undefined;
  let [before, last]: [Used | undefined, Used | undefined] = [earlier, earlier];

  function told(item: FleetItem): readonly (FleetItem | AgentEvent)[] {
    if (isOver) return [];
    if (item.type === "end") isOver = true;
    if (item.type === "usage") {
      last = added(before, item);
      return [last];
    }
    if (item.type !== "begun") return [item];
    const lost = worker;
    worker = item.worker;
    if (lost === undefined) return [item];
    before = last;
    const message = `Begun again on ${item.worker} (attempt ${attempt}): ${lost}, which had it before, is gone or lost it.`;
    return [{ type: "notice", message }, item];
  }

  return {
    hear(entry) {
      if (isOver || entry.attempt < attempt) return [];
      if (entry.attempt > attempt) [attempt, sequence] = [entry.attempt, -1];
      // A command whose answer was lost with the connection is sent again.
      if (entry.sequence <= sequence) return [];
      sequence = entry.sequence;
      return entry.items.flatMap(told);
    },
    isOld: (each) => each < attempt,
    worker: () => worker,
    used: () => last,
  };
}

/** The use of an attempt with that of the attempts before it. */
function added(before: Used | undefined, now: Used): Used {
  if (before === undefined) return now;
  const usage: Usage = {
    ...totalUsage([before.usage, now.usage]),
    ...withoutUndefined({ largest: largest(before.usage.largest, now.usage.largest) }),
  };
  const { cost_usd, estimated, ...rest } = now;
  const cost =
    cost_usd === undefined && before.cost_usd === undefined ? undefined : (before.cost_usd ?? 0) + (cost_usd ?? 0);
  return { ...rest, usage, ...withoutUndefined({ cost_usd: cost, estimated: before.estimated ?? estimated }) };
}

const largest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
