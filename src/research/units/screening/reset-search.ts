import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { shellWord } from "../../../engine/lib/sanitise.js";
import { quantity } from "../../../engine/lib/words.js";
import type { Exclusion, Rrd } from "../../generated/rrd.js";
import { isFromOtherWay } from "../../derived/flow-counts.js";
import { candidatesFile, searchFile } from "../../project-files/layout.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import type { KindReset } from "../unit-kind.js";

/** Resets the search: it continues, whatever ended it. @throws ExpectedError (exit code 2) if the pool is full. */
export function resetSearch(rrd: Rrd, folder: string): KindReset {
  const { target_papers: target } = rrd.requirements;
  if (target !== undefined && rrd.papers_pool.length >= target) {
    throw new ExpectedError(
      `The pool holds ${rrd.papers_pool.length} of ${target} papers, so there is nothing to search for; 'research-ralph run ${shellWord(folder)} -p <more> --force' asks for more.`,
      2,
    );
  }
  const { statistics, ...remaining } = rrd;
  const {
    failures_in_a_row = {},
    source_failure_reasons: _,
    sources_skipped: __,
    ...metrics
  } = statistics?.discovery_metrics ?? {};
  // Sources that were blocked because they failed are asked again; those that the user blocked stay blocked.
  const failuresInARow = new Map(Object.entries(failures_in_a_row));
  const names = blockedNames(rrd);
  const blocked_sources = rrd.blocked_sources?.filter(
    (_, index) => (failuresInARow.get(names[index] ?? "") ?? 0) === 0,
  );
  // These exclusions depend on keywords, dates and criteria, which may have changed. The user's decisions stay.
  const excluded = rrd.excluded?.filter(
    ({ stage, override }) => override !== undefined || (stage !== "screened" && stage !== "window"),
  );
  const reopened = (rrd.excluded ?? []).filter((exclusion) => excluded?.includes(exclusion) !== true);
  const after: Rrd = {
    ...remaining,
    phase: "DISCOVERY",
    ...withoutUndefined({ excluded, blocked_sources }),
    statistics: {
      ...statistics,
      discovery_metrics: { ...removeRounds(withUnscreened(metrics, reopened)), batches_without_new: 0 },
    },
  };
  const count = reopened.length;
  const sentence = `${quantity(count, "work")} that ${count === 1 ? "was" : "were"} excluded may be screened again.`;
  const forgets = [candidatesFile(folder), searchFile(folder)];
  return {
    rrd: after,
    message: "The search continues",
    moreMessages: count === 0 ? [] : [sentence],
    obsoletePaths: forgets,
  };
}

/** The state in which these exclusions are candidates again. The search stays as it is; only its end is undone. */
export function screenAgain(rrd: Rrd, exclusions: readonly Exclusion[]): Rrd {
  const { exhausted: _, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  return {
    ...rrd,
    phase: "DISCOVERY",
    excluded: (rrd.excluded ?? []).filter((exclusion) => !exclusions.includes(exclusion)),
    statistics: {
      ...rrd.statistics,
      discovery_metrics: { ...withUnscreened(metrics, exclusions), batches_without_new: 0 },
    },
  };
}

/**
 * The state in which a record that was a duplicate is a candidate, so that the search continues. `isMerged`: the search
 * merged it, so that it is not among the exclusions. The same state if code has not searched yet.
 */
export function screenSeparated(rrd: Rrd, isMerged: boolean): Rrd {
  const { exhausted: _, ...metrics } = rrd.statistics?.discovery_metrics ?? {};
  if (metrics.flow?.not_screened === undefined) return rrd;
  return {
    ...rrd,
    phase: "DISCOVERY",
    statistics: {
      ...rrd.statistics,
      discovery_metrics: { ...withSeparated(metrics, 1, isMerged), batches_without_new: 0 },
    },
  };
}

/**
 * The state in which such a record that was not screened yet is a duplicate again. `isMerged`: it counts as merged by
 * the search, if it counts as not screened.
 */
export function undoSeparated(rrd: Rrd, isMerged: boolean): Rrd {
  const { discovery_metrics: metrics } = rrd.statistics ?? {};
  if (metrics == null || (metrics.flow?.not_screened ?? 0) < 1) return rrd;
  return { ...rrd, statistics: { ...rrd.statistics, discovery_metrics: withSeparated(metrics, -1, isMerged) } };
}

/** Counts a record, or one record less, as not screened, and one that the search merged no longer as a duplicate. */
function withSeparated(metrics: DiscoveryMetrics, count: 1 | -1, isMerged: boolean): DiscoveryMetrics {
  const { not_screened: open = 0, duplicates_removed: merged = 0 } = metrics.flow ?? {};
  const counts = {
    not_screened: open + count,
    ...(isMerged ? { duplicates_removed: Math.max(0, merged - count) } : {}),
  };
  return { ...metrics, flow: { ...metrics.flow, ...counts } };
}

type DiscoveryMetrics = NonNullable<NonNullable<Rrd["statistics"]>["discovery_metrics"]>;

/** Counts the records that the search found and that are candidates again as not screened. */
function withUnscreened(metrics: DiscoveryMetrics, reopened: readonly Exclusion[]): DiscoveryMetrics {
  const { flow } = metrics;
  if (flow?.not_screened === undefined) return metrics;
  const sources = flow.identified === undefined ? undefined : new Map(Object.entries(flow.identified));
  const found = reopened.filter((exclusion) => !isFromOtherWay(exclusion, sources));
  return { ...metrics, flow: { ...flow, not_screened: flow.not_screened + found.length } };
}

/** Removes the rounds of the search, and the reason why it ended, from the metrics. */
export function removeRounds(metrics: object): object {
  const removedFields = ["exhausted", "rounds", "screening", "recall", "pool_sha256"];
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => !removedFields.includes(name)));
}
