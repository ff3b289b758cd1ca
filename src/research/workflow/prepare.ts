import { type Delay, isVerdict, type Prepared, type Unit, type Verdict } from "../../engine/loop/types.js";
import { completeChange, mergeChanges } from "../../engine/storage/state/hand-edits/merge-hand-edits.js";
import { researchFormat } from "../project-files/rrd-file.js";
import { kindOf, workBasisHash } from "../units/kinds.js";
import type { Disk, Material, PreparationContext, ResearchState } from "../units/unit-kind.js";
import { nextUnit, statusOf } from "./next-unit.js";

/** The material that code has prepared for a unit. */
export interface PreparedUnit {
  readonly material: Material;
  /** A text that identifies the part of the state that the material was made from. */
  readonly basis: string;
}

/**
 * Fetches the material of a unit. `settled`: code can do the unit without an agent. `later`: the material is not
 * available now. @throws ExpectedError if no source can be searched now, or the disk is full.
 */
export async function prepareUnit(
  context: PreparationContext,
  state: ResearchState,
  unit: Unit,
  signal: AbortSignal,
): Promise<Prepared<PreparedUnit>> {
  const basis = basisOf(state, unit);
  const work = await kindOf(unit).load();
  const materialOrDelay: Material | Delay = (await work.prepare?.(context, state, unit, signal)) ?? {};
  if ("until" in materialOrDelay) return { later: materialOrDelay };
  // If the run is ending, answers may be incomplete.
  if (signal.aborted) return { later: { until: context.now(), reason: "The run is ending." } };
  const prepared = { material: materialOrDelay, basis };
  return work.needsNoAgent?.(state, unit, materialOrDelay) === true ? { settled: prepared } : { ready: prepared };
}

/** Whether the state has changed since a unit was prepared, for example by a user's edit. */
export const isStale = (state: ResearchState, unit: Unit, { basis }: PreparedUnit): boolean =>
  basisOf(state, unit) !== basis;

/** A text that changes with the part of the state that the preparation of a unit depends on. */
function basisOf(state: ResearchState, unit: Unit): string {
  const kind = kindOf(unit);
  return JSON.stringify([workBasisHash(state.rrd, kind, unit.id), ...(kind.extraBasis?.(state, unit) ?? [])]);
}

/** The input of the next brief, from stored files only. */
interface StoredUnit {
  /** The state after the units that code can do. */
  readonly state: ResearchState;
  readonly unit: Unit;
  readonly material: Material;
  /** How many units code would do before. */
  readonly settledCount: number;
  /** What a run would do before this brief, one sentence for each step. */
  readonly firstSteps: readonly string[];
}

/**
 * The next unit for an agent, with the material that earlier preparations have stored. Uses no service and writes
 * nothing.
 */
export async function nextFromStored(disk: Disk, storedState: ResearchState): Promise<StoredUnit | Verdict> {
  const firstSteps: string[] = [];
  let state = storedState;
  for (let settledCount = 0; ; settledCount += 1) {
    const unit = nextUnit(state, [], [], disk.folder);
    if (unit === "wait" || "until" in unit) throw new Error("the workflow waits although nothing is under way");
    if (isVerdict(unit)) return unit;
    const work = await kindOf(unit).load();
    const { material, missingSteps } = (await work.loadStored?.(disk, state, unit)) ?? {
      material: {},
      missingSteps: [],
    };
    firstSteps.push(...missingSteps);
    if (
      missingSteps.length > 0 ||
      work.completeByCode === undefined ||
      work.needsNoAgent?.(state, unit, material) !== true
    )
      return { state, unit, material, settledCount, firstSteps };
    firstSteps.push(`A run would settle ${unit.title} first, without an agent.`);
    const judging = { iteration: 0, agent: "", at: new Date(disk.now()) };
    const { rrd: before, ledger } = state;
    const changes = work
      .completeByCode(before, unit, material, judging)
      .changes.map((change) => completeChange(researchFormat, change, before));
    const { state: rrd } = mergeChanges(researchFormat, before, changes, true);
    state = { ...state, rrd, status: statusOf(rrd, ledger) };
  }
}
