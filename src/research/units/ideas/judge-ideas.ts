import type { ProductIdeas } from "../../generated/product-ideas.js";
import type { IdeationResult } from "../../generated/result-ideation.js";
import type { Rrd } from "../../generated/rrd.js";
import { type Acceptance, dayOf, type JudgingContext, type Rejection } from "../judged-result.js";
import { ideaRange } from "../../derived/status.js";
import { onOneLine } from "../../project-files/markdown.js";
import { patternLines } from "../../project-files/progress-log.js";
import { totalsOf } from "../../papers/rubric/rubric.js";
import { countingInsights } from "../../screening/eligibility/eligibility.js";
import { ideasName, progressName, reportName, rrdName } from "../../project-files/layout.js";
import { schemaAddress } from "../../../engine/storage/schema-check.js";

/** The weights that product-ideas.json states, taken from the original. */
const selectionRubric = {
  goal: "Pick 1 idea for PRD",
  weights: { market_pull: 0.3, time_to_mvp: 0.2, defensibility: 0.2, adoption_friction: 0.15, strategic_clarity: 0.15 },
};

/** The weighted points of an idea, 0 to 5. The dimensions of the two rubrics are matched to the original's names. */
function weightedScore({ execution, blue_ocean }: IdeationResult["ideas"][number]["scores"]): number {
  const { weights } = selectionRubric;
  const sum =
    weights.market_pull * execution.value_market +
    weights.time_to_mvp * execution.time_to_poc +
    weights.defensibility * execution.defensibility +
    weights.adoption_friction * execution.adoption +
    weights.strategic_clarity * blue_ocean.strategic_clarity;
  return Math.round(sum * 100) / 100;
}

/** Checks that every idea is based on existing papers and insights. Computes ids, totals and the order. */
export function acceptIdeas(rrd: Rrd, result: IdeationResult, judging: JudgingContext): Acceptance | Rejection {
  const { min, max } = ideaRange(rrd);
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const insights = new Set(countingInsights(rrd).map((insight) => insight.id));
  const recommended = result.ideas.filter((idea) => idea.recommended_for_prd).length;
  const reasons = [
    ...(result.unit === "ideas" ? [] : [`unit is "${result.unit}"; this unit is "ideas"`]),
    ...(result.ideas.length < min || result.ideas.length > max
      ? [`${result.ideas.length} ideas; ${min} to ${max} are asked for`]
      : []),
    ...(recommended < 1 || recommended > 3
      ? [`${recommended} ideas are recommended_for_prd; one to three must be`]
      : []),
    ...result.ideas.flatMap(({ evidence: { paper_ids, insight_ids } }, index) => {
      const rests = `/ideas/${index} rests on`;
      return [
        ...paper_ids.flatMap((id) => {
          const paper = papers.get(id);
          if (paper === undefined) return `${rests} the paper ${id}, which is not in this project`;
          return paper.retracted === true ? `${rests} the paper ${id}, which was retracted` : [];
        }),
        ...(insights.size > 0 && insight_ids.length === 0 ? [`${rests} no insight`] : []),
        ...insight_ids
          .filter((id) => !insights.has(id))
          .map((id) => `${rests} the insight ${id}, which does not exist`),
      ];
    }),
  ];
  if (reasons.length > 0) return { reasons };

  const bothRubrics = { ...rrd, rubric: "original" as const, mission: { ...rrd.mission, blue_ocean_scoring: true } };
  const ideas = result.ideas
    .map((idea) => {
      const { execution, blue_ocean, confidence } = idea.scores;
      const totals = totalsOf(bothRubrics, { execution: { ...execution }, strategic: { ...blue_ocean } });
      const scores = {
        execution_0_30: totals.execution,
        blue_ocean_0_20: totals.strategic ?? 0,
        combined_0_50: totals.combined,
        weighted_0_5: weightedScore(idea.scores),
        confidence_0_1: confidence,
        execution,
        blue_ocean,
      };
      return { ...idea, scores };
    })
    .sort(
      (a, b) =>
        Number(b.recommended_for_prd) - Number(a.recommended_for_prd) ||
        b.scores.combined_0_50 - a.scores.combined_0_50,
    )
    .map((idea, index) => ({ id: `idea_${String(index + 1).padStart(3, "0")}`, ...idea }));
  const file: ProductIdeas = {
    $schema: schemaAddress("product-ideas"),
    schema_version: "1.0",
    project: rrd.project,
    generated_at: judging.at.toISOString(),
    source_artifacts: { rrd_json: rrdName, research_report_md: reportName, progress_log: progressName },
    selection_rubric: selectionRubric,
    ideas,
  };
  const ideation_metrics = {
    ...rrd.statistics?.ideation_metrics,
    product_ideas_generated: ideas.length,
    top_idea_id: ideas[0]?.id ?? null,
  };
  const countDistinct = (ids: (idea: (typeof ideas)[number]) => readonly string[]) =>
    new Set(ideas.flatMap((idea) => [...ids(idea)])).size;
  return {
    changes: [
      { in: "rrd", set: { statistics: { ...rrd.statistics, ideation_metrics } }, was: { statistics: rrd.statistics } },
    ],
    files: [{ name: ideasName, text: `${JSON.stringify(file, null, 2)}\n` }],
    toRender: { rrd: { ...rrd, statistics: { ...rrd.statistics, ideation_metrics } }, ideas: file },
    progress: [
      `## ${dayOf(judging.at)} - Product Ideation`,
      "",
      "Generated: product-ideas.json",
      `Ideas: ${ideas.length}`,
      "",
      `**Top ${Math.min(3, ideas.length)} Ideas:**`,
      ...ideas
        .slice(0, 3)
        .map(({ id, name, scores: { combined_0_50: combined, confidence_0_1: confidence } }, index) => {
          return `${index + 1}. ${id} - ${onOneLine(name)} (Combined: ${combined}/50, Confidence: ${confidence})`;
        }),
      "",
      "**Evidence Summary:**",
      `- Papers referenced: ${countDistinct((idea) => idea.evidence.paper_ids)}`,
      `- Insights referenced: ${countDistinct((idea) => idea.evidence.insight_ids)}`,
      "",
      ...patternLines("ideas", result.patterns),
    ].join("\n"),
    summary: `${ideas.length} ideas, ${recommended} recommended`,
  };
}
