import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { reportDataName } from "../../project-files/layout.js";
import type { Change } from "../../project-files/research.js";
import type { ReportFile } from "../../generated/report.js";
import type { Rrd } from "../../generated/rrd.js";
import { openUpdate, withLastUpdate } from "../../derived/open-update.js";
import { quantity } from "../../../engine/lib/words.js";
import { onOneLine } from "../../project-files/markdown.js";
import { type Acceptance, dayOf, type JudgingContext } from "../judged-result.js";
import { parseHandle } from "../narrative/handles.js";
import { type RetractionChecks, retractionLines, applyChecks } from "../retractions.js";

/** The papers that the open update found and that were read since it was opened. */
const newPaperIds = (rrd: Rrd): string[] => {
  const update = openUpdate(rrd);
  const changed = new Set((update?.changed ?? []).map(({ id }) => id));
  const isAfterUpdate = (iteration: number | undefined) => (iteration ?? 0) > (update?.iteration ?? 0);
  return rrd.papers_pool.flatMap(({ id, iteration }) => (isAfterUpdate(iteration) && !changed.has(id) ? [id] : []));
};

/**
 * The state in which the open update is closed with its report, and the change for it; unchanged if no update is open.
 */
export function closeUpdate(
  rrd: Rrd,
  report: "written" | "rendered",
  at: Date,
): { readonly rrd: Rrd; readonly changes: readonly Change[] } {
  if (openUpdate(rrd) === undefined) return { rrd, changes: [] };
  const updates = withLastUpdate(rrd, { closed_at: at.toISOString(), report, new: newPaperIds(rrd) });
  return { rrd: { ...rrd, updates }, changes: [{ in: "rrd", set: { updates }, was: { updates: rrd.updates } }] };
}

/**
 * Whether the report of an update must be written by an agent: a new or changed paper was not rejected, so findings may
 * have other evidence; or the report cites a paper that was retracted.
 */
export function needsWriting(rrd: Rrd, narrative: ReportFile | undefined): boolean {
  const update = openUpdate(rrd);
  if (update === undefined || narrative === undefined || narrative.taken_from !== undefined) return true;
  const newIds = new Set(newPaperIds(rrd));
  if (rrd.papers_pool.some(({ id, status }) => newIds.has(id) && status !== "rejected")) return true;
  if ((update.changed ?? []).some(({ read_again }) => read_again)) return true;
  const retractedIds = new Set(rrd.papers_pool.filter(({ retracted }) => retracted === true).map(({ id }) => id));
  const citedIds = Object.keys(narrative.quotes ?? {}).map((handle) => parseHandle(handle)?.paper ?? "");
  return citedIds.some((id) => retractedIds.has(id));
}

/** Accepts the report of an update that changed no finding: the text stays, and code makes the tables again. */
export function acceptSameReport(
  before: Rrd,
  narrative: ReportFile,
  { iteration, at }: JudgingContext,
  checks?: RetractionChecks,
): Acceptance {
  const { rrd: checked, changes, retracted } = applyChecks(before, checks);
  const closed = closeUpdate(checked, "rendered", at);
  const sameReport = { ...narrative, format: stateVersion, iteration };
  const newPaperCount = closed.rrd.updates?.at(-1)?.new?.length ?? 0;
  return {
    changes: [...changes, ...closed.changes],
    files: [{ name: reportDataName, text: `${JSON.stringify(sameReport, null, 2)}\n` }],
    toRender: { rrd: closed.rrd, narrative: sameReport },
    progress: [
      `## ${dayOf(at)} - Report`,
      "",
      "No finding won or lost a paper, so the report was rendered again without an agent.",
      "",
      ...retractionLines(closed.rrd, retracted).map(onOneLine),
    ].join("\n"),
    summary: `report rendered again, ${quantity(newPaperCount, "new paper")}, all findings unchanged`,
  };
}
