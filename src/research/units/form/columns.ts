import { oneLine } from "../../../engine/lib/sanitise.js";
import { passageText } from "../../../text/evidence/quoted.js";
import type { Extracted, Field, Rrd } from "../../generated/rrd.js";
import type { MoreColumns } from "../../papers/export/csv.js";
import { formOf } from "../../project-files/form.js";
import { type Answered, answeredFor } from "./agreement.js";
import { textOf } from "./check-values.js";

/**
 * Three columns of a spreadsheet for each field of a form: the value that counts, its passages, and what code found of
 * it; where a second agent filled in forms, three more: its value, its passages, and whether the two agree.
 */
export function formColumns(rrd: Pick<Rrd, "requirements" | "papers_pool">): MoreColumns {
  const form = formOf(rrd);
  const hasSecond = rrd.papers_pool.some(({ extracted_again: again }) => again !== undefined);
  return {
    head: form.flatMap(({ name }) => [
      ...[name, `${name}: passage`, `${name}: check`],
      ...(hasSecond ? [`${name}: second`, `${name}: second's passage`, `${name}: agreement`] : []),
    ]),
    cells: (paper) => form.flatMap((field) => cellsOf(field, answeredFor(paper, field), hasSecond)),
  };
}

type Cells = (string | number | undefined)[];

function cellsOf(field: Field, answered: Answered, hasSecond: boolean): Cells {
  const { counts, second } = answered;
  const checked =
    counts === undefined ? undefined : [counts.status, counts.reason ?? ""].filter((each) => each !== "").join("; ");
  return [
    ...valueCells(field, counts),
    checked,
    ...(hasSecond ? [...valueCells(field, second), agreementOf(answered)] : []),
  ];
}

const agreementOf = ({ agree, settled }: Answered): string | undefined =>
  agree === undefined
    ? undefined
    : agree
      ? "agree"
      : settled === undefined
        ? "differ"
        : `differ; ${settled.take === "own" ? "the value is a person's own" : `a person follows the ${settled.take}`}${settled.why === undefined ? "" : `: ${oneLine(settled.why)}`}`;

/** A value and its passages with their places; a value that nothing bears out is left out. */
function valueCells(field: Field, given: Extracted | undefined): Cells {
  if (given === undefined) return [undefined, undefined];
  const { value, status, evidence = [] } = given;
  const isShown = value !== undefined && status !== "not-in-text";
  const passages = evidence
    .filter((each) => isShown && each.status !== "not-in-text")
    .map((each) => `${passageText(each)}${each.locator ? ` (${each.locator})` : ""}`);
  const text = value === undefined ? "" : oneLine(textOf(value));
  const number = field.type === "number" && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  return [isShown ? number : undefined, oneLine(passages.join(" | "))];
}
