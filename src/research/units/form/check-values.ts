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
import { fieldHash } from "./open-forms.js";

/** The checked answers of a reading for a form. */
export interface CheckedForm {
  /** One entry for each field, in the order of the form. */
  readonly extracted: readonly Extracted[];
  /** The reasons why the result can't be accepted; empty if it can. */
  readonly reasons: readonly string[];
}

/**
 * Checks an agent's answers for the fields of a form: whether each quote is in the paper's text or in the abstract, and
 * whether each number of a value is in its quotes. A value without evidence is stored as `not-in-text`. The result is
 * refused if no field was answered, or if most quotes were not found.
 */
export async function checkValues(
  form: readonly Field[],
  fields: Fields | undefined,
  text: DocumentText | undefined,
  { abstract }: Pick<Paper, "abstract">,
): Promise<CheckedForm> {
  if (form.length === 0) return { extracted: [], reasons: [] };
  const entries = form.map((field) => ({ field, ...readAnswer(field, fields) }));
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
    return createAnswer(field, value, evidence.splice(0, quotes.length));
  });
  const isMostlyMissing = checked.verified < checked.notInText;
  return {
    extracted,
    reasons: isMostlyMissing
      ? [
          `only ${checked.verified} of ${checked.verified + checked.notInText} quotes of /fields were found in the text; copy the paper's own words, or say not_reported`,
          ...checked.missing.slice(0, 10).map(({ quote, why }) => `${why}: "${clip(quote, 30)}"`),
        ]
      : [],
  };
}

/** The reason of a user's own value without a passage. */
const noPassageReason = "without a passage";

/**
 * Checks a user's own value for a field like an agent's value; without a quote, only its type is checked. In a list,
 * `;` separates the items. Returns a text if the value can't be stored: the reason.
 */
export async function checkUserValue(
  field: Field,
  input: { readonly value: string; readonly quote?: string },
  text: DocumentText | undefined,
  paper: Pick<Paper, "abstract">,
): Promise<Extracted | string> {
  const value = valueOf(field, typeOf(field) === "list" ? input.value.split(";") : input.value);
  if (value === undefined) return "The value is empty.";
  const problem = typeProblem(field, textOf(value));
  if (problem !== undefined) return problem;
  if (input.quote === undefined) return { field: field.id, value, status: "could-not-check", reason: noPassageReason };
  const fieldValue = typeof value === "string" ? value : [...value];
  const { extracted } = await checkValues(
    [field],
    { [field.id]: { value: fieldValue, quotes: [input.quote] } },
    text,
    paper,
  );
  const [result] = extracted;
  return result === undefined || result.status === "not-in-text" ? (result?.reason ?? "The quote is empty.") : result;
}

type Value = NonNullable<Extracted["value"]>;

interface FieldAnswer {
  readonly value?: Value;
  readonly quotes: readonly string[];
  readonly isUnreported: boolean;
}

function readAnswer(field: Field, fields: Fields | undefined): FieldAnswer {
  const entry = fields !== undefined && Object.hasOwn(fields, field.id) ? fields[field.id] : undefined;
  const value = valueOf(field, entry?.value);
  const quotes = [...new Set((entry?.quotes ?? []).map((quote) => quote.trim()))].filter((quote) => quote !== "");
  return { ...withoutUndefined({ value }), quotes, isUnreported: value === undefined && entry !== undefined };
}

/** The stored form of a value: the items of a list, or a choice in its own spelling. Undefined if there is no value. */
function valueOf(field: Field, value: string | number | readonly string[] | null | undefined): Value | undefined {
  const items = (Array.isArray(value) ? value : [value ?? ""]).map((each) => oneLine(String(each)).trim());
  const texts = items.filter((each) => each !== "");
  if (texts.length === 0) return undefined;
  if (typeOf(field) === "list") return texts;
  const text = texts.join("; ");
  return (field.choices ?? []).find((choice) => choice.toLowerCase() === text.toLowerCase()) ?? text;
}

