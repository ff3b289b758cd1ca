import { deriveStatistics } from "../../../src/research/derived/statistics.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";

/** The state with the changes of an accepted batch. */
export function folded(rrd: Rrd, changes: readonly { in: string; id?: string; set: object; add?: object }[]): Rrd {
  let next = rrd;
  for (const { in: where, id, set, add } of changes) {
    if (where === "papers_pool") {
      const isKnown = next.papers_pool.some((paper) => paper.id === id);
      const papers_pool = isKnown
        ? next.papers_pool.map((paper) => (paper.id === id ? { ...paper, ...set } : paper))
        : [...next.papers_pool, set as Paper];
      next = { ...next, papers_pool };
    } else {
      const { excluded = [] } = (add ?? {}) as Pick<Rrd, "excluded">;
      next = { ...next, ...set, excluded: [...(next.excluded ?? []), ...excluded] };
    }
  }
  return { ...next, statistics: deriveStatistics(next) };
}
