import { recall } from "./recall.js";
import { type Delay, type Guard, isVerdict, type Notes, type RunSoFar, type Unit, type Verdict } from "./types.js";

/** What the guards say: a verdict of one goes before the delay of another. */
export function firstObjection(guards: readonly Guard[], soFar: RunSoFar): Verdict | Delay | undefined {
  const answers = guards.map((guard) => guard(soFar)).filter((answer) => answer !== undefined);
  return answers.find(isVerdict) ?? answers[0];
}

/** What the loop adds to the brief of a unit. */
export function notesFor(unit: Unit, { iterations, memory }: RunSoFar): Notes {
  const tries = iterations.filter((past) => past.unit.id === unit.id);
  const last = tries.at(-1)?.outcome;
  return {
    ...recall(memory),
    ...(last?.outcome === "refused" ? { refusal: last.reasons } : {}),
  };
}
