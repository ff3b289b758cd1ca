import { join } from "node:path";
import { resultName } from "../../../engine/lib/layout.js";
import { clip, estimateTokens, fit } from "../../../engine/lib/tokens.js";
import type { Unit } from "../../../engine/loop/types.js";
import { checkedResult, type Kept, readResult } from "../../../engine/storage/result-file.js";
import { refusalsOf, timesTooFull } from "../../derived/status.js";
import { kindOf } from "../../units/kinds.js";
import type { Material, RepairParts, ResearchState } from "../../units/unit-kind.js";

/** What a short repair brief says of a refused result, so that the paper need not be read again. */
export interface Repair {
  readonly reasons: readonly string[];
  /** The refused result, as JSON. */
  readonly previous: string;
  readonly passages: RepairParts["passages"];
}

/**
 * The repair that a brief asks for, and what the agent has no say in: fields of the refused result that nobody found
 * fault with.
 */
interface AskedRepair {
  readonly repair: Repair;
  readonly kept: Kept;
}

/** Together with the passages, the rubric and the unit these stay below the brief's 6,000. */
const tokens = { previous: 1_800, reasons: 350 };

/**
 * The repair that a unit's next brief asks for: the first refusal is answered by one, where all that is wrong can be
 * mended without the paper; anything else, a refused repair too, by the whole brief once more. `workspaceOf`: where a
 * refused iteration's result was kept.
 */
export async function repairFor(
  workspaceOf: (iteration: number) => string,
  state: ResearchState,
  unit: Unit,
  material: Material,
): Promise<AskedRepair | undefined> {
  const [refusal, ...others] = refusalsOf(state, unit);
  if (refusal === undefined || others.length > 0) return undefined;
  const result = await readResult(join(workspaceOf(refusal.iteration), resultName));
  if ("reason" in result) return undefined;
  const kind = kindOf(unit);
  const { value, problems } = checkedResult(kind.schema, result.value);
  // As a text: indented like the rest of the unit it would be a third longer.
  const previous = JSON.stringify(value);
  if (problems.some(({ missing }) => missing === true) || estimateTokens(previous) > tokens.previous) return undefined;
  const work = await kind.load();
  const smaller = timesTooFull(state.ledger, unit.id);
  const parts =
    work.repair && (await work.repair({ state, unit, material, value, problems, refusal, contextOverflows: smaller }));
  if (work.repair !== undefined && parts === undefined) return undefined;
  const { passages = [], kept = new Map() } = parts ?? {};
  const reasons = fit(refusal.reasons, tokens.reasons, (reason) => clip(reason, 60)).lines;
  return { repair: { reasons, previous, passages }, kept };
}
