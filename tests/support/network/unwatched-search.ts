import type { SearchOptions } from "../../../src/research/units/screening/search-session.js";

/** A search that nobody watches, the first of its run, with no log to have answers from. */
export const unwatched: Pick<SearchOptions, "replay" | "isFirst" | "tell" | "watch"> = {
  replay: async () => [],
  isFirst: () => true,
  tell: () => undefined,
  watch: () => undefined,
};
