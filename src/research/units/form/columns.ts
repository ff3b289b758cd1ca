import { oneLine } from "../../../engine/lib/sanitise.js";
import { passageText } from "../../../text/evidence/quoted.js";
import type { Field, Paper, Rrd } from "../../generated/rrd.js";
import type { MoreColumns } from "../../papers/export/csv.js";
import { formOf } from "../../project-files/form.js";
import { givenFor, textOf } from "./check-values.js";

/** Three columns of a spreadsheet for each field of a form: the value, its passages, and what code found of it. */
export const formColumns = (rrd: Pick<Rrd, "requirements">): MoreColumns => ({
  head: formOf(rrd).flatMap(({ name }) => [name, `${name}: passage`, `${name}: check`]),
  cells: (paper) => formOf(rrd).flatMap((field) => cellsOf(field, paper)),
});

/** A value, its passages with their places, and what code found of it; a value that nothing bears out is left out. */
function cellsOf(field: Field, paper: Paper): (string | number | undefined)[] {
  const given = givenFor(paper, field);
  if (given === undefined) return [undefined, undefined, undefined];
  const { value, status, reason, evidence = [] } = given;
  const isShown = value !== undefined && status !== "not-in-text";
  const passages = evidence
    .filter((each) => isShown && each.status !== "not-in-text")
    .map((each) => `${passageText(each)}${each.locator ? ` (${each.locator})` : ""}`);
  const text = value === undefined ? "" : oneLine(textOf(value));
  const number = field.type === "number" && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  return [
    isShown ? number : undefined,
    oneLine(passages.join(" | ")),
    [status, reason ?? ""].filter((each) => each !== "").join("; "),
  ];
}
