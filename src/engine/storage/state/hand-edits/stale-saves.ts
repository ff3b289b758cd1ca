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
  /** Accepted units that could not be restored from the journal. */
  readonly lost: readonly string[];
}

/**
 * Finds units that are accepted in the ledger but open or missing in the state: an editor has saved an older version of
 * the file. Restores their records from the journal, and also the fields that an accepted unit set in records of other
 * units (marks). `except`: units whose records a reset sets next; a missing
 * record is restored nevertheless, so that it keeps its place.
 */
export async function repairStaleSaves<State extends Fields>(
  format: StateFormat<State>,
  state: State,
  ledger: readonly LedgerLine[],
  entryOf: (iteration: number) => Promise<JournalEntry | undefined>,
  except: ReadonlySet<string> = new Set(),
): Promise<Restored<State>> {
  const { units, collections } = format;
  const { collection } = units;
  const unitCollection = collections.find(({ name }) => name === collection);
  if (unitCollection === undefined) throw new Error(`${format.file} has no collection '${collection}'`);
  const hadRecord = (unit: string): boolean | undefined => {
    const line = ledger.findLast((ledgerLine) => ledgerLine.unit === unit && ledgerLine.outcome === "accepted");
    return line !== undefined && units.hadRecord(line);
  };
  const existing = new Map(recordsOf(state, collection).map((record) => [record[unitCollection.key], record]));
  const restored: string[] = [];
  const lost: string[] = [];
  let currentState = state;
  const accepted = currentAccepted(ledger);
  for (const [unit, iteration] of accepted) {
    if (except.has(unit) && existing.has(unit)) continue;
    const record = existing.get(unit);
    // A missing record counts as open if the accepted unit should have one.
    const isOpenInFile = record === undefined ? hadRecord(unit) : units.isOpen(record);
    if (isOpenInFile === false || (record === undefined && units.isPutAside?.(state, unit) === true)) continue;

    const entry = await entryOf(iteration);
    const isUnitChange = (change: { in: string; id?: string }) => change.in === collection && change.id === unit;
    if (record === undefined && !(entry?.changes.some(isUnitChange) ?? isOpenInFile)) continue;
    const changes = entry?.changes.filter((change) => isUnitChange(change) || units.leaves.includes(change.in)) ?? [];
    const merged = mergeChanges(format, currentState, changes, true).state;
    const after = recordOf(merged, unitCollection, unit);
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
    const missingMarks = marks.filter(({ id = "", was }) => {
      const record = recordOf(currentState, unitCollection, id);
      return (
        (accepted.get(id) ?? 0) < iteration && record !== undefined && isDeepStrictEqual(record[field], was?.[field])
      );
    });
    if (missingMarks.length > 0) currentState = mergeChanges(format, currentState, missingMarks, true).state;
    restored.push(...missingMarks.flatMap(({ id = "" }) => (restored.includes(id) ? [] : [id])));
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
