import type { Rrd } from "../../generated/rrd.js";
import { table } from "../derived/markdown.js";
import { insightsApart } from "./report-evidence.js";
import { usesBothRubrics, couldBeRead, isJudged } from "../decisions/scores-and-decision.js";
import { isDecided } from "../decisions/status.js";
import { deriveStatistics } from "../derived/statistics.js";

/** A report is for people: longer lists end with where the rest stands. */
const maxListed = 100;

export function keyMetrics(rrd: Rrd): string {
  const statistics = deriveStatistics(rrd);
  const analysed = statistics.total_analyzed ?? 0;
  const share = (count: number | null | undefined) =>
    `${count ?? 0} (${analysed === 0 ? 0 : Math.round(((count ?? 0) / analysed) * 100)}%)`;
  const metrics = statistics.analysis_metrics as Record<string, number | Record<string, number>>;
  const strategic = metrics["blue_ocean_distribution"] as Record<string, number> | undefined;
  const insights = insightsApart(rrd);
  const links = insights.valid.reduce((sum, insight) => sum + (insight.cross_refs?.length ?? 0), 0);
  const judged = rrd.papers_pool.filter(isJudged).length;
  const unreadable = rrd.papers_pool.filter((paper) => isDecided(paper) && !couldBeRead(paper)).length;
  const checked = rrd.papers_pool.flatMap((paper) => paper.analysis?.evidence ?? []);
  const withStatus = (status: string) => checked.filter((evidence) => evidence.status === status).length;
  return table(
    ["Metric", "Value"],
    [
      ["Papers Discovered", statistics.total_discovered],
      ["Candidates Screened Out", rrd.excluded?.length ?? 0],
      ["Papers Analysed", analysed],
      ["Papers Presented", share(statistics.total_presented)],
      ["Papers with Insights Extracted", share(statistics.total_insights_extracted)],
      ["Papers Rejected", share(statistics.total_rejected)],
      ...(statistics.total_retracted === 0 ? [] : [["Papers Retracted", statistics.total_retracted]]),
      ...(unreadable === 0 ? [] : [["Papers That Could Not Be Read", unreadable]]),
      ["Insights", insights.valid.length],
      ...(insights.retracted.length === 0
        ? []
        : [["Insights of Retracted Papers (not counted)", insights.retracted.length]]),
      ["Cross-References Identified", links],
      ...(judged === analysed ? [] : [["Papers in the averages (without retracted and unreadable ones)", judged]]),
      ...(usesBothRubrics(rrd)
        ? [
            ["Blue Ocean Papers (score >= 12/20)", share((strategic?.["12-15"] ?? 0) + (strategic?.["16-20"] ?? 0))],
            ["Avg Execution Score", `${metrics["avg_execution_score"]}/30`],
            ["Avg Blue Ocean Score", `${metrics["avg_blue_ocean_score"]}/20`],
          ]
        : [["Avg Score", `${metrics["avg_score"]}/30`]]),
      ["Quotes found in the papers", `${withStatus("verified")} of ${checked.length}`],
      ...(withStatus("near") === 0
        ? []
        : [["Quotes near the text (a number's unit or rounding differs)", withStatus("near")]]),
      ["Quotes not in the text (left out of this report)", withStatus("not-in-text")],
      ["Quotes that could not be checked", withStatus("could-not-check")],
    ],
    "None.",
  );
}

/** What a reader should know of papers whatever their decision: retracted, read from the abstract alone, orders to AI readers. */
export function warningsOf(rrd: Rrd): string {
  const rows = rrd.papers_pool.flatMap((paper) =>
    (paper.warnings ?? []).map((warning) => [`${paper.title} (${paper.id})`, warning]),
  );
  const rest = rows.length - maxListed;
  return [
    table(["Paper", "Warning"], rows.slice(0, maxListed), "None."),
    ...(rest > 0 ? [`_${rest} more: see rrd.json._`] : []),
  ].join("\n\n");
}

export function openSourceProjects(rrd: Rrd): string {
  const projects = new Map<string, string[]>();
  for (const paper of rrd.papers_pool) {
    const found = paper.analysis?.implementations_found;
    for (const entry of Array.isArray(found) ? found : []) {
      const address = typeof entry === "string" ? entry : JSON.stringify(entry);
      projects.set(address, [...(projects.get(address) ?? []), paper.id]);
    }
  }
  return table(
    ["Project", "Papers"],
    [...projects].slice(0, maxListed).map(([address, ids]) => [address, ids.join(", ")]),
    "None was found.",
  );
}
