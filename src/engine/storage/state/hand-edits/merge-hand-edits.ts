import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../../generated/journal.js";
import type { Collection, Fields, StateFormat } from "../format.js";
import { groupBy } from "../../../lib/group.js";
import { isObject } from "../../../lib/json-fields.js";

/** A change of one record, of the file's top level, or of an object at its top level. */
export interface Change {
  /** The name of a collection, of the top level or of a part, as the format defines it. */
  readonly in: string;
  /** The id, for a change of a record. */
  readonly id?: string;
  /** Fields and their new values. */
  readonly set: Fields;
  /** The fields before the change; null for a new record; absent: the fields of the state that was loaded last. */
  readonly was?: Fields | null;
  /** Array fields, and the values to add to each unless they are in it. */
  readonly add?: Record<string, unknown[]>;
  /** Names of fields to remove. */
  readonly unset?: readonly string[];
  /** Removes the record. */
  readonly remove?: boolean;
}

/**
 * A change in the journal. It is complete, so it can be applied again or undone without the earlier state file.
 */
export type JournalledChange = JournalEntry["changes"][number];

/** The part of a format that merging needs. */
type Shape<State extends Fields> = Pick<StateFormat<State>, "file" | "top" | "parts" | "collections">;

interface Merged<State> {
  readonly state: State;
  /** One sentence for each hand edit that was kept. */
  readonly notices: readonly string[];
}

/**
 * Merges changes into a state file that a person may have edited during the run. It merges field by field; a field that
 * a person changed since it was read keeps the person's value. Idempotent. A record that a person removed is restored
 * if `restoresRemoved` is true. wait-for-editor.ts handles files that an editor is still saving; stale-saves.ts handles
 * a file that an editor overwrote with an older version.
 */
export function mergeChanges<State extends Fields>(
  shape: Shape<State>,
  state: State,
  changes: readonly JournalledChange[],
  restoresRemoved: boolean,
): Merged<State> {
  const notices: string[] = [];
  const draft = openDraft(shape, state);
  for (const journalledChange of changes) {
    if (journalledChange.in === shape.top) {
      const { fields, keptNames } = mergeFields(draft.top, journalledChange);
      draft.top = fields;
      if (keptNames.length > 0) notices.push(handEditNotice(`${joinNames(keptNames)} of ${shape.file}`));
      continue;
    }
    if (shape.parts.includes(journalledChange.in)) {
      draft.top = {
        ...draft.top,
        [journalledChange.in]: mergeFields(partOf(draft.top, journalledChange.in), journalledChange).fields,
      };
      continue;
    }
    const records = draft.records(journalledChange.in);
    const { collection } = records;
    const { change, notice } = renumber(records, journalledChange, changes);
    if (notice !== undefined) notices.push(notice);
    const id = change.id ?? "";
    const current = records.get(id);
    if (change.remove === true) records.remove(id);
    else if (current !== undefined) {
      const { fields, keptNames } = mergeFields(current, change, collection);
      records.put(id, fields);
      if (keptNames.length > 0) notices.push(handEditNotice(`${joinNames(keptNames)} of ${id}`));
    } else if (change.was == null)
      records.put(id, mergeFields({ [collection.key]: id }, { ...change, was: {} }, collection).fields);
    else if (restoresRemoved) {
      records.put(id, mergeFields(change.was, change, collection).fields);
      notices.push(
        `${id} was removed from ${shape.file} by hand although it is done; it was restored. To remove it, reset it first.`,
      );
    } else notices.push(`${id} was removed from ${shape.file} by hand and stays removed.`);
  }
  return { state: draft.close(), notices };
}

/**
 * Undoes changes: the fields that they set get their earlier values, even if their values have changed since. Other
 * fields stay as they are.
 */
