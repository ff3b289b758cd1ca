import { type Redact, redactValue } from "../lib/redact.js";
import type { LoopEvent, Tell, NewEvent } from "../loop/types.js";
import type { Points } from "../points/points.js";
import type { Sink } from "./sink.js";

/** The receivers of a run's events, and what is needed to deliver the events. */
interface EventReceivers {
  readonly sink: Sink;
  readonly points: Pick<Points, "at">;
  /**
   * Removes the user's secrets from every event: an agent may print a secret, and then terminals, logs and hooks would
   * store it.
   */
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Creates the function that reports events; there is no other way to report an event. Events are delivered one after
 * the other, in the order of the calls: first to the sink, then to hooks and plugins. Events from before `run-started`
 * are delivered after it.
 */
export function createTell({ sink, points, redact, now }: EventReceivers): Tell {
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

  /** Adds the time of the delivery and removes secrets. */
  function withTime({ type, ...facts }: NewEvent): LoopEvent {
    const at = new Date(now()).toISOString();
    return redactValue({ type, at, ...facts }, redact).value as LoopEvent;
  }

  async function deliverNew(newEvent: NewEvent): Promise<void> {
    if (earlyEvents !== undefined && newEvent.type !== "run-started") return void earlyEvents.push(newEvent);
    const queuedEvents = earlyEvents ?? [];
    earlyEvents = undefined;
    await Promise.all([newEvent, ...queuedEvents].map((event) => deliverInOrder(withTime(event))));
  }

  return (newEvent) => {
    const delivery = deliverNew(newEvent);
    // Some senders do not await the delivery. Without this line, the process would crash if a receiver then throws.
    delivery.catch(() => undefined);
    return delivery;
  };
}
