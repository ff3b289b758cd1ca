// Merging as the record store does it with a project's rrd.json.
import * as records from "../../../src/engine/storage/state/hand-edits/merge-hand-edits.js";
import { repairStaleSaves as restore } from "../../../src/engine/storage/state/hand-edits/stale-saves.js";
import type { JournalEntry } from "../../../src/engine/generated/journal.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { researchFormat } from "../../../src/research/project-files/rrd-file.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";

export type { Change, JournalledChange } from "../../../src/engine/storage/state/hand-edits/merge-hand-edits.js";

export function mergeChanges(rrd: Rrd, changes: readonly records.JournalledChange[], putBack: boolean) {
  const { state, notices } = records.mergeChanges(researchFormat, rrd, changes, putBack);
  return { rrd: state, notices };
}

export const undoChanges = (rrd: Rrd, changes: readonly records.JournalledChange[]): Rrd =>
  records.undoChanges(researchFormat, rrd, changes);

export const changesBetween = (before: Rrd, after: Rrd): records.Change[] =>
  records.changesBetween(researchFormat, before, after);

export const completeChange = (change: records.Change, base: Rrd): records.JournalledChange =>
  records.completeChange(researchFormat, change, base);

export async function restoreStaleSaves(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  entryOf: (iteration: number) => Promise<JournalEntry | undefined>,
) {
  const { state, restoredIds, unrecoverableUnits } = await restore(researchFormat, rrd, ledger, entryOf);
  return { rrd: state, restored: restoredIds, lost: unrecoverableUnits };
}
