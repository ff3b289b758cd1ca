import type { LedgerLine } from "../../engine/generated/ledger.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { currentAccepted, validLines } from "../../engine/storage/state/ledger.js";
import type { Paper, Rrd } from "../generated/rrd.js";
import { namesIn } from "../papers/paper-keys.js";
import { isDecided } from "../papers/rubric/rubric.js";

/**
 * Papers on which the user decided after the agent of the last report started, so that the report may be based on other
 * papers: those that were read or are pending. Empty without a valid report. Pure.
 */
export function decidedSinceReport({ papers_pool: pool }: Rrd, ledger: readonly LedgerLine[]): readonly Paper[] {
  const isReadOrPending = (paper: Paper) => paper.analysis != null || !isDecided(paper);
  const decidedPapers = pool.filter((paper) => paper.override?.at !== undefined && isReadOrPending(paper));
  const iteration = currentAccepted(ledger).get("report");
  if (decidedPapers.length === 0 || iteration === undefined) return [];
  const line = validLines(ledger).find((candidate) => candidate.iteration === iteration);
  const startTime = Date.parse(line?.at ?? "") - (line?.duration_seconds ?? 0) * 1000;
  return decidedPapers.filter(({ override }) => Date.parse(override?.at ?? "") > startTime);
}

/** Maximum number of papers that are named. */
const maxNames = 3;

/**
 * Decisions and readings that are not in the report: "2 of your decisions (lo2020, ng2021) and 1 reading"; undefined
 * if the report contains everything or does not exist. Pure.
 */
export function changesSinceReport(rrd: Rrd, ledger: readonly LedgerLine[]): string | undefined {
  const accepted = currentAccepted(ledger);
  const reportIteration = accepted.get("report");
  if (reportIteration === undefined) return undefined;
  const decidedPapers = decidedSinceReport(rrd, ledger);
  const readCount = rrd.papers_pool.filter(({ id }) => (accepted.get(id) ?? 0) > reportIteration).length;
  const names = namesIn(rrd);
  const firstNames = decidedPapers.slice(0, maxNames).map(({ id }) => oneLine(names.get(id) ?? id));
  const moreText = decidedPapers.length > maxNames ? ` and ${decidedPapers.length - maxNames} more` : "";
  const parts = [
    ...(decidedPapers.length === 0
      ? []
      : [`${decidedPapers.length} of your decisions (${firstNames.join(", ")}${moreText})`]),
    ...(readCount === 0 ? [] : [quantity(readCount, "reading")]),
  ];
  return parts.length === 0 ? undefined : parts.join(" and ");
}
