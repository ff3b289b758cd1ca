import type { Outcome, Work } from "../../../engine/loop/types.js";
import type { Paper } from "../../generated/rrd.js";
import type { UpdateCheck } from "../../paper-services/kept-retraction-checks.js";
import { flat } from "../derived/markdown.js";
import { paperOf, type ResearchState, type ResearchUnit } from "../derived/state.js";
import { checkedFields, isRetraction } from "../report/warn-of-retractions.js";
import { dayOf } from "../result/accepted-result.js";
import { foldSettled, type Settling } from "../result/settled-unit.js";

/** Whether a paper is known to be retracted or withdrawn, by its record or by this check of it. */
export const isRetracted = (paper: Paper, check: UpdateCheck | undefined): boolean =>
  paper.retracted === true || check?.updates.some(isRetraction) === true;

/** What a check found of a paper, for its record; nothing where it found nothing or nobody could be asked. */
export const findingOf = (paper: Paper, check: UpdateCheck | undefined): Partial<Paper> =>
  check === undefined || check.updates.length === 0 ? {} : checkedFields(paper, check);

/** Rejects a retracted paper that nobody has read: whatever an agent found in it, it would not be presented. */
export async function acceptRetractedPaper(
  settling: Settling,
  { rrd }: ResearchState,
  unit: ResearchUnit,
  check: UpdateCheck | undefined,
  prepareMs: number,
  { tell }: Pick<Work, "tell">,
): Promise<Outcome> {
  const paper = paperOf(rrd, unit.id);
  if (paper === undefined) throw new Error(`${unit.id} was settled although it is not in the pool`);
  const outcome = await foldSettled(settling, unit, prepareMs, ({ iteration, at }) => {
    const finding = findingOf(paper, check);
    const warnings = finding.warnings ?? paper.warnings ?? [];
    const set: Partial<Paper> = {
      ...finding,
      retracted: true,
      status: "rejected",
      score: null,
      score_breakdown: null,
      analysis: null,
      decision: "REJECT",
      notes: `${paper.notes ?? ""} (Not read: the paper was retracted.)`.trim(),
      warnings: warnings.length > 0 ? warnings : ["Retracted."],
      iteration,
    };
    const lines = [
      `## ${dayOf(at)} - Paper: ${paper.title}`,
      `ID: ${paper.id}`,
      "Status: REJECTED",
      "Score: none, because a retracted paper is not read",
      "",
      ...(set.warnings ?? []).map((warning) => `- ${warning}`),
    ];
    return {
      changes: [
        {
          in: "papers_pool",
          id: paper.id,
          set,
          was: Object.fromEntries(Object.keys(set).map((field) => [field, paper[field]])),
        },
      ],
      progress: lines.map(flat).join("\n"),
      summary: "REJECT, retracted before it was read",
      // What an earlier iteration found stands on its line.
      ...(paper.retracted === true ? {} : { ledger: { retracted: [paper.id] } }),
    };
  });
  await tell({
    type: "notice",
    level: "warning",
    message: `${unit.title} (${unit.id}) is retracted, so no agent reads it.`,
  });
  return outcome;
}
