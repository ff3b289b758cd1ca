import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Exclusion, Override, Paper, Rrd } from "../generated/rrd.js";
import { scoresOf, totalsOf } from "../papers/rubric/rubric.js";

/**
 * The state with every override of a person's applied, from `decide` or written by hand: an included paper is presented
 * whatever criteria and points say, or is to be read where nobody has read it; an excluded one is rejected, and its
 * points are held back; one that could not be had is not assessed. A record that screening had excluded comes into the
 * pool where it is included, or was sought. Pure, and the same when applied twice.
 */
export function withOverrides(rrd: Rrd): Rrd {
  const excluded = rrd.excluded ?? [];
  const returning = excluded.filter(comesBack);
  if (returning.length === 0 && !rrd.papers_pool.some(({ override }) => override !== undefined)) return rrd;
  const ids = new Set(rrd.papers_pool.map(({ id }) => id));
  const pool = rrd.papers_pool.map((paper) => settled(rrd, paper));
  const back = returning.filter(({ id }, index) => {
    const isFirst = returning.findIndex((other) => other.id === id) === index;
    return isFirst && !ids.has(id);
  });
  return {
    ...rrd,
    papers_pool: [...pool, ...back.map((one) => settled(rrd, paperOfExcluded(one)))],
    ...(returning.length === 0 ? {} : { excluded: excluded.filter((one) => !comesBack(one)) }),
  };
}

/**
 * The state with this override on the paper or excluded record of that id; the same state where it is missing, or where
 * the same was decided before: its time would make a report older.
 */
export function withOverride(rrd: Rrd, id: string, override: Override): Rrd {
  const isSaid = ({ id: of, override: said }: Pick<Paper, "id" | "override">) =>
    of === id &&
    said?.decision === override.decision &&
    said.why === override.why &&
    said.criterion === override.criterion;
  if (rrd.papers_pool.some(isSaid) || rrd.excluded?.some(isSaid)) return rrd;
  if (rrd.papers_pool.some((paper) => paper.id === id))
    return { ...rrd, papers_pool: rrd.papers_pool.map((paper) => (paper.id === id ? { ...paper, override } : paper)) };
  const last = (rrd.excluded ?? []).findLastIndex((one) => one.id === id && isReversible(one));
  if (last === -1) return rrd;
  return { ...rrd, excluded: (rrd.excluded ?? []).map((one, index) => (index === last ? { ...one, override } : one)) };
}

/** Whether a person can decide on the record of that id. */
export const isDecidable = (rrd: Rrd, id: string): boolean =>
  rrd.papers_pool.some((paper) => paper.id === id) ||
  (rrd.excluded ?? []).some((one) => one.id === id && isReversible(one));

/** Whether applying the overrides changes anything. */
export const hasOpenOverride = (rrd: Rrd): boolean =>
  (rrd.excluded ?? []).some(comesBack) || rrd.papers_pool.some((paper) => settled(rrd, paper) !== paper);

/** Excluded records that a person's word brings into the pool. */
export const returningIds = ({ excluded = [] }: Rrd): ReadonlySet<string> =>
  new Set(excluded.filter(comesBack).map(({ id }) => id));

/** Stages whose exclusion a person may override: not what is a duplicate or retracted. */
const reversible: ReadonlySet<string> = new Set(["screened", "window", "notice"]);
export const isReversible = ({ stage, duplicate_of }: Exclusion): boolean =>
  reversible.has(stage ?? "screened") && duplicate_of === undefined;

const comesBack = (one: Exclusion): boolean =>
  one.override !== undefined && one.override.decision !== "exclude" && isReversible(one);

function settled(rrd: Rrd, paper: Paper): Paper {
  const { override, status, score_breakdown: points, held_scores: held } = paper;
  if (override === undefined) return paper;
  const unscored = { score: null, score_breakdown: null, ...(points == null ? {} : { held_scores: points }) };
  if (override.decision === "exclude")
    return status === "rejected" && points == null
      ? paper
      : { ...paper, status: "rejected", decision: "REJECT", ...unscored };
  if (override.decision === "not_retrieved") {
    if (status === "not_retrieved" || paper.retracted === true) return paper;
    const missing = {
      reason: `A person could not get it: ${override.why.replace(/\.?$/, ".")}`,
      cure: notHad,
      tried: "",
    };
    return { ...paper, status: "not_retrieved", decision: null, ...unscored, not_retrieved: missing };
  }
  // A retracted paper is never included.
  if (paper.retracted === true) return paper;
  const isSettled = status === "pending" || status === "analyzing" || (status === "presented" && held == null);
  if (isSettled) return paper;
  const { held_scores: _, excluded_by: __, not_retrieved: ___, ...kept } = paper;
  if (paper.analysis == null && held == null)
    // Not read, or its reading was undone since.
    return paper.iteration === undefined
      ? { ...kept, status: "pending", decision: null, score: null, score_breakdown: null }
      : paper;
  const scores = held == null ? undefined : scoresOf(rrd, { score_breakdown: held });
  return {
    ...kept,
    status: "presented",
    decision: "PRESENT",
    ...(scores === undefined ? {} : { score: totalsOf(rrd, scores).combined, score_breakdown: held }),
  };
}

const notHad = "'research-ralph add' gives it a file, and 'research-ralph decide' with include has it read.";

/** A record that a person takes back into the pool, with what is known of it. */
function paperOfExcluded(one: Exclusion): Paper {
  const { id, key, source_key, title, url, identifiers, source, year, first_author: author, before, readings } = one;
  const { answers, override } = one;
  return {
    id,
    ...withoutUndefined({ key, source_key }),
    title: title ?? id,
    url: url ?? urlOf(id),
    ...(author === undefined ? {} : { authors: [author] }),
    ...(year === undefined ? {} : { date: String(year) }),
    ...withoutUndefined({ identifiers, source }),
    // The search found it.
    found: { sources: [source ?? "a search"], why: "" },
    ...before,
    priority: 5,
    status: "pending",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    notes: override?.decision === "include" ? `Included by a person: ${override.why}` : "",
    ...withoutUndefined({ answers, override, readings }),
  };
}

/** The address that an id of the pool stands for, such as that of doi_10.1000_x; null where it stands for none. */
function urlOf(id: string): string | null {
  const [, kind, rest = ""] = /^(arxiv|doi)_(.+)$/.exec(id) ?? [];
  if (kind === undefined) return null;
  return kind === "arxiv" ? `https://arxiv.org/abs/${rest}` : `https://doi.org/${rest.replace("_", "/")}`;
}
