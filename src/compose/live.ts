import type { LoopEvent, Notice, Searching } from "../engine/generated/event.js";
import { type Redact, redactValue } from "../engine/lib/redact.js";
import type { Sink } from "../engine/ui/sink.js";

/** What is told while the loop waits for a brief, and has no event of its own to tell. */
type LiveEvent = Omit<Notice, "at"> | Omit<Searching, "at">;
export type Tell = (event: LiveEvent) => void;

/** A way past the loop to whoever watches a run: what is told goes to the sink at once, without the user's secrets. */
export function liveLine(redact: Redact, now: () => number): { readonly tell: Tell; to(sink: Sink): void } {
  let watcher: Sink | undefined;
  return {
    tell: (event) =>
      watcher?.event(redactValue({ ...event, at: new Date(now()).toISOString() }, redact).value as LoopEvent),
    to: (sink) => void (watcher = sink),
  };
}
