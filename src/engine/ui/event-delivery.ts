import { type Redact, redactValue } from "../lib/redact.js";
import type { LoopEvent, Tell, NewEvent } from "../loop/types.js";
import type { Points } from "../points/points.js";
import type { Sink } from "./sink.js";

/** Those who get the events of a run. */
interface Watchers {
  readonly sink: Sink;
  readonly points: Pick<Points, "at">;
  /**
   * Removes the user's secrets from every event: an agent may print a secret that it finds, and terminals, logs and
   * hooks would store it.
   */
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The only way to report an event to the user. Events are delivered one after the other, in the order of the calls:
 * first to the sink, then to hooks and plugins at the points of the run. Events from before the start of the run are
 * delivered after its first event.
 */
export function createTell({ sink, points, redact, now }: Watchers): Tell {
  let lastDelivery: Promise<void> = Promise.resolve();
  let earlyEvents: NewEvent[] | undefined = [];

  async function deliver(event: LoopEvent): Promise<void> {
    sink.event(event);
    for (const { type, ...facts } of await points.at(event)) sink.event({ type, at: event.at, ...facts } as LoopEvent);
  }

  function deliverInOrder(event: LoopEvent): Promise<void> {
    const delivery = lastDelivery.then(() => deliver(event));
    // If a delivery fails, its sender gets the error, and later events are still delivered.
    lastDelivery = delivery.catch(() => undefined);
    return delivery;
  }

  /** The time of an event is the time of its delivery, so times never decrease. */
  function withTime({ type, ...facts }: NewEvent): LoopEvent {
    const at = new Date(now()).toISOString();
    return redactValue({ type, at, ...facts }, redact).value as LoopEvent;
  }

  async function tellAll(told: NewEvent): Promise<void> {
    if (earlyEvents !== undefined && told.type !== "run-started") return void earlyEvents.push(told);
    const queuedEvents = earlyEvents ?? [];
    earlyEvents = undefined;
    await Promise.all([told, ...queuedEvents].map((event) => deliverInOrder(withTime(event))));
  }

  return (told) => {
    const delivery = tellAll(told);
    // The sender of a notice does not wait for it. If a listener throws, the next awaited event ends the run; the
    // process does not crash.
    delivery.catch(() => undefined);
    return delivery;
  };
}
