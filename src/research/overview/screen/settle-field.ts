import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { maxMessageChars } from "../../../engine/storage/state/steering-inbox.js";
import { lastCachedText } from "../../full-text/text-cache.js";
import type { Field, Paper, Rrd, Settled } from "../../generated/rrd.js";
import { nameOf } from "../../papers/paper-keys.js";
import { fieldNamed, formOf } from "../../project-files/form.js";
import { textsFolder } from "../../project-files/layout.js";
import { readResearch } from "../../project-files/research.js";
import { type FieldAnswers, answersFor, applyDecision } from "../../units/form/agreement.js";
import { checkUserValue, textOf } from "../../units/form/check-values.js";
import { isExtractable } from "../../units/form/open-forms.js";
import { decisionMessage } from "../../units/form/settled.js";
import { editOrLeave, type LeaveOptions } from "../edit-or-leave.js";
import { recordNamed } from "../which-record.js";

/** The user's decision on a field on which two agents differ. */
export interface FieldChoice {
  /** A paper, by a name that `recordNamed` accepts. */
  readonly paper: string;
  /** The name or id of the field. */
  readonly field: string;
  /** "first", "second" or "own". */
  readonly take: string;
  /** Only for "own": the user's value. */
  readonly value?: string;
  /** Only for "own": the paper's words with this value. */
  readonly quote?: string;
  readonly why?: string;
}

export interface SettleOptions extends LeaveOptions {
  /** The name of the project for the user. */
  readonly where: string;
  /** Updates the report, if there is one. */
  show(): Promise<unknown>;
}

/** The result of the decision. */
export interface FieldChoiceResult {
  /** The paper's id. */
  readonly paper: string;
  readonly settled: Settled;
  /** The value that counts; absent if the chosen agent reported none. */
  readonly value?: string | readonly string[];
  /** False while a run works on the project; it applies the decision before its next iteration. */
  readonly applied: boolean;
  /** One sentence. */
  readonly says: string;
}

/**
 * Stores which value counts for a field on which two agents differ: the value of one of them, or the user's own, which
 * is checked like theirs if it has a quote. The documents are updated at once. While a run holds the project, the
 * decision is left for the run, which applies it before its next iteration.
 * @throws ExpectedError (exit code 2) without storing anything: if `take` is unknown, if the
 * agents do not differ, or if the value or quote is invalid.
 */
export async function settleField(
  folder: string,
  choice: FieldChoice,
  options: SettleOptions,
): Promise<FieldChoiceResult> {
  const { where, now, show } = options;
  const { rrd } = await readResearch(folder);
  const field = fieldNamed(formOf(rrd), choice.field);
  const { id } = recordNamed(rrd, choice.paper, where);
  const paper = rrd.papers_pool.find((candidate) => candidate.id === id);
  const answers = paper === undefined ? undefined : answersFor(paper, field);
  const name = oneLine(paper === undefined ? choice.paper : nameOf(paper));
  if (paper === undefined || answers?.agree !== false)
    throw new ExpectedError(`On ${field.name} of ${name} no two agents differ, so there is nothing to settle.`, 2);
  const settled = await toSettled(folder, choice, field, paper, new Date(now).toISOString());
  const decision = { paper: id, settled };
  const editedRrd = await editOrLeave(
    folder,
    (current) => applyDecision(current, decision),
    [decisionMessage(decision)],
    options,
  );
  if (editedRrd !== undefined) await show();
  const { value } = (settled.take === "own" ? settled.own : answers[settled.take]) ?? {};
  const valueText = value === undefined ? "not reported" : oneLine(textOf(value));
  const when = editedRrd === undefined ? " A run is under way and takes this before its next iteration." : "";
  return {
    paper: id,
    settled,
    ...withoutUndefined({ value }),
    applied: editedRrd !== undefined,
    says: `${name}, ${field.name}: ${valueText} counts.${when}`,
  };
}

async function toSettled(
  folder: string,
  { take, value, quote, why: words = "" }: FieldChoice,
  field: Field,
  paper: Paper,
  at: string,
): Promise<Settled> {
  const why = oneLine(words).trim();
  if (why.length > maxMessageChars)
    throw new ExpectedError(`The reason has ${why.length} characters; at most ${maxMessageChars} are allowed.`, 2);
  const reasonAndTime = { ...(why === "" ? {} : { why }), at };
  if (take !== "first" && take !== "second" && take !== "own")
    throw new ExpectedError(
      `'${oneLine(take)}' is neither first, second nor own; name the agent whose value counts, or give your own.`,
      2,
    );
  if (take !== "own") {
    if (value !== undefined || quote !== undefined)
      throw new ExpectedError(`The ${take} agent's value counts as it is; a value of your own goes with 'own'.`, 2);
    return { field: field.id, take, ...reasonAndTime };
  }
  if (value === undefined) throw new ExpectedError("Your own value is missing; give it with --value.", 2);
  const text = await lastCachedText(textsFolder(folder), paper.id);
  const ownAnswer = await checkUserValue(field, { value, quote }, text, paper);
  if (typeof ownAnswer === "string")
    throw new ExpectedError(`Your value for ${field.name} can't be kept. ${ownAnswer}`, 2);
  return { field: field.id, take, own: { ...ownAnswer, by: "a person" }, ...reasonAndTime };
}

/** The cells of the table on which two agents differ, undecided ones first. */
export function differences(
  rrd: Rrd,
): readonly { readonly paper: Paper; readonly field: Field; readonly answers: FieldAnswers }[] {
  const all = rrd.papers_pool.filter(isExtractable).flatMap((paper) =>
    formOf(rrd).flatMap((field) => {
      const answers = answersFor(paper, field);
      return answers.agree === false ? [{ paper, field, answers }] : [];
    }),
  );
  return all.toSorted((a, b) => Number(a.answers.settled !== undefined) - Number(b.answers.settled !== undefined));
}
