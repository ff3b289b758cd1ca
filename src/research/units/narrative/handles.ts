import type { Evidence, Insight, Paper, Rrd } from "../../generated/rrd.js";
import { isIneligible } from "../../screening/eligibility/eligibility.js";

/**
 * The handle of a quote: the paper's id and the number of the quote in its `evidence`, starting at 1, such as
 * "sample_01#2".
 */
export const handleOf = (paper: string, number: number): string => `${paper}#${number}`;

/** The paper and number in a handle; undefined for other texts. */
export function parseHandle(handle: string): { readonly paper: string; readonly number: number } | undefined {
  const match = /^(.+)#(\d{1,6})$/s.exec(handle.trim());
  return match?.[1] === undefined ? undefined : { paper: match[1], number: Number(match[2]) };
}

/** The reason why a paper must not be cited, as a clause; undefined if it may be cited. */
export const reasonNotToCite = (paper: Paper): string | undefined =>
  paper.retracted === true ? "was retracted" : isIneligible(paper) ? "is not eligible" : undefined;

/** The insights of a project, without those of papers that must not be cited. */
export function citableInsights({ papers_pool, insights }: Pick<Rrd, "papers_pool" | "insights">): Insight[] {
  const uncitableIds = new Set(papers_pool.filter((paper) => reasonNotToCite(paper) !== undefined).map(({ id }) => id));
  return (insights ?? []).filter(({ paper_id }) => !uncitableIds.has(paper_id ?? ""));
}

/** A quote in a project, with its paper. */
interface FoundEvidence {
  readonly handle: string;
  readonly paper: Paper;
  /** The number of the quote, starting at 1. */
  readonly number: number;
  readonly evidence: Evidence;
}

/** The quote of a handle, or a clause with the reason why it can't be shown. */
export function evidenceAt(
  handle: string,
  papers: ReadonlyMap<string, Paper>,
): FoundEvidence | { readonly reason: string } {
  const parsed = parseHandle(handle);
  if (parsed === undefined) return { reason: "it is not a handle; write a paper's id, '#' and the number of a quote" };
  const paper = papers.get(parsed.paper);
  if (paper === undefined) return { reason: `the paper ${parsed.paper} is not in this project` };
  const all = paper.analysis?.evidence ?? [];
  const evidence = all[parsed.number - 1];
  if (evidence === undefined) {
    const quotesText = all.length === 0 ? "no quotes" : `${all.length} ${all.length === 1 ? "quote" : "quotes"}`;
    return { reason: `the paper ${parsed.paper} has ${quotesText}` };
  }
  if (evidence.status === "not-in-text") return { reason: "that quote was not found in the text of the paper" };
  return { handle, paper, number: parsed.number, evidence };
}

/** The quotes of these handles that can be shown. */
export const evidenceOf = (handles: readonly string[], papers: ReadonlyMap<string, Paper>): FoundEvidence[] =>
  handles.flatMap((handle) => {
    const found = evidenceAt(handle, papers);
    return "reason" in found ? [] : [found];
  });
