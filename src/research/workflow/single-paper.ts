import type { Paper, Rrd } from "../generated/rrd.js";
import type { Account } from "../../engine/loop/types.js";
import type { ResearchWorkflow } from "./workflow.js";
import { newRrd } from "./new-research.js";
import { zeroSpending } from "../../engine/loop/stop-conditions/budget.js";
import { maxRefusals, undecidedFields } from "../derived/status.js";
import { isDecided } from "../papers/rubric/rubric.js";

/** A project with one paper, for `read`, without report and ideas. Without a rubric, the paper gets no points. */
export function rrdForPaper(
  paper: Pick<Paper, "id" | "title"> & Partial<Paper>,
  sources: readonly string[],
  rubric: NonNullable<Rrd["rubric"]> = "none",
): Rrd {
  const rrd = newRrd(
    { papers: 1, sources, rubric },
    { name: "one paper", description: "", focus_area: "", keywords: [] },
  );
  const record: Paper = { ...paper, ...undecidedFields, priority: 5, notes: "" };
  return {
    ...rrd,
    project: `Reading ${paper.title}`,
    description: "Judge this one paper by itself.",
    phase: "ANALYSIS",
    papers_pool: [record],
  };
}

/** A workflow that ends when the paper is decided or given up. */
export const readingWorkflow = (workflow: ResearchWorkflow): ResearchWorkflow => ({
  ...workflow,
  name: "read",
  account: (state) => withoutForecast(workflow.account?.(state)),
  next: (state, busy, later) => {
    if (state.rrd.papers_pool.every(isDecided)) return { verdict: "complete", reason: "The paper is read." };
    const [delay] = later;
    if (delay !== undefined) return { verdict: "blocked", reason: `${delay.reason} Read it again later.` };
    if (state.status.readablePapers.length > 0) return workflow.next(state, busy, later);
    return {
      verdict: "blocked",
      reason: `The agent's results were refused ${maxRefusals} times; another --agent may do better.`,
    };
  },
});

/** The account without a forecast, because there are no search and no report. */
function withoutForecast(account: Account | undefined): Account {
  const { forecast: _, ...rest } = account ?? { spent: zeroSpending, budget: {} };
  return rest;
}
