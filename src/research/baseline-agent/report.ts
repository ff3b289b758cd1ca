import type { ReportResult } from "../generated/result-report.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { JudgedInsight, JudgedPaper, ReportUnit } from "./brief.js";
import { groupByTag } from "./tags.js";
import { splitSentences } from "./text.js";
import { clip, titleCase } from "./words.js";

/**
 * The narrative of the report, put together from the records: every sentence is a record's own or says where it comes from,
 * and no number stands in it that is not in the unit. Throws ExpectedError where there is no paper to report on.
 */
export function writeReport(unit: ReportUnit): ReportResult {
  const byScore = unit.papers.toSorted((a, b) => b.score - a.score);
  const presented = byScore.filter((paper) => paper.decision === "PRESENT");
  const mined = byScore.filter((paper) => paper.decision === "EXTRACT_INSIGHTS");
  const shown = (presented.length > 0 ? presented : byScore).slice(0, 6);
  if (shown.length === 0) throw new ExpectedError("The brief names no paper, so there is nothing to report.");
  return {
    unit: unit.unit,
    executive_summary: clip(
      [
        counted(unit.statistics),
        ...shown.slice(0, 3).map((paper) => `${paper.title}: ${firstOf(paper.summary)}`),
        ABOUT,
      ].join(" "),
      4000,
    ),
    key_findings: shown.map(finding),
    categories: categoriesOf(unit.insights),
    strengths: [
      "Every finding is a sentence of the record of the paper it names.",
      "The same records give the same report: nothing in it was made up by a model.",
    ],
    improvements: [
      "No model judged the papers: read a paper before acting on its score.",
      "Implementations are those named in the texts; nobody looked for others, or for commercial use.",
    ],
    recommendations: recommend(presented, mined, unit.insights),
    conclusion: conclude(presented, mined),
  };
}

const finding = ({ id, title, results, summary }: JudgedPaper): ReportResult["key_findings"][number] => ({
  text: clip(`${title}: ${firstOf(results) || firstOf(summary)}`, 800),
  paper_ids: [id],
});

const ABOUT =
  "This narrative was put together by the baseline agent: extractive, no model; scores are keyword counts, not judgement.";

function counted(statistics: ReportUnit["statistics"]): string {
  const named = {
    total_discovered: "papers found",
    total_presented: "presented",
    total_insights_extracted: "kept for their insights",
    total_rejected: "rejected",
  };
  const parts = Object.entries(named).flatMap(([key, words]) =>
    typeof statistics[key] === "number" ? [`${statistics[key]} ${words}`] : [],
  );
  return parts.length > 0 ? `The records show: ${parts.join(", ")}.` : "";
}

/** Each insight under the tag it shares with most others; what shares none goes under one name. At most fifteen categories. */
function categoriesOf(insights: readonly JudgedInsight[]): ReportResult["categories"] {
  const groups = groupByTag(insights);
  const kept = [...groups].filter(([, members]) => members.length > 1).slice(0, 14);
  const placed = new Set(kept.flatMap(([, members]) => members));
  const rest = insights.filter((insight) => !placed.has(insight));
  const all: (readonly [string, readonly JudgedInsight[]])[] =
    rest.length > 0 ? [...kept, ["smaller themes", rest]] : kept;
  return all.map(([name, members]) => ({
    name: clip(titleCase([name]), 120),
    insight_ids: members.slice(0, 200).map(({ id }) => id),
  }));
}

function recommend(
  presented: readonly JudgedPaper[],
  mined: readonly JudgedPaper[],
  insights: readonly JudgedInsight[],
): ReportResult["recommendations"] {
  const read = presented
    .slice(0, 3)
    .map(({ id, title }) => ({
      priority: "high" as const,
      text: clip(`Read "${title}" in full and check its quotes.`, 600),
      paper_ids: [id],
    }));
  const check = mined.slice(0, 3).flatMap(({ id, title }) => {
    const insight = insights.find(({ paperId }) => paperId === id);
    return insight === undefined
      ? []
      : [
          {
            priority: "medium" as const,
            text: clip(`Check what "${title}" reports: ${insight.insight}`, 600),
            paper_ids: [id],
          },
        ];
  });
  return [
    ...read,
    ...check,
    { priority: "low", text: "Run this research with a model as the agent, and compare its scores with these counts." },
  ];
}

function conclude(presented: readonly JudgedPaper[], mined: readonly JudgedPaper[]): string {
  const titles = (papers: readonly JudgedPaper[]) => papers.map(({ title }) => `"${title}"`).join(", ");
  const parts = [
    presented.length > 0
      ? `By the counts, these papers stand out: ${titles(presented)}.`
      : "By the counts, no paper stands out.",
    mined.length > 0 ? `These were kept for their insights: ${titles(mined)}.` : "",
    "Whether they hold up is for a reader to judge.",
  ];
  return clip(parts.join(" "), 4000);
}

const firstOf = (prose: string): string => splitSentences(prose.replace(/\s+/g, " ").trim())[0] ?? "";
