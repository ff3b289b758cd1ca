import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../generated/journal.js";
import type { Rrd } from "../../../research/generated/rrd.js";

type Fields = Record<string, unknown>;

/** A change of one record of rrd.json, of the file's own top level, or of what its loop remembers. */
export interface Change {
  readonly in: "papers_pool" | "insights" | "rrd" | "loop";
  /** Of a record: its id. */
  readonly id?: string;
  /** Fields and their new values. */
  readonly set: Fields;
  /** The fields as the change was made from them, null for a new record; where absent, as the research was last loaded. */
  readonly was?: Fields | null;
  /** Array fields to which values are added if absent. */
  readonly add?: Record<string, unknown[]>;
  /** Fields that are taken away. */
  readonly unset?: readonly string[];
  /** Takes the record away. */
  readonly remove?: boolean;
}

/** A change as the journal keeps it: complete in itself, so it can be made again or undone without the file it was made from. */
export type JournalledChange = JournalEntry["changes"][number];

interface Merged {
  readonly rrd: Rrd;
  /** Where a hand edit was left standing, a sentence each. */
  readonly notices: readonly string[];
}

/**
 * Merges changes into what is on the disk, field by field: a field that a person changed since it was read stays theirs.
 * Doing it twice gives the same as once. A record that a person removed is put back when `putBack`, else left out.
 */
export function mergeChanges(rrd: Rrd, changes: readonly JournalledChange[], putBack: boolean): Merged {
  const notices: string[] = [];
  const draft = openDraft(rrd);
  for (const each of changes) {
    const { change, taken } = renumbered(draft, each, changes);
    if (taken !== undefined) notices.push(taken);
    if (change.in === "rrd") {
      const { fields, kept } = mergeFields(draft.top, change);
      draft.top = fields;
      if (kept.length > 0) notices.push(handEdit(`${list(kept)} of rrd.json`));
      continue;
    }
    if (change.in === "loop") {
      draft.top = { ...draft.top, loop: mergeFields(loopOf(draft.top), change).fields };
      continue;
    }
    const id = change.id ?? "";
    const records = draft.records(change.in);
    const current = records.get(id);
    if (change.remove === true) records.remove(id);
    else if (current !== undefined) {
      const { fields, kept } = mergeFields(current, change);
      records.put(id, fields);
      if (kept.length > 0) notices.push(handEdit(`${list(kept)} of ${id}`));
    } else if (change.was == null) records.put(id, mergeFields({ id }, { ...change, was: {} }).fields);
    else if (putBack) {
      records.put(id, mergeFields(change.was, change).fields);
      notices.push(
        `${id} was removed from rrd.json by hand although it is done; it is back. To drop it, reset it first.`,
      );
    } else notices.push(`${id} was removed from rrd.json by hand and stays out.`);
  }
  return { rrd: draft.close(), notices };
}

/** Takes one change back, the fields it set with it, whatever stands in them by now. Other fields stay as they are. */
export function undoChanges(rrd: Rrd, changes: readonly JournalledChange[]): Rrd {
  const draft = openDraft(rrd);
  for (const each of changes.toReversed()) {
    const { change } = renumbered(draft, each, changes);
    if (change.in === "rrd") {
      draft.top = undoFields(draft.top, change);
      continue;
    }
    if (change.in === "loop") {
      draft.top = { ...draft.top, loop: undoFields(loopOf(draft.top), change) };
      continue;
    }
    const id = change.id ?? "";
    const records = draft.records(change.in);
    const current = records.get(id);
    if (change.remove === true) {
      if (current === undefined && change.was != null) records.put(id, change.was);
    } else if (change.was === null) records.remove(id);
    else if (current !== undefined) records.put(id, undoFields(current, change));
  }
  return draft.close();
}

/** The changes that lead from one state to another. Records without an id are not compared. */
export function changesBetween(before: Rrd, after: Rrd): Change[] {
  const changes: Change[] = [];
  const top = differences(topOf(before), topOf(after));
  if (top !== undefined) changes.push({ in: "rrd", ...top });
  for (const name of ["papers_pool", "insights"] as const) {
    const [old, young] = [byId(before[name]), byId(after[name])];
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
export function completeChange(change: Change, base: Rrd): JournalledChange {
  const record =
    change.in === "rrd"
      ? topOf(base)
      : change.in === "loop"
        ? loopOf(base)
        : byId(base[change.in]).get(change.id ?? "");
  const touched = [...Object.keys(change.set), ...(change.unset ?? [])];
  // A record is kept whole, so that it can be put back; of the top level, which is the rest of the file, only what changes.
  const read = change.in === "rrd" || change.in === "loop" ? pick(record ?? {}, touched) : record;
  const was =
    change.was === null || (change.was === undefined && read === undefined) ? null : { ...read, ...change.was };
  const add = Object.fromEntries(
    Object.entries(change.add ?? {}).map(([name, values]) => [name, absentFrom(record?.[name], values)]),
  );
  // Through JSON, so that a change made now and one replayed from the disk are the same: a field that is undefined is no field.
  return JSON.parse(JSON.stringify({ ...change, was, ...(change.add === undefined ? {} : { add }) }));
}

function mergeFields(current: Fields, change: JournalledChange): { fields: Fields; kept: string[] } {
  const kept: string[] = [];
  const fields = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(change.set)) {
    const standing = current[name];
    const mine = !same(standing, value) && !same(standing, change.was?.[name]) && !isUnread(name, standing);
    if (mine) kept.push(name);
    else fields.set(name, value);
  }
  for (const name of change.unset ?? []) {
    if (same(current[name], change.was?.[name])) fields.delete(name);
    else kept.push(name);
  }
  for (const [name, values] of Object.entries(change.add ?? {})) {
    const standing = fields.get(name) ?? [];
    if (Array.isArray(standing)) fields.set(name, [...standing, ...absentFrom(standing, values)]);
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
    const gone = new Set(values.map(keyOf));
    const standing = fields.get(name);
    if (Array.isArray(standing))
      fields.set(
        name,
        standing.filter((value) => !gone.has(keyOf(value))),
      );
  }
  return Object.fromEntries(fields);
}

/** A file without a field and one with null in it say the same. */
const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? null, b ?? null);

