import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { openUpdate } from "../../derived/open-update.js";
import { decidedSinceReport } from "../../derived/since-report.js";
import type { ReportFile } from "../../generated/report.js";
import { cachedChecks } from "../../paper-lookups/kept-retraction-checks.js";
import { papersToCheck, type RetractionCheck, withChecks } from "../retractions.js";
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

/** Whether what the report rests on still stands. */
export interface ReportMaterial extends Material {
  /** What became of the papers that it rests on. */
  readonly retraction?: RetractionCheck;
  /** In an update: the narrative as it stands, where no finding won or lost ground. Code then renders it again. */
  readonly sameReport?: ReportFile;
  /** The narrative as it stands: sentences that stay keep what a second reader said of them. */
  readonly before?: ReportFile;
}

/** Checks the papers that the report rests on for retractions. */
export async function prepareReport(
  { folder, library }: PreparationContext,
  { rrd, ledger }: Pick<Project, "rrd" | "ledger">,
): Promise<ReportMaterial> {
  const papers = papersToCheck(rrd);
  const retraction = papers.length === 0 ? undefined : { checks: await library.updates(papers) };
  return await materialOf(folder, { rrd, ledger }, retraction);
}

/** The same with the checks that are kept. */
export async function keptReport(
  { folder, now }: Disk,
  { rrd, ledger }: Pick<Project, "rrd" | "ledger">,
): Promise<StoredMaterial<ReportMaterial>> {
  const papers = papersToCheck(rrd);
  const { checks, isWhole } = await cachedChecks(folder, papers, now());
  return {
    material: await materialOf(folder, { rrd, ledger }, papers.length === 0 ? undefined : { checks }),
    missingSteps: servicesNotice(isWhole),
  };
}

async function materialOf(
  folder: string,
  { rrd, ledger }: Pick<Project, "rrd" | "ledger">,
  retraction: RetractionCheck | undefined,
): Promise<ReportMaterial> {
  const narrative = await readNarrative(folder);
  const checked = withoutUndefined({ retraction, before: narrative });
  if (openUpdate(rrd) === undefined || narrative === undefined) return checked;
  const isSame =
    decidedSinceReport(rrd, ledger).length === 0 && !needsWriting(withChecks(rrd, retraction).rrd, narrative);
  return isSame ? { ...checked, sameReport: narrative } : checked;
}
