import { type Redact, redactValue } from "../lib/redact.js";
import type { LoopEvent, Verdict } from "../loop/types.js";

/** Passes events on without the user's secrets: an agent may print what it finds, and terminals, logs and hooks keep it. */
export async function* withoutSecrets(events: AsyncGenerator<LoopEvent, Verdict>, redact: Redact): AsyncGenerator<LoopEvent, Verdict> {
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    yield redactValue(step.value, redact).value as LoopEvent;
  }
}
