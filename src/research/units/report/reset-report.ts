import { join } from "node:path";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import type { Rrd } from "../../generated/rrd.js";
import { reportName } from "../../project-files/layout.js";
import type { KindReset } from "../unit-kind.js";

/** The state in which the report is to be written again. It stays until there is a new one. */
export async function resetReport(rrd: Rrd, folder: string): Promise<KindReset> {
  const statistics = await withStated(folder, rrd.statistics);
  const phase = rrd.phase === "DISCOVERY" ? rrd.phase : "ANALYSIS";
  return { rrd: { ...rrd, ...withoutUndefined({ statistics }), phase }, message: "The report will be written again" };
}

/** The statistics with what the report that goes away states of the work, where another program wrote it. */
async function withStated(folder: string, statistics: Rrd["statistics"]): Promise<Rrd["statistics"]> {
  const report = await readRegularText(join(folder, reportName)).catch(() => "");
  const stated = { ...statistics?.stated, ...statedByReport(report) };
  return Object.keys(stated).length === 0 ? statistics : { ...statistics, stated };
}

/** How the original's report begins: "**Research Period:** January 14-15, 2026". */
const headLine = /^\*\*(Research Period|Agent):\*\*\s*(.{1,200})$/gm;

/** Period and agent that another program's report states at its head; nothing of our own report, which derives them. */
function statedByReport(report: string): { readonly research_period?: string; readonly agent?: string } {
  if (/every table, count and score by code/.test(report)) return {};
  const head = report.slice(0, 4_000);
  const said = new Map([...head.matchAll(headLine)].map(([, name = "", text = ""]) => [name, text.trim()]));
  return withoutUndefined({ research_period: said.get("Research Period"), agent: said.get("Agent") });
}