/** The value as one text. */
export const textOf = (value: NonNullable<Extracted["value"]>): string =>
  typeof value === "string" ? value : value.join("; ");

/** The stored answer for a field, from its value and the checked quotes. */
function createAnswer(field: Field, value: Value, evidence: Evidence[]): Extracted {
  const answer = { field: field.id, value, evidence };
  const problem = typeProblem(field, textOf(value));
  if (problem !== undefined) return { ...answer, status: "not-in-text", reason: problem };
  const found = evidence.filter(({ status }) => status === "verified");
  const near = evidence.filter(({ status }) => status === "near");
  if (found.length + near.length === 0) {
    if (evidence.some(({ status }) => status === "could-not-check")) return { ...answer, status: "could-not-check" };
    const why = evidence.length === 0 ? "It has no quote." : "Its quote is not in the text.";
    return { ...answer, status: "not-in-text", reason: why };
  }
  const { missing, outside, near: nearNumbers } = findUnquotedNumbers(field, value, [...found, ...near]);
  if (missing.length > 0)
    return { ...answer, status: "not-in-text", reason: `number not in the passage: ${missing.join(", ")}` };
  if (found.length === 0)
    return { ...answer, status: "near", ...withoutUndefined({ reason: near[0]?.reason ?? undefined }) };
  if (nearNumbers.length > 0) {
    const differences = nearNumbers.map(({ number, quoted }) => `${number} (the paper has ${quoted})`).join(", ");
    return { ...answer, status: "near", reason: differences };
  }
  return {
    ...answer,
    status: "verified",
    ...(outside.length > 0 ? { reason: `in the sentence, outside the quoted words: ${outside.join(", ")}` } : {}),
  };
}

/** The reason why a value does not have its field's type; undefined if it has. */
function typeProblem(field: Field, text: string): string | undefined {
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

/** The numbers of a value that are not in its quotes. */
function findUnquotedNumbers(
  field: Field,
  value: Value,
  quotes: readonly Evidence[],
): ReturnType<typeof numbersWithoutQuote> {
  const type = typeOf(field);
  const nothing = { missing: [], outside: [], near: [] };
  // The name of a choice comes from the user. A date has many forms, so only its year is checked.
  if (type === "choice") return nothing;
  const text = type === "date" ? textOf(value).slice(0, 4) : textOf(value);
  const withUnit = field.unit === undefined ? text : `${text} ${field.unit}`;
  const result = numbersWithoutQuote(withUnit, quotes);
  if (type !== "number") return result;
  const words = quotes.map(({ passage = "" }) => passage).join(" ");
  // In prose, a small whole number needs no evidence. As the value of a field it does, in digits or as a word.
  const missingSmall = quantitiesIn(text).filter(
    ({ value: number }) => numberWords[number] !== undefined && !containsNumber(words, number),
  );
  const missingLarge = result.missing.filter(
    (each) => !quantitiesIn(each).every(({ value: number }) => containsNumber(words, number)),
  );
  return { ...result, missing: [...new Set([...missingLarge, ...missingSmall.map(({ written }) => written)])] };
}

/** The words for small numbers, by value. */
const numberWords = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

const containsNumber = (words: string, number: number): boolean =>
  numberWords[number] !== undefined &&
  (quantitiesIn(words).some(({ value }) => value === number) ||
    new RegExp(`\\b${numberWords[number]}\\b`, "i").test(words));

/** The change of a paper's record from the answers of a reading for its form. */
export function formFields(
  form: readonly Field[],
  { extracted }: CheckedForm,
  { agent, iteration }: Pick<JudgingContext, "agent" | "iteration">,
): Pick<Paper, "extracted"> {
  const fieldHashes = new Map(form.map((field) => [field.id, fieldHash(field)]));
  const complete = extracted.map((each) => ({
    ...each,
    ...withoutUndefined({ asked: fieldHashes.get(each.field) }),
    by: agent,
    iteration,
  }));
  return complete.length === 0 ? {} : { extracted: complete };
}
