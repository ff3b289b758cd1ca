import type { Paper, Rrd } from "../generated/rrd.js";
import { scoresOf, totalsOf, usesScores } from "../papers/rubric/rubric.js";

/** The data of one paper in a list. */
export interface ListedPaper {
  readonly id: string;
  readonly key: string;
  readonly title: string;
  readonly status: Paper["status"];
  readonly decision: string | null;
  /** Null if missing, absent if papers get no points. */
  readonly score?: number | null;
  readonly year: number | null;
}

/** The papers, best first. Unread papers are last, in the order in which they will be read. */
export const papersByScore = (rrd: Rrd): ListedPaper[] =>
  rrd.papers_pool
    .map((paper) => {
      const scores = scoresOf(rrd, paper);
      const score = scores === undefined ? null : totalsOf(rrd, scores).combined;
      const year = Number(/^\d{4}/.exec(paper.date ?? "")?.[0] ?? Number.NaN);
      const { id, key = id, title, status, decision = null, priority } = paper;
      return {
        id,
        key,
        title,
        status,
        decision,
        ...(usesScores(rrd) ? { score } : {}),
        year: Number.isNaN(year) ? null : year,
        priority,
      };
    })
    .sort((a, b) => rank(b) - rank(a) || (b.score ?? 0) - (a.score ?? 0) || (b.priority ?? 0) - (a.priority ?? 0))
    .map(({ priority: _, ...listedPaper }) => listedPaper);

const rank = ({ status, score }: Pick<ListedPaper, "status" | "score">): number =>
  score != null ? 2 : status === "pending" || status === "analyzing" ? 0 : 1;
