import { join } from "node:path";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import type { Rrd } from "../../generated/rrd.js";
import { reportName } from "../../project-files/layout.js";
import type { KindReset } from "../unit-kind.js";

/** Resets the report: it will be written again. The present one stays until then. */
export async function resetReport(rrd: Rrd, folder: string): Promise<KindReset> {
  const statistics = await addStatedFacts(folder, rrd.statistics);
  const phase = rrd.phase === "DISCOVERY" ? rrd.phase : "ANALYSIS";
  return { rrd: { ...rrd, ...withoutUndefined({ statistics }), phase }, message: "The report will be written again" };
}

/** Adds to the statistics what the present report says about the work, if another program wrote the report. */
async function addStatedFacts(folder: string, statistics: Rrd["statistics"]): Promise<Rrd["statistics"]> {
  const report = await readRegularText(join(folder, reportName)).catch(() => "");
  const stated = { ...statistics?.stated, ...readStatedFacts(report) };
  return Object.keys(stated).length === 0 ? statistics : { ...statistics, stated };
}

/** The first lines of the original's report, such as "**Research Period:** January 14-15, 2026". */
const headLine = /^\*\*(Research Period|Agent):\*\*\s*(.{1,200})$/gm;

/**
 * The period and agent at the beginning of another program's report. In a report of this program they are computed, so
 * nothing is read from it.
 */
function readStatedFacts(report: string): { readonly research_period?: string; readonly agent?: string } {
  if (/every table, count and score by code/.test(report)) return {};
  const head = report.slice(0, 4_000);
  const fields = new Map([...head.matchAll(headLine)].map(([, name = "", text = ""]) => [name, text.trim()]));
  return withoutUndefined({ research_period: fields.get("Research Period"), agent: fields.get("Agent") });
}