/** `analyzing` is what interrupted runs of the original tool leave; nobody decides anything by it. */
const isUnread = (name: string, value: unknown): boolean =>
  name === "status" && (value === "pending" || value === "analyzing");

const keyOf = (value: unknown): string => JSON.stringify(value);

function absentFrom(standing: unknown, values: readonly unknown[]): unknown[] {
  const there = new Set(Array.isArray(standing) ? standing.map(keyOf) : []);
  return values.filter((value) => !there.has(keyOf(value)) && there.add(keyOf(value)));
}

function differences(before: Fields, after: Fields): Pick<Change, "set" | "was" | "unset"> | undefined {
  const changed = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const unset = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  if (changed.length + unset.length === 0) return undefined;
  return { set: pick(after, changed), was: pick(before, [...changed, ...unset]), unset };
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));

const loopOf = (rrd: Fields): Fields => (rrd["loop"] ?? {}) as Fields;

function topOf(rrd: Rrd): Fields {
  const { papers_pool: _, insights: __, ...top } = rrd;
  return top;
}

function byId(records: readonly Fields[] | null | undefined): Map<string, Fields> {
  const found = new Map<string, Fields>();
  for (const record of records ?? [])
    if (typeof record.id === "string" && !found.has(record.id)) found.set(record.id, record);
  return found;
}

type Draft = ReturnType<typeof openDraft>;

/**
 * Insights are numbered as their paper is judged, and by the time they are folded in a person, or another paper, may have taken
 * the number: they get the next one then, the same whenever the change is made again or undone.
 */
function renumbered(
  draft: Draft,
  change: JournalledChange,
  all: readonly JournalledChange[],
): { change: JournalledChange; taken?: string } {
  const { id = "", was, set } = change;
  if (change.in !== "insights" || was !== null) return { change };
  const records = draft.records("insights");
  const standing = records.get(id);
  const isOf = (record: Fields | undefined, fields: Fields) =>
    record?.["paper_id"] === fields["paper_id"] && record?.["insight"] === fields["insight"];
  const isHandEdit = standing?.["paper_id"] === set["paper_id"] && !all.some((other) => isOf(standing, other.set));
  if (standing === undefined || isOf(standing, set) || isHandEdit) return { change };
  const ids = records.ids();
  const last = Math.max(0, ...ids.map((each) => Number(/^insight_(\d+)$/.exec(each)?.[1] ?? 0)));
  const own = ids.find((each) => isOf(records.get(each), set)) ?? `insight_${String(last + 1).padStart(3, "0")}`;
  return {
    change: { ...change, id: own, set: { ...set, id: own } },
    taken: `${id} was taken meanwhile; the insight of ${String(set["paper_id"])} is ${own}.`,
  };
}

interface Records {
  ids(): string[];
  get(id: string): Fields | undefined;
  put(id: string, record: Fields): void;
  remove(id: string): void;
}

/** A copy of the state that is changed record by record, in which order and untouched records stay. */
function openDraft(rrd: Rrd): { top: Fields; records(name: "papers_pool" | "insights"): Records; close(): Rrd } {
  const lists = { papers_pool: openList(rrd.papers_pool), insights: openList(rrd.insights ?? []) };
  const draft = {
    top: rrd as Fields,
    records: (name: "papers_pool" | "insights") => lists[name],
    close: () => {
      const { papers_pool, insights } = {
        papers_pool: lists.papers_pool.changed(),
        insights: lists.insights.changed(),
      };
      return { ...draft.top, ...(papers_pool && { papers_pool }), ...(insights && { insights }) } as Rrd;
    },
  };
  return draft;
}

function openList(list: readonly Fields[]): Records & { changed(): Fields[] | undefined } {
  const records: (Fields | undefined)[] = [...list];
  const places = new Map<string, number>();
  for (const [place, { id }] of list.entries()) if (typeof id === "string" && !places.has(id)) places.set(id, place);
  let touched = false;
  return {
    ids: () => [...places.keys()],
    get: (id) => records[places.get(id) ?? -1],
    put(id, record) {
      touched = true;
      const place = places.get(id) ?? records.length;
      places.set(id, place);
      records[place] = record;
    },
    remove(id) {
      const place = places.get(id);
      if (place === undefined) return;
      touched = true;
      // Agents of the original tool gave several insights one id; all of them go.
      for (const [index, record] of records.entries())
        if (index >= place && record?.id === id) records[index] = undefined;
      places.delete(id);
    },
    changed: () => (touched ? records.filter((record) => record !== undefined) : undefined),
  };
}

const list = (names: readonly string[]): string => names.join(", ");

const handEdit = (what: string): string => `You changed ${what} during the run; your version stays.`;
