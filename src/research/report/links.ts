import type { Insight, Rrd } from "../generated/rrd.js";
import type { PaperRow } from "./papers.js";

/** A link between two papers, and how strong it is. */
export interface PaperLink {
  /** Ids of papers. `from` is the first in the order of rows. */
  readonly from: string;
  readonly to: string;
  /** The sum of the weights of all relations; a rare tag has more weight than a frequent one. */
  readonly weight: number;
  /** "cites", "cross-reference", or common tags; at most four. */
  readonly because: readonly string[];
}

/** The papers of the map with their strongest links. */
export interface PaperMap {
  /** At most 60, in the order of rows. */
  readonly papers: readonly PaperRow[];
  readonly links: readonly PaperLink[];
  /** The number of all links between these papers, also of those that are not among the strongest of a paper. */
  readonly linkCount: number;
}

/** Maximum number of papers in the map. */
const maxNodes = 60;
/** Maximum number of links of a paper, except links that another paper needs. */
const maxLinksPerPaper = 3;
/** A tag of more papers than this gives no links, because it is too general. */
const maxTagged = 12;
/** Maximum number of reasons of a link. */
const maxReasons = 4;

/** The map of papers, without retracted papers and papers without links. Bounded in size and deterministic. */
export function paperMap(rrd: Rrd, rows: readonly PaperRow[]): PaperMap {
  const citableRows = rows.filter(({ isRetracted }) => !isRetracted);
  const position = new Map(citableRows.map(({ id }, index) => [id, index]));
  // The key is one number for each pair of positions.
  const linkByKey = new Map<
    number,
    { readonly from: string; readonly to: string; weight: number; because: string[] }
  >();
  const addLink = (a: string, b: string, weight: number, reason: string) => {
    const first = position.get(a);
    const second = position.get(b);
    if (first === undefined || second === undefined || first === second) return;
    const [from, to] = first < second ? [a, b] : [b, a];
    const key = Math.min(first, second) * citableRows.length + Math.max(first, second);
    const link = linkByKey.get(key);
    if (link === undefined) linkByKey.set(key, { from, to, weight, because: [reason] });
    else {
      link.weight += weight;
      if (!link.because.includes(reason) && link.because.length < maxReasons) link.because.push(reason);
    }
  };
  for (const { id, found } of rrd.papers_pool) {
    for (const other of found?.cites ?? []) addLink(id, other, 1, "one cites the other");
    for (const other of found?.cited_by ?? []) addLink(id, other, 1, "one cites the other");
  }
  const insights = rrd.insights ?? [];
  for (const { paper_id, cross_refs } of insights)
    for (const other of cross_refs ?? []) if (paper_id != null) addLink(paper_id, other, 1, "cross-reference");
  for (const [tag, ids] of papersByTag(insights)) {
    if (ids.size < 2 || ids.size > maxTagged) continue;
    const list = [...ids];
    for (const [index, a] of list.entries()) for (const b of list.slice(index + 1)) addLink(a, b, 2 / list.length, tag);
  }
  const totalWeight = new Map<string, number>();
  const strongest = new Map<string, { readonly id: string; readonly weight: number }>();
  for (const { from, to, weight } of linkByKey.values())
    for (const [id, other] of [
      [from, to],
      [to, from],
    ] as const) {
      totalWeight.set(id, (totalWeight.get(id) ?? 0) + weight);
      if (weight > (strongest.get(id)?.weight ?? 0)) strongest.set(id, { id: other, weight });
    }
  const ranked = citableRows
    .flatMap(({ id, score = 0 }) => {
      const itsWeight = totalWeight.get(id);
      return itsWeight === undefined ? [] : { id, rank: score + itsWeight };
    })
    .sort((a, b) => b.rank - a.rank || (a.id < b.id ? -1 : 1));
  // Each paper is added with its closest paper. Otherwise, of ten thousand papers, the best sixty might have no links.
  const chosen = new Set<string>();
  for (const { id } of ranked) {
    const other = strongest.get(id)?.id ?? id;
    if (chosen.size + Number(!chosen.has(id)) + Number(!chosen.has(other)) <= maxNodes) chosen.add(id).add(other);
    if (chosen.size >= maxNodes - 1) break;
  }
  const links = [...linkByKey.values()]
    .filter(({ from, to }) => chosen.has(from) && chosen.has(to))
    .sort((a, b) => b.weight - a.weight || (a.from + a.to < b.from + b.to ? -1 : 1));
  const keptCount = new Map<string, number>();
  const keptLinks = links.filter(({ from, to }): boolean => {
    const [a, b] = [keptCount.get(from) ?? 0, keptCount.get(to) ?? 0];
    if (a >= maxLinksPerPaper && b >= maxLinksPerPaper) return false;
    keptCount.set(from, a + 1);
    keptCount.set(to, b + 1);
    return true;
  });
  const linkedIds = new Set(keptLinks.flatMap(({ from, to }) => [from, to]));
  return { papers: rows.filter(({ id }) => linkedIds.has(id)), links: keptLinks, linkCount: links.length };
}

function papersByTag(insights: readonly Insight[]): ReadonlyMap<string, ReadonlySet<string>> {
  const idsByTag = new Map<string, Set<string>>();
  for (const { paper_id, tags } of insights) {
    if (paper_id == null) continue;
    for (const tag of tags ?? []) {
      const key = tag.trim().toLowerCase();
      const ids = idsByTag.get(key) ?? new Set();
      idsByTag.set(key, ids.add(paper_id));
    }
  }
  return idsByTag;
}
