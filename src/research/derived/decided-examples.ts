import type { Override, Rrd } from "../generated/rrd.js";
import { isDecided } from "../papers/rubric/rubric.js";
import type { DecidedRecord } from "../screening/screening-order.js";

/** Stages of exclusions that say nothing about the topic of a record. */
const formalStages: ReadonlySet<string> = new Set(["duplicate", "retracted", "window", "notice"]);

/** Decisions on records as examples for ranking the remaining records: from screening and from reading full texts. */
export function decidedExamples(rrd: Rrd): DecidedRecord[] {
  const papers = rrd.papers_pool.filter(({ retracted }) => retracted !== true);
  return [
    ...papers.map((paper) => {
      const { id, title, abstract, override } = paper;
      // A user's decision on eligibility counts more than the score.
      const kept = override === undefined ? !isDecided(paper) || paper.status !== "rejected" : isIncluded(override);
      return { id, title, abstract, kept };
    }),
    ...(rrd.excluded ?? [])
      .filter(({ stage, override }) => override !== undefined || !formalStages.has(stage ?? ""))
      .map(({ id, title }) => ({ id, title: title ?? "", kept: false })),
  ];
}

const isIncluded = ({ decision }: Override): boolean => decision !== "exclude";
