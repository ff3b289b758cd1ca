import { join } from "node:path";
import { resultName } from "../../../engine/lib/layout.js";
import { clip, estimateTokens, fit } from "../../../engine/lib/tokens.js";
import type { Unit } from "../../../engine/loop/types.js";
import { checkResult, type KeptFields, readResult } from "../../../engine/storage/result-file.js";
import { refusalsOf, countContextOverflows } from "../../derived/status.js";
import { kindOf } from "../../units/kinds.js";
import type { Material, RepairParts, ResearchState } from "../../units/unit-kind.js";

/** The content of a repair brief, with which a refused result is repaired without reading the paper again. */
export interface Repair {
  readonly reasons: readonly string[];
  /** The refused result, as JSON. */
  readonly previous: string;
  readonly passages: RepairParts["passages"];
}

/**
 * The repair that a brief asks for, and the fields of the refused result that are kept, because they have no fault.
 */
interface RepairWithKept {
  readonly repair: Repair;
  readonly kept: KeptFields;
}

/** Maximum tokens. With the passages, the rubric and the unit, a brief stays below 6,000. */
const maxTokens = { previous: 1_800, reasons: 350 };

/**
 * The repair for the next brief of a unit, if its first result was refused and all faults can be repaired without the
 * paper. Undefined otherwise, also after a refused repair: then the complete brief is written again. `workspaceOf`: the
 * workspace with a refused result.
 */
export async function repairFor(
  workspaceOf: (iteration: number) => string,
  state: ResearchState,
  unit: Unit,
  material: Material,
): Promise<RepairWithKept | undefined> {
  const [refusal, ...moreRefusals] = refusalsOf(state, unit);
  if (refusal === undefined || moreRefusals.length > 0) return undefined;
  const result = await readResult(join(workspaceOf(refusal.iteration), resultName));
  if ("reason" in result) return undefined;
  const kind = kindOf(unit);
  const { value, problems } = checkResult(kind.schema, result.value);
  // Not indented like the rest of the unit, which would make it a third longer.
  const previous = JSON.stringify(value);
  if (problems.some(({ missing }) => missing === true) || estimateTokens(previous) > maxTokens.previous)
    return undefined;
  const work = await kind.load();
  const contextOverflows = countContextOverflows(state.ledger, unit.id);
  const parts =
    work.repair && (await work.repair({ state, unit, material, value, problems, refusal, contextOverflows }));
  if (work.repair !== undefined && parts === undefined) return undefined;
  const { passages = [], kept = new Map() } = parts ?? {};
  const reasons = fit(refusal.reasons, maxTokens.reasons, (reason) => clip(reason, 60)).lines;
  return { repair: { reasons, previous, passages }, kept };
}
