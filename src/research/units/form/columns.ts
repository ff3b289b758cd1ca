import { oneLine } from "../../../engine/lib/sanitise.js";
import { passageText } from "../../../text/evidence/quoted.js";
import type { Extracted, Field, Rrd } from "../../generated/rrd.js";
import type { MoreColumns } from "../../papers/export/csv.js";
import { formOf } from "../../project-files/form.js";
import { type FieldAnswers, answersFor } from "./agreement.js";
import { textOf } from "./check-values.js";

/**
 * The columns of a spreadsheet for the fields of a form, three for each field: the value that counts, its passages, and
 * the result of the check. If a second agent filled in forms, three more: its value, its passages, and whether the two
 * agree.
 */
export function formColumns(rrd: Pick<Rrd, "requirements" | "papers_pool">): MoreColumns {
  const form = formOf(rrd);
  const hasSecond = rrd.papers_pool.some(({ extracted_again: again }) => again !== undefined);
  return {
    headers: form.flatMap(({ name }) => [
      ...[name, `${name}: passage`, `${name}: check`],
      ...(hasSecond ? [`${name}: second`, `${name}: second's passage`, `${name}: agreement`] : []),
    ]),
    cells: (paper) => form.flatMap((field) => cellsOf(field, answersFor(paper, field), hasSecond)),
  };
}

type Cells = (string | number | undefined)[];

function cellsOf(field: Field, answers: FieldAnswers, hasSecond: boolean): Cells {
  const { final, second } = answers;
  const checked =
    final === undefined ? undefined : [final.status, final.reason ?? ""].filter((text) => text !== "").join("; ");
  return [
    ...valueCells(field, final),
    checked,
    ...(hasSecond ? [...valueCells(field, second), agreementOf(answers)] : []),
  ];
}

const agreementOf = ({ agree, settled }: FieldAnswers): string | undefined =>
  agree === undefined
    ? undefined
    : agree
      ? "agree"
      : settled === undefined
        ? "differ"
        : `differ; ${settled.take === "own" ? "the value is a person's own" : `a person follows the ${settled.take}`}${settled.why === undefined ? "" : `: ${oneLine(settled.why)}`}`;

/** The value of an answer, for a spreadsheet or a program; undefined without one, or if no quote supports it. */
export function valueOf({ type }: Field, answer: Extracted | undefined): string | number | undefined {
  if (answer?.value === undefined || answer.status === "not-in-text") return undefined;
  const text = oneLine(textOf(answer.value));
  return type === "number" && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The cells for a value and its passages with their places. A value without evidence is left out. */
function valueCells(field: Field, answer: Extracted | undefined): Cells {
  const value = valueOf(field, answer);
  const passages = (answer?.evidence ?? [])
    .filter((evidence) => value !== undefined && evidence.status !== "not-in-text")
    .map((each) => `${passageText(each)}${each.locator ? ` (${each.locator})` : ""}`);
  return [value, answer === undefined ? undefined : oneLine(passages.join(" | "))];
}
