import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../../generated/journal.js";
import type { LedgerLine } from "../../../generated/ledger.js";
import type { Fields, StateFormat } from "../format.js";
import { mergeChanges, recordOf, recordsOf } from "./merge-hand-edits.js";
import { currentAccepted } from "../ledger.js";

interface Restored<State> {
  readonly state: State;
  /** Ids of the restored records. */
  readonly restored: readonly string[];
  /** Units that are accepted in the ledger but whose journal entry is missing. */
  readonly lost: readonly string[];
}

/**
 * Finds units that are accepted in the ledger but open or missing in the state: an editor has saved an older version of
 * the file. Restores their records from the journal, and also the lost marks that a unit set on other records.
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
    const line = ledger.findLast((ledgerLine) => ledgerLine.unit === unit && ledgerLine.outcome === "accepted");
    return line !== undefined && units.hadRecord(line);
  };
  const existing = new Map(recordsOf(state, collection).map((record) => [record[unitsOf.key], record]));
  const restored: string[] = [];
  const lost: string[] = [];
  let currentState = state;
  const accepted = currentAccepted(ledger);
  for (const [unit, iteration] of accepted) {
    const record = existing.get(unit);
    const isOpenInFile = record === undefined ? hadRecord(unit) : units.isOpen(record);
    if (isOpenInFile === false || (record === undefined && units.isPutAside?.(state, unit) === true)) continue;

    const entry = await entryOf(iteration);
    const isUnitChange = (change: { in: string; id?: string }) => change.in === collection && change.id === unit;
    if (record === undefined && !(entry?.changes.some(isUnitChange) ?? isOpenInFile)) continue;
    const changes = entry?.changes.filter((change) => isUnitChange(change) || units.leaves.includes(change.in)) ?? [];
    const merged = mergeChanges(format, currentState, changes, true).state;
    const after = recordOf(merged, unitsOf, unit);
    if (after === undefined || units.isOpen(after)) lost.push(unit);
    else {
      currentState = merged;
      restored.push(unit);
    }
  }
  for (const { unit, field } of units.marks) {
    const iteration = accepted.get(unit);
    if (iteration === undefined) continue;
    const marks = marksIn(await entryOf(iteration), collection, field);
    // A record that was completed later has other marks or none, so it is skipped.
    const lostMarks = marks.filter(({ id = "", was }) => {
      const record = recordOf(currentState, unitsOf, id);
      return (
        (accepted.get(id) ?? 0) < iteration && record !== undefined && isDeepStrictEqual(record[field], was?.[field])
      );
    });
    if (lostMarks.length > 0) currentState = mergeChanges(format, currentState, lostMarks, true).state;
    restored.push(...lostMarks.flatMap(({ id = "" }) => (restored.includes(id) ? [] : [id])));
  }
  return { state: currentState, restored, lost };
}

/**
 * The changes of an entry that set this field of records. People never write this field, so if it has the earlier
 * value, the file is an older version.
 */
const marksIn = (entry: JournalEntry | undefined, collection: string, field: string): JournalEntry["changes"] =>
  entry?.changes.filter(
    ({ in: where, set, was }) =>
      where === collection && set?.[field] !== undefined && !isDeepStrictEqual(set[field], was?.[field]),
  ) ?? [];
