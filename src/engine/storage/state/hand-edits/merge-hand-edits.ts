import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../../generated/journal.js";
import type { Collection, Fields, StateFormat } from "../format.js";
import { groupBy } from "../../../lib/group.js";
import { isObject } from "../../../lib/json-fields.js";

/** A change of one record, of the file's own top level, or of one of its objects. */
export interface Change {
  /** The name of a collection, of the top level or of a part, as the format says. */
  readonly in: string;
  /** Of a record: its id. */
  readonly id?: string;
  /** Fields and their new values. */
  readonly set: Fields;
  /** The fields as the change was made from them, null for a new record; where absent, as the state was last loaded. */
  readonly was?: Fields | null;
  /** Array fields to which values are added if absent. */
  readonly add?: Record<string, unknown[]>;
  /** Fields that are taken away. */
  readonly unset?: readonly string[];
  /** Takes the record away. */
  readonly remove?: boolean;
}

/**
 * A change as the journal keeps it: complete in itself, so it can be made again or undone without the file it was made
 * from.
 */
export type JournalledChange = JournalEntry["changes"][number];

/** What merging reads of a format. */
type Shape<State extends Fields> = Pick<StateFormat<State>, "file" | "top" | "parts" | "collections">;

interface Merged<State> {
  readonly state: State;
  /** Where a hand edit was left standing, a sentence each. */
  readonly notices: readonly string[];
}

/**
 * What happens when a person edits the state file during a run: changes are merged into what is on the disk, field
 * by field, and a field that a person changed since it was read stays theirs. Doing it twice gives the
 * same as once. A record that a person removed is put back when `putBack`, else left out. A file that is only half
 * saved is read again (wait-for-editor.ts), and what an older version in an editor wrote over is put back
 * (stale-saves.ts).
 */
export function mergeChanges<State extends Fields>(
  shape: Shape<State>,
  state: State,
  changes: readonly JournalledChange[],
  putBack: boolean,
): Merged<State> {
  const notices: string[] = [];
  const draft = openDraft(shape, state);
  for (const each of changes) {
    if (each.in === shape.top) {
      const { fields, kept } = mergeFields(draft.top, each);
      draft.top = fields;
      if (kept.length > 0) notices.push(handEdit(`${list(kept)} of ${shape.file}`));
      continue;
    }
    if (shape.parts.includes(each.in)) {
      draft.top = { ...draft.top, [each.in]: mergeFields(partOf(draft.top, each.in), each).fields };
      continue;
    }
    const records = draft.records(each.in);
    const { collection } = records;
    const { change, taken } = renumbered(records, each, changes);
    if (taken !== undefined) notices.push(taken);
    const id = change.id ?? "";
    const current = records.get(id);
    if (change.remove === true) records.remove(id);
    else if (current !== undefined) {
      const { fields, kept } = mergeFields(current, change, collection);
      records.put(id, fields);
      if (kept.length > 0) notices.push(handEdit(`${list(kept)} of ${id}`));
    } else if (change.was == null)
      records.put(id, mergeFields({ [collection.key]: id }, { ...change, was: {} }, collection).fields);
    else if (putBack) {
      records.put(id, mergeFields(change.was, change, collection).fields);
      notices.push(
        `${id} was removed from ${shape.file} by hand although it is done; it was restored. To remove it, reset it first.`,
      );
    } else notices.push(`${id} was removed from ${shape.file} by hand and stays removed.`);
  }
  return { state: draft.close(), notices };
}

/**
 * Takes changes back, the fields they set with them, whatever stands in those by now. Other fields stay as they are.
 */
export function undoChanges<State extends Fields>(
  shape: Shape<State>,
  state: State,
  changes: readonly JournalledChange[],
): State {
  const draft = openDraft(shape, state);
  for (const each of changes.toReversed()) {
    if (each.in === shape.top) {
      draft.top = undoFields(draft.top, each);
      continue;
    }
    if (shape.parts.includes(each.in)) {
      draft.top = { ...draft.top, [each.in]: undoFields(partOf(draft.top, each.in), each) };
      continue;
    }
    const records = draft.records(each.in);
    const { change } = renumbered(records, each, changes);
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
    const [old, young] = [byId(before, collection), byId(after, collection)];
    for (const [id, record] of young) {
      const was = old.get(id);
      const difference = was === undefined ? { set: record, was: null } : differences(was, record);
      if (difference !== undefined) changes.push({ in: name, id, ...difference });
    }
    for (const [id, was] of old) if (!young.has(id)) changes.push({ in: name, id, set: {}, was, remove: true });
  }
  return changes;
}

