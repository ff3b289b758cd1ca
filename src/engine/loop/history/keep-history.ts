import { ExpectedError } from "../../lib/errors.js";
import type { Historian } from "./summarise.js";
import { isVerdict, type LoopEvent, type Verdict, type Workflow } from "../types.js";

/**
 * Passes a loop's events on, and lets the historian summarise between two iterations where a summary is due: the loop stands still
 * until its next event is asked for, so nothing else changes the state meanwhile. One that a killed run owed is made first.
 */
export async function* keepHistory<State>(
  events: AsyncGenerator<LoopEvent, Verdict>,
  workflow: Pick<Workflow<State>, "load" | "memory" | "remember">,
  historian: Historian,
): AsyncGenerator<LoopEvent, Verdict> {
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    yield step.value;
    const { type } = step.value;
    if (type === "run-started" || type === "iteration-ended") yield* summarise(workflow, historian);
  }
}

async function* summarise<State>(
  { load, memory, remember }: Pick<Workflow<State>, "load" | "memory" | "remember">,
  historian: Historian,
): AsyncGenerator<LoopEvent> {
  if (memory === undefined || remember === undefined) return;
  const state = await load();
  if (isVerdict(state)) return;
  const compression = yield* historian(memory(state));
  if (compression === undefined) return;
  try {
    await remember(compression);
  } catch (error) {
    // Whatever stands in the way, the loop meets it next and says so.
    if (!(error instanceof ExpectedError)) throw error;
  }
}
