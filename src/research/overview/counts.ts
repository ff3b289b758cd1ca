import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { countQuotes } from "../../text/evidence/count-quotes.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { countingInsights } from "../screening/eligibility/eligibility.js";
import { reasonNotToCite } from "../units/narrative/handles.js";

/** The numbers of a project's papers by outcome. */
export interface Counts {
  readonly presented: number;
  readonly insights_extracted: number;
  readonly rejected: number;
  /** Not read yet. */
  readonly pending: number;
  /** Read and waiting for the user's decision on eligibility; absent if 0. */
  readonly waiting?: number;
  /** Only their titles are available; absent if 0. */
  readonly not_retrieved?: number;
  /** Number of insights of all papers. */
  readonly insights: number;
  /** Quotes of claims: those found in the text, and all; without papers that must not be cited. */
  readonly quotes: { readonly found: number; readonly all: number };
}

export function countsOf(rrd: Pick<Rrd, "papers_pool" | "insights">): Counts {
  const { papers_pool: papers } = rrd;
  const quotes = quoteSums(papers);
  const count = (...statuses: string[]) => papers.filter(({ status }) => statuses.includes(status)).length;
  return {
    presented: count("presented"),
    insights_extracted: count("insights_extracted"),
    rejected: count("rejected"),
    pending: count("pending", "analyzing"),
    ...withoutUndefined({ waiting: count("waiting") || undefined, not_retrieved: count("not_retrieved") || undefined }),
    insights: countingInsights(rrd).length,
    quotes,
  };
}

/** Quotes of claims: those found in the text, and all; without papers that must not be cited. */
export function quoteSums(papers: readonly Paper[]): Counts["quotes"] {
  let [found, all] = [0, 0];
  for (const paper of papers) {
    if (reasonNotToCite(paper) !== undefined) continue;
    const { verified, given } = countQuotes(paper.analysis?.evidence ?? []);
    found += verified;
    all += given;
  }
  return { found, all };
}

/** The counts as text: "4 included, 2 kept for insights, 5 rejected", and others that are not 0. */
export const countsText = (counts: Counts): string => {
  const { presented, insights_extracted: keptForInsights, rejected, waiting, not_retrieved: missing, pending } = counts;
  return [
    `${presented} included`,
    ...(keptForInsights === 0 ? [] : [`${keptForInsights} kept for insights`]),
    `${rejected} rejected`,
    ...(missing === undefined ? [] : [`${missing} not retrieved`]),
    ...(waiting === undefined ? [] : [`${waiting} waiting for you`]),
    ...(pending === 0 ? [] : [`${pending} not read yet`]),
  ].join(", ");
};
