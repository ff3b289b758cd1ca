import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { clip } from "../../../engine/lib/tokens.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { uncheckedReading } from "../../../text/evidence/check-evidence.js";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import { quantitiesIn } from "../../../text/evidence/numbers/quantities.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { Fields } from "../../generated/result-analysis.js";
import type { Evidence, Extracted, Field, Paper } from "../../generated/rrd.js";
import { typeOf } from "../../project-files/form.js";
import type { JudgingContext } from "../judged-result.js";
import { stampOf } from "./open-forms.js";

/** What a reading gave for a form, checked. */
export interface CheckedForm {
  /** An entry for each field, in their order. */
  readonly extracted: readonly Extracted[];
  /** Why the result can't be accepted; empty where it can. */
  readonly reasons: readonly string[];
}

/**
 * Checks what an agent gave for the fields of a form: each quote is looked for in the paper's text and in the abstract
 * that was shown, and each number of a value in the words of its quotes. A value that nothing bears out is kept as
 * `not-in-text`. Reasons are given where no field was answered, or most quotes are not there.
 */
export async function checkValues(
  form: readonly Field[],
  said: Fields | undefined,
  text: DocumentText | undefined,
  { abstract }: Pick<Paper, "abstract">,
): Promise<CheckedForm> {
  if (form.length === 0) return { extracted: [], reasons: [] };
  const entries = form.map((field) => ({ field, ...saidOf(field, said) }));
  if (entries.every((entry) => entry.value === undefined && !entry.isUnreported))
    return {
      extracted: [],
      reasons: [`/fields is missing; give each field to extract: ${form.map(({ id }) => id).join(", ")}`],
    };
  const items = entries.flatMap(({ value, quotes }) =>
    value === undefined ? [] : quotes.map((quote) => ({ claim: textOf(value), quote })),
  );
  const search = await searchUntrusted("checkReading", items, "", text, abstract);
  const checked = "cut" in search ? uncheckedReading(items, search.cut) : search.value;
  const evidence = checked.evidence.map(({ numbers: _, ...each }): Evidence => each);
  const extracted = entries.map(({ field, value, quotes, isUnreported }): Extracted => {
    if (value === undefined) return { field: field.id, status: isUnreported ? "not-reported" : "not-answered" };
    return judged(field, value, evidence.splice(0, quotes.length));
  });
  const most = checked.verified < checked.notInText;
  return {
    extracted,
    reasons: most
      ? [
          `only ${checked.verified} of ${checked.verified + checked.notInText} quotes of /fields were found in the text; copy the paper's own words, or say not_reported`,
          ...checked.missing.slice(0, 10).map(({ quote, why }) => `${why}: "${clip(quote, 30)}"`),
        ]
      : [],
  };
}

/** What a person's own value without a passage says of itself. */
export const withoutPassage = "without a passage";

/**
 * Checks a person's own value for a field as an agent's is checked; of one without a quote, that it is of the field's
 * type. A text says why it can't be kept. Of a list, `;` parts the items.
 */
export async function checkOwn(
  field: Field,
  said: { readonly value: string; readonly quote?: string },
  text: DocumentText | undefined,
  paper: Pick<Paper, "abstract">,
): Promise<Extracted | string> {
  const value = valueOf(field, typeOf(field) === "list" ? said.value.split(";") : said.value);
  if (value === undefined) return "The value is empty.";
  const misfit = misfitOf(field, textOf(value));
  if (misfit !== undefined) return misfit;
  if (said.quote === undefined) return { field: field.id, value, status: "could-not-check", reason: withoutPassage };
  const given = typeof value === "string" ? value : [...value];
  const { extracted } = await checkValues([field], { [field.id]: { value: given, quotes: [said.quote] } }, text, paper);
  const [one] = extracted;
  return one === undefined || one.status === "not-in-text" ? (one?.reason ?? "The quote is empty.") : one;
}

type Value = NonNullable<Extracted["value"]>;

interface Said {
  readonly value?: Value;
  readonly quotes: readonly string[];
  readonly isUnreported: boolean;
}

function saidOf(field: Field, said: Fields | undefined): Said {
  const entry = said !== undefined && Object.hasOwn(said, field.id) ? said[field.id] : undefined;
  const value = valueOf(field, entry?.value);
  const quotes = [...new Set((entry?.quotes ?? []).map((quote) => quote.trim()))].filter((quote) => quote !== "");
  return { ...withoutUndefined({ value }), quotes, isUnreported: value === undefined && entry !== undefined };
}

