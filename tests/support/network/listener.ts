import type { LoopEvent, Tell } from "../../../src/engine/loop/types.js";
import type { Clock } from "../../../src/engine/lib/clock.js";

/** More events than any test has: what tells more goes round without an end, and is to fail, not to hang. */
const mostEvents = 20_000;

/** Somebody who is told of a run and keeps what was told, each event with the clock's time. */
export function listener(clock: Pick<Clock, "now">): { readonly events: LoopEvent[]; readonly tell: Tell } {
  const events: LoopEvent[] = [];
  const tell: Tell = async ({ type, ...facts }) => {
    if (events.length >= mostEvents) throw new Error(`the test was told ${mostEvents} events; it has no end`);
    events.push({ type, at: new Date(clock.now()).toISOString(), ...facts } as LoopEvent);
  };
  return { events, tell };
}
