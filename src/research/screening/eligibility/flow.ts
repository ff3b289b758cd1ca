import type { Flow, Paper, Rrd } from "../../generated/rrd.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { answersAt, eligibilityReport, type ExclusionCount, exclusionOf, isWaiting } from "./eligibility.js";

/**
 * The stages of a PRISMA flow that the criteria decide, from the records alone; nothing where there are no criteria.
 * Each record is counted in one place, so what goes into a stage is the sum of what comes out of it.
 */
export function eligibilityFlow(rrd: Rrd): Pick<Flow, "screened" | "screening" | "full_text"> {
  if (criteriaOf(rrd).length === 0) return {};
  const pool = rrd.papers_pool;
  const { screening, fullText } = eligibilityReport(rrd);
  const passed = pool.filter(({ answers }) => answersAt("screening", answers).length > 0).length;
  const screened = passed + sum(screening);
  const count = (isOne: (paper: Paper) => boolean) =>
    pool.filter((paper) => exclusionOf(paper) === undefined && isOne(paper)).length;
  const notRead = count(({ status }) => status === "pending" || status === "analyzing");
  const waiting = count(isWaiting);
  const missing = count(({ status }) => status === "not_retrieved");
  return {
    screened,
    screening: { screened, excluded: byReason(screening), passed },
    full_text: {
      added: pool.length - passed,
      sought: pool.length,
      not_read: notRead,
      ...(missing === 0 ? {} : { not_retrieved: missing }),
      excluded: byReason(fullText),
      waiting,
      included: pool.length - notRead - missing - sum(fullText) - waiting,
    },
  };
}

const sum = (counts: readonly ExclusionCount[]): number => counts.reduce((total, { count }) => total + count, 0);

const byReason = (counts: readonly ExclusionCount[]): Record<string, number> =>
  Object.fromEntries(counts.map(({ reason, count }) => [reason, count]));
