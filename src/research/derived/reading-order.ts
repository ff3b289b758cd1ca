import type { Paper, Rrd } from "../generated/rrd.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { papersToReadAgain } from "./open-update.js";

/**
 * The papers that are still to be read, the highest priority (default 3) first, those of one priority in the order of
 * their discovery, and those that are read again after them; and the papers that were refused `maxRefusals` times.
 */
export function readingOrder(
  rrd: Rrd,
  maxRefusals: number,
): { readonly readable: readonly Paper[]; readonly refused: readonly Paper[] } {
  const isRefused = (paper: Paper) => (paper.refusals?.length ?? 0) >= maxRefusals;
  const pending = rrd.papers_pool.filter((paper) => !isDecided(paper));
  const again = papersToReadAgain(rrd).filter((paper) => isDecided(paper) && !isRefused(paper));
  const readable = [...pending.filter((paper) => !isRefused(paper)), ...again];
  return {
    readable: readable.sort((a, b) => (b.priority ?? 3) - (a.priority ?? 3)),
    refused: pending.filter(isRefused),
  };
}
