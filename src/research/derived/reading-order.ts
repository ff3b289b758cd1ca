import type { Paper, Rrd } from "../generated/rrd.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { papersToReadAgain } from "./open-update.js";

/**
 * The papers to read, by priority (default 3), then in the order of discovery; papers that are read again come last.
 * Also the papers that were refused `maxRefusals` times.
 */
export function readingOrder(
  rrd: Rrd,
  maxRefusals: number,
): { readonly readable: readonly Paper[]; readonly refused: readonly Paper[] } {
  const isRefused = (paper: Paper) => (paper.refusals?.length ?? 0) >= maxRefusals;
  const pending = rrd.papers_pool.filter((paper) => !isDecided(paper));
  const toReadAgain = papersToReadAgain(rrd).filter((paper) => isDecided(paper) && !isRefused(paper));
  const readable = [...pending.filter((paper) => !isRefused(paper)), ...toReadAgain];
  return {
    readable: readable.sort((a, b) => (b.priority ?? 3) - (a.priority ?? 3)),
    refused: pending.filter(isRefused),
  };
}