/** Completes a change from the state it was made from, so that the journal can do without that state. */
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
  const touched = [...Object.keys(change.set), ...(change.unset ?? [])];
  // A record is kept whole, so that it can be put back; of the top level, which is the rest of the file, only what
  // changes.
  const read = collection === undefined ? pick(record ?? {}, touched) : record;
  const was =
    change.was === null || (change.was === undefined && read === undefined) ? null : { ...read, ...change.was };
  const add = Object.fromEntries(
    Object.entries(change.add ?? {}).map(([name, values]) => [name, absentFrom(record?.[name], values)]),
  );
  // Through JSON, so that a change made now and one replayed from the disk are the same: a field that is undefined is
  // no field.
  return JSON.parse(JSON.stringify({ ...change, was, ...(change.add === undefined ? {} : { add }) }));
}

/** Whether each of these changes names something that the format has. */
export const areKnown = (
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
): { fields: Fields; kept: string[] } {
  const kept: string[] = [];
  const fields = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(change.set)) {
    const existing = current[name];
    const isOld = same(existing, change.was?.[name]) || collection?.isUndecided?.(name, existing) === true;
    if (isOld) fields.set(name, value);
    else if (!holds(existing, value)) kept.push(name);
  }
  for (const name of change.unset ?? []) {
    if (same(current[name], change.was?.[name])) fields.delete(name);
    else kept.push(name);
  }
  for (const [name, values] of Object.entries(change.add ?? {})) {
    const existing = fields.get(name) ?? [];
    if (Array.isArray(existing)) fields.set(name, [...existing, ...absentFrom(existing, values)]);
    else kept.push(name);
  }
  return { fields: Object.fromEntries(fields), kept };
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
    const gone = new Set(values.map(finder(existing)).map(keyOf));
    fields.set(
      name,
      existing.filter((value) => !gone.has(keyOf(value))),
    );
  }
  return Object.fromEntries(fields);
}

/** A file without a field and one with null in it say the same. */
const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null);

/**
 * Whether a value is the other, or an object that has all of it and more: one that was written before, and to which was
 * added since what follows from the records, or what a person noted.
 */
function holds(value: unknown, other: unknown): boolean {
  if (same(value, other)) return true;
  if (!isObject(value) || !isObject(other)) return false;
  return Object.entries(other).every(([name, each]) => holds(value[name], each));
}

const keyOf = (value: unknown): string => JSON.stringify(value);

function absentFrom(existing: unknown, values: readonly unknown[]): unknown[] {
  const added = new Set<string>();
  const there = finder(Array.isArray(existing) ? existing : []);
  return values.filter((value) => there(value) === undefined && !added.has(keyOf(value)) && added.add(keyOf(value)));
}

/**
 * Finds a value in a list: itself, or an object to which something was added since, such as a key that follows from
 * all records.
 */
function finder(list: readonly unknown[]): (value: unknown) => unknown {
  const same = new Map(list.map((each) => [keyOf(each), each]));
  /** The objects by what stands in the field of this name. */
  const objects = new Map<string, ReadonlyMap<string, readonly Fields[]>>();
  const objectsBy = (name: string): ReadonlyMap<string, readonly Fields[]> => {
    const known = objects.get(name) ?? groupBy(list.filter(isObject), (each) => keyOf(each[name]));
    objects.set(name, known);
    return known;
  };
  return (value) => {
    const found = same.get(keyOf(value));
    if (found !== undefined || !isObject(value)) return found;
    const [name = ""] = Object.keys(value);
    return objectsBy(name)
      .get(keyOf(value[name]))
      ?.find((each) => holds(each, value));
  };
}

function differences(before: Fields, after: Fields): Pick<Change, "set" | "was" | "unset"> | undefined {
  const changed = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const unset = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  if (changed.length + unset.length === 0) return undefined;
  return { set: pick(after, changed), was: pick(before, [...changed, ...unset]), unset };
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));

