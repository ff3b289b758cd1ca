import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { NewEvent, Unit } from "../../engine/loop/types.js";
import type { AgentOutput, OutputChanges } from "../../engine/points/points.js";
import type { Change } from "../project-files/research.js";
import { paperOf } from "../derived/status.js";
import type { Acceptance } from "../units/judged-result.js";
import type { ResearchState } from "../units/unit-kind.js";

/** Lets plugins add fields to an agent's result. The fields are stored by the name of the plugin. */
export type AddPluginFields = (output: AgentOutput) => Promise<OutputChanges>;

/** An accepted result with the fields of plugins. */
interface ResultWithFields {
  readonly changes: readonly Change[];
  readonly ledger: Partial<LedgerLine>;
  readonly notices: readonly NewEvent[];
}

/**
 * Adds the fields of plugins to an accepted result. For a paper, plugins get the new fields of its record, and their
 * fields are stored in the record. For another unit, they get all changes and files, and their fields are stored in the
 * iteration's ledger line.
 */
export async function withPluginFields(
  judged: Acceptance,
  { rrd }: Pick<ResearchState, "rrd">,
  { kind, id, phase, title }: Unit,
  iteration: number,
  addPluginFields: AddPluginFields | undefined,
): Promise<ResultWithFields> {
  const { changes, files = [] } = judged;
  if (addPluginFields === undefined) return { changes, ledger: {}, notices: [] };
  const isOwn = (change: Change) => change.in === "papers_pool" && change.id === id;
  const ownChange = kind === "paper" ? changes.find(isOwn) : undefined;
  const result = ownChange?.set ?? { changes: changes.map(({ was: _, ...change }) => change), files };
  const { fields, notices } = await addPluginFields({ iteration, unit: id, phase, title, result });
  if (Object.keys(fields).length === 0) return { changes, ledger: {}, notices };
  if (ownChange === undefined) return { changes, ledger: { plugins: fields }, notices };
  const was = { ...ownChange.was, plugins: paperOf(rrd, id)?.plugins };
  const changeWithFields = { ...ownChange, set: { ...ownChange.set, plugins: fields }, was };
  return { changes: changes.map((change) => (change === ownChange ? changeWithFields : change)), ledger: {}, notices };
}