export function undoChanges<State extends Fields>(
  shape: Shape<State>,
  state: State,
  changes: readonly JournalledChange[],
): State {
  const draft = openDraft(shape, state);
  for (const journalledChange of changes.toReversed()) {
    if (journalledChange.in === shape.top) {
      draft.top = undoFields(draft.top, journalledChange);
      continue;
    }
    if (shape.parts.includes(journalledChange.in)) {
      draft.top = {
        ...draft.top,
        [journalledChange.in]: undoFields(partOf(draft.top, journalledChange.in), journalledChange),
      };
      continue;
    }
    const records = draft.records(journalledChange.in);
    const { change } = renumber(records, journalledChange, changes);
    const id = change.id ?? "";
    const current = records.get(id);
    if (change.remove === true) {
      if (current === undefined && change.was != null) records.put(id, change.was);
    } else if (change.was === null) records.remove(id);
    else if (current !== undefined) records.put(id, undoFields(current, change));
  }
  return draft.close();
}

/** The changes that lead from one state to another. Records without an id are not compared. */
export function changesBetween<State extends Fields>(shape: Shape<State>, before: State, after: State): Change[] {
  const changes: Change[] = [];
  const top = differences(topOf(shape, before), topOf(shape, after));
  if (top !== undefined) changes.push({ in: shape.top, ...top });
  for (const collection of shape.collections) {
    const { name } = collection;
    const [recordsBefore, recordsAfter] = [byId(before, collection), byId(after, collection)];
    for (const [id, record] of recordsAfter) {
      const was = recordsBefore.get(id);
      const difference = was === undefined ? { set: record, was: null } : differences(was, record);
      if (difference !== undefined) changes.push({ in: name, id, ...difference });
    }
    for (const [id, was] of recordsBefore)
      if (!recordsAfter.has(id)) changes.push({ in: name, id, set: {}, was, remove: true });
  }
  return changes;
}

/** Completes a change from the state on which it is based, so that the journal does not need that state. */
export function completeChange<State extends Fields>(
  shape: Shape<State>,
  change: Change,
  base: State,
): JournalledChange {
  const collection = shape.collections.find(({ name }) => name === change.in);
  const record =
    collection !== undefined
      ? recordOf(base, collection, change.id)
      : change.in === shape.top
        ? topOf(shape, base)
        : partOf(base, change.in);
  const changedNames = [...Object.keys(change.set), ...(change.unset ?? [])];
  // A record is kept with all its fields, so that it can be restored. Of the top level, only the changed fields are
  // kept.
  const previous = collection === undefined ? pick(record ?? {}, changedNames) : record;
  const was =
    change.was === null || (change.was === undefined && previous === undefined) ? null : { ...previous, ...change.was };
  const add = Object.fromEntries(
    Object.entries(change.add ?? {}).map(([name, values]) => [name, valuesAbsentFrom(record?.[name], values)]),
  );
  // JSON drops undefined fields, so a new change is equal to the same change after it was read from the disk.
  return JSON.parse(JSON.stringify({ ...change, was, ...(change.add === undefined ? {} : { add }) }));
}

/** Whether each change names a collection or a part that the format has. */
export const areInFormat = (
  shape: Pick<Shape<Fields>, "top" | "parts" | "collections">,
  changes: readonly Pick<Change, "in">[],
): boolean =>
  changes.every(
    (change) =>
      change.in === shape.top ||
      shape.parts.includes(change.in) ||
      shape.collections.some(({ name }) => name === change.in),
  );

function mergeFields(
  current: Fields,
  change: JournalledChange,
  collection?: Collection,
): { fields: Fields; keptNames: string[] } {
  const keptNames: string[] = [];
  const fields = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(change.set)) {
    const existing = current[name];
    const isUnchanged = isEqual(existing, change.was?.[name]) || collection?.isUndecided?.(name, existing) === true;
    if (isUnchanged) fields.set(name, value);
    else if (!includesValue(existing, value)) keptNames.push(name);
  }
  for (const name of change.unset ?? []) {
    if (isEqual(current[name], change.was?.[name])) fields.delete(name);
    else keptNames.push(name);
  }
  for (const [name, values] of Object.entries(change.add ?? {})) {
    const existing = fields.get(name) ?? [];
    if (Array.isArray(existing)) fields.set(name, [...existing, ...valuesAbsentFrom(existing, values)]);
    else keptNames.push(name);
  }
  return { fields: Object.fromEntries(fields), keptNames };
}

