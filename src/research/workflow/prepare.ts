import { type Delay, isVerdict, type Prepared, type Unit, type Verdict } from "../../engine/loop/types.js";
import { kindOf, workBasis } from "../units/kinds.js";
import type { Acceptance } from "../units/judged-result.js";
import type { Disk, Material, PreparationContext, ResearchState } from "../units/unit-kind.js";
import { nextUnit } from "./next-unit.js";
import { statusOf } from "./next-unit.js";

/** What code brought for a unit before its brief. */
export interface PreparedUnit {
  readonly material: Material;
  /** Stands for the part of the state that it was made from. */
  readonly basis: string;
}

/**
 * Brings what a unit needs from outside. What code alone can do is settled, without an agent; what can't be had now is
 * put off.
 * @throws ExpectedError where no source can be searched for now, or the disk is full.
 */
export async function prepareUnit(
  outside: PreparationContext,
  state: ResearchState,
  unit: Unit,
  signal: AbortSignal,
): Promise<Prepared<PreparedUnit>> {
  const basis = basisOf(state, unit);
  const work = await kindOf(unit).load();
  const gathered: Material | Delay = (await work.prepare?.(outside, state, unit, signal)) ?? {};
  if ("until" in gathered) return { later: gathered };
  // What was asked while the run was ending may be cut short.
  if (signal.aborted) return { later: { until: outside.now(), reason: "The run is ending." } };
  const prepared = { material: gathered, basis };
  return work.needsNoAgent?.(state, unit, gathered) === true ? { settled: prepared } : { ready: prepared };
}

/** Whether what a unit was prepared from has changed since, as by a person's edit. */
export const isStale = (state: ResearchState, unit: Unit, { basis }: PreparedUnit): boolean =>
  basisOf(state, unit) !== basis;

/** What the preparation of a unit depends on, as a hash. */
function basisOf(state: ResearchState, unit: Unit): string {
  const kind = kindOf(unit);
  return JSON.stringify([workBasis(state.rrd, kind, unit.id), ...(kind.extraBasis?.(state, unit) ?? [])]);
}

/** What the next brief can be made from without asking anybody. */
interface KeptUnit {
  /** Once what needs no agent is done. */
  readonly state: ResearchState;
  readonly unit: Unit;
  readonly material: Material;
  /** How many units code would settle before. */
  readonly settled: number;
  /** What a run would do before it wrote this brief, a sentence each. */
  readonly first: readonly string[];
}

/**
 * The next unit that an agent would be briefed for, with what earlier preparations have left on the disk. Asks nobody
 * and writes nothing.
 */
export async function nextKept(disk: Disk, before: ResearchState): Promise<KeptUnit | Verdict> {
  const first: string[] = [];
  let state = before;
  for (let settled = 0; ; settled += 1) {
    const unit = nextUnit(state, [], [], disk.folder);
    if (unit === "wait" || "until" in unit) throw new Error("the workflow waits although nothing is under way");
    if (isVerdict(unit)) return unit;
    const work = await kindOf(unit).load();
    const { material, missingSteps: asked } = (await work.loadStored?.(disk, state, unit)) ?? {
      material: {},
      missingSteps: [],
    };
    first.push(...asked);
    if (asked.length > 0 || work.completeByCode === undefined || work.needsNoAgent?.(state, unit, material) !== true)
      return { state, unit, material, settled, first };
    first.push(`A run would settle ${unit.title} first, without an agent.`);
    const judging = { iteration: 0, agent: "", at: new Date(disk.now()) };
    state = afterSettling(state, work.completeByCode(state.rrd, unit, material, judging));
  }
}

/** The state once code has settled the unit. */
function afterSettling(state: ResearchState, { changes }: Acceptance): ResearchState {
  let { rrd } = state;
  for (const { in: where, id, set, add = {} } of changes) {
    const added = Object.entries(add).map(([name, values]) => [name, [...((rrd[name] as unknown[]) ?? []), ...values]]);
    rrd =
      where === "rrd"
        ? { ...rrd, ...set, ...Object.fromEntries(added) }
        : { ...rrd, papers_pool: rrd.papers_pool.map((paper) => (paper.id === id ? { ...paper, ...set } : paper)) };
  }
  return { ...state, rrd, status: statusOf(rrd, state.ledger) };
}
