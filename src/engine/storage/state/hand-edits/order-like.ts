import { isObject } from "../../../lib/json-fields.js";
import type { Fields } from "../format.js";

/**
 * A state with the order of an earlier one: its fields by their names, and the records of its lists by their ids. What
 * the earlier state lacks comes last, in its own order. Nothing is added, changed or lost.
 */
export function orderLike<State extends Fields>(reference: State, state: State): State {
  const sorted = Object.entries(state).map(([name, value]) => [
    name,
    Array.isArray(value) && Array.isArray(reference[name]) ? sortRecords(reference[name], value) : value,
  ]);
  return orderFields(reference, Object.fromEntries(sorted)) as State;
}

/** The fields in the order of the reference, at every level. Values of a list belong together by their place. */
function orderFields(reference: unknown, value: unknown): unknown {
  if (Array.isArray(reference) && Array.isArray(value)) {
    const isWithIds = value.every((record) => idOf(record) !== undefined);
    const byId = isWithIds ? new Map(reference.map((record) => [idOf(record), record])) : undefined;
    return value.map((item, index) => orderFields(byId === undefined ? reference[index] : byId.get(idOf(item)), item));
  }
  if (!isObject(reference) || !isObject(value)) return value;
  const names = [
    ...Object.keys(reference).filter((name) => Object.hasOwn(value, name)),
    ...Object.keys(value).filter((name) => !Object.hasOwn(reference, name)),
  ];
  return Object.fromEntries(names.map((name) => [name, orderFields(reference[name], value[name])]));
}

/** The records in the order of the reference; a list of other values stays as it is. */
function sortRecords(reference: readonly unknown[], list: readonly unknown[]): readonly unknown[] {
  if (list.some((record) => idOf(record) === undefined)) return list;
  const places = new Map(reference.map((record, index) => [idOf(record), index]));
  const placeOf = (record: unknown): number => places.get(idOf(record)) ?? reference.length;
  return list.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const idOf = (record: unknown): string | undefined =>
  isObject(record) && typeof record["id"] === "string" ? record["id"] : undefined;
