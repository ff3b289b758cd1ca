import type { Step } from "../../generated/rrd.js";
import type { Searching } from "../../../engine/generated/event.js";
import { isFailed, type Told } from "../../search/result-list.js";

/** How far one source is with a round of a search. */
export type SearchProgress = Omit<Searching, "type" | "at">;

/** Tells of one round as it goes on; the first is 0. `end`: it is over, for all sources. */
export function progressOfRound(
  index: number,
  step: Step,
  watch: (progress: SearchProgress) => void,
): { readonly told: Told; end(): void } {
  const latest = new Map<string, SearchProgress>();
  const round = index + 1;
  const tell = (progress: SearchProgress) => {
    latest.set(progress.source, progress);
    watch(progress);
  };
  if (step.kind === "search")
    for (const source of step.sources) tell({ source, round, done: 0, all: step.queries.length, found: 0 });
  return {
    told(listing, { done, all, over }) {
      const { source, asked, records, reason } = listing;
      tell({
        ...{ source, round, done, all },
        found: (latest.get(source)?.found ?? 0) + records.length,
        ...(asked === "" ? {} : { asked, listed: records.length }),
        ...(reason === undefined ? {} : { reason }),
        ...(isFailed(listing) ? { failed: true as const } : {}),
        ...(over ? { over: true as const } : {}),
      });
    },
    end() {
      for (const { source, done, all, found, over } of latest.values())
        if (over !== true) watch({ source, round, done, all, found, over: true });
    },
  };
}