function undoFields(current: Fields, change: JournalledChange): Fields {
  const fields = new Map(Object.entries(current));
  for (const name of [...Object.keys(change.set), ...(change.unset ?? [])]) {
    if (change.was != null && Object.hasOwn(change.was, name)) fields.set(name, change.was[name]);
    else fields.delete(name);
  }
  for (const [name, values] of Object.entries(change.add ?? {})) {
    const existing = fields.get(name);
    if (!Array.isArray(existing)) continue;
    const removedKeys = new Set(values.map(makeFinder(existing)).map(keyOf));
    fields.set(
      name,
      existing.filter((value) => !removedKeys.has(keyOf(value))),
    );
  }
  return Object.fromEntries(fields);
}

/** Compares two values; a missing field equals null. */
const isEqual = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null);

/**
 * Whether `value` equals `other`, or is an object with all its fields and more: derived fields, or notes of a person,
 * may have been added after it was written.
 */
function includesValue(value: unknown, other: unknown): boolean {
  if (isEqual(value, other)) return true;
  if (!isObject(value) || !isObject(other)) return false;
  return Object.entries(other).every(([name, field]) => includesValue(value[name], field));
}

const keyOf = (value: unknown): string => JSON.stringify(value);

function valuesAbsentFrom(existing: unknown, values: readonly unknown[]): unknown[] {
  const addedKeys = new Set<string>();
  const findExisting = makeFinder(Array.isArray(existing) ? existing : []);
  return values.filter(
    (value) => findExisting(value) === undefined && !addedKeys.has(keyOf(value)) && addedKeys.add(keyOf(value)),
  );
}

/**
 * Returns a function that finds a value in a list: an equal value, or an object that has all its fields and additional
 * ones, such as a derived key.
 */
function makeFinder(list: readonly unknown[]): (value: unknown) => unknown {
  const byKey = new Map(list.map((item) => [keyOf(item), item]));
  /** For each field name: the objects of the list, grouped by the value of that field. */
  const objects = new Map<string, ReadonlyMap<string, readonly Fields[]>>();
  const objectsBy = (name: string): ReadonlyMap<string, readonly Fields[]> => {
    const objectsByValue = objects.get(name) ?? groupBy(list.filter(isObject), (item) => keyOf(item[name]));
    objects.set(name, objectsByValue);
    return objectsByValue;
  };
  return (value) => {
    const match = byKey.get(keyOf(value));
    if (match !== undefined || !isObject(value)) return match;
    const [name = ""] = Object.keys(value);
    return objectsBy(name)
      .get(keyOf(value[name]))
      ?.find((item) => includesValue(item, value));
  };
}

function differences(before: Fields, after: Fields): Pick<Change, "set" | "was" | "unset"> | undefined {
  const changedNames = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const unset = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  if (changedNames.length + unset.length === 0) return undefined;
  return { set: pick(after, changedNames), was: pick(before, [...changedNames, ...unset]), unset };
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));

const partOf = (top: Fields, name: string): Fields => (top[name] ?? {}) as Fields;

function topOf(shape: Pick<Shape<Fields>, "collections">, state: Fields): Fields {
  const top = { ...state };
  for (const { name } of shape.collections) delete top[name];
  return top;
}

/** The records of a collection; empty if the array is missing or null. */
export const recordsOf = (state: Fields, name: string): readonly Fields[] => (state[name] ?? []) as Fields[];

/** The first record with this id. */
export const recordOf = (state: Fields, { name, key }: Collection, id: string | undefined): Fields | undefined =>
  id === undefined ? undefined : recordsOf(state, name).find((record) => record[key] === id);

