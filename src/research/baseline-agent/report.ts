import type { ReportResult } from "../generated/result-report.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { type BriefUnit, type JudgedPaper, proseOf } from "./brief.js";
import { clip, splitSentences, titleCase, groupByTag } from "./text.js";

const firstOf = (prose: unknown): string => splitSentences(proseOf(prose).replace(/\s+/g, " ").trim())[0] ?? "";

const counts = {
  total_discovered: "papers found",
  total_presented: "presented",
  total_insights_extracted: "kept for their insights",
  total_rejected: "rejected",
};

/**
 * The narrative of the report, put together from the records: every sentence is a record's own or says where it comes
 * from, and no number stands in it that is not in the unit. Throws ExpectedError where there is no paper to report on.
 */
export function writeReport({ unit, statistics = {}, papers = [], insights = [] }: BriefUnit): ReportResult {
  const points = ({ score }: JudgedPaper) => Number.parseFloat(String(score)) || 0;
  const ranked = papers.toSorted((a, b) => points(b) - points(a));
  const decided = (decision: string) => ranked.filter((paper) => paper.decision === decision);
  const [presented, mined] = [decided("PRESENT"), decided("EXTRACT_INSIGHTS")];
  const shown = (presented.length > 0 ? presented : ranked).slice(0, 6);
  if (shown.length === 0) throw new ExpectedError("The brief names no paper, so there is nothing to report.");
  const titles = (some: readonly JudgedPaper[]) => some.map(({ title }) => `"${title}"`).join(", ");
  const counted = Object.entries(counts).flatMap(([key, words]) =>
    typeof statistics[key] === "number" ? [`${statistics[key]} ${words}`] : [],
  );
  const summary = [
    ...(counted.length > 0 ? [`The records show: ${counted.join(", ")}.`] : []),
    ...shown.slice(0, 3).map((paper) => `${paper.title}: ${firstOf(paper.summary)}`),
    "This narrative was put together by the baseline agent: extractive, no model; scores are keyword counts, not judgement.",
  ];
  const conclusion = [
    presented.length > 0
      ? `By the counts, these papers stand out: ${titles(presented)}.`
      : "By the counts, no paper stands out.",
    ...(mined.length > 0 ? [`These were kept for their insights: ${titles(mined)}.`] : []),
    "Whether they hold up is for a reader to judge.",
  ];
  const groups = [...groupByTag(insights)].filter(([, members]) => members.length > 1).slice(0, 14);
  const rest = insights.filter((insight) => !groups.some(([, members]) => members.includes(insight)));
  return {
    unit,
    executive_summary: clip(summary.join(" "), 4000),
    key_findings: shown.map(({ id, title, results, summary: about }) => ({
      text: clip(`${title}: ${firstOf(results) || firstOf(about)}`, 800),
      paper_ids: [id],
    })),
    // Each insight under the tag it shares with most others; what shares none goes under one name.
    categories: [...groups, ...(rest.length > 0 ? [["smaller themes", rest] as const] : [])].map(([name, members]) => ({
      name: clip(titleCase([name]), 120),
      insight_ids: members.slice(0, 200).map(({ id }) => id),
    })),
    strengths: [
      "Every finding is a sentence of the record of the paper it names.",
      "The same records give the same report: nothing in it was made up by a model.",
    ],
    improvements: [
      "No model judged the papers: read a paper before acting on its score.",
      "Implementations are those named in the texts; nobody looked for others, or for commercial use.",
    ],
    recommendations: [
      ...presented
        .slice(0, 3)
        .map(({ id, title }) => ({
          priority: "high" as const,
          text: clip(`Read "${title}" in full and check its quotes.`, 600),
          paper_ids: [id],
        })),
      ...mined.slice(0, 3).flatMap(({ id, title }) => {
        const found = insights.find(({ paper_id }) => paper_id === id);
        const text = clip(`Check what "${title}" reports: ${found?.insight}`, 600);
        return found === undefined ? [] : [{ priority: "medium" as const, text, paper_ids: [id] }];
      }),
      {
        priority: "low",
        text: "Run this research with a model as the agent, and compare its scores with these counts.",
      },
    ],
    conclusion: clip(conclusion.join(" "), 4000),
  };
}
