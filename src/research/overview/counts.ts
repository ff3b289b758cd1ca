import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Rrd } from "../generated/rrd.js";
import { countingInsights } from "../screening/eligibility/eligibility.js";
import { whyNoGround } from "../units/narrative/handles.js";

/** What came of a project's papers. */
export interface Counts {
  readonly presented: number;
  readonly insights_extracted: number;
  readonly rejected: number;
  /** Not read yet. */
  readonly pending: number;
  /** Read, and a person decides on their eligibility; absent where none does. */
  readonly waiting?: number;
  /** Nothing of it but its title could be had; absent where 0. */
  readonly not_retrieved?: number;
  /** Of all papers. */
  readonly insights: number;
  /** Quotes of claims: those that stand in their paper's text, of all; without those of papers that don't stand. */
  readonly quotes: { readonly found: number; readonly all: number };
}

export function countsOf(rrd: Pick<Rrd, "papers_pool" | "insights">): Counts {
  const { papers_pool: papers } = rrd;
  const quotes = papers.flatMap((paper) => (whyNoGround(paper) === undefined ? (paper.analysis?.evidence ?? []) : []));
  const count = (...wanted: string[]) => papers.filter(({ status }) => wanted.includes(status)).length;
  return {
    presented: count("presented"),
    insights_extracted: count("insights_extracted"),
    rejected: count("rejected"),
    pending: count("pending", "analyzing"),
    ...withoutUndefined({ waiting: count("waiting") || undefined, not_retrieved: count("not_retrieved") || undefined }),
    insights: countingInsights(rrd).length,
    quotes: { found: quotes.filter(({ status }) => status === "verified").length, all: quotes.length },
  };
}

/** The same in words: "4 included, 2 kept for insights, 5 rejected", and what else there is. */
export const countsText = (counts: Counts): string => {
  const { presented, insights_extracted: kept, rejected, waiting, not_retrieved: missing, pending } = counts;
  return [
    `${presented} included`,
    ...(kept === 0 ? [] : [`${kept} kept for insights`]),
    `${rejected} rejected`,
    ...(missing === undefined ? [] : [`${missing} not retrieved`]),
    ...(waiting === undefined ? [] : [`${waiting} waiting for you`]),
    ...(pending === 0 ? [] : [`${pending} not read yet`]),
  ].join(", ");
};
