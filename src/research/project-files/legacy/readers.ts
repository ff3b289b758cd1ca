import { describe } from "../../../engine/storage/problem-messages.js";
import type { Problem } from "../../../engine/storage/schema-check.js";
import { isObject } from "../../../engine/lib/json-fields.js";

export type Fields = Record<string, unknown>;

/** Takes down that the value at a JSON pointer was read as another one. */
export type Tell = (pointer: string, before: unknown, after: unknown) => void;

/**
 * Turns a value of any known shape into the one the program works with. What is in that shape already comes back as the
 * very same value, so that a file in order costs no copy; so does what can't be understood, for the schema to name it.
 */
export type Reader = (value: unknown, pointer: string, tell: Tell) => unknown;

/** A reader of one value that does not look at what it is part of. */
export const leaf =
  (convert: (value: unknown) => unknown): Reader =>
  (value, pointer, tell) => {
    const read = convert(value);
    if (read !== value) tell(pointer, value, read);
    return read;
  };

/** One reader after the other. */
export const inTurn =
  (...readers: readonly Reader[]): Reader =>
  (value, pointer, tell) =>
    readers.reduce((read, reader) => reader(read, pointer, tell), value);

export const listOf =
  (item: Reader): Reader =>
  (value, pointer, tell) => {
    if (!Array.isArray(value)) return value;
    let copy: unknown[] | undefined;
    for (const [index, each] of value.entries()) {
      const read = item(each, `${pointer}/${index}`, tell);
      if (read !== each) copy ??= [...value];
      if (copy !== undefined) copy[index] = read;
    }
    return copy ?? value;
  };

/** Reads the named fields of an object; all others, and the order of all, stay. */
export function fieldsOf(readers: Readonly<Record<string, Reader>>): Reader {
  const known = Object.entries(readers);
  return (value, pointer, tell) => {
    if (!isObject(value)) return value;
    let changed: Map<string, unknown> | undefined;
    for (const [name, reader] of known) {
      if (!Object.hasOwn(value, name)) continue;
      const read = reader(value[name], `${pointer}/${name}`, tell);
      if (read !== value[name]) (changed ??= new Map()).set(name, read);
    }
    return changed === undefined ? value : withChanges(value, changed);
  };
}

/** Reads every value of an object, whatever its name. */
export const valuesOf =
  (reader: Reader): Reader =>
  (value, pointer, tell) =>
    isObject(value)
      ? fieldsOf(Object.fromEntries(Object.keys(value).map((name) => [name, reader])))(value, pointer, tell)
      : value;

function withChanges(value: Fields, changed: ReadonlyMap<string, unknown>): Fields {
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, changed.has(name) ? changed.get(name) : item]),
  );
}

/** The sentence of a warning for a value that was read as another one. */
export function wordReading(pointer: string, before: unknown, after: unknown): Problem {
  const read = String(JSON.stringify(after));
  return {
    pointer,
    message: `${before === undefined ? "is missing" : `is ${describe(before)}`}, read as ${read.length > 80 ? `${read.slice(0, 79)}…` : read}`,
  };
}
