import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../../generated/journal.js";
import type { LedgerLine } from "../../../generated/ledger.js";
import type { Fields, StateFormat } from "../format.js";
import { mergeChanges, recordOf, recordsOf } from "./merge-hand-edits.js";
import { currentAccepted } from "../ledger.js";

interface RepairedState<State> {
  readonly state: State;
  /** Ids of the restored records. */
  readonly restoredIds: readonly string[];
  /** Accepted units that could not be restored from the journal. */
  readonly unrecoverableUnits: readonly string[];
}

/** A reset that is about to be merged: the ids of the records of units that it changes or adds. */
interface NextReset<State> {
  readonly changed: ReadonlySet<string>;
  readonly added: ReadonlySet<string>;
  /** The state after the reset; it may have moved a unit's record aside. */
  readonly state: State;
}

/**
 * Repairs a state file that an editor has overwritten with an older version: some units are accepted in the ledger, but
 * open or missing in the file. Their records are restored from the journal, and also the marks: the fields that an
 * accepted unit set in records of other units. Records that the next reset changes or adds are not repaired, because
 * its values may be newer than those of the journal; but a changed record that is missing is restored, so that it keeps
 * its place in the file.
 */
export async function repairStaleSaves<State extends Fields>(
  format: StateFormat<State>,
  state: State,
  ledger: readonly LedgerLine[],
  entryOf: (iteration: number) => Promise<JournalEntry | undefined>,
  reset: NextReset<State> = { changed: new Set(), added: new Set(), state },
): Promise<RepairedState<State>> {
  const { units, collections } = format;
  const { collection } = units;
  const unitCollection = collections.find(({ name }) => name === collection);
  if (unitCollection === undefined) throw new Error(`${format.file} has no collection '${collection}'`);
  /** Whether the unit had a record when it was accepted; undefined if only the journal entry can say. */
  const hadRecord = (unit: string): boolean | undefined => {
    const line = ledger.findLast((ledgerLine) => ledgerLine.unit === unit && ledgerLine.outcome === "accepted");
    return line !== undefined && units.hadRecord(line);
  };
  const existing = new Map(recordsOf(state, collection).map((record) => [record[unitCollection.key], record]));
  const restoredIds: string[] = [];
  const unrecoverableUnits: string[] = [];
  let currentState = state;
  const accepted = currentAccepted(ledger);
  for (const [unit, iteration] of accepted) {
    if (reset.added.has(unit) || (reset.changed.has(unit) && existing.has(unit))) continue;
    const record = existing.get(unit);
    // A record that should exist but is missing was undone too.
    const isUndone = record === undefined ? hadRecord(unit) : units.isOpen(record);
    if (isUndone === false || (record === undefined && units.isMovedAside?.(reset.state, unit) === true)) continue;

    const entry = await entryOf(iteration);
    const isUnitChange = (change: { in: string; id?: string }) => change.in === collection && change.id === unit;
    if (record === undefined && !(entry?.changes.some(isUnitChange) ?? isUndone)) continue;
    const changes =
      entry?.changes.filter((change) => isUnitChange(change) || units.outputCollections.includes(change.in)) ?? [];
    const merged = mergeChanges(format, currentState, changes, true).state;
    const mergedRecord = recordOf(merged, unitCollection, unit);
    if (mergedRecord === undefined || units.isOpen(mergedRecord)) unrecoverableUnits.push(unit);
    else {
      currentState = merged;
      restoredIds.push(unit);
    }
  }
  for (const { unit, field } of units.marks) {
    const iteration = accepted.get(unit);
    if (iteration === undefined) continue;
    const marks = findMarks(await entryOf(iteration), collection, field);
    // A record whose unit was accepted later is skipped: it may have other marks.
    const missingMarks = marks.filter(({ id = "", was }) => {
      const record = recordOf(currentState, unitCollection, id);
      return (
        !reset.changed.has(id) &&
        (accepted.get(id) ?? 0) < iteration &&
        record !== undefined &&
        isDeepStrictEqual(record[field], was?.[field])
      );
    });
    if (missingMarks.length > 0) currentState = mergeChanges(format, currentState, missingMarks, true).state;
    restoredIds.push(...missingMarks.flatMap(({ id = "" }) => (restoredIds.includes(id) ? [] : [id])));
  }
  return { state: currentState, restoredIds, unrecoverableUnits };
}

/**
 * The changes of an entry that gave this field a new value. People never write this field. So if a record has the old
 * value again, the file is an older version.
 */
const findMarks = (entry: JournalEntry | undefined, collection: string, field: string): JournalEntry["changes"] =>
  entry?.changes.filter(
    ({ in: collectionName, set, was }) =>
      collectionName === collection && set?.[field] !== undefined && !isDeepStrictEqual(set[field], was?.[field]),
  ) ?? [];
