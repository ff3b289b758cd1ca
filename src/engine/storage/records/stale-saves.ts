import { isDeepStrictEqual } from "node:util";
import type { JournalEntry } from "../../generated/journal.js";
import type { LedgerLine } from "../../generated/ledger.js";
import type { Rrd } from "../../../research/generated/rrd.js";
import { mergeChanges } from "./record-merge.js";
import { currentAccepted } from "./ledger.js";

interface Restored {
  readonly rrd: Rrd;
  /** Papers that are done again. */
  readonly restored: readonly string[];
  /** Papers that the ledger calls accepted but whose journal entry is gone. */
  readonly lost: readonly string[];
}

/**
 * Finds papers that the ledger calls accepted and rrd.json shows unread or not at all: an editor saved a version from before.
 * Their results and insights are put back from the journal; so is what the report's check found of papers, where it is gone.
 */
export async function restoreStaleSaves(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  entryOf: (iteration: number) => Promise<JournalEntry | undefined>,
): Promise<Restored> {
  const status = new Map(rrd.papers_pool.map((paper) => [paper.id, paper.status]));
  const restored: string[] = [];
  const lost: string[] = [];
  let state = rrd;
  const accepted = currentAccepted(ledger);
  for (const [unit, iteration] of accepted) {
    const standing = status.get(unit);
    if (standing === undefined ? isNoPaper(unit, ledger) : standing !== "pending" && standing !== "analyzing") continue;

    const entry = await entryOf(iteration);
    const isPaper =
      entry === undefined || entry.changes.some((change) => change.in === "papers_pool" && change.id === unit);
    if (standing === undefined && !isPaper) continue;
    const changes =
      entry?.changes.filter(
        (change) => (change.in === "papers_pool" && change.id === unit) || change.in === "insights",
      ) ?? [];
    const merged = mergeChanges(state, changes, true).rrd;
    const after = merged.papers_pool.find((paper) => paper.id === unit)?.status;
    if (after === undefined || after === standing) lost.push(unit);
    else {
      state = merged;
      restored.push(unit);
    }
  }
  const report = accepted.get("report");
  const checks = report === undefined ? [] : checksIn(await entryOf(report), (id) => (accepted.get(id) ?? 0) < report);
  const forgotten = checks.filter(({ id, was }) => {
    const paper = state.papers_pool.find((each) => each.id === id);
    return paper !== undefined && isDeepStrictEqual(paper.updates_check, was?.["updates_check"]);
  });
  if (forgotten.length > 0) state = mergeChanges(state, forgotten, true).rrd;
  restored.push(...forgotten.flatMap(({ id = "" }) => (restored.includes(id) ? [] : [id])));
  return { rrd: state, restored, lost };
}

/** What a report's check noted of papers. Nobody writes `updates_check` by hand, so one that is as before tells of an older version. */
const checksIn = (entry: JournalEntry | undefined, isOfToday: (id: string) => boolean): JournalEntry["changes"] =>
  entry?.changes.filter(
    ({ in: where, id = "", set, was }) =>
      where === "papers_pool" &&
      set?.["updates_check"] !== undefined &&
      isOfToday(id) &&
      !isDeepStrictEqual(set["updates_check"], was?.["updates_check"]),
  ) ?? [];

/** Only papers have their own id for a unit; the others are named after their work. */
function isNoPaper(unit: string, ledger: readonly LedgerLine[]): boolean {
  const line = ledger.findLast((each) => each.unit === unit && each.outcome === "accepted");
  return line?.phase !== "ANALYSIS" || unit === "report" || unit === "classic";
}
