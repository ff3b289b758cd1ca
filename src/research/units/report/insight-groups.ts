import type { Insight, Paper, Rrd } from "../../generated/rrd.js";
import { whyNoGround } from "../narrative/handles.js";
import { countEach, groupBy } from "../../../engine/lib/group.js";

/** Insights that belong together by what they share. */
export interface InsightGroup {
  /** What most of its insights are tagged with, at most three tags, the most telling first. */
  readonly tags: readonly string[];
  /** In the order of the records. */
  readonly insights: readonly Insight[];
}

const maxGroups = 15;
/** Of a larger project the insights of its best papers are grouped: the cost stays that of so many. */
const maxGrouped = 2_000;
/** A tag on more insights than this names the field and joins nothing. */
const maxShared = 40;
const crossReference = 1.5;
const citation = 1;
const rounds = 12;

/**
 * Groups of insights: two are drawn together by tags that they share, a rare one more than a common one, by references
 * of one to the other's paper, and where one's paper cites the other's. Groups of one are left out, the largest come
 * first. Insights of papers that don't stand are in none. Pure, and the same for the same records.
 */
export function groupInsights({ papers_pool, insights }: Pick<Rrd, "papers_pool" | "insights">): InsightGroup[] {
  const rank = new Map(papers_pool.map((paper) => [paper.id, rankOf(paper)]));
  const gone = new Set(papers_pool.filter((paper) => whyNoGround(paper) !== undefined).map(({ id }) => id));
  const all = (insights ?? []).filter(({ paper_id }) => !gone.has(paper_id ?? ""));
  const chosen =
    all.length <= maxGrouped
      ? all
      : all
          .map((insight, index) => ({ insight, index }))
          .sort(
            (a, b) =>
              (rank.get(b.insight.paper_id ?? "") ?? 0) - (rank.get(a.insight.paper_id ?? "") ?? 0) ||
              a.index - b.index,
          )
          .slice(0, maxGrouped)
          .sort((a, b) => a.index - b.index)
          .map(({ insight }) => insight);
  const tags = chosen.map(tagsOf);
  const drawn = drawnTogether(chosen, tags, papers_pool);
  const group = settle(drawn);

  const members = groupBy(chosen.keys(), (index) => group[index]);
  const shares = countEach(tags.flat());
  return [...members.values()]
    .filter((list) => list.length > 1)
    .sort((a, b) => b.length - a.length || (a[0] ?? 0) - (b[0] ?? 0))
    .slice(0, maxGroups)
    .map((list) => ({
      tags: namingTags(
        list.map((index) => tags[index] ?? []),
        shares,
        chosen.length,
      ),
      insights: list.flatMap((index) => chosen[index] ?? []),
    }));
}

const rankOf = ({ status, score }: Paper): number =>
  (status === "presented" ? 200 : status === "insights_extracted" ? 100 : 0) + (score ?? 0);

/** Tags in lower case, each once; "sim-to-real" and "sim to real" are one. */
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

type Drawn = readonly ReadonlyMap<number, number>[];

/** How strongly each insight is drawn to others, by their indexes. */
function drawnTogether(
  insights: readonly Insight[],
  tags: readonly (readonly string[])[],
  papers: readonly Paper[],
): Drawn {
  const drawn = insights.map(() => new Map<number, number>());
  const draw = (a: number, b: number, weight: number) => {
    if (a === b) return;
    drawn[a]?.set(b, (drawn[a]?.get(b) ?? 0) + weight);
    drawn[b]?.set(a, (drawn[b]?.get(a) ?? 0) + weight);
  };
  const tagged = new Map<string, number[]>();
  for (const [index, list] of tags.entries())
    for (const tag of list) tagged.set(tag, [...(tagged.get(tag) ?? []), index]);
  const most = Math.min(maxShared, Math.max(4, Math.ceil(insights.length / 5)));
  for (const list of tagged.values()) {
    if (list.length < 2 || list.length > most) continue;
    const weight = Math.log(insights.length / list.length + 1) / Math.sqrt(list.length);
    for (const [place, a] of list.entries()) for (const b of list.slice(place + 1)) draw(a, b, weight);
  }
  const ofPaper = groupBy(insights.keys(), (index) => insights[index]?.paper_id);
  /** A paper with many insights draws as much as one with a single insight. */
  const drawToPaper = (index: number, paper: string, weight: number) => {
    const others = ofPaper.get(paper) ?? [];
    for (const other of others) draw(index, other, weight / others.length);
  };
  for (const [index, { cross_refs, paper_id }] of insights.entries())
    for (const paper of cross_refs ?? []) if (paper !== paper_id) drawToPaper(index, paper, crossReference);
  for (const { id, found } of papers)
    for (const other of [...(found?.cites ?? []), ...(found?.cited_by ?? [])])
      for (const index of ofPaper.get(id) ?? [])
        drawToPaper(index, other, citation / Math.max(1, ofPaper.get(id)?.length ?? 1));
  return drawn;
}

/**
 * The group of each insight, after V. Blondel et al., Fast unfolding of communities in large networks (2008): it goes
 * where it is drawn more than chance would have it between insights that are drawn as much, until nothing changes.
 * Without that correction a few references pull everything into one group.
 */
function settle(drawn: Drawn): number[] {
  const group = drawn.map((_, index) => index);
  const degree = drawn.map((others) => [...others.values()].reduce((sum, weight) => sum + weight, 0));
  const total = [...degree];
  const all = degree.reduce((sum, weight) => sum + weight, 0);
  if (all === 0) return group;
  for (let round = 0; round < rounds; round++) {
    let changed = false;
    for (const [index, others] of drawn.entries()) {
      const own = degree[index] ?? 0;
      const before = group[index] ?? index;
      total[before] = (total[before] ?? 0) - own;
      const pull = new Map<number, number>([[before, 0]]);
      for (const [other, weight] of others) {
        const name = group[other] ?? other;
        pull.set(name, (pull.get(name) ?? 0) + weight);
      }
      let [best, most] = [before, -Infinity];
      for (const [name, weight] of pull) {
        const gain = weight - (own * (total[name] ?? 0)) / all;
        if (gain > most + 1e-9 || (gain > most - 1e-9 && name === before)) [best, most] = [name, gain];
      }
      total[best] = (total[best] ?? 0) + own;
      if (best !== before) {
        group[index] = best;
        changed = true;
      }
    }
    if (!changed) break;
  }
  return group;
}

const maxNaming = 3;

/** The tags that tell a group best: common within it, rare outside. */
function namingTags(
  lists: readonly (readonly string[])[],
  everywhere: ReadonlyMap<string, number>,
  all: number,
): string[] {
  return [...countEach(lists.flat())]
    .filter(([, count]) => count > 1)
    .map(([tag, count]) => ({ tag, weight: count * Math.log(all / (everywhere.get(tag) ?? count) + 1) }))
    .sort((a, b) => b.weight - a.weight || (a.tag < b.tag ? -1 : 1))
    .slice(0, maxNaming)
    .map(({ tag }) => tag);
}
