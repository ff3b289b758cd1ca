import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { shellWord } from "../../../engine/lib/sanitise.js";
import { many } from "../../../engine/lib/words.js";
import type { Rrd } from "../../generated/rrd.js";
import { candidatesFile, searchFile } from "../../project-files/layout.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import type { KindReset } from "../unit-kind.js";

/**
 * The state in which the search goes on, whatever ended it.
 * @throws ExpectedError (exit code 2) where the pool is full.
 */
export function resetSearch(rrd: Rrd, folder: string): KindReset {
  const { target_papers: target } = rrd.requirements;
  if (target !== undefined && rrd.papers_pool.length >= target) {
    throw new ExpectedError(
      `The pool holds ${rrd.papers_pool.length} of ${target} papers, so there is nothing to search for; 'research-ralph run ${shellWord(folder)} -p <more> --force' asks for more.`,
      2,
    );
  }
  const { statistics, ...kept } = rrd;
  const {
    failures_in_a_row = {},
    source_failure_reasons: _,
    sources_skipped: __,
    ...metrics
  } = statistics?.discovery_metrics ?? {};
  // A source that failed was given up by the run and is asked again; what else stands there a person wants left out.
  const inARow = new Map(Object.entries(failures_in_a_row));
  const names = blockedNames(rrd);
  const blocked_sources = rrd.blocked_sources?.filter((_, index) => (inARow.get(names[index] ?? "") ?? 0) === 0);
  // By keywords, a window or criteria that may be others by now; what a person decided stays.
  const excluded = rrd.excluded?.filter(
    ({ stage, override }) => override !== undefined || (stage !== "screened" && stage !== "window"),
  );
  const after: Rrd = {
    ...kept,
    phase: "DISCOVERY",
    ...withoutUndefined({ excluded, blocked_sources }),
    statistics: { ...statistics, discovery_metrics: { ...withoutRounds(metrics), batches_without_new: 0 } },
  };
  const again = (rrd.excluded ?? []).length - (excluded ?? []).length;
  const sentence = `${many(again, "work")} that ${again === 1 ? "was" : "were"} excluded may be screened again.`;
  const forgets = [candidatesFile(folder), searchFile(folder)];
  return { rrd: after, message: "The search continues", moreMessages: again === 0 ? [] : [sentence], forgets };
}

/** What was asked so far, and why there would be nothing more, is no longer true once everything is asked again. */
export function withoutRounds(metrics: object): object {
  const gone = ["exhausted", "rounds", "screening", "recall", "pool_sha256"];
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => !gone.includes(name)));
}
