import type { Field } from "../../generated/rrd.js";
import { typeOf } from "../../project-files/form.js";

/** The part of a brief that asks for the fields of a form, without a heading. Empty if the form has no fields. */
export function formInstructions(form: readonly Field[]): string {
  const [first, second] = form;
  if (first === undefined) return "";
  const example = [
    `"${first.id}": {"value": ${exampleOf(first)}, "quotes": ["the paper's words that show it"]}`,
    ...(second === undefined ? [] : [`"${second.id}": {"not_reported": true}`]),
  ].join(", ");
  return [
    "A person wants these data of the paper in a table. Add one more field to the result, with an entry for each of them, by its id:",
    `\`"fields": {${example}}\``,
    rules,
    form.map(fieldLine).join("\n"),
  ].join("\n\n");
}

const rules =
  "`quotes` are the paper's words, copied exactly; if one quote does not show the whole value, give several, each within one sentence or table row. Code looks for each quote in the paper, and every number of a value must be in its quotes. A value whose quotes are not found does not count. If the paper does not state a value, give `not_reported`: do not calculate a value, and do not use other knowledge.";

const exampleOf = (field: Field): string => {
  const type = typeOf(field);
  return type === "list" ? '["one", "another"]' : type === "number" ? "24" : '"…"';
};

/** "- dose (number, in mg): of the first arm". */
function fieldLine(field: Field): string {
  const { id, name, ask, unit, choices = [] } = field;
  const type = typeOf(field);
  const kind =
    type === "choice"
      ? `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`
      : type === "number" && unit !== undefined
        ? `number, the figure alone, in ${unit}`
        : typeDescriptions[type];
  return `- ${id} (${kind}): ${name}${ask === undefined || ask === "" ? "" : `: ${ask}`}`.replace(/\s+/g, " ");
}

const typeDescriptions = {
  text: "a few words",
  number: "number, the figure alone",
  choice: "",
  date: "date: YYYY, YYYY-MM or YYYY-MM-DD",
  list: "a list of short items",
} as const;
