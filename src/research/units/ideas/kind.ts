import { currentAccepted } from "../../../engine/storage/state/ledger.js";
import type { IdeationResult } from "../../generated/result-ideation.js";
import { openUpdate } from "../../derived/open-update.js";
import { isStatedPhase, ideaRange } from "../../derived/status.js";
import { ideasDocuments } from "../../project-files/layout.js";
import { isIneligible } from "../../screening/eligibility/eligibility.js";
import { ownRubricOf, usesScores } from "../../papers/rubric/rubric.js";
import { startAlone } from "../single-unit.js";
import { briefInput, type Material, type UnitKind } from "../unit-kind.js";

/** Product ideas from the papers, if the user asks for them. */
export const ideas: UnitKind<Material, IdeationResult> = {
  name: "ideas",
  phase: "IDEATION",
  part: "IDEATION",
  schema: "result-ideation",
  estimate: { input: briefInput, output: 4_000, minutes: 3 },
  product: "the ideas",
  documents: ideasDocuments,
  activityText: () => "writes product ideas",
  timed: "once",
  owns: ({ unit }) => unit === "ideas",
  // No ideas may be based on retracted papers, or on papers that are not eligible.
  isWanted: ({ rrd, status }) =>
    status.refusedPapers.length === 0 &&
    rrd.handoff?.product_ideation?.enabled === true &&
    usesScores(rrd) &&
    ownRubricOf(rrd) === undefined &&
    !(status.isAllRead && rrd.papers_pool.every((paper) => paper.retracted || isIneligible(paper))),
  isDone: ({ rrd, status }) =>
    // An update writes the report again, but does not require new ideas.
    (status.acceptedIterations.get("ideas") ?? 0) >
      ((rrd.updates ?? []).length > 0 ? 0 : (status.acceptedIterations.get("report") ?? 0)) ||
    isStatedPhase(rrd, status, ["COMPLETE"]),
  remainingUnits: ({ rrd, ledger }, isDone) =>
    isDone || (openUpdate(rrd) !== undefined && currentAccepted(ledger).has("ideas")) ? 0 : 1,
  placeholders(rrd) {
    const { min, max } = ideaRange(rrd);
    return { MIN_IDEAS: min, MAX_IDEAS: max };
  },
  next(project, choosing) {
    return startAlone(project, { kind: this.name, id: "ideas", phase: this.phase, title: "Product ideas" }, choosing);
  },
  basis: () => [],
  reset: (rrd) => ({
    rrd: { ...rrd, phase: rrd.phase === "COMPLETE" ? "IDEATION" : rrd.phase },
    message: "The ideas will be derived again",
  }),
  load: async () => (await import("./work.js")).work,
};
