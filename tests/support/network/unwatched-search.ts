import { sourceRests } from "../../../src/research/search/source-rests.js";
import type { SearchOptions } from "../../../src/research/units/screening/search-session.js";

/** A search that nobody watches, the first of its run, with no log to have answers from. */
export const unwatched: Pick<SearchOptions, "replay" | "isFirstSearch" | "rests" | "onReport" | "onProgress"> = {
  replay: async () => [],
  isFirstSearch: () => true,
  get rests() {
    return sourceRests({ now: () => 0, patienceMs: 7_200_000 });
  },
  onReport: () => undefined,
  onProgress: () => undefined,
};
