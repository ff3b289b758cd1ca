/**
 * Functions that read fields of JSON. A field may be missing, null or of another type than a service documents, so they
 * never throw.
 */

/** Whether a value is an object with fields: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of a value; none if it is not an object. */
export const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Parses a JSON text; undefined for invalid JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a JSON text that contains an object. Its fields are not checked. Undefined for anything else. */
export function fieldsIn<Fields extends object = Readonly<Record<string, unknown>>>(
  text: string,
): Partial<Fields> | undefined {
  const value = jsonIn(text);
  return isObject(value) ? (value as Partial<Fields>) : undefined;
}

/** The value at a path of names and indexes; undefined if a step of the path does not exist. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

/** Maximum number of characters of a field; longer texts are truncated. Abstracts have up to about 3,000 characters. */
const maxFieldChars = 20_000;

/**
 * A text as one line; undefined if it is missing. Numbers are accepted, because some ids are numbers. Control
 * characters and lone surrogates are removed.
 */
export function lineFrom(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value !== "string") return undefined;
  const cleanText = value
    .slice(0, maxFieldChars)
    .replace(/\p{Surrogate}/gu, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return cleanText === "" ? undefined : cleanText;
}

/** The elements of an array; a single value becomes an array with one element, a missing value an empty array. */
export function listFrom(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** The texts of an array, without empty ones. */
export const linesFrom = (value: unknown): string[] =>
  listFrom(value)
    .map(lineFrom)
    .filter((text) => text !== undefined);

/** A whole number from 0, given as a number or as text. */
export function countFrom(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** A web address in normal form; undefined for any other value: some services send "", "null" or local paths. */
export function webAddressFrom(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 2000) return undefined;
  const text = value.trim();
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const monthNumber = (name: string | undefined): number | undefined => {
  const index = months.indexOf((name ?? "").slice(0, 3).toLowerCase());
  return index === -1 ? undefined : index + 1;
};
const monthPattern = String.raw`((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)`;
/** Patterns for "Tue, 02 Jan 2024", for "January 2, 2024" and "Jan 2024", and for "2024 Jan 2". */
const dayFirstPattern = new RegExp(
  String.raw`^(?:[a-z]{3,9},?\s+)?(\d{1,2})\.?\s+${monthPattern}\.?,?\s+(\d{4})\b`,
  "i",
);
const monthFirstPattern = new RegExp(String.raw`^${monthPattern}\.?(?:\s+(\d{1,2}),)?\s+(\d{4})\b`, "i");
const yearFirstPattern = new RegExp(String.raw`^(\d{4})\s+${monthPattern}\b\.?(?:\s+(\d{1,2})\b)?`, "i");

/** The valid part of a date as YYYY, YYYY-MM or YYYY-MM-DD. The month may be a number or an English name. */
export function dateFrom(value: unknown): string | undefined {
  const text = lineFrom(value) ?? "";
  const [, date, dayFirstMonth, year] = dayFirstPattern.exec(text) ?? [];
  if (year !== undefined) return dateFromParts([Number(year), monthNumber(dayFirstMonth), Number(date)]);
  const [, monthFirstMonth, monthFirstDate, monthFirstYear] = monthFirstPattern.exec(text) ?? [];
  if (monthFirstYear !== undefined)
    return dateFromParts([
      Number(monthFirstYear),
      monthNumber(monthFirstMonth),
      monthFirstDate === undefined ? undefined : Number(monthFirstDate),
    ]);
  const [, yearFirstYear, yearFirstMonth, yearFirstDate] = yearFirstPattern.exec(text) ?? [];
  if (yearFirstYear !== undefined)
    return dateFromParts([
      Number(yearFirstYear),
      monthNumber(yearFirstMonth),
      yearFirstDate === undefined ? undefined : Number(yearFirstDate),
    ]);
  const match = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?!\d)/.exec(text) ?? /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  if (match === null) return undefined;
  return dateFromParts([match[1], match[2], match[3]].map((part) => (part === undefined ? undefined : Number(part))));
}

/** As `dateFrom`, from numbers such as [2024, 1, 31]. An invalid month or day, and all parts after it, are omitted. */
export function dateFromParts(parts: readonly unknown[]): string | undefined {
  const [year, month, date] = parts.map(countFrom);
  if (year === undefined || year < 1500 || year > 2200) return undefined;
  if (month === undefined || month < 1 || month > 12) return String(year);
  const yearAndMonth = `${year}-${String(month).padStart(2, "0")}`;
  if (date === undefined || date < 1 || date > new Date(Date.UTC(year, month, 0)).getUTCDate()) return yearAndMonth;
  return `${yearAndMonth}-${String(date).padStart(2, "0")}`;
}
