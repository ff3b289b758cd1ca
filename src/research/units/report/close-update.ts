import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { reportDataName } from "../../project-files/layout.js";
import type { Change } from "../../project-files/research.js";
import type { ReportFile } from "../../generated/report.js";
import type { Rrd } from "../../generated/rrd.js";
import { openUpdate, withLastUpdate } from "../../derived/open-update.js";
import { many } from "../../../engine/lib/words.js";
import { flat } from "../../project-files/markdown.js";
import { type Acceptance, dayOf, type JudgingContext } from "../judged-result.js";
import { parseHandle } from "../narrative/handles.js";
import { type RetractionCheck, retractionLines, withChecks } from "../retractions.js";

/** Papers that an update brought and that were read since it was opened. */
const newPapers = (rrd: Rrd): string[] => {
  const update = openUpdate(rrd);
  const changed = new Set((update?.changed ?? []).map(({ id }) => id));
  const isSince = (iteration: number | undefined) => (iteration ?? 0) > (update?.iteration ?? 0);
  return rrd.papers_pool.flatMap(({ id, iteration }) => (isSince(iteration) && !changed.has(id) ? [id] : []));
};

/** The state with the open update closed by its report, and the change that does it; unchanged where none is open. */
export function closedBy(
  rrd: Rrd,
  report: "written" | "rendered",
  at: Date,
): { readonly rrd: Rrd; readonly changes: readonly Change[] } {
  if (openUpdate(rrd) === undefined) return { rrd, changes: [] };
  const updates = withLastUpdate(rrd, { closed_at: at.toISOString(), report, new: newPapers(rrd) });
  return { rrd: { ...rrd, updates }, changes: [{ in: "rrd", set: { updates }, was: { updates: rrd.updates } }] };
}

/**
 * Whether the report has to be written anew in an update: a paper that came or was read again stands, so its findings
 * may have other ground; or a quote that it rests on is of a paper that was retracted.
 */
export function needsWriting(rrd: Rrd, narrative: ReportFile | undefined): boolean {
  const update = openUpdate(rrd);
  if (update === undefined || narrative === undefined || narrative.taken_from !== undefined) return true;
  const came = new Set(newPapers(rrd));
  if (rrd.papers_pool.some(({ id, status }) => came.has(id) && status !== "rejected")) return true;
  if ((update.changed ?? []).some(({ read_again }) => read_again)) return true;
  const gone = new Set(rrd.papers_pool.filter(({ retracted }) => retracted === true).map(({ id }) => id));
  const carrying = Object.keys(narrative.quotes ?? {}).map((handle) => parseHandle(handle)?.paper ?? "");
  return carrying.some((id) => gone.has(id));
}

/** The report of an update in which no finding lost or won ground: the same narrative, made again without an agent. */
export function acceptSameReport(
  before: Rrd,
  narrative: ReportFile,
  { iteration, at }: JudgingContext,
  retraction?: RetractionCheck,
): Acceptance {
  const { rrd: checked, changes, retracted } = withChecks(before, retraction);
  const closed = closedBy(checked, "rendered", at);
  const same = { ...narrative, format: stateVersion, iteration };
  const came = closed.rrd.updates?.at(-1)?.new?.length ?? 0;
  return {
    changes: [...changes, ...closed.changes],
    files: [{ name: reportDataName, text: `${JSON.stringify(same, null, 2)}\n` }],
    toRender: { rrd: closed.rrd, narrative: same },
    progress: [
      `## ${dayOf(at)} - Report`,
      "",
      "No finding won or lost a paper, so the report was rendered again without an agent.",
      "",
      ...retractionLines(closed.rrd, retracted).map(flat),
    ].join("\n"),
    summary: `report rendered again, ${many(came, "new paper")}, every finding as it was`,
  };
}
