import type { Rrd } from "../../generated/rrd.js";
import { insightsApart } from "./report-evidence.js";
import { isDecided, targetOf } from "../decisions/status.js";

/** One dimension of the report's quality assessment, 0 to 100, with the sentence that says how it was computed. */
interface QualityRow {
  readonly dimension: string;
  readonly score: number;
  readonly how: string;
}

/** How good this project is, measured on its records. A model's opinion of itself is not asked. */
export function assess(rrd: Rrd): { rows: readonly QualityRow[]; overall: number } {
  const papers = rrd.papers_pool.filter(isDecided);
  const evidence = papers.flatMap((paper) => paper.analysis?.evidence ?? []);
  const insights = insightsApart(rrd).valid;
  const start = Date.parse(rrd.timing?.research_started_at ?? "") || Date.now();
  const dated = papers.filter((paper) => !Number.isNaN(Date.parse(paper.date ?? "")));
  const window = (rrd.requirements.time_window_days ?? 365) * 86_400_000;
  const rows = [
    row("Coverage", rrd.papers_pool.length, targetOf(rrd), "papers found of papers wanted"),
    row("Depth", papers.filter((paper) => paper.read_depth === "full").length, papers.length, "papers read in full"),
    row(
      "Accuracy",
      evidence.filter((one) => one.status === "verified").length,
      evidence.length,
      "quotes found in the text, of all quotes",
    ),
    row(
      "Insight Quality",
      insights.filter((one) => (one.cross_refs?.length ?? 0) > 0 || (one.tags?.length ?? 0) > 0).length,
      insights.length,
      "insights with a tag or a cross-reference, without those of retracted papers",
    ),
    row(
      "Commercial Awareness",
      papers.filter((paper) => paper.analysis?.commercialized != null).length,
      papers.length,
      "papers whose commercial use was looked up",
    ),
    row(
      "Timeliness",
      dated.filter((paper) => start - Date.parse(paper.date ?? "") <= window).length,
      papers.length,
      "papers inside the time window",
    ),
  ];
  return { rows, overall: Math.round(rows.reduce((sum, one) => sum + one.score, 0) / rows.length) };
}

const row = (dimension: string, part: number, whole: number, what: string): QualityRow => ({
  dimension,
  score: whole === 0 ? 0 : Math.min(100, Math.round((part / whole) * 100)),
  how: `${part} of ${whole}: ${what}`,
});
