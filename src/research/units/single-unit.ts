import type { Unit, Verdict } from "../../engine/loop/types.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { maxRefusals, unitRefusals } from "../derived/status.js";
import type { ChoiceContext, Project } from "./unit-kind.js";

export const blocked = (reason: string): Verdict => ({ verdict: "blocked", reason: `${reason}.` });

/** A unit that runs alone. Without other units in progress it is started, unless it was refused too often. */
export function alone(
  { rrd, ledger }: Project,
  unit: Unit,
  { taken, folder }: Pick<ChoiceContext, "taken" | "folder">,
): Unit | "wait" | Verdict {
  if (taken.size > 0) return "wait";
  const refusals = unitRefusals(rrd, ledger, unit.id);
  if (refusals.length < maxRefusals) return unit;
  const why = refusals.at(-1)?.reasons[0] ?? "of its form";
  return blocked(
    `${unit.title} was refused ${refusals.length} times, the last time because ${why}; 'research-ralph reset ${shellWord(folder)} --unit ${unit.kind}' tries again, another --agent may do better`,
  );
}
