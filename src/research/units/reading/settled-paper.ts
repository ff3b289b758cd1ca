import type { Paper } from "../../generated/rrd.js";
import type { UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import { isDecided } from "../../papers/rubric/rubric.js";
import { abstractOf } from "../../papers/read-depth.js";
import { flat } from "../../project-files/markdown.js";
import { type Acceptance, changeOf, dayOf, type JudgingContext } from "../judged-result.js";
import type { TextMaterial } from "../paper-text/prepare-text.js";
import { checkedFields, isRetraction } from "../retractions.js";

/** What is known of a paper besides its record when its reading is judged. */
export interface PaperMaterial extends TextMaterial {
  /** What happened to the paper since it was published. */
  readonly check?: UpdateCheck;
  /** What its document tells that its record does not know: where it lies now, its names, authors and journal. */
  readonly own?: Partial<Paper>;
}

/** Whether code alone can do a paper: it is retracted, or nothing but its title could be had. */
export const isSettledPaper = (paper: Paper, { check, unavailable }: PaperMaterial): boolean =>
  isRetracted(paper, check) || (unavailable !== undefined && abstractOf(paper) === "");

/** Decides a paper of which `isSettledPaper` holds. */
export function settlePaper(paper: Paper, material: PaperMaterial, judging: JudgingContext): Acceptance {
  const { check, unavailable } = material;
  return unavailable === undefined || isRetracted(paper, check)
    ? rejectRetracted(paper, material, judging)
    : notRetrieved(paper, { ...material, unavailable }, judging);
}

/** Whether a paper is known to be retracted or withdrawn, by its record or by this check of it. */
export const isRetracted = (paper: Paper, check: UpdateCheck | undefined): boolean =>
  paper.retracted === true || check?.updates.some(isRetraction) === true;

/** What was found of a paper besides its text, for its record: by a check of it, and in its document. */
export const findingOf = (paper: Paper, { check, own }: PaperMaterial): Partial<Paper> => ({
  ...own,
  ...(check === undefined || check.updates.length === 0 ? {} : checkedFields(paper, check)),
});

/** Rejects a retracted paper that nobody has read: whatever an agent found in it, it would not be presented. */
function rejectRetracted(paper: Paper, material: PaperMaterial, { iteration, at }: JudgingContext): Acceptance {
  const finding = findingOf(paper, material);
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
  return {
    changes: [changeOf(paper, set)],
    progress: entryOf(paper, at, "REJECTED", "a retracted paper is not read", set.warnings ?? []),
    summary: "REJECT, retracted before it was read",
    notice: { level: "warning", message: `${paper.title} (${paper.id}) is retracted, so no agent reads it.` },
    // What an earlier iteration found stands on its line.
    ...(paper.retracted === true ? {} : { ledger: { retracted: [paper.id] } }),
  };
}

/** Records that a paper could not be had. One that was read before, and should be read again, stays as it was read. */
function notRetrieved(
  paper: Paper,
  material: PaperMaterial & { readonly unavailable: string },
  { iteration, at }: JudgingContext,
): Acceptance {
  const { unavailable, tried = "", replacementFiles } = material;
  const finding = findingOf(paper, material);
  if (isDecided(paper)) {
    const warning = `The text has changed since it was read and could not be had again: ${unavailable}`;
    const set = { ...finding, warnings: [...(finding.warnings ?? paper.warnings ?? []), warning], iteration };
    return {
      changes: [changeOf(paper, set)],
      progress: entryOf(paper, at, paper.status.toUpperCase(), "its text could not be had again", [unavailable]),
      summary: "stays as it was read, its text could not be had again",
    };
  }
  const cure =
    replacementFiles === undefined
      ? "'research-ralph add' with the paper's file as a PDF gives it a text."
      : `A readable document beside it (${replacementFiles.join(" or ")}) is read by the next run.`;
  const set: Partial<Paper> = {
    ...finding,
    status: "not_retrieved",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    not_retrieved: { reason: unavailable, cure, tried },
    iteration,
  };
  return {
    changes: [changeOf(paper, set)],
    progress: entryOf(paper, at, "NOT RETRIEVED", "nothing but its title could be had", [unavailable, cure]),
    summary: "not retrieved, so no agent reads it",
    notice: {
      level: "warning",
      message: `${paper.title} (${paper.id}) could not be retrieved: ${unavailable} ${cure}`,
    },
  };
}

/** The entry of progress.txt, in the original's form. */
function entryOf({ id, title }: Paper, at: Date, status: string, why: string, remarks: readonly string[]): string {
  const head = [`## ${dayOf(at)} - Paper: ${title}`, `ID: ${id}`, `Status: ${status}`, `Score: none, because ${why}`];
  return [...head, "", ...remarks.map((remark) => `- ${remark}`)].map(flat).join("\n");
}
