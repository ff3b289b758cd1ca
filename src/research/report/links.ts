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

const maxNodes = 60;
const linksEach = 3;
/** A tag on more papers than these joins nothing: it names the field. */
const maxTagged = 12;
const maxReasons = 4;

/** The map of papers: retracted ones and those that nothing joins are left out. Bounded, and always the same. */
export function mapOf(rrd: Rrd, rows: readonly PaperRow[]): PaperMap {
  const standing = rows.filter(({ isRetracted }) => !isRetracted);
  const place = new Map(standing.map(({ id }, index) => [id, index]));
  // By one number for each pair of places.
  const joined = new Map<number, { readonly from: string; readonly to: string; weight: number; because: string[] }>();
  const join = (a: string, b: string, weight: number, why: string) => {
    const first = place.get(a);
    const second = place.get(b);
    if (first === undefined || second === undefined || first === second) return;
    const [from, to] = first < second ? [a, b] : [b, a];
    const key = Math.min(first, second) * standing.length + Math.max(first, second);
    const link = joined.get(key);
    if (link === undefined) joined.set(key, { from, to, weight, because: [why] });
    else {
      link.weight += weight;
      if (!link.because.includes(why) && link.because.length < maxReasons) link.because.push(why);
    }
  };
  for (const { id, found } of rrd.papers_pool) {
    for (const other of found?.cites ?? []) join(id, other, 1, "one cites the other");
    for (const other of found?.cited_by ?? []) join(id, other, 1, "one cites the other");
  }
  const insights = rrd.insights ?? [];
  for (const { paper_id, cross_refs } of insights)
    for (const other of cross_refs ?? []) if (paper_id != null) join(paper_id, other, 1, "cross-reference");
  for (const [tag, ids] of taggedPapers(insights)) {
    if (ids.size < 2 || ids.size > maxTagged) continue;
    const list = [...ids];
    for (const [index, a] of list.entries()) for (const b of list.slice(index + 1)) join(a, b, 2 / list.length, tag);
  }
  const reach = new Map<string, number>();
  const closest = new Map<string, { readonly id: string; readonly weight: number }>();
  for (const { from, to, weight } of joined.values())
    for (const [id, other] of [
      [from, to],
      [to, from],
    ] as const) {
      reach.set(id, (reach.get(id) ?? 0) + weight);
      if (weight > (closest.get(id)?.weight ?? 0)) closest.set(id, { id: other, weight });
    }
  const ranked = standing
    .flatMap(({ id, score = 0 }) => {
      const joins = reach.get(id);
      return joins === undefined ? [] : { id, rank: score + joins };
    })
    .sort((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1));
  // Each with the one it is closest to: of ten thousand, the best sixty by themselves may have nothing in common.
  const chosen = new Set<string>();
  for (const { id } of ranked) {
    const other = closest.get(id)?.id ?? id;
    if (chosen.size + Number(!chosen.has(id)) + Number(!chosen.has(other)) <= maxNodes) chosen.add(id).add(other);
    if (chosen.size >= maxNodes - 1) break;
  }
  const links = [...joined.values()]
    .filter(({ from, to }) => chosen.has(from) && chosen.has(to))
    .sort((a, b) => b.weight - a.weight || (a.from + a.to < b.from + b.to ? -1 : 1));
  const each = new Map<string, number>();
  const kept = links.filter(({ from, to }): boolean => {
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
