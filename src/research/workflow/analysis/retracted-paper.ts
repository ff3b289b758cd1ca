import type { Paper } from "../../generated/rrd.js";
import type { UpdateCheck } from "../../paper-services/kept-retraction-checks.js";
import { flat } from "../derived/markdown.js";
import { checkedFields, isRetraction } from "../report/warn-of-retractions.js";
import { type Acceptable, changeOf, dayOf, type Judging } from "../result/accepted-result.js";

/** Whether a paper is known to be retracted or withdrawn, by its record or by this check of it. */
export const isRetracted = (paper: Paper, check: UpdateCheck | undefined): boolean =>
  paper.retracted === true || check?.updates.some(isRetraction) === true;

/** What a check found of a paper, for its record; nothing where it found nothing or nobody could be asked. */
export const findingOf = (paper: Paper, check: UpdateCheck | undefined): Partial<Paper> =>
  check === undefined || check.updates.length === 0 ? {} : checkedFields(paper, check);

/** Rejects a retracted paper that nobody has read: whatever an agent found in it, it would not be presented. */
export function acceptRetractedPaper(
  paper: Paper,
  check: UpdateCheck | undefined,
  { iteration, at }: Judging,
): Acceptable {
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
    changes: [changeOf(paper, set)],
    progress: lines.map(flat).join("\n"),
    summary: "REJECT, retracted before it was read",
    notice: { level: "warning", message: `${paper.title} (${paper.id}) is retracted, so no agent reads it.` },
    // What an earlier iteration found stands on its line.
    ...(paper.retracted === true ? {} : { ledger: { retracted: [paper.id] } }),
  };
}
