import { createHash } from "node:crypto";
import { hasTooManyBrackets, tooDeepAt } from "../../storage/json-syntax.js";
import { fieldsIn, isObject } from "../../lib/json-fields.js";

/** A parsed JSON object of another program's protocol: any field may be missing or have another type. */
export type Json = Readonly<Record<string, unknown>>;

/** The JSON object on a line. Undefined for other lines, or if its nesting is too deep for JSON.stringify. */
export function objectIn(line: string): Json | undefined {
  if (!line.trimStart().startsWith("{") || hasTooManyBrackets(line)) return undefined;
  const value = fieldsIn(line);
  const isTooDeep = tooDeepAt(value) !== undefined;
  return isTooDeep ? undefined : value;
}

// `object`, `text` and `number` return the value if it has this type, and undefined if it has another type.

export const object = (value: unknown): Json | undefined => (isObject(value) ? value : undefined);
/** The objects in an array; other values are left out. */
export const objects = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.map(object).filter((item): item is Json => item !== undefined) : [];
export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Maximum number of tokens or dollars. A larger number is an error, and sums of such numbers would not be exact. */
const maxPlausible = 1e12;

/** A number of tokens; 0 if it is missing or implausible. */
export const tokens = (value: unknown): number => {
  const count = number(value) ?? 0;
  return count >= 0 && count <= maxPlausible ? Math.round(count) : 0;
};

/** An amount in US dollars; undefined if it is missing or implausible. */
export const amount = (value: unknown): number | undefined => {
  const amountUsd = number(value);
  return amountUsd !== undefined && amountUsd >= 0 && amountUsd <= maxPlausible ? amountUsd : undefined;
};

/** A short digest of the input of a tool: two calls with the same input have the same digest. */
export const inputDigest = (input: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(input ?? null))
    .digest("hex")
    .slice(0, 12);

/** The input of a tool as one short line. */
export function detailOf(input: unknown): string {
  const fields = object(input) ?? {};
  const mainArgument = ["file_path", "path", "command", "cmd", "query", "url", "pattern"]
    .map((key) => text(fields[key]))
    .find((value) => value !== undefined);
  const line = (mainArgument ?? (typeof input === "string" ? input : JSON.stringify(input ?? {})))
    .replace(/\s+/g, " ")
    .trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
