import type { Override, Rrd } from "../generated/rrd.js";
import { isDecided } from "../papers/rubric/rubric.js";
import type { Judged } from "../screening/screening-order.js";

/** Exclusions that say nothing of what a record is about. */
const formal: ReadonlySet<string> = new Set(["duplicate", "retracted", "window", "notice"]);

/**
 * What was decided on records, as examples for the order of the rest: screening, and what a paper's full text said
 * later.
 */
export function judgedIn(rrd: Rrd): Judged[] {
  const papers = rrd.papers_pool.filter(({ retracted }) => retracted !== true);
  return [
    ...papers.map((paper) => {
      const { id, title, abstract, override } = paper;
      // What a person said of its eligibility counts for more than its score.
      const kept = override === undefined ? !isDecided(paper) || paper.status !== "rejected" : isIncluded(override);
      return { id, title, abstract, kept };
    }),
    ...(rrd.excluded ?? [])
      .filter(({ stage, override }) => override !== undefined || !formal.has(stage ?? ""))
      .map(({ id, title }) => ({ id, title: title ?? "", kept: false })),
  ];
}

const isIncluded = ({ decision }: Override): boolean => decision !== "exclude";
