import type { ReportResult } from "../../generated/result-report.js";
import { openUpdate } from "../../derived/open-update.js";
import { decidedSinceReport } from "../../derived/since-report.js";
import { isStatedPhase, lastReadIteration } from "../../derived/status.js";
import { reportDocuments } from "../../project-files/layout.js";
import { papersToCheck } from "../retractions.js";
import { startAlone } from "../single-unit.js";
import { briefInput, type UnitKind } from "../unit-kind.js";
import type { ReportMaterial } from "./prepare.js";

/** Writes the report: an answer and findings, which cite quotes of the papers. */
export const report: UnitKind<ReportMaterial, ReportResult> = {
  name: "report",
  phase: "ANALYSIS",
  part: "REPORT",
  schema: "result-report",
  estimate: { input: briefInput, output: 3_000, minutes: 3 },
  product: "the report",
  documents: reportDocuments,
  activityText: () => "writes the report",
  timed: "once",
  owns: ({ unit }) => unit === "report",
  isDone: ({ rrd, ledger, status }) =>
    status.isAllRead &&
    openUpdate(rrd) === undefined &&
    decidedSinceReport(rrd, ledger).length === 0 &&
    ((status.acceptedIterations.get("report") ?? 0) > lastReadIteration(rrd, status) ||
      isStatedPhase(rrd, status, ["IDEATION", "COMPLETE"])),
  next(project, choosing) {
    return startAlone(project, { kind: this.name, id: "report", phase: this.phase, title: "Report" }, choosing);
  },
  basis: (rrd) => [papersToCheck(rrd).map(({ id, url, pdf_url, identifiers }) => [id, url, pdf_url, identifiers])],
  reset: async (rrd, folder) => (await import("./reset-report.js")).resetReport(rrd, folder),
  load: async () => (await import("./work.js")).work,
};
