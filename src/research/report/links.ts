import type { Insight, Rrd } from "../generated/rrd.js";
import type { PaperRow } from "./papers.js";

/** What joins two papers, and how strongly. */
export interface PaperLink {
  /** Ids; the first in the order of rows. */
  readonly from: string;
  readonly to: string;
  /** The sum of what joins them; a rare tag weighs more than a common one. */
  readonly weight: number;
  /** "cites", "cross-reference", or the tags they share; at most four. */
  readonly because: readonly string[];
}

/** The papers of the map with their strongest links. */
export interface PaperMap {
  /** At most 60, in the order of rows. */
  readonly papers: readonly PaperRow[];
  readonly links: readonly PaperLink[];
}

/** Insights that belong together by what their papers share. */
export interface Cluster {
  /** Its commonest rare tags, the first one first. */
  readonly tags: readonly string[];
  readonly insights: readonly Insight[];
}

const maxNodes = 60;
const linksEach = 3;
/** A tag on more papers than these joins nothing: it names the field. */
const maxTagged = 12;
const maxReasons = 4;
const maxClusters = 12;

/** The map of papers: retracted ones and those that nothing joins are left out. Bounded, and always the same. */
export function mapOf(rrd: Rrd, rows: readonly PaperRow[]): PaperMap {
  const place = new Map(rows.filter(({ isRetracted }) => !isRetracted).map(({ id }, index) => [id, index]));
  const joined = new Map<string, { weight: number; because: string[] }>();
  const join = (a: string, b: string, weight: number, why: string) => {
    const [first, second] = [place.get(a), place.get(b)];
    if (first === undefined || second === undefined || first === second) return;
    const key = first < second ? `${a}\n${b}` : `${b}\n${a}`;
    const link = joined.get(key) ?? { weight: 0, because: [] };
    link.weight += weight;
    if (!link.because.includes(why) && link.because.length < maxReasons) link.because.push(why);
    joined.set(key, link);
  };
  const insights = rrd.insights ?? [];
  for (const { paper_id, cross_refs } of insights)
    for (const other of cross_refs ?? []) if (paper_id != null) join(paper_id, other, 1, "cross-reference");
  for (const [tag, ids] of taggedPapers(insights)) {
    if (ids.size < 2 || ids.size > maxTagged) continue;
    const list = [...ids];
    for (const [index, a] of list.entries()) for (const b of list.slice(index + 1)) join(a, b, 2 / list.length, tag);
  }
  const links = [...joined]
    .map(([key, { weight, because }]): PaperLink => {
      const [from = "", to = ""] = key.split("\n");
      return { from, to, weight, because };
    })
    .sort((a, b) => b.weight - a.weight || (a.from + a.to < b.from + b.to ? -1 : 1));

  const reach = new Map<string, number>();
  for (const { from, to, weight } of links) for (const id of [from, to]) reach.set(id, (reach.get(id) ?? 0) + weight);
  const chosen = new Set(
    rows
      .filter(({ id }) => reach.has(id))
      .map(({ id, score = 0 }) => ({ id, rank: score + (reach.get(id) ?? 0) }))
      .sort((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1))
      .slice(0, maxNodes)
      .map(({ id }) => id),
  );
  const each = new Map<string, number>();
  const kept = links.filter(({ from, to }) => {
    if (!chosen.has(from) || !chosen.has(to)) return false;
    const [a, b] = [each.get(from) ?? 0, each.get(to) ?? 0];
    if (a >= linksEach && b >= linksEach) return false;
    each.set(from, a + 1);
    each.set(to, b + 1);
    return true;
  });
  const left = new Set(kept.flatMap(({ from, to }) => [from, to]));
  return { papers: rows.filter(({ id }) => left.has(id)), links: kept };
}

function taggedPapers(insights: readonly Insight[]): ReadonlyMap<string, ReadonlySet<string>> {
  const tagged = new Map<string, Set<string>>();
  for (const { paper_id, tags } of insights) {
    if (paper_id == null) continue;
    for (const tag of tags ?? []) {
      const key = tag.trim().toLowerCase();
      const ids = tagged.get(key) ?? new Set();
      tagged.set(key, ids.add(paper_id));
    }
  }
  return tagged;
}

/**
 * Groups of insights by the tags they share: each insight goes to the rarest of its tags that at least one other has,
 * weighted by how many have it; the largest groups first, at most twelve. What joins nothing is in none.
 */
export function clustersOf(insights: readonly Insight[]): Cluster[] {
  const count = new Map<string, number>();
  const tagsOf = (insight: Insight) => [...new Set((insight.tags ?? []).map((tag) => tag.trim().toLowerCase()))];
  for (const insight of insights) for (const tag of tagsOf(insight)) count.set(tag, (count.get(tag) ?? 0) + 1);
  // A tag on most insights names the field; one on a single insight joins nothing.
  const most = Math.max(4, Math.ceil(insights.length / 4));
  const groups = new Map<string, Insight[]>();
  for (const insight of insights) {
    const shared = tagsOf(insight).filter((tag) => (count.get(tag) ?? 0) > 1 && (count.get(tag) ?? 0) <= most);
    const [best] = shared.toSorted((a, b) => (count.get(b) ?? 0) - (count.get(a) ?? 0) || (a < b ? -1 : 1));
    if (best === undefined) continue;
    const group = groups.get(best);
    if (group === undefined) groups.set(best, [insight]);
    else group.push(insight);
  }
  return [...groups]
    .filter(([, members]) => members.length > 1)
    .sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))
    .slice(0, maxClusters)
    .map(([tag, members]) => {
      const others = new Map<string, number>();
      for (const member of members)
        for (const each of tagsOf(member)) if (each !== tag) others.set(each, (others.get(each) ?? 0) + 1);
      const further = [...others]
        .filter(([, times]) => times * 2 >= members.length)
        .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
        .map(([each]) => each);
      return { tags: [tag, ...further].slice(0, 3), insights: members };
    });
}
