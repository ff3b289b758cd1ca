import { describe } from "../../../engine/storage/problem-messages.js";
import type { Problem } from "../../../engine/storage/schema-check.js";
import { isObject } from "../../../engine/lib/json-fields.js";

export type Fields = Record<string, unknown>;

/** Reports that the value at a JSON pointer was converted. */
export type ReportChange = (pointer: string, before: unknown, after: unknown) => void;

/**
 * Converts a value of an older format to the current format. Returns the same value if it is already in the current
 * format, so that no copy is made, or if it can't be converted; then the schema check reports it.
 */
export type Reader = (value: unknown, pointer: string, reportChange: ReportChange) => unknown;

/** A reader that converts a single value. */
export const leaf =
  (convert: (value: unknown) => unknown): Reader =>
  (value, pointer, reportChange) => {
    const converted = convert(value);
    if (converted !== value) reportChange(pointer, value, converted);
    return converted;
  };

/** Applies one reader after the other. */
export const sequence =
  (...readers: readonly Reader[]): Reader =>
  (value, pointer, reportChange) =>
    readers.reduce((converted, reader) => reader(converted, pointer, reportChange), value);

/** Reads every item of a list. */
export const listOf =
  (item: Reader): Reader =>
  (value, pointer, reportChange) => {
    if (!Array.isArray(value)) return value;
    let copy: unknown[] | undefined;
    for (const [index, entry] of value.entries()) {
      const converted = item(entry, `${pointer}/${index}`, reportChange);
      if (converted !== entry) copy ??= [...value];
      if (copy !== undefined) copy[index] = converted;
    }
    return copy ?? value;
  };

/** Reads the named fields of an object. Other fields and the order of fields stay. */
export function fieldsOf(readers: Readonly<Record<string, Reader>>): Reader {
  const namedReaders = Object.entries(readers);
  return (value, pointer, reportChange) => {
    if (!isObject(value)) return value;
    let changed: Map<string, unknown> | undefined;
    for (const [name, reader] of namedReaders) {
      if (!Object.hasOwn(value, name)) continue;
      const converted = reader(value[name], `${pointer}/${name}`, reportChange);
      if (converted !== value[name]) (changed ??= new Map()).set(name, converted);
    }
    return changed === undefined ? value : withChanges(value, changed);
  };
}

/** Reads every value of an object. */
export const valuesOf =
  (reader: Reader): Reader =>
  (value, pointer, reportChange) =>
    isObject(value)
      ? fieldsOf(Object.fromEntries(Object.keys(value).map((name) => [name, reader])))(value, pointer, reportChange)
      : value;

function withChanges(value: Fields, changed: ReadonlyMap<string, unknown>): Fields {
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, changed.has(name) ? changed.get(name) : item]),
  );
}

/** A warning about a converted value. */
export function readingWarning(pointer: string, before: unknown, after: unknown): Problem {
  const converted = String(JSON.stringify(after));
  return {
    pointer,
    message: `${before === undefined ? "is missing" : `is ${describe(before)}`}, read as ${converted.length > 80 ? `${converted.slice(0, 79)}…` : converted}`,
  };
}
