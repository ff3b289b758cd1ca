import type { Paper, Rrd } from "../generated/rrd.js";
import type { Workflow } from "../../engine/loop/types.js";
import { newRrd } from "./new-research.js";
import type { ResearchState } from "./records/state.js";
import { isDecided, refusalLimit } from "./records/status.js";

/** A research of one paper, for `read`: judged by both rubrics, no report, no ideas. */
export function rrdForOne(paper: Pick<Paper, "id" | "title"> & Partial<Paper>, sources: readonly string[]): Rrd {
  const rrd = newRrd({ papers: 1, sources }, { name: "one paper", description: "", focus_area: "", keywords: [] });
  const record: Paper = {
    ...paper,
    status: "pending",
    priority: 5,
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    notes: "",
  };
  return {
    ...rrd,
    project: `Reading ${paper.title}`,
    description: "Judge this one paper by itself.",
    phase: "ANALYSIS",
    papers_pool: [record],
  };
}

/** One paper is left, as everybody can see; a research's own batches and report never come. */
const withoutForecast =
  (account: NonNullable<Workflow<ResearchState>["account"]>): NonNullable<Workflow<ResearchState>["account"]> =>
  (state) => {
    const { forecast: _, ...rest } = account(state);
    return rest;
  };

/** The workflow of a research, ended as soon as its papers are decided or given up: there is no folder to go on with. */
export const readingWorkflow = (workflow: Workflow<ResearchState>): Workflow<ResearchState> => ({
  ...workflow,
  name: "read",
  ...(workflow.account === undefined ? {} : { account: withoutForecast(workflow.account) }),
  next: (state, inFlight) => {
    if (state.rrd.papers_pool.every(isDecided)) return { verdict: "complete", reason: "The paper is read." };
    const later = state.deferred?.[0];
    if (later !== undefined) return { verdict: "blocked", reason: `${later.reason} Read it again later.` };
    if (state.standing.readable.length > 0) return workflow.next(state, inFlight);
    return {
      verdict: "blocked",
      reason: `The agent's results were refused ${refusalLimit} times; another --agent may do better.`,
    };
  },
});
