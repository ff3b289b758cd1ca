import { clip, estimateTokens } from "../../../engine/lib/tokens.js";
import { ideaRange } from "../../derived/status.js";
import type { Rrd } from "../../generated/rrd.js";
import { fullScore } from "../../papers/rubric/rubric.js";
import { joinTexts } from "../../project-files/markdown.js";
import { countingInsights, isIneligible } from "../../screening/eligibility/eligibility.js";
import { clipped, takeFitting } from "../brief-text.js";
import type { BriefRequest, Material, ResearchState, UnitBrief, UnitData } from "../unit-kind.js";

const maxRecordTokens = 3_000;

/** The brief with the papers and insights on which ideas may be based. */
export const ideasBrief = ({ state, recordOverflows }: BriefRequest<Material>): UnitBrief<Material> => ({
  data: ideasData(state, recordOverflows),
});

export function ideasData({ rrd }: Pick<ResearchState, "rrd">, contextOverflows: number): UnitData {
  const ideation = rrd.handoff?.product_ideation;
  const { min, max } = ideaRange(rrd);
  return {
    kind: "ideas",
    unit: "ideas",
    min_ideas: min,
    max_ideas: max,
    goal: clip(ideation?.ranking_goal ?? "", 30),
    constraints: clipValue(ideation?.assumed_constraints ?? {}, 250),
    ...rankedRecords(rrd, maxRecordTokens / 2 ** contextOverflows),
  };
}

/** The best papers and their insights, as many as fit, and the number of those that do not fit. */
function rankedRecords(rrd: Rrd, maxTokens: number): Record<string, unknown> {
  const statusOrder = {
    presented: 0,
    insights_extracted: 1,
    waiting: 2,
    rejected: 2,
    not_retrieved: 3,
    pending: 3,
    analyzing: 3,
  };
  const ranked = rrd.papers_pool.toSorted(
    (a, b) => statusOrder[a.status] - statusOrder[b.status] || (b.score ?? 0) - (a.score ?? 0),
  );
  const rank = new Map(ranked.map((paper, index) => [paper.id, index]));
  const papers = takeFitting(ranked, Math.floor(maxTokens * 0.6), (paper) => ({
    id: clip(paper.id, 60),
    title: clip(paper.title, 30),
    decision:
      paper.retracted === true
        ? `${paper.decision} (retracted: never build on it)`
        : isIneligible(paper)
          ? `${paper.decision ?? paper.status} (not eligible: never build on it)`
          : (paper.decision ?? paper.status),
    ...(paper.score == null ? {} : { score: `${paper.score}/${fullScore(rrd)}` }),
    summary: clip(joinTexts(paper.analysis?.summary), 60),
    results: clip(joinTexts(paper.analysis?.results), 60),
  }));
  const retracted = new Set(rrd.papers_pool.filter((paper) => paper.retracted === true).map(({ id }) => id));
  // Ideas must not be based on papers that are excluded or wait for the user.
  const byPaper = countingInsights(rrd).toSorted(
    (a, b) => (rank.get(a.paper_id ?? "") ?? 1e9) - (rank.get(b.paper_id ?? "") ?? 1e9),
  );
  const insights = takeFitting(byPaper, Math.floor(maxTokens * 0.4), (insight) => ({
    id: insight.id,
    paper_id: insight.paper_id,
    ...(retracted.has(insight.paper_id ?? "") ? { retracted: "never build on it" } : {}),
    insight: clip(insight.insight, 45),
    tags: clipped(insight.tags ?? [], 8, 24),
  }));
  return {
    papers: papers.shown,
    insights: insights.shown,
    not_shown: { papers: papers.omitted, insights: insights.omitted },
  };
}

/** A value of the user: unchanged if it is short, otherwise cut. */
const clipValue = (value: object, tokens: number): unknown => {
  const text = JSON.stringify(value);
  return estimateTokens(text) <= tokens ? value : clip(text, tokens);
};