/** The value as it is kept: of a list each item, of a choice its own spelling. Undefined where nothing is said. */
function valueOf(field: Field, said: string | number | readonly string[] | null | undefined): Value | undefined {
  const items = (Array.isArray(said) ? said : [said ?? ""]).map((each) => oneLine(String(each)).trim());
  const held = items.filter((each) => each !== "");
  if (held.length === 0) return undefined;
  if (typeOf(field) === "list") return held;
  const one = held.join("; ");
  return (field.choices ?? []).find((choice) => choice.toLowerCase() === one.toLowerCase()) ?? one;
}

/** The value as one text. */
export const textOf = (value: NonNullable<Extracted["value"]>): string =>
  typeof value === "string" ? value : value.join("; ");

/** What the quotes of a value make of it. */
function judged(field: Field, value: Value, evidence: Evidence[]): Extracted {
  const kept = { field: field.id, value, evidence };
  const misfit = misfitOf(field, textOf(value));
  if (misfit !== undefined) return { ...kept, status: "not-in-text", reason: misfit };
  const found = evidence.filter(({ status }) => status === "verified");
  const near = evidence.filter(({ status }) => status === "near");
  if (found.length + near.length === 0) {
    if (evidence.some(({ status }) => status === "could-not-check")) return { ...kept, status: "could-not-check" };
    const why = evidence.length === 0 ? "It has no quote." : "Its quote is not in the text.";
    return { ...kept, status: "not-in-text", reason: why };
  }
  const { missing, outside, near: rounded } = numbersIn(field, value, [...found, ...near]);
  if (missing.length > 0)
    return { ...kept, status: "not-in-text", reason: `number not in the passage: ${missing.join(", ")}` };
  if (found.length === 0)
    return { ...kept, status: "near", ...withoutUndefined({ reason: near[0]?.reason ?? undefined }) };
  if (rounded.length > 0) {
    const differs = rounded.map(({ number, quoted }) => `${number} (the paper has ${quoted})`).join(", ");
    return { ...kept, status: "near", reason: differs };
  }
  return {
    ...kept,
    status: "verified",
    ...(outside.length > 0 ? { reason: `in the sentence, outside the quoted words: ${outside.join(", ")}` } : {}),
  };
}

/** Why a value is not of its field's type; undefined where it is. */
function misfitOf(field: Field, text: string): string | undefined {
  switch (typeOf(field)) {
    case "number":
      return quantitiesIn(text).length === 0 ? "It is not a number." : undefined;
    case "date":
      return /^\d{4}(?:-\d{2}(?:-\d{2})?)?$/.test(text) ? undefined : "It is not a date such as 2024-06-30.";
    case "choice":
      return field.choices?.includes(text) === true ? undefined : "It is not one of the choices.";
    case "text":
    case "list":
      return undefined;
  }
}

/** The numbers of a value that the words of its quotes do not hold. */
function numbersIn(field: Field, value: Value, quotes: readonly Evidence[]): ReturnType<typeof numbersWithoutQuote> {
  const type = typeOf(field);
  const nothing = { missing: [], outside: [], near: [] };
  // What a choice is called is the person's, and a date is written in many ways: of one the year is looked for.
  if (type === "choice") return nothing;
  const text = type === "date" ? textOf(value).slice(0, 4) : textOf(value);
  const withUnit = field.unit === undefined ? text : `${text} ${field.unit}`;
  const said = numbersWithoutQuote(withUnit, quotes);
  if (type !== "number") return said;
  const words = quotes.map(({ passage = "" }) => passage).join(" ");
  // In prose a small whole number needs no proof; the value of a field does, in figures or spelt.
  const small = quantitiesIn(text).filter(({ value: number }) => spelt[number] !== undefined && !holds(words, number));
  const large = said.missing.filter((each) => !quantitiesIn(each).every(({ value: number }) => holds(words, number)));
  return { ...said, missing: [...new Set([...large, ...small.map(({ written }) => written)])] };
}

/** The numbers that papers write as words, by their value. */
const spelt = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

const holds = (words: string, number: number): boolean =>
  spelt[number] !== undefined &&
  (quantitiesIn(words).some(({ value }) => value === number) || new RegExp(`\\b${spelt[number]}\\b`, "i").test(words));

/** The change of a paper's record to what a reading gave for its form. */
export function extractedBy(
  form: readonly Field[],
  { extracted }: CheckedForm,
  { agent, iteration }: Pick<JudgingContext, "agent" | "iteration">,
): Pick<Paper, "extracted"> {
  const stamps = new Map(form.map((field) => [field.id, stampOf(field)]));
  const whole = extracted.map((each) => ({
    ...each,
    ...withoutUndefined({ asked: stamps.get(each.field) }),
    by: agent,
    iteration,
  }));
  return whole.length === 0 ? {} : { extracted: whole };
}
