import { isDeepStrictEqual } from "node:util";
import type { Paper, Rrd } from "../../generated/rrd.js";

/** What only accepted results write. Everything else in rrd.json is a person's to steer with: priorities, keywords, targets, new papers. */
const ofPapers = [
  "status",
  "score",
  "score_breakdown",
  "analysis",
  "decision",
  "notes",
  "read_depth",
  "text_sha256",
  "text_from",
  "retracted",
  "updates",
  "updates_check",
  "warnings",
  "iteration",
  "refusals",
];
const ofResearch = [
  "format",
  "insights",
  "phase",
  "statistics",
  "timing",
  "loop",
  "refusals",
  "excluded",
  "visited_urls",
];

export interface Steered {
  /** The state as edited, with every result as it was before. */
  readonly rrd: Rrd;
  /** Whether results had to be put back. */
  readonly forged: boolean;
  /** Fields of the top level and ids of papers whose edits are kept. */
  readonly kept: readonly string[];
}

/**
 * Tells an edit that steers from one that forges results, where rrd.json changed while an agent ran that nothing confines: it could
 * have been the agent or a person. Results, counts and the pool's papers come back; the rest of the edit stays.
 */
export function keepSteering(before: Rrd, now: Rrd): Steered {
  const old = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
  const ids = new Set(now.papers_pool.map((paper) => paper.id));
  const pool = now.papers_pool.map((paper) => {
    const known = old.get(paper.id);
    return known === undefined ? asPending(paper) : withFieldsOf(paper, known, ofPapers);
  });
  const removed = before.papers_pool.filter((paper) => !ids.has(paper.id));
  const rrd: Rrd = { ...withFieldsOf(now, before, ofResearch), papers_pool: [...pool, ...removed] };
  const fields = [...new Set([...Object.keys(before), ...Object.keys(rrd)])].filter(
    (name) => name !== "papers_pool" && !isDeepStrictEqual(before[name], rrd[name]),
  );
  const papers = pool.filter((paper) => !isDeepStrictEqual(old.get(paper.id), paper)).map((paper) => paper.id);
  return { rrd, forged: !isDeepStrictEqual(rrd, now), kept: [...fields, ...papers] };
}

/** A new paper is one to read, whatever is said of it. */
const asPending = (paper: Paper): Paper =>
  paper.status === "pending"
    ? withFieldsOf(
        paper,
        { notes: paper.notes },
        ofPapers.filter((field) => field !== "status"),
      )
    : { ...withFieldsOf(paper, {}, ofPapers), status: "pending" };

/** `target` with these fields as in `source`: absent there, absent here. A null counts as absent where the other side has none. */
function withFieldsOf<T extends object>(target: T, source: object, fields: readonly string[]): T {
  const result = { ...target } as Record<string, unknown>;
  for (const field of fields) {
    const value = (source as Record<string, unknown>)[field];
    if (value === undefined && result[field] == null) continue;
    if (value === undefined) delete result[field];
    else result[field] = value;
  }
  return result as T;
}
