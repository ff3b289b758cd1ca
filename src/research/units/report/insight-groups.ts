import type { Insight, Paper, Rrd } from "../../generated/rrd.js";
import { citableInsights } from "../narrative/handles.js";
import { countEach, groupBy } from "../../../engine/lib/group.js";

/** Related insights. */
export interface InsightGroup {
  /** At most three tags that are frequent in the group, the most characteristic first. */
  readonly tags: readonly string[];
  /** The insights, in the order of the records. */
  readonly insights: readonly Insight[];
}

const maxGroups = 15;
/**
 * Maximum number of insights that are grouped. In larger projects, only the insights of the best papers are grouped, to
 * limit the cost.
 */
const maxGroupedInsights = 2_000;
/** A tag with more insights than this is too general to connect them. */
const maxInsightsPerTag = 40;
/** The weight of a reference from an insight to a paper. */
const crossReferenceWeight = 1.5;
/** The weight of a citation between papers. */
const citationWeight = 1;
/** Maximum rounds of moving insights between groups. */
const maxRounds = 12;

/**
 * Groups of related insights. Two insights are related through common tags (rare tags count more than common ones), a
 * reference from one to the other's paper, or a citation between their papers. Insights of papers that must not be
 * cited are left out, and so are groups with one insight. The largest groups come first. Pure and deterministic.
 */
export function groupInsights(rrd: Pick<Rrd, "papers_pool" | "insights">): InsightGroup[] {
  const { papers_pool } = rrd;
  const rank = new Map(papers_pool.map((paper) => [paper.id, rankOf(paper)]));
  const all = citableInsights(rrd);
  const chosen =
    all.length <= maxGroupedInsights
      ? all
      : all
          .map((insight, index) => ({ insight, index }))
          .sort(
            (a, b) =>
              (rank.get(b.insight.paper_id ?? "") ?? 0) - (rank.get(a.insight.paper_id ?? "") ?? 0) ||
              a.index - b.index,
          )
          .slice(0, maxGroupedInsights)
          .sort((a, b) => a.index - b.index)
          .map(({ insight }) => insight);
  const tags = chosen.map(tagsOf);
  const weights = relationWeights(chosen, tags, papers_pool);
  const group = findGroups(weights);

  const members = groupBy(chosen.keys(), (index) => group[index]);
  const tagCounts = countEach(tags.flat());
  return [...members.values()]
    .filter((list) => list.length > 1)
    .sort((a, b) => b.length - a.length || (a[0] ?? 0) - (b[0] ?? 0))
    .slice(0, maxGroups)
    .map((list) => ({
      tags: characteristicTags(
        list.map((index) => tags[index] ?? []),
        tagCounts,
        chosen.length,
      ),
      insights: list.flatMap((index) => chosen[index] ?? []),
    }));
}

const rankOf = ({ status, score }: Paper): number =>
  (status === "presented" ? 200 : status === "insights_extracted" ? 100 : 0) + (score ?? 0);

/** Tags in lower case without duplicates; "sim-to-real" and "sim to real" are the same tag. */
const tagsOf = ({ tags }: Insight): string[] => [
  ...new Set(
    (tags ?? []).map((tag) =>
      tag
        .trim()
        .toLowerCase()
        .replaceAll(/[-_\s]+/g, " "),
    ),
  ),
];

type Weights = readonly ReadonlyMap<number, number>[];

