import type { Unit, Verdict } from "../../engine/loop/types.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { maxRefusals, unitRefusals } from "../derived/status.js";
import type { ChoiceContext, Project } from "./unit-kind.js";

export const blockedVerdict = (reason: string): Verdict => ({ verdict: "blocked", reason: `${reason}.` });

/** Starts a unit that must run alone: waits for other units, and is blocked if the unit was refused too often. */
export function startAlone(
  { rrd, ledger }: Project,
  unit: Unit,
  { unitsInProgress, folder }: Pick<ChoiceContext, "unitsInProgress" | "folder">,
): Unit | "wait" | Verdict {
  if (unitsInProgress.size > 0) return "wait";
  const refusals = unitRefusals(rrd, ledger, unit.id);
  if (refusals.length < maxRefusals) return unit;
  const why = refusals.at(-1)?.reasons[0] ?? "of its form";
  return blockedVerdict(
    `${unit.title} was refused ${refusals.length} times, the last time because ${why}; 'research-ralph reset ${shellWord(folder)} --unit ${unit.kind}' tries again, another --agent may do better`,
  );
}
