import type { LedgerLine } from "../../engine/generated/ledger.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { currentAccepted, validLines } from "../../engine/storage/state/ledger.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { namesIn } from "../papers/paper-keys.js";
import { isDecided } from "../papers/rubric/rubric.js";

/**
 * Papers on which a person decided after the agent of the last report began, so that the report may rest on others:
 * those that were read, and those that are to be read now. Empty where no report is in force. Pure.
 */
export function decidedSinceReport({ papers_pool: pool }: Rrd, ledger: readonly LedgerLine[]): readonly Paper[] {
  const isOpen = (paper: Paper) => paper.analysis != null || !isDecided(paper);
  const decided = pool.filter((paper) => paper.override?.at !== undefined && isOpen(paper));
  const iteration = currentAccepted(ledger).get("report");
  if (decided.length === 0 || iteration === undefined) return [];
  const line = validLines(ledger).find((each) => each.iteration === iteration);
  const began = Date.parse(line?.at ?? "") - (line?.duration_seconds ?? 0) * 1000;
  return decided.filter(({ override }) => Date.parse(override?.at ?? "") > began);
}

/** So many papers are named. */
const maxNamed = 3;

/**
 * What came after the report and is not in it: "2 decisions of yours (lo2020, ng2021) and 1 reading"; undefined where
 * it holds everything, or is not written. Pure.
 */
export function sinceReport(rrd: Rrd, ledger: readonly LedgerLine[]): string | undefined {
  const accepted = currentAccepted(ledger);
  const report = accepted.get("report");
  if (report === undefined) return undefined;
  const decided = decidedSinceReport(rrd, ledger);
  const read = rrd.papers_pool.filter(({ id }) => (accepted.get(id) ?? 0) > report).length;
  const names = namesIn(rrd);
  const named = decided.slice(0, maxNamed).map(({ id }) => oneLine(names.get(id) ?? id));
  const more = decided.length > maxNamed ? ` and ${decided.length - maxNamed} more` : "";
  const parts = [
    ...(decided.length === 0 ? [] : [`${many(decided.length, "decision")} of yours (${named.join(", ")}${more})`]),
    ...(read === 0 ? [] : [many(read, "reading")]),
  ];
  return parts.length === 0 ? undefined : parts.join(" and ");
}