/** The weights of the relations between insights: for each insight, the weights by the indexes of the others. */
function relationWeights(
  insights: readonly Insight[],
  tags: readonly (readonly string[])[],
  papers: readonly Paper[],
): Weights {
  const weights = insights.map(() => new Map<number, number>());
  const addWeight = (a: number, b: number, weight: number) => {
    if (a === b) return;
    weights[a]?.set(b, (weights[a]?.get(b) ?? 0) + weight);
    weights[b]?.set(a, (weights[b]?.get(a) ?? 0) + weight);
  };
  const insightsByTag = new Map<string, number[]>();
  for (const [index, list] of tags.entries())
    for (const tag of list) insightsByTag.set(tag, [...(insightsByTag.get(tag) ?? []), index]);
  const maxTagged = Math.min(maxInsightsPerTag, Math.max(4, Math.ceil(insights.length / 5)));
  for (const list of insightsByTag.values()) {
    if (list.length < 2 || list.length > maxTagged) continue;
    const weight = Math.log(insights.length / list.length + 1) / Math.sqrt(list.length);
    for (const [position, a] of list.entries()) for (const b of list.slice(position + 1)) addWeight(a, b, weight);
  }
  const insightsByPaper = groupBy(insights.keys(), (index) => insights[index]?.paper_id);
  /** All insights of a paper together have the weight of one insight. */
  const addPaperWeight = (index: number, paper: string, weight: number) => {
    const others = insightsByPaper.get(paper) ?? [];
    for (const other of others) addWeight(index, other, weight / others.length);
  };
  for (const [index, { cross_refs, paper_id }] of insights.entries())
    for (const paper of cross_refs ?? []) if (paper !== paper_id) addPaperWeight(index, paper, crossReferenceWeight);
  for (const { id, found } of papers)
    for (const other of [...(found?.cites ?? []), ...(found?.cited_by ?? [])])
      for (const index of insightsByPaper.get(id) ?? [])
        addPaperWeight(index, other, citationWeight / Math.max(1, insightsByPaper.get(id)?.length ?? 1));
  return weights;
}

/**
 * The group of each insight, after V. Blondel et al., Fast unfolding of communities in large networks (2008): each
 * insight moves to the group to which it is related more than expected by chance, until nothing changes. Without the
 * correction for chance, a few references would put all insights into one group.
 */
function findGroups(weights: Weights): number[] {
  const group = weights.map((_, index) => index);
  const degree = weights.map((others) => [...others.values()].reduce((sum, weight) => sum + weight, 0));
  const groupTotals = [...degree];
  const totalWeight = degree.reduce((sum, weight) => sum + weight, 0);
  if (totalWeight === 0) return group;
  for (let round = 0; round < maxRounds; round++) {
    let changed = false;
    for (const [index, others] of weights.entries()) {
      const ownWeight = degree[index] ?? 0;
      const currentGroup = group[index] ?? index;
      groupTotals[currentGroup] = (groupTotals[currentGroup] ?? 0) - ownWeight;
      const weightByGroup = new Map<number, number>([[currentGroup, 0]]);
      for (const [other, weight] of others) {
        const name = group[other] ?? other;
        weightByGroup.set(name, (weightByGroup.get(name) ?? 0) + weight);
      }
      let [best, bestGain] = [currentGroup, -Infinity];
      for (const [name, weight] of weightByGroup) {
        const gain = weight - (ownWeight * (groupTotals[name] ?? 0)) / totalWeight;
        if (gain > bestGain + 1e-9 || (gain > bestGain - 1e-9 && name === currentGroup))
          [best, bestGain] = [name, gain];
      }
      groupTotals[best] = (groupTotals[best] ?? 0) + ownWeight;
      if (best !== currentGroup) {
        group[index] = best;
        changed = true;
      }
    }
    if (!changed) break;
  }
  return group;
}

/** Maximum number of tags that name a group. */
const maxTagsInName = 3;

/** The most characteristic tags of a group: frequent in it, rare elsewhere. */
function characteristicTags(
  lists: readonly (readonly string[])[],
  totalCounts: ReadonlyMap<string, number>,
  insightCount: number,
): string[] {
  return [...countEach(lists.flat())]
    .filter(([, count]) => count > 1)
    .map(([tag, count]) => ({ tag, weight: count * Math.log(insightCount / (totalCounts.get(tag) ?? count) + 1) }))
    .sort((a, b) => b.weight - a.weight || (a.tag < b.tag ? -1 : 1))
    .slice(0, maxTagsInName)
    .map(({ tag }) => tag);
}
