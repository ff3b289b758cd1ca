import { createHash } from "node:crypto";
import { hasTooManyBrackets, tooDeepAt } from "../../storage/json-syntax.js";
import { fieldsIn, isObject } from "../../lib/json-fields.js";

/** Access to parsed JSON of a protocol that is not ours: any part may be missing or of another type. */
export type Json = Readonly<Record<string, unknown>>;

/** The object on this line, if there is one that can be worked with: a key is made of all that a tool is asked. */
export function objectIn(line: string): Json | undefined {
  if (!line.trimStart().startsWith("{") || hasTooManyBrackets(line)) return undefined;
  const value = fieldsIn(line);
  return tooDeepAt(value) === undefined ? value : undefined;
}

export const object = (value: unknown): Json | undefined => (isObject(value) ? value : undefined);
export const objects = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.map(object).filter((one): one is Json => one !== undefined) : [];
export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** No run uses more tokens, and sums stay exact. */
const maxTokens = 1e12;

/** A number of tokens; 0 where it is missing or can't be one. */
export const tokens = (value: unknown): number => {
  const told = number(value) ?? 0;
  return told >= 0 && told <= maxTokens ? Math.round(told) : 0;
};

/** An amount of money; undefined where it is missing or can't be one. */
export const amount = (value: unknown): number | undefined => {
  const told = number(value);
  return told !== undefined && told >= 0 && told <= maxTokens ? told : undefined;
};

/** Stands for all that a tool is asked. */
export const keyOf = (input: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(input ?? null))
    .digest("hex")
    .slice(0, 12);

/** What a tool is asked to do, on one short line. */
export function detailOf(input: unknown): string {
  const fields = object(input) ?? {};
  const named = ["file_path", "path", "command", "cmd", "query", "url", "pattern"]
    .map((key) => text(fields[key]))
    .find((value) => value !== undefined);
  const line = (named ?? (typeof input === "string" ? input : JSON.stringify(input ?? {}))).replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
