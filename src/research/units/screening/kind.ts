import type { Rrd } from "../../generated/rrd.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { openUpdate } from "../../derived/open-update.js";
import { median } from "../../derived/statistics.js";
import { unscreenedOwnRecords, maxBatchSize, targetOf, countContextOverflows } from "../../derived/status.js";
import { startAlone } from "../single-unit.js";
import { briefInput, type UnitKind } from "../unit-kind.js";
import { candidatesFor, nextReader } from "./readers.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import type { ScreeningMaterial } from "./prepare.js";

/** Number of new papers per batch, if the project has no batch with papers yet. */
const papersPerBatch = 8;

/** Number of records that fit into a batch. With criteria it is smaller, because abstracts are shown in full. */
const recordsPerBatch = (rrd: Rrd): number => (criteriaOf(rrd).length === 0 ? 14 : 5);

/** The number of records that were screened before a batch, if it is known: " (14 of 68 records screened)". */
function screenedText(rrd: Rrd): string {
  const own = unscreenedOwnRecords(rrd);
  return own === undefined ? "" : ` (${own.screened} of ${own.screened + own.records} records screened)`;
}

/** Judges titles and abstracts of records in batches. */
export const screening: UnitKind<ScreeningMaterial, DiscoveryResult> = {
  name: "discovery",
  phase: "DISCOVERY",
  part: "DISCOVERY",
  schema: "result-discovery",
  // The agent searches in two more requests.
  estimate: { input: 3 * briefInput, output: 3_000, minutes: 4 },
  activityText: () => "screens records",
  owns: ({ phase }) => phase === "DISCOVERY",
  isDone: ({ status }) => status.isDiscoveryOver,
  remainingUnits({ rrd, ledger, status: { isDiscoveryOver }, records }) {
    if (isDiscoveryOver) return 0;
    if (records !== undefined) return Math.max(1, Math.ceil(records / recordsPerBatch(rrd)));
    // In an update, the number of relevant records is unknown and does not depend on the wanted number of papers.
    if (openUpdate(rrd) !== undefined) return 1;
    const userRecords = unscreenedOwnRecords(rrd);
    const { batches: batchCount = 0 } = rrd.statistics?.discovery_metrics ?? {};
    if (userRecords !== undefined && batchCount > 0)
      return Math.max(1, Math.ceil(userRecords.records / (userRecords.screened / batchCount)));
    const batches = ledger.flatMap(({ outcome, new_papers = 0 }) =>
      outcome === "accepted" && new_papers > 0 ? [new_papers] : [],
    );
    const perBatch = batches.length === 0 ? papersPerBatch : median(batches);
    return Math.max(1, Math.ceil((targetOf(rrd) - rrd.papers_pool.length) / perBatch));
  },
  placeholders: (rrd) => ({ NEED: maxBatchSize(rrd, 0) }),
  next(project, choosing) {
    const [postponed] = choosing.delayedUnits.filter(({ unit: { kind } }) => kind === this.name);
    if (postponed !== undefined) return { until: postponed.until, reason: postponed.reason };
    const batch = (project.rrd.statistics?.discovery_metrics?.batches ?? 0) + 1;
    const title = `Discovery, batch ${batch}${screenedText(project.rrd)}`;
    const unit = { kind: this.name, id: `discovery-${batch}`, phase: this.phase, title };
    return startAlone(project, unit, choosing);
  },
  basis({ description, requirements, papers_pool, excluded, apart, seeds, blocked_sources }) {
    const ids = papers_pool.map(({ id: paper, priority, identifiers }) => [paper, priority, identifiers]);
    return [description, requirements, ids, excluded, apart, seeds, blocked_sources];
  },
  extraBasis: (state, unit) => [
    ...(candidatesFor(state, unit)?.map(({ id }) => id) ?? []),
    state.rrd.statistics?.discovery_metrics,
    countContextOverflows(state.ledger, unit.id),
  ],
  nextPart: (notes, { readers }) => (readers === undefined ? undefined : { role: nextReader(notes), round: 1 }),
  reset: async (rrd, folder) => (await import("./reset-search.js")).resetSearch(rrd, folder),
  load: async () => (await import("./work.js")).work,
};
