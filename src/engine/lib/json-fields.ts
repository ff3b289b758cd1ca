/**
 * Readers of fields that may be missing, null or of another type than documented: services break their own promises.
 * None of them throws.
 */

/** Whether a value is an object with fields: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a JSON text says; undefined where it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object that a JSON text says, its fields unchecked; undefined where it says none. */
export function fieldsIn<Fields extends object = Readonly<Record<string, unknown>>>(
  text: string,
): Partial<Fields> | undefined {
  const value = jsonIn(text);
  return isObject(value) ? (value as Partial<Fields>) : undefined;
}

/** What stands at a path of objects and arrays; undefined where the path breaks off. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

/** The longest text of a field that is kept; abstracts run to some 3,000 characters. */
const maxFieldText = 20_000;

/**
 * A text in one line, or undefined where it is missing. Numbers count: ids come as numbers too. Characters that no text
 * has are left out.
 */
export function line(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value !== "string") return undefined;
  const clean = value
    .slice(0, maxFieldText)
    .replace(/\p{Surrogate}/gu, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return clean === "" ? undefined : clean;
}

/** The elements of an array; a single value is an array of one, nothing is an empty one. */
export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Texts of an array, the empty ones left out. */
export const lines = (value: unknown): string[] =>
  list(value)
    .map(line)
    .filter((text) => text !== undefined);

/** A count: a whole number from 0, also as text. */
export function count(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** An address on the web, normalised. Services put "", "null" and local paths in its place. */
export function webAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 2000) return undefined;
  const text = value.trim();
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const monthOf = (name: string | undefined): number | undefined => {
  const index = months.indexOf((name ?? "").slice(0, 3).toLowerCase());
  return index === -1 ? undefined : index + 1;
};
const monthName = String.raw`((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)`;
/** "Tue, 02 Jan 2024", "January 2, 2024", "Jan 2024", "2024 Jan 2". */
const dayFirst = new RegExp(String.raw`^(?:[a-z]{3,9},?\s+)?(\d{1,2})\.?\s+${monthName}\.?,?\s+(\d{4})\b`, "i");
const monthFirst = new RegExp(String.raw`^${monthName}\.?(?:\s+(\d{1,2}),)?\s+(\d{4})\b`, "i");
const yearFirst = new RegExp(String.raw`^(\d{4})\s+${monthName}\b\.?(?:\s+(\d{1,2})\b)?`, "i");

/** YYYY, YYYY-MM or YYYY-MM-DD: as much of a date as is one, in figures or with the name of the month in English. */
export function day(value: unknown): string | undefined {
  const text = line(value) ?? "";
  const [, date, named, year] = dayFirst.exec(text) ?? [];
  if (year !== undefined) return dayOf([Number(year), monthOf(named), Number(date)]);
  const [, nameBefore, dateAfter, yearBehind] = monthFirst.exec(text) ?? [];
  if (yearBehind !== undefined)
    return dayOf([Number(yearBehind), monthOf(nameBefore), dateAfter === undefined ? undefined : Number(dateAfter)]);
  const [, yearBefore, nameAfter, dateBehind] = yearFirst.exec(text) ?? [];
  if (yearBefore !== undefined)
    return dayOf([Number(yearBefore), monthOf(nameAfter), dateBehind === undefined ? undefined : Number(dateBehind)]);
  const match = /^(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?!\d)/.exec(text) ?? /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  if (match === null) return undefined;
  return dayOf([match[1], match[2], match[3]].map((part) => (part === undefined ? undefined : Number(part))));
}

/** As `day`, from numbers: [2024, 1, 31]. Nulls, months from 13 and days that a month does not have end it. */
export function dayOf(parts: readonly unknown[]): string | undefined {
  const [year, month, date] = parts.map(count);
  if (year === undefined || year < 1500 || year > 2200) return undefined;
  if (month === undefined || month < 1 || month > 12) return String(year);
  const shown = `${year}-${String(month).padStart(2, "0")}`;
  if (date === undefined || date < 1 || date > new Date(Date.UTC(year, month, 0)).getUTCDate()) return shown;
  return `${shown}-${String(date).padStart(2, "0")}`;
}
