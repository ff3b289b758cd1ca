import type { ReportResult } from "../../generated/result-report.js";
import type { Rrd } from "../../generated/rrd.js";
import type { Acceptable, Judging, Unacceptable } from "../result/accepted-result.js";
import { dayOf } from "../result/accepted-result.js";
import { bibliography } from "../../export/bibtex.js";
import type { ReportFacts } from "./report.js";
import { renderReport } from "./report.js";
import { flat } from "../derived/markdown.js";
import { patternLines } from "../derived/lessons.js";
import { type RetractionCheck, retractionLines, withChecks } from "./warn-of-retractions.js";
import { bibliographyName, reportName } from "../../folder/layout.js";

/** Checks that the narrative names only papers and insights that exist, then renders the report around it. */
export function acceptReport(
  before: Rrd,
  result: ReportResult,
  facts: ReportFacts,
  judging: Judging,
  retraction?: RetractionCheck,
): Acceptable | Unacceptable {
  const { rrd, changes, retracted } =
    retraction === undefined ? { rrd: before, changes: [], retracted: [] } : withChecks(before, retraction);
  const papers = new Set(rrd.papers_pool.map((paper) => paper.id));
  const insights = new Set((rrd.insights ?? []).map((insight) => insight.id));
  const unknownPapers = (where: string, ids: readonly string[] | undefined) =>
    (ids ?? [])
      .filter((id) => !papers.has(id))
      .map((id) => `${where} names the paper ${id}, which is not in this project`);
  const { comparison } = result;
  const reasons = [
    ...(result.unit === "report" ? [] : [`unit is "${result.unit}"; this unit is "report"`]),
    ...result.key_findings.flatMap((finding, index) => unknownPapers(`/key_findings/${index}`, finding.paper_ids)),
    ...result.recommendations.flatMap((one, index) => unknownPapers(`/recommendations/${index}`, one.paper_ids)),
    ...(result.companies ?? []).flatMap((one, index) => unknownPapers(`/companies/${index}`, one.paper_ids)),
    ...result.categories.flatMap((category, index) =>
      category.insight_ids
        .filter((id) => !insights.has(id))
        .map((id) => `/categories/${index} names the insight ${id}, which does not exist`),
    ),
    ...(comparison?.rows ?? []).flatMap((row, index) =>
      row.cells.length === comparison?.approaches.length
        ? []
        : [`/comparison/rows/${index} has ${row.cells.length} cells for ${comparison?.approaches.length} approaches`],
    ),
  ];
  if (reasons.length > 0) return { reasons };
  return {
    changes,
    files: [
      { name: reportName, text: renderReport(rrd, result, facts, judging) },
      { name: bibliographyName, text: bibliography(rrd) },
    ],
    progress: [
      `## ${dayOf(judging.at)} - Report`,
      "",
      "Generated: research-report.md, references.bib",
      "",
      ...retractionLines(rrd, retracted).map(flat),
      ...patternLines("report", result.patterns),
    ].join("\n"),
    summary: `report written, ${result.key_findings.length} findings${retracted.length === 0 ? "" : `, ${retracted.length} ${retracted.length === 1 ? "paper" : "papers"} found retracted`}`,
    ...(retracted.length === 0 ? {} : { ledger: { retracted: [...retracted] } }),
  };
}
