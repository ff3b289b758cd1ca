import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { NewEvent, Unit } from "../../engine/loop/types.js";
import type { AgentOutput, OutputChanges } from "../../engine/points/points.js";
import type { Change } from "../project-files/research.js";
import { paperOf } from "../derived/status.js";
import type { Acceptance } from "../units/judged-result.js";
import type { ResearchState } from "../units/unit-kind.js";

/** Lets those who take part in the run put fields beside what an agent has made; they are kept by who gave them. */
export type Remake = (made: AgentOutput) => Promise<OutputChanges>;

/** What is kept of an accepted result, with what was put beside it. */
interface Beside {
  readonly changes: readonly Change[];
  readonly ledger: Partial<LedgerLine>;
  readonly told: readonly NewEvent[];
}

/**
 * What is accepted of a result, with what plugins have put beside it. Of a paper that was read they get the fields of
 * its record as they will be, and theirs stand among them. Any other result changes several records or a file; they get
 * all of those, and what they put beside it stands in the iteration's line of the ledger.
 */
export async function withFieldsBeside(
  judged: Acceptance,
  { rrd }: Pick<ResearchState, "rrd">,
  { kind, id, phase, title }: Unit,
  iteration: number,
  remake: Remake | undefined,
): Promise<Beside> {
  const { changes, files = [] } = judged;
  if (remake === undefined) return { changes, ledger: {}, told: [] };
  const isOwn = (change: Change) => change.in === "papers_pool" && change.id === id;
  const own = kind === "paper" ? changes.find(isOwn) : undefined;
  const result = own?.set ?? { changes: changes.map(({ was: _, ...change }) => change), files };
  const { fields, told } = await remake({ iteration, unit: id, phase, title, result });
  if (Object.keys(fields).length === 0) return { changes, ledger: {}, told };
  if (own === undefined) return { changes, ledger: { plugins: fields }, told };
  const was = { ...own.was, plugins: paperOf(rrd, id)?.plugins };
  const beside = { ...own, set: { ...own.set, plugins: fields }, was };
  return { changes: changes.map((change) => (change === own ? beside : change)), ledger: {}, told };
}