const partOf = (top: Fields, name: string): Fields => (top[name] ?? {}) as Fields;

function topOf(shape: Pick<Shape<Fields>, "collections">, state: Fields): Fields {
  const top = { ...state };
  for (const { name } of shape.collections) delete top[name];
  return top;
}

/** The records of a collection; a state may lack the array, or have null for it. */
export const recordsOf = (state: Fields, name: string): readonly Fields[] => (state[name] ?? []) as Fields[];

/** The first record with this id. */
export const recordOf = (state: Fields, { name, key }: Collection, id: string | undefined): Fields | undefined =>
  id === undefined ? undefined : recordsOf(state, name).find((record) => record[key] === id);

function byId(state: Fields, { name, key }: Collection): Map<string, Fields> {
  const found = new Map<string, Fields>();
  for (const record of recordsOf(state, name)) {
    const id = record[key];
    if (typeof id === "string" && !found.has(id)) found.set(id, record);
  }
  return found;
}

/**
 * Records are numbered as their iteration is judged, and by the time they are folded in a person, or another iteration,
 * may have taken the number: they get the next one then, the same whenever the change is made again or undone.
 */
function renumbered(
  records: Records,
  change: JournalledChange,
  all: readonly JournalledChange[],
): { change: JournalledChange; taken?: string } {
  const { id = "", was, set } = change;
  const { key, numbering } = records.collection;
  if (numbering === undefined || was !== null) return { change };
  const { owner, content, noun } = numbering;
  const existing = records.get(id);
  const isSame = (record: Fields | undefined, fields: Fields) =>
    record?.[owner] === fields[owner] && record?.[content] === fields[content];
  const isHandEdit = existing?.[owner] === set[owner] && !all.some((other) => isSame(existing, other.set));
  if (existing === undefined || isSame(existing, set) || isHandEdit) return { change };
  const ids = records.ids();
  const own = ids.find((each) => isSame(records.get(each), set)) ?? numbering.next(ids);
  return {
    change: { ...change, id: own, set: { ...set, [key]: own } },
    taken: `${id} was taken meanwhile; the ${noun} of ${String(set[owner])} is ${own}.`,
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
  /** @throws a bug where the format has no such collection. */
  records(name: string): Records;
  close(): State;
}

/** A copy of the state that is changed record by record, in which order and untouched records stay. */
function openDraft<State extends Fields>(shape: Shape<State>, state: State): Draft<State> {
  const lists = new Map<string, OpenList>();
  const draft: Draft<State> = {
    top: state,
    records(name) {
      const known = lists.get(name);
      if (known !== undefined) return known;
      const collection = shape.collections.find((each) => each.name === name);
      if (collection === undefined) throw new Error(`${shape.file} has no collection '${name}'`);
      const list = openList(collection, recordsOf(state, name));
      lists.set(name, list);
      return list;
    },
    close() {
      const closed: Fields = { ...draft.top };
      for (const { name } of shape.collections) {
        const changed = lists.get(name)?.changed();
        if (changed !== undefined) closed[name] = changed;
      }
      return closed as State;
    },
  };
  return draft;
}

type OpenList = Records & { changed(): Fields[] | undefined };

function openList(collection: Collection, list: readonly Fields[]): OpenList {
  const { key } = collection;
  const records: (Fields | undefined)[] = [...list];
  const places = new Map<string, number>();
  for (const [place, record] of list.entries()) {
    const id = record[key];
    if (typeof id === "string" && !places.has(id)) places.set(id, place);
  }
  let touched = false;
  return {
    collection,
    ids: () => [...places.keys()],
    get: (id) => records[places.get(id) ?? -1],
    put(id, record) {
      touched = true;
      const place = places.get(id) ?? records.length;
      places.set(id, place);
      records[place] = record;
    },
    remove(id) {
      if (!places.has(id)) return;
      touched = true;
      // Agents of the original tool gave several records one id; all of them go.
      for (const [index, record] of records.entries()) if (record?.[key] === id) records[index] = undefined;
      places.delete(id);
    },
    changed: () => (touched ? records.filter((record) => record !== undefined) : undefined),
  };
}

const list = (names: readonly string[]): string => names.join(", ");

const handEdit = (what: string): string => `You changed ${what} during the run; your version stays.`;
