import { type Redact, redactValue } from "../lib/redact.js";
import type { LoopEvent, Tell, Told } from "../loop/types.js";
import type { Points } from "../points/points.js";
import type { Sink } from "./sink.js";

/** Anyone who watches a run. */
interface Watchers {
  readonly sink: Sink;
  readonly points: Pick<Points, "at">;
  /**
   * Takes the user's secrets out of every event: an agent may print what it finds, and terminals, logs and hooks keep
   * it.
   */
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The one way to tell a person something. Events are heard one after the other, in the order in which they were told:
 * by the sink, then by those who take part at points of the run. Events from before the start of the run follow its
 * first event.
 */
export function tellTo({ sink, points, redact, now }: Watchers): Tell {
  let last: Promise<void> = Promise.resolve();
  let earlyEvents: Told[] | undefined = [];

  async function deliver(event: LoopEvent): Promise<void> {
    sink.event(event);
    for (const { type, ...facts } of await points.at(event)) sink.event({ type, at: event.at, ...facts } as LoopEvent);
  }

  function deliverInOrder(event: LoopEvent): Promise<void> {
    const delivery = last.then(() => deliver(event));
    // An event that could not be delivered fails its sender, and does not stop the ones behind it.
    last = delivery.catch(() => undefined);
    return delivery;
  }

  /** Times are those at which events are passed on, so that they never go back. */
  function withTime({ type, ...facts }: Told): LoopEvent {
    const at = new Date(now()).toISOString();
    return redactValue({ type, at, ...facts }, redact).value as LoopEvent;
  }

  async function tellAll(told: Told): Promise<void> {
    if (earlyEvents !== undefined && told.type !== "run-started") return void earlyEvents.push(told);
    const queuedEvents = earlyEvents ?? [];
    earlyEvents = undefined;
    await Promise.all([told, ...queuedEvents].map((each) => deliverInOrder(withTime(each))));
  }

  return (told) => {
    const delivery = tellAll(told);
    // A notice is sent without waiting for it: a listener that throws ends the run at the next event that is awaited,
    // not the process.
    delivery.catch(() => undefined);
    return delivery;
  };
}
