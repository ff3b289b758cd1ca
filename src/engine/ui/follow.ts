import type { LoopEvent, Verdict } from "../loop/types.js";

/** Something that watches a running loop: a terminal, lines, JSON. */
export interface Sink {
  /** Never throws and never waits: a watcher must not hold up the loop. */
  event(event: LoopEvent): void;
  /** Called once, whether the loop ended or threw; gives the terminal back as it was. */
  close(): void;
}

/** Drives a loop to its end while `sink` watches. Rejects only with what the loop itself threw. */
export async function follow(events: AsyncGenerator<LoopEvent, Verdict>, sink: Sink): Promise<Verdict> {
  try {
    for (;;) {
      const step = await events.next();
      if (step.done === true) return step.value;
      sink.event(step.value);
    }
  } finally {
    sink.close();
  }
}
