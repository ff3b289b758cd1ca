import type { ReportResult } from "../../generated/result-report.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { inline, table } from "./markdown.js";
import { usesBothRubrics } from "./scores.js";
import { deriveStatistics } from "./statistics.js";

/** A report is for people: longer lists end with where the rest stands. */
const mostListed = 100;

export function keyMetrics(rrd: Rrd): string {
  const statistics = deriveStatistics(rrd);
  const analysed = statistics.total_analyzed ?? 0;
  const share = (count: number | null | undefined) => `${count ?? 0} (${analysed === 0 ? 0 : Math.round(((count ?? 0) / analysed) * 100)}%)`;
  const metrics = statistics.analysis_metrics as Record<string, number | Record<string, number>>;
  const strategic = metrics["blue_ocean_distribution"] as Record<string, number> | undefined;
  const links = (rrd.insights ?? []).reduce((sum, insight) => sum + (insight.cross_refs?.length ?? 0), 0);
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
      ["Insights", statistics.total_insights],
      ["Cross-References Identified", links],
      ...(usesBothRubrics(rrd)
        ? [
            ["Blue Ocean Papers (score >= 12/20)", share((strategic?.["12-15"] ?? 0) + (strategic?.["16-20"] ?? 0))],
            ["Avg Execution Score", `${metrics["avg_execution_score"]}/30`],
            ["Avg Blue Ocean Score", `${metrics["avg_blue_ocean_score"]}/20`],
          ]
        : [["Avg Score", `${metrics["avg_score"]}/30`]]),
      ["Quotes found in the papers", `${withStatus("verified")} of ${checked.length}`],
      ["Quotes not in the text (left out below)", withStatus("not-in-text")],
      ["Quotes that could not be checked", withStatus("could-not-check")],
    ],
    "None.",
  );
}

/** What a reader should know of papers whatever their decision: retracted, read from the abstract alone, orders to AI readers. */
export function warningsOf(rrd: Rrd): string {
  const rows = rrd.papers_pool.flatMap((paper) => (paper.warnings ?? []).map((warning) => [`${paper.title} (${paper.id})`, warning]));
  const rest = rows.length - mostListed;
  return [table(["Paper", "Warning"], rows.slice(0, mostListed), "None."), ...(rest > 0 ? [`_${rest} more: see rrd.json._`] : [])].join("\n\n");
}

/** Every claim of a presented paper with the words it rests on. Quotes that were not found are left out. */
export function evidenceOf(rrd: Rrd): string {
  const shown = rrd.papers_pool.filter((paper) => paper.status === "presented").toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0));
  if (shown.length === 0) return "_No paper is presented._";
  const rest = shown.length - mostListed;
  return [...shown.slice(0, mostListed).map(evidenceOfPaper), ...(rest > 0 ? [`_${rest} more papers: see rrd.json._`] : [])].join("\n\n");
}

function evidenceOfPaper(paper: Paper): string {
  const usable = (paper.analysis?.evidence ?? []).filter((evidence) => evidence.status !== "not-in-text");
  const lines = usable.map((evidence) => {
    const mark = evidence.status === "verified" ? "✓" : "? could not be checked";
    return `- ${inline(evidence.claim)}\n  > “${inline(evidence.quote)}” ${evidence.locator ? `(${inline(evidence.locator)}) ` : ""}${mark}`;
  });
  const source = paper.url?.startsWith("http") ? `<${paper.url.replace(/[<>\s]/g, "")}>` : inline(paper.url ?? "");
  return [`### ${inline(paper.title)}`, `${inline(paper.id)} ${source}`.trim(), lines.join("\n") || "_No evidence was recorded._"].join("\n\n");
}

/** The agent's themes with the insights it put there; insights it did not place follow by their first tag. */
export function insightsByCategory(rrd: Rrd, { categories }: ReportResult): string {
  const insights = rrd.insights ?? [];
  if (insights.length === 0) return "_No insights were extracted._";
  const retracted = new Set(rrd.papers_pool.filter((paper) => paper.retracted === true).map(({ id }) => id));
  const byId = new Map(insights.map((insight) => [insight.id, insight]));
  const placed = new Set<string>();
  const groups = categories.map((category) => ({
    name: category.name,
    members: category.insight_ids.filter((id) => !placed.has(id) && placed.add(id)).map((id) => byId.get(id)),
  }));
  const others = insights.filter((insight) => !placed.has(insight.id ?? ""));
  if (others.length > 0) groups.push({ name: "More insights", members: others });
  return groups
    .filter(({ members }) => members.length > 0)
    .map(({ name, members }) => {
      const lines = members
        .slice(0, mostListed)
        .map(
          (insight, index) =>
            `${index + 1}. ${inline(insight?.insight)} (${inline(insight?.id)}, source: ${inline(insight?.paper_id ?? "several")}${retracted.has(insight?.paper_id ?? "") ? ", RETRACTED" : ""})`,
        );
      const rest = members.length - mostListed;
      return [
        `### ${inline(name)} (${members.length} ${members.length === 1 ? "insight" : "insights"})`,
        [...lines, ...(rest > 0 ? [`_${rest} more: see rrd.json._`] : [])].join("\n"),
      ].join("\n\n");
    })
    .join("\n\n");
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
    [...projects].slice(0, mostListed).map(([address, ids]) => [address, ids.join(", ")]),
    "None was found.",
  );
}
