import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { openUpdate } from "../../derived/open-update.js";
import { decidedSinceReport } from "../../derived/since-report.js";
import type { ReportFile } from "../../generated/report.js";
import { cachedChecks } from "../../paper-lookups/kept-retraction-checks.js";
import { papersToCheck, type RetractionChecks, applyChecks } from "../retractions.js";
import {
  servicesNotice,
  type Disk,
  type StoredMaterial,
  type Material,
  type PreparationContext,
  type Project,
} from "../unit-kind.js";
import { needsWriting } from "./close-update.js";
import { readNarrative } from "../narrative/kept-narrative.js";

/** The material of a report: whether its papers may still be cited, and the former report. */
export interface ReportMaterial extends Material {
  /** The retraction checks of its papers. */
  readonly checks?: RetractionChecks;
  /** Set in an update that changed no finding: the present report. Code then renders it again. */
  readonly sameReport?: ReportFile;
  /** The present report. Sentences of the new report that are unchanged keep their verdicts. */
  readonly formerReport?: ReportFile;
}

/** Checks the papers of the report for retractions. */
export async function prepareReport(
  { folder, library }: PreparationContext,
  { rrd, ledger }: Pick<Project, "rrd" | "ledger">,
): Promise<ReportMaterial> {
  return await toMaterial(folder, { rrd, ledger }, await library.updates(papersToCheck(rrd)));
}

/** Like `prepareReport`, but uses only stored checks. */
export async function loadStoredReport(
  { folder, now }: Disk,
  { rrd, ledger }: Pick<Project, "rrd" | "ledger">,
): Promise<StoredMaterial<ReportMaterial>> {
  const { checks, isWhole } = await cachedChecks(folder, papersToCheck(rrd), now());
  return { material: await toMaterial(folder, { rrd, ledger }, checks), missingSteps: servicesNotice(isWhole) };
}

async function toMaterial(
  folder: string,
  { rrd, ledger }: Pick<Project, "rrd" | "ledger">,
  checks: RetractionChecks,
): Promise<ReportMaterial> {
  const narrative = await readNarrative(folder);
  const checked = { checks, ...withoutUndefined({ formerReport: narrative }) };
  if (openUpdate(rrd) === undefined || narrative === undefined) return checked;
  const isSame = decidedSinceReport(rrd, ledger).length === 0 && !needsWriting(applyChecks(rrd, checks).rrd, narrative);
  return isSame ? { ...checked, sameReport: narrative } : checked;
}
