import type { Told, Unit } from "../../engine/loop/types.js";
import type { Made, Remade } from "../../engine/points/points.js";
import type { Change } from "../project-files/research.js";
import { paperOf } from "../derived/status.js";
import type { Acceptable } from "../units/judged-result.js";
import type { ResearchState } from "../units/unit-kind.js";

/** Lets those who take part in the run put fields beside what an agent has made; they are kept by who gave them. */
export type Remake = (made: Made) => Promise<Remade>;

/**
 * What is accepted of a reading, with what plugins have put beside it: they get the fields of the record as they will
 * be. Of any other unit nothing is asked.
 */
export async function withFieldsBeside(
  judged: Acceptable,
  { rrd }: Pick<ResearchState, "rrd">,
  { kind, id, phase, title }: Unit,
  iteration: number,
  remake: Remake | undefined,
): Promise<{ readonly changes: readonly Change[]; readonly told: readonly Told[] }> {
  const { changes } = judged;
  const isOwn = (change: Change) => change.in === "papers_pool" && change.id === id;
  const own = kind === "paper" ? changes.find(isOwn) : undefined;
  if (own === undefined || remake === undefined) return { changes, told: [] };
  const { fields, told } = await remake({ iteration, unit: id, phase, title, result: own.set });
  if (Object.keys(fields).length === 0) return { changes, told };
  const was = { ...own.was, plugins: paperOf(rrd, id)?.plugins };
  const beside = { ...own, set: { ...own.set, plugins: fields }, was };
  return { changes: changes.map((change) => (change === own ? beside : change)), told };
}
