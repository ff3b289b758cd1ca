import { createHash } from "node:crypto";
import { paperOf } from "../../derived/status.js";
import type { Extracted, Field, Paper, Rrd } from "../../generated/rrd.js";
import { formOf } from "../../project-files/form.js";
import type { TextMaterial } from "../paper-text/prepare-text.js";

/** Which of two agents fills in a form: the one that reads the paper, or a second one that sees nothing of it. */
export type Filler = "first" | "second";

/** Stands for what a field asks: its words, type, unit and choices. */
export const stampOf = ({ name, ask = "", type = "text", unit = "", choices = [] }: Field): string =>
  createHash("sha256")
    .update(JSON.stringify([name, ask, type, unit, choices]))
    .digest("hex")
    .slice(0, 12);

/** What one of the two gave for a field as it is asked now; undefined where it was not asked that. */
export function givenBy(
  filler: Filler,
  { extracted, extracted_again: again }: Pick<Paper, "extracted" | "extracted_again">,
  field: Field,
): Extracted | undefined {
  const given = ((filler === "first" ? extracted : again) ?? []).find((each) => each.field === field.id);
  return given === undefined || (given.asked !== undefined && given.asked !== stampOf(field)) ? undefined : given;
}

/** Whether fields are extracted from a paper: it was read, and nothing rejects it. */
export const isExtractable = ({ status, analysis, retracted }: Paper): boolean =>
  retracted !== true &&
  analysis != null &&
  (status === "presented" || status === "insights_extracted" || status === "waiting");

/** The fields that one of the two has not answered. */
export const fieldsToFill = (rrd: Pick<Rrd, "requirements">, paper: Paper, filler: Filler): readonly Field[] =>
  formOf(rrd).filter((field) => (givenBy(filler, paper, field)?.status ?? "not-answered") === "not-answered");

/** A form that is to be filled in. */
export interface OpenForm {
  readonly paper: Paper;
  readonly filler: Filler;
}

/** The forms that are to be filled in, paper by paper. */
export const openForms = (rrd: Pick<Rrd, "papers_pool" | "requirements">): readonly OpenForm[] =>
  rrd.papers_pool.flatMap((paper) =>
    isExtractable(paper) && formOf(rrd).length > 0
      ? (paper.fill_form ?? []).map((filler): OpenForm => ({ paper, filler }))
      : [],
  );

/** The state in which these have to fill in what they have not answered; unchanged where nothing is left to ask. */
export function withFormsOpen(rrd: Rrd, fillers: readonly Filler[]): Rrd {
  const papers_pool = rrd.papers_pool.map((paper) => {
    if (!isExtractable(paper)) return paper;
    const before = paper.fill_form ?? [];
    const wanted = fillers.filter((filler) => fieldsToFill(rrd, paper, filler).length > 0);
    const all = (["first", "second"] as const).filter((each) => before.includes(each) || wanted.includes(each));
    return all.length === before.length ? paper : { ...paper, fill_form: all };
  });
  return { ...rrd, papers_pool };
}

/** The text of a paper, and whether a report shows what is found. */
export interface ExtractMaterial extends TextMaterial {
  readonly hasReport?: boolean;
  /** Its results were refused so often that nobody is asked again. */
  readonly isGivenUp?: boolean;
}

/** The unit that fills it in. */
export const unitOf = ({ paper: { id }, filler }: OpenForm): string => `extract-${filler}-${id}`;

/** Whose form of which paper a unit is about. */
export function formMeant(rrd: Rrd, unit: string): OpenForm | undefined {
  const [, filler, id = ""] = /^extract-(first|second)-(.*)$/s.exec(unit) ?? [];
  const paper = paperOf(rrd, id);
  return filler === undefined || paper === undefined ? undefined : { paper, filler: filler as Filler };
}
