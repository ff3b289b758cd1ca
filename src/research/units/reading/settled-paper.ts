import type { Paper } from "../../generated/rrd.js";
import type { UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import { nameOf } from "../../papers/paper-keys.js";
import { decisionWord, isDecided } from "../../papers/rubric/rubric.js";
import { abstractOf } from "../../papers/read-depth.js";
import { onOneLine } from "../../project-files/markdown.js";
import { type Acceptance, changeOf, dayOf, type JudgingContext } from "../judged-result.js";
import type { TextMaterial } from "../paper-text/prepare-text.js";
import { checkedFields, isRetraction } from "../retractions.js";

/** The material with which a reading is judged, in addition to the paper's record. */
export interface PaperMaterial extends TextMaterial {
  /** The paper's updates since its publication. */
  readonly check?: UpdateCheck;
  /**
   * Fields from the paper's document that its record does not have: its new place, identifiers, authors and journal.
   */
  readonly documentFields?: Partial<Paper>;
}

/** Whether a paper needs no agent: it is retracted, or nothing but its title is available. */
export const needsNoReader = (paper: Paper, { check, unavailable }: PaperMaterial): boolean =>
  isKnownRetracted(paper, check) || (unavailable !== undefined && abstractOf(paper) === "");

/** Decides a paper for which `needsNoReader` is true. */
export function decideUnread(paper: Paper, material: PaperMaterial, judging: JudgingContext): Acceptance {
  const { check, unavailable } = material;
  return unavailable === undefined || isKnownRetracted(paper, check)
    ? rejectRetracted(paper, material, judging)
    : recordNotRetrieved(paper, { ...material, unavailable }, judging);
}

/** Whether a paper is retracted or withdrawn, according to its record or to this check. */
export const isKnownRetracted = (paper: Paper, check: UpdateCheck | undefined): boolean =>
  paper.retracted === true || check?.updates.some(isRetraction) === true;

/** The fields for the record that the check of a paper and its document gave. */
export const foundFields = (paper: Paper, { check, documentFields }: PaperMaterial): Partial<Paper> => ({
  ...documentFields,
  ...(check === undefined || check.updates.length === 0 ? {} : checkedFields(paper, check)),
});

/** Rejects a retracted paper without reading: it could not be presented whatever an agent found. */
function rejectRetracted(paper: Paper, material: PaperMaterial, { iteration, at }: JudgingContext): Acceptance {
  const finding = foundFields(paper, material);
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
    summary: `${decisionWord("REJECT")}, retracted before it was read`,
    notice: { level: "warning", message: `${paper.title} (${paper.id}) is retracted, so no agent reads it.` },
    // If the record already says that the paper is retracted, an earlier ledger line says it too.
    ...(paper.retracted === true ? {} : { ledger: { retracted: [paper.id] } }),
  };
}

/** Records that a paper is not available. A paper that was read before keeps its reading. */
function recordNotRetrieved(
  paper: Paper,
  material: PaperMaterial & { readonly unavailable: string },
  { iteration, at }: JudgingContext,
): Acceptance {
  const { unavailable, tried = "" } = material;
  const finding = foundFields(paper, material);
  if (isDecided(paper)) {
    const warning = `The text has changed since it was read, and the new text is not available: ${unavailable}`;
    const set = { ...finding, warnings: [...(finding.warnings ?? paper.warnings ?? []), warning], iteration };
    return {
      changes: [changeOf(paper, set)],
      progress: entryOf(paper, at, paper.status.toUpperCase(), "its new text is not available", [unavailable]),
      summary: "keeps its earlier reading, its new text is not available",
    };
  }
  const advice = adviceFor(paper, material);
  const set: Partial<Paper> = {
    ...finding,
    status: "not_retrieved",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    not_retrieved: { reason: unavailable, cure: advice, tried },
    iteration,
  };
  return {
    changes: [changeOf(paper, set)],
    progress: entryOf(paper, at, "NOT RETRIEVED", "only its title is available", [unavailable, advice]),
    summary: "not retrieved, so no agent reads it",
    notice: {
      level: "warning",
      message: `${paper.title} (${nameOf(paper)}) could not be retrieved: ${unavailable} ${advice}`,
    },
  };
}

/** What the user can do for a paper that could not be retrieved. */
function adviceFor(paper: Paper, { replacementFiles, mayComeLater }: PaperMaterial): string {
  if (replacementFiles === undefined) {
    const again = `'research-ralph reset' with --paper ${nameOf(paper)} has it tried again later, and `;
    return `${mayComeLater === true ? again : ""}'research-ralph add' with the paper's file as a PDF gives it a text.`;
  }
  return replacementFiles.length === 0
    ? "Write more into it, or remove it."
    : `A readable document beside it (${replacementFiles.join(" or ")}) is read by the next run.`;
}

/** The entry in progress.txt, in the original's form. */
function entryOf({ id, title }: Paper, at: Date, status: string, why: string, remarks: readonly string[]): string {
  const head = [`## ${dayOf(at)} - Paper: ${title}`, `ID: ${id}`, `Status: ${status}`, `Score: none, because ${why}`];
  return [...head, "", ...remarks.map((remark) => `- ${remark}`)].map(onOneLine).join("\n");
}
