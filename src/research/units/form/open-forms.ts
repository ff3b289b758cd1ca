import { createHash } from "node:crypto";
import { paperOf } from "../../derived/status.js";
import type { Extracted, Field, Paper, Rrd } from "../../generated/rrd.js";
import { formOf } from "../../project-files/form.js";
import type { TextMaterial } from "../paper-text/prepare-text.js";

/**
 * The agent that fills in a form: the one that reads the paper, or a second one that does not see the first one's
 * answers.
 */
export type Filler = "first" | "second";

/** A hash of a field's name, question, type, unit and choices. */
export const fieldHash = ({ name, ask = "", type = "text", unit = "", choices = [] }: Field): string =>
  createHash("sha256")
    .update(JSON.stringify([name, ask, type, unit, choices]))
    .digest("hex")
    .slice(0, 12);

/** An agent's answer to the present version of a field; undefined if the agent answered another version or none. */
export function answerBy(
  filler: Filler,
  { extracted, extracted_again: secondAnswers }: Pick<Paper, "extracted" | "extracted_again">,
  field: Field,
): Extracted | undefined {
  const answer = ((filler === "first" ? extracted : secondAnswers) ?? []).find((each) => each.field === field.id);
  return answer === undefined || (answer.asked !== undefined && answer.asked !== fieldHash(field)) ? undefined : answer;
}

/** Whether fields are extracted from a paper: it was read and not rejected. */
export const isExtractable = ({ status, analysis, retracted }: Paper): boolean =>
  retracted !== true &&
  analysis != null &&
  (status === "presented" || status === "insights_extracted" || status === "waiting");

/** The fields that this agent has not answered. */
export const fieldsToFill = (rrd: Pick<Rrd, "requirements">, paper: Paper, filler: Filler): readonly Field[] =>
  formOf(rrd).filter((field) => (answerBy(filler, paper, field)?.status ?? "not-answered") === "not-answered");

/** A form that an agent must fill in. */
export interface OpenForm {
  readonly paper: Paper;
  readonly filler: Filler;
}

/** The forms that agents must fill in, in the order of the papers. */
export const openForms = (rrd: Pick<Rrd, "papers_pool" | "requirements">): readonly OpenForm[] =>
  rrd.papers_pool.flatMap((paper) =>
    isExtractable(paper) && formOf(rrd).length > 0
      ? (paper.fill_form ?? []).map((filler): OpenForm => ({ paper, filler }))
      : [],
  );

/**
 * Asks these agents to answer the fields that they have not answered. Returns the changed state; unchanged if no answer
 * is missing.
 */
export function reopenForms(rrd: Rrd, fillers: readonly Filler[]): Rrd {
  const papers_pool = rrd.papers_pool.map((paper) => {
    if (!isExtractable(paper)) return paper;
    const openFillers = paper.fill_form ?? [];
    const newFillers = fillers.filter((filler) => fieldsToFill(rrd, paper, filler).length > 0);
    const fillersAfter = (["first", "second"] as const).filter(
      (each) => openFillers.includes(each) || newFillers.includes(each),
    );
    return fillersAfter.length === openFillers.length ? paper : { ...paper, fill_form: fillersAfter };
  });
  return { ...rrd, papers_pool };
}

/** The text of a paper, and whether there is a report that shows the answers. */
export interface ExtractMaterial extends TextMaterial {
  readonly hasReport?: boolean;
  /** The results were refused too often, so no agent is started again. */
  readonly isGivenUp?: boolean;
}

/** The id of the unit that fills in this form. */
export const formUnitId = ({ paper: { id }, filler }: OpenForm): string => `extract-${filler}-${id}`;

/** The form that a unit fills in. */
export function formOfUnit(rrd: Rrd, unit: string): OpenForm | undefined {
  const [, filler, id = ""] = /^extract-(first|second)-(.*)$/s.exec(unit) ?? [];
  const paper = paperOf(rrd, id);
  return filler === undefined || paper === undefined ? undefined : { paper, filler: filler as Filler };
}
