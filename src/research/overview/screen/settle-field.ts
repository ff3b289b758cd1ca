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
import { type FieldAnswers, answersFor, withDecision } from "../../units/form/agreement.js";
import { checkUserValue, textOf } from "../../units/form/check-values.js";
import { isExtractable } from "../../units/form/open-forms.js";
import { decisionMessage } from "../../units/form/settled.js";
import { editOrLeave, type LeaveOptions } from "../edit-or-leave.js";
import { recordNamed } from "../which-record.js";

/** What a person says of a field on which two agents differ. */
export interface SaidOfField {
  /** A paper, as `recordNamed` takes it. */
  readonly paper: string;
  /** Name or id of the field. */
  readonly field: string;
  /** "first", "second" or "own". */
  readonly take: string;
  /** The person's own value, and the paper's words that show it, of "own" alone. */
  readonly value?: string;
  readonly quote?: string;
  readonly why?: string;
}

export interface SettleOptions extends LeaveOptions {
  /** The project as the person knows it. */
  readonly where: string;
  /** Shows the change in the report, where one is written. */
  show(): Promise<unknown>;
}

/** What came of it. */
export interface SettledBy {
  /** Id of the paper. */
  readonly paper: string;
  readonly settled: Settled;
  /** The value that counts; absent where the one that is followed found nothing reported. */
  readonly value?: string | readonly string[];
  /** False while a run is under way, which takes it before its next iteration. */
  readonly applied: boolean;
  /** One sentence. */
  readonly says: string;
}

/**
 * Writes whose value counts for a field on which two agents differ: that of one of them, or the person's own, which is
 * checked like theirs where it has a quote. The documents show it at once. While a run holds the project, it is left
 * for it and taken before its next iteration.
 * @throws ExpectedError (exit code 2), and writes nothing, for another word than first, second and own, where the two
 * do not differ, and for a value or a quote that can't be kept.
 */
export async function settleField(folder: string, said: SaidOfField, options: SettleOptions): Promise<SettledBy> {
  const { where, now, show } = options;
  const { rrd } = await readResearch(folder);
  const field = fieldNamed(formOf(rrd), said.field);
  const { id } = recordNamed(rrd, said.paper, where);
  const paper = rrd.papers_pool.find((each) => each.id === id);
  const answered = paper === undefined ? undefined : answersFor(paper, field);
  const name = oneLine(paper === undefined ? said.paper : nameOf(paper));
  if (paper === undefined || answered?.agree !== false)
    throw new ExpectedError(`On ${field.name} of ${name} no two agents differ, so there is nothing to settle.`, 2);
  const settled = await settledOf(folder, said, field, paper, new Date(now).toISOString());
  const one = { paper: id, settled };
  const edited = await editOrLeave(folder, (current) => withDecision(current, one), [decisionMessage(one)], options);
  if (edited !== undefined) await show();
  const { value } = (settled.take === "own" ? settled.own : answered[settled.take]) ?? {};
  const counts = value === undefined ? "not reported" : oneLine(textOf(value));
  const when = edited === undefined ? " A run is under way and takes this before its next iteration." : "";
  return {
    paper: id,
    settled,
    ...withoutUndefined({ value }),
    applied: edited !== undefined,
    says: `${name}, ${field.name}: ${counts} counts.${when}`,
  };
}

async function settledOf(
  folder: string,
  { take, value, quote, why: words = "" }: SaidOfField,
  field: Field,
  paper: Paper,
  at: string,
): Promise<Settled> {
  const why = oneLine(words).trim();
  if (why.length > maxMessageChars)
    throw new ExpectedError(`The reason has ${why.length} characters; at most ${maxMessageChars} are allowed.`, 2);
  const rest = { ...(why === "" ? {} : { why }), at };
  if (take !== "first" && take !== "second" && take !== "own")
    throw new ExpectedError(
      `'${oneLine(take)}' is neither first, second nor own; name the agent whose value counts, or give your own.`,
      2,
    );
  if (take !== "own") {
    if (value !== undefined || quote !== undefined)
      throw new ExpectedError(`The ${take} agent's value counts as it is; a value of your own goes with 'own'.`, 2);
    return { field: field.id, take, ...rest };
  }
  if (value === undefined) throw new ExpectedError("Your own value is missing; give it with --value.", 2);
  const text = await lastCachedText(textsFolder(folder), paper.id);
  const own = await checkUserValue(field, { value, quote }, text, paper);
  if (typeof own === "string") throw new ExpectedError(`Your value for ${field.name} can't be kept. ${own}`, 2);
  return { field: field.id, take, own: { ...own, by: "a person" }, ...rest };
}

/** The cells of the table on which two agents differ, those that nobody has settled first. */
export function differences(
  rrd: Rrd,
): readonly { readonly paper: Paper; readonly field: Field; readonly answered: FieldAnswers }[] {
  const all = rrd.papers_pool.filter(isExtractable).flatMap((paper) =>
    formOf(rrd).flatMap((field) => {
      const answered = answersFor(paper, field);
      return answered.agree === false ? [{ paper, field, answered }] : [];
    }),
  );
  return all.toSorted((a, b) => Number(a.answered.settled !== undefined) - Number(b.answered.settled !== undefined));
}