function byId(state: Fields, { name, key }: Collection): Map<string, Fields> {
  const recordById = new Map<string, Fields>();
  for (const record of recordsOf(state, name)) {
    const id = record[key];
    if (typeof id === "string" && !recordById.has(id)) recordById.set(id, record);
  }
  return recordById;
}

/**
 * A new record gets its number when its iteration is judged. Before it is written, the user or another iteration may
 * have used that number. Then the record gets the next free number, and the same one if the change is repeated or
 * undone.
 */
function renumber(
  records: Records,
  change: JournalledChange,
  allChanges: readonly JournalledChange[],
): { change: JournalledChange; notice?: string } {
  const { id = "", was, set } = change;
  const { key, numbering } = records.collection;
  if (numbering === undefined || was !== null) return { change };
  const { owner, content, noun } = numbering;
  const existing = records.get(id);
  const isSame = (record: Fields | undefined, fields: Fields) =>
    record?.[owner] === fields[owner] && record?.[content] === fields[content];
  const isHandEdit = existing?.[owner] === set[owner] && !allChanges.some((other) => isSame(existing, other.set));
  if (existing === undefined || isSame(existing, set) || isHandEdit) return { change };
  const ids = records.ids();
  const newId = ids.find((recordId) => isSame(records.get(recordId), set)) ?? numbering.next(ids);
  return {
    change: { ...change, id: newId, set: { ...set, [key]: newId } },
    notice: `${id} is already the id of another record; the ${noun} of ${String(set[owner])} is ${newId}.`,
  };
}

interface Records {
  readonly collection: Collection;
  ids(): string[];
  get(id: string): Fields | undefined;
  put(id: string, record: Fields): void;
  remove(id: string): void;
}

interface Draft<State> {
  top: Fields;
  /** @throws Error if the format has no such collection, which is a bug. */
  records(name: string): Records;
  close(): State;
}

/** A copy of the state that can be changed record by record. Order and unchanged records are preserved. */
function openDraft<State extends Fields>(shape: Shape<State>, state: State): Draft<State> {
  const lists = new Map<string, OpenList>();
  const draft: Draft<State> = {
    top: state,
    records(name) {
      const openedList = lists.get(name);
      if (openedList !== undefined) return openedList;
      const collection = shape.collections.find((candidate) => candidate.name === name);
      if (collection === undefined) throw new Error(`${shape.file} has no collection '${name}'`);
      const list = openList(collection, recordsOf(state, name));
      lists.set(name, list);
      return list;
    },
    close() {
      const result: Fields = { ...draft.top };
      for (const { name } of shape.collections) {
        const changedNames = lists.get(name)?.changed();
        if (changedNames !== undefined) result[name] = changedNames;
      }
      return result as State;
    },
  };
  return draft;
}

type OpenList = Records & { changed(): Fields[] | undefined };

function openList(collection: Collection, list: readonly Fields[]): OpenList {
  const { key } = collection;
  const records: (Fields | undefined)[] = [...list];
  const indexById = new Map<string, number>();
  for (const [index, record] of list.entries()) {
    const id = record[key];
    if (typeof id === "string" && !indexById.has(id)) indexById.set(id, index);
  }
  let isChanged = false;
  return {
    collection,
    ids: () => [...indexById.keys()],
    get: (id) => records[indexById.get(id) ?? -1],
    put(id, record) {
      isChanged = true;
      const index = indexById.get(id) ?? records.length;
      indexById.set(id, index);
      records[index] = record;
    },
    remove(id) {
      if (!indexById.has(id)) return;
      isChanged = true;
      // Agents of the original tool gave several records the same id; all of them are removed.
      for (const [index, record] of records.entries()) if (record?.[key] === id) records[index] = undefined;
      indexById.delete(id);
    },
    changed: () => (isChanged ? records.filter((record) => record !== undefined) : undefined),
  };
}

const joinNames = (names: readonly string[]): string => names.join(", ");

const handEditNotice = (place: string): string => `You changed ${place} during the run; your version stays.`;
