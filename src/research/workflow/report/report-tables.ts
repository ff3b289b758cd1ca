import type { Rrd } from "../../generated/rrd.js";
import { table } from "../derived/markdown.js";
import { insightsApart } from "./report-evidence.js";
import { usesBothRubrics, couldBeRead, isJudged } from "../decisions/scores-and-decision.js";
import { isDecided, targetOf } from "../decisions/status.js";
import { deriveStatistics } from "../derived/statistics.js";
import type { ReportResult } from "../../generated/result-report.js";

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

/**
 * Numbers of the narrative that stand in no record of the project. Small whole numbers up to ten are let pass: they count things
 * in prose. A reader is told of the rest; they are not called false.
 */
export function strayNumbers(rrd: Rrd, narrative: ReportResult): string[] {
  const known = new Set(numbersIn(JSON.stringify([rrd.papers_pool, rrd.insights, rrd.statistics, rrd.requirements])));
  const said = numbersIn(
    [
      narrative.executive_summary,
      narrative.conclusion,
      ...narrative.key_findings.map((finding) => finding.text),
      ...narrative.recommendations.map((one) => one.text),
      ...narrative.strengths,
      ...narrative.improvements,
      ...(narrative.companies ?? []).map((company) => company.notes),
      ...(narrative.comparison?.rows ?? []).flatMap((row) => row.cells),
    ].join("\n"),
  );
  return [...new Set(said)].filter(
    (number) => !known.has(number) && !(Number.isInteger(Number(number)) && Number(number) <= 10),
  );
}

/** Numbers without thousands separators and trailing zeros after the point. Digits inside words and ids (sample_03) are no numbers. */
function numbersIn(text: string): string[] {
  const found = text.match(/(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\d+(?:\.\d+)?/g) ?? [];
  return found.map((number) => String(Number(number.replace(/,/g, ""))));
}
