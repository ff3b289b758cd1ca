import type { ReportResult } from "../../generated/result-report.js";
import type { UnitWork } from "../unit-kind.js";
import { reportBrief } from "./brief.js";
import { acceptSameReport } from "./close-update.js";
import { acceptReport } from "./judge-report.js";
import { loadStoredReport, prepareReport, type ReportMaterial } from "./prepare.js";

export const work: UnitWork<ReportMaterial, ReportResult> = {
  prepare: prepareReport,
  loadStored: loadStoredReport,
  needsNoAgent: (_project, _unit, { sameReport }) => sameReport !== undefined,
  completeByCode(rrd, { id }, { sameReport, checks }, judging) {
    if (sameReport === undefined) throw new Error(`${id} was settled although it has to be written`);
    return acceptSameReport(rrd, sameReport, judging, checks);
  },
  brief: reportBrief,
  judge: ({ rrd }, _unit, result, { checks, formerReport }, judging) =>
    acceptReport(rrd, result, judging, checks, formerReport),
};
