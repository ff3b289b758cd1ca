import { absent, type Fields } from "./readers.js";
import { isObject } from "../../../engine/lib/json-fields.js";

/*
 * What people and models write where a text, a number, a list or a time is meant. Each function answers with the value
 * as it is meant, or with the very same value where that can't be told.
 */

/** A text from a number, a list or an object; nothing of it is left out. null and true or false stay. */
export function toText(value: unknown): unknown {
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map(textOf).join("; ");
  return isObject(value) ? textOf(value) : value;
}

/** The first text of a list, such as of several addresses; false counts as no text. */
export const toFirst = (value: unknown): unknown =>
  value === false ? null : Array.isArray(value) ? (value.find((each) => typeof each === "string") ?? null) : value;

/** Texts from a line with commas, an object's fields or a list of objects with names. */
export function toTexts(value: unknown): unknown {
  if (typeof value === "string") return partsOf(value, /[,;\n]/);
  if (isObject(value)) return Object.entries(value).flatMap(([name, field]) => (field === false ? [] : [name]));
  if (!Array.isArray(value) || value.every((each) => typeof each === "string")) return value;
  return value
    .filter((each) => each !== null)
    .map((each) => (isObject(each) ? (nameOf(each) ?? textOf(each)) : textOf(each)));
}

/** What stands between separators, without what is empty. */
export const partsOf = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** As toTexts, but a text is one of them, commas and all. */
export const toSentences = (value: unknown): unknown =>
  typeof value === "string" ? (value.trim() === "" ? [] : [value]) : toTexts(value);

/**
 * A number from a text: "32", "4.5", "32/50" where 50 is among `outOf`, "20 papers"; null from "n/a". Of an object, its
 * total.
 */
export const toNumber =
  (...outOf: readonly number[]) =>
  (value: unknown): unknown => {
    if (isObject(value)) {
      const total = ["total", "score", "value", "points", "rating", "combined_total", "combined"]
        .map((name) => value[name])
        .find((field) => field != null);
      const read = toNumber(...outOf)(total);
      return typeof read === "number" ? read : value;
    }
    if (typeof value !== "string") return value;
    if (/^(n\/?a|none|null|unknown|tbd|pending|[-–—]?)$/i.test(value.trim())) return null;
    const parts = /^\s*(-?\d+(?:\.\d+)?)(?:\s*(?:\/|of|out of)\s*(\d+))?(?:\s*(?:points?|papers?|ideas?))?\s*$/i.exec(
      value,
    );
    return parts === null || (parts[2] !== undefined && !outOf.includes(Number(parts[2]))) ? value : Number(parts[1]);
  };

/** true or false from the words for them. */
export function toBoolean(value: unknown): unknown {
  if (typeof value === "number") return value === 1 ? true : value === 0 ? false : value;
  if (typeof value !== "string") return value;
  if (/^\s*(true|yes|y|on|enabled)\s*$/i.test(value)) return true;
  return /^\s*(false|no|n|off|disabled)\s*$/i.test(value) ? false : value;
}

/** One of a set of words, given the words that mean each; upper case, spaces and hyphens don't matter. */
export function toWord<Word extends string>(meanings: Readonly<Record<Word, RegExp>>): (value: unknown) => unknown {
  const words = Object.entries<RegExp>(meanings);
  return (value) => {
    if (typeof value !== "string" || Object.hasOwn(meanings, value)) return value;
    const plain = value
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, "_");
    return words.find(([word, others]) => word.toLowerCase() === plain || others.test(plain))?.[0] ?? value;
  };
}

const isoTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;

/**
 * An ISO time from seconds or milliseconds since the epoch and from other spellings; null from what is not a time.
 * Without a zone it is UTC.
 */
export function toTime(value: unknown): unknown {
  if (typeof value === "string" && isoTime.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const number =
    typeof value === "number"
      ? value
      : typeof value === "string" && /^\d{9,13}$/.test(value.trim())
        ? Number(value)
        : undefined;
  if (number !== undefined) return number > 0 ? iso(number < 1e11 ? number * 1000 : number) : null;
  if (typeof value !== "string") return null;
  const parts = /\b(\d{4}-\d{2}-\d{2})(?:[T ]+(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*([+-]\d{2}:?\d{2})?)?/.exec(value);
  if (parts === null) return iso(Date.parse(value));
  const [, day, clock = "00:00", zone = "Z"] = parts;
  return iso(Date.parse(`${day}T${clock}${zone}`));
}

function iso(at: number): string | null {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

const secondsIn: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** Seconds from "744", "12m 24s", "1.5 hours" or "01:02:03"; null where it is not a time, or negative. */
export function toSeconds(value: unknown): unknown {
  if (typeof value === "number") return value < 0 ? null : value;
  if (typeof value !== "string") return null;
  const text = value.trim().toLowerCase();
  const clock = /^(\d+):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (clock !== null)
    return (
      clock
        .slice(1)
        .filter((part) => part !== undefined)
        .reduce((sum, part) => sum * 60 + Number(part), 0) * (clock[3] === undefined ? 60 : 1)
    );
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const parts = [...text.matchAll(/(?<!\d)(\d+(?:\.\d+)?)\s*([dhms])/g)];
  return parts.length === 0
    ? null
    : parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * Number(secondsIn[String(unit)]), 0);
}

const daysIn: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 };

/** Days from "90", "90 days", "3 months" or "2 years". */
export function toDays(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const parts = /^\s*(\d+(?:\.\d+)?)\s*(?:([dwmy])[a-z]*\s*)?$/i.exec(value);
  return parts === null ? value : Number(parts[1]) * Number(daysIn[parts[2]?.toLowerCase() ?? "d"]);
}

/** What is not an object is left out: it is derived again, or nothing depends on it. */
export const toFieldsOrNull = (value: unknown): unknown => (isObject(value) ? value : null);

/** An object in brackets where a list is meant; false is an empty list. */
export const toList = (value: unknown): unknown => (isObject(value) ? [value] : value === false ? [] : value);

export const absentUnless =
  (fits: (value: unknown) => boolean) =>
  (value: unknown): unknown =>
    fits(value) ? value : absent;

/** The name that an object goes by. */
export function nameOf(value: Fields): string | undefined {
  const name = [
    "name",
    "full_name",
    "title",
    "term",
    "keyword",
    "source",
    "label",
    "text",
    "paper_id",
    "id",
    "url",
    "value",
  ]
    .map((field) => value[field])
    .find((field) => typeof field === "string");
  if (name !== undefined) return String(name);
  const parts = [
    value["given"] ?? value["first"] ?? value["first_name"] ?? value["given_name"],
    value["family"] ?? value["last"] ?? value["last_name"] ?? value["family_name"],
  ];
  const whole = parts.filter((part) => typeof part === "string").join(" ");
  return whole === "" ? undefined : whole;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, field]) => `${name}: ${textOf(field)}`)
    .join("; ");
}
