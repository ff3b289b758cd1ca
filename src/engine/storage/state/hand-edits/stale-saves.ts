import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../../generated/journal.js";
import type { LedgerLine } from "../../../generated/ledger.js";
import type { Fields, StateFormat } from "../format.js";
import { mergeChanges, recordOf, recordsOf } from "./merge-hand-edits.js";
import { currentAccepted } from "../ledger.js";

interface Restored<State> {
  readonly state: State;
  /** Records that are done again. */
  readonly restored: readonly string[];
  /** Units that the ledger calls accepted but whose journal entry is gone. */
  readonly lost: readonly string[];
}

/**
 * Finds units that the ledger calls accepted and whose records show them as still to be done, or not at all: an editor
 * saved a version from before. What they left is put back from the journal; so are the marks that a unit left on other
 * records, where they are gone.
 */
export async function restoreStaleSaves<State extends Fields>(
  format: StateFormat<State>,
  state: State,
  ledger: readonly LedgerLine[],
  entryOf: (iteration: number) => Promise<JournalEntry | undefined>,
): Promise<Restored<State>> {
  const { units, collections } = format;
  const { collection } = units;
  const unitsOf = collections.find(({ name }) => name === collection);
  if (unitsOf === undefined) throw new Error(`${format.file} has no collection '${collection}'`);
  const hadRecord = (unit: string): boolean | undefined => {
    const line = ledger.findLast((each) => each.unit === unit && each.outcome === "accepted");
    return line !== undefined && units.hadRecord(line);
  };
  const existing = new Map(recordsOf(state, collection).map((record) => [record[unitsOf.key], record]));
  const restored: string[] = [];
  const lost: string[] = [];
  let whole = state;
  const accepted = currentAccepted(ledger);
  for (const [unit, iteration] of accepted) {
    const record = existing.get(unit);
    const had = record === undefined ? hadRecord(unit) : units.isOpen(record);
    if (had === false || (record === undefined && units.isPutAside?.(state, unit) === true)) continue;

    const entry = await entryOf(iteration);
    const isOwn = (change: { in: string; id?: string }) => change.in === collection && change.id === unit;
    if (record === undefined && !(entry?.changes.some(isOwn) ?? had)) continue;
    const changes = entry?.changes.filter((change) => isOwn(change) || units.leaves.includes(change.in)) ?? [];
    const merged = mergeChanges(format, whole, changes, true).state;
    const after = recordOf(merged, unitsOf, unit);
    if (after === undefined || units.isOpen(after)) lost.push(unit);
    else {
      whole = merged;
      restored.push(unit);
    }
  }
  for (const { unit, field } of units.marks) {
    const iteration = accepted.get(unit);
    if (iteration === undefined) continue;
    const marks = marksIn(await entryOf(iteration), collection, field);
    // A record that was done since has other marks, or none.
    const forgotten = marks.filter(({ id = "", was }) => {
      const record = recordOf(whole, unitsOf, id);
      return (
        (accepted.get(id) ?? 0) < iteration && record !== undefined && isDeepStrictEqual(record[field], was?.[field])
      );
    });
    if (forgotten.length > 0) whole = mergeChanges(format, whole, forgotten, true).state;
    restored.push(...forgotten.flatMap(({ id = "" }) => (restored.includes(id) ? [] : [id])));
  }
  return { state: whole, restored, lost };
}

/**
 * What an entry noted in this field of records. Nobody writes it by hand, so one that is as before tells of an older
 * version.
 */
const marksIn = (entry: JournalEntry | undefined, collection: string, field: string): JournalEntry["changes"] =>
  entry?.changes.filter(
    ({ in: where, set, was }) =>
      where === collection && set?.[field] !== undefined && !isDeepStrictEqual(set[field], was?.[field]),
  ) ?? [];
