import type { LoopEvent, Tell } from "../../../src/engine/loop/types.js";
import type { Clock } from "../../../src/engine/lib/clock.js";

/** Somebody who is told of a run and keeps what was told, each event with the clock's time. */
export function listener(clock: Pick<Clock, "now">): { readonly events: LoopEvent[]; readonly tell: Tell } {
  const events: LoopEvent[] = [];
  const tell: Tell = async ({ type, ...facts }) =>
    void events.push({ type, at: new Date(clock.now()).toISOString(), ...facts } as LoopEvent);
  return { events, tell };
}
