import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Exclusion, Override, Paper, Rrd } from "../generated/rrd.js";
import { scoresOf, totalsOf } from "../papers/rubric/rubric.js";
import { undecidedFields } from "./status.js";

/**
 * Applies all overrides of the user, from `decide` or written by hand. An included paper is presented regardless of
 * criteria and points, or pending if it was not read. An excluded paper is rejected, and its points are moved to
 * `held_scores`. A paper that the user could not get is not retrieved. An excluded record returns to the pool if the
 * user includes it or could not get it. Pure; applying it twice changes nothing more.
 */
export function withOverrides(rrd: Rrd): Rrd {
  const excluded = rrd.excluded ?? [];
  const returning = excluded.filter(isReturning);
  if (returning.length === 0 && !rrd.papers_pool.some(({ override }) => override !== undefined)) return rrd;
  const ids = new Set(rrd.papers_pool.map(({ id }) => id));
  const pool = rrd.papers_pool.map((paper) => withOwnOverride(rrd, paper));
  const returned = returning.filter(({ id }, index) => {
    const isFirst = returning.findIndex((other) => other.id === id) === index;
    return isFirst && !ids.has(id);
  });
  return {
    ...rrd,
    papers_pool: [...pool, ...returned.map((exclusion) => withOwnOverride(rrd, paperOfExcluded(exclusion)))],
    ...(returning.length === 0 ? {} : { excluded: excluded.filter((exclusion) => !isReturning(exclusion)) }),
  };
}

/**
 * The state with this override on the paper or excluded record with this id. The same state if there is no such record,
 * or if the decision was made before: a new time would make the report outdated.
 */
export function withOverride(rrd: Rrd, id: string, override: Override): Rrd {
  const hasSameOverride = ({ id: recordId, override: current }: Pick<Paper, "id" | "override">) =>
    recordId === id &&
    current?.decision === override.decision &&
    current.why === override.why &&
    current.criterion === override.criterion;
  if (rrd.papers_pool.some(hasSameOverride) || rrd.excluded?.some(hasSameOverride)) return rrd;
  if (rrd.papers_pool.some((paper) => paper.id === id))
    return { ...rrd, papers_pool: rrd.papers_pool.map((paper) => (paper.id === id ? { ...paper, override } : paper)) };
  const lastIndex = (rrd.excluded ?? []).findLastIndex((exclusion) => exclusion.id === id && isReversible(exclusion));
  if (lastIndex === -1) return rrd;
  return {
    ...rrd,
    excluded: (rrd.excluded ?? []).map((exclusion, index) =>
      index === lastIndex ? { ...exclusion, override } : exclusion,
    ),
  };
}

/** Whether the user can decide on the record with this id. */
export const isDecidable = (rrd: Rrd, id: string): boolean =>
  rrd.papers_pool.some((paper) => paper.id === id) ||
  (rrd.excluded ?? []).some((exclusion) => exclusion.id === id && isReversible(exclusion));

/** Whether applying the overrides changes anything. */
export const hasOpenOverride = (rrd: Rrd): boolean =>
  (rrd.excluded ?? []).some(isReturning) || rrd.papers_pool.some((paper) => withOwnOverride(rrd, paper) !== paper);

/** The ids of excluded records that return to the pool by an override. */
export const returningIds = ({ excluded = [] }: Rrd): ReadonlySet<string> =>
  new Set(excluded.filter(isReturning).map(({ id }) => id));

/** The stages whose exclusions the user may override: not duplicates and retracted records. */
const reversibleStages: ReadonlySet<string> = new Set(["screened", "window", "notice"]);
export const isReversible = ({ stage, duplicate_of }: Exclusion): boolean =>
  reversibleStages.has(stage ?? "screened") && duplicate_of === undefined;

const isReturning = (exclusion: Exclusion): boolean =>
  exclusion.override !== undefined && exclusion.override.decision !== "exclude" && isReversible(exclusion);

function withOwnOverride(rrd: Rrd, paper: Paper): Paper {
  const { override, status, score_breakdown: points, held_scores: heldScores } = paper;
  if (override === undefined) return paper;
  const unscoredFields = { score: null, score_breakdown: null, ...(points == null ? {} : { held_scores: points }) };
  if (override.decision === "exclude")
    return status === "rejected" && points == null
      ? paper
      : { ...paper, status: "rejected", decision: "REJECT", ...unscoredFields };
  if (override.decision === "not_retrieved") {
    if (status === "not_retrieved" || paper.retracted === true) return paper;
    const notRetrieved = {
      reason: `A person could not get it: ${override.why.replace(/\.?$/, ".")}`,
      cure: retrievalHint,
      tried: "",
    };
    return { ...paper, status: "not_retrieved", decision: null, ...unscoredFields, not_retrieved: notRetrieved };
  }
  // A retracted paper is never included.
  if (paper.retracted === true) return paper;
  const isUnchanged = status === "pending" || status === "analyzing" || (status === "presented" && heldScores == null);
  if (isUnchanged) return paper;
  const { held_scores: _, excluded_by: __, not_retrieved: ___, ...paperFields } = paper;
  if (paper.analysis == null && heldScores == null) {
    // Pending if it was not read, or if its reading was reset.
    if (paper.iteration === undefined)
      return { ...paperFields, status: "pending", decision: null, score: null, score_breakdown: null };
    // A person excluded it after its text was not found.
    const isWithoutText = status === "rejected" && paper.not_retrieved !== undefined;
    return isWithoutText ? { ...paper, status: "not_retrieved", decision: null } : paper;
  }
  const scores = heldScores == null ? undefined : scoresOf(rrd, { score_breakdown: heldScores });
  return {
    ...paperFields,
    status: "presented",
    decision: "PRESENT",
    ...(scores === undefined ? {} : { score: totalsOf(rrd, scores).combined, score_breakdown: heldScores }),
  };
}

const retrievalHint =
  "Add its file with 'research-ralph add'; then 'research-ralph decide' with include lets an agent read it.";

/** The paper for an excluded record that returns to the pool, with all known fields. */
function paperOfExcluded(exclusion: Exclusion): Paper {
  const {
    id,
    key,
    source_key,
    title,
    url,
    identifiers,
    source,
    year,
    first_author: author,
    document,
    record,
    before,
    readings,
  } = exclusion;
  const { answers, override } = exclusion;
  return {
    id,
    ...withoutUndefined({ key, source_key }),
    title: title ?? id,
    url: url ?? urlOf(id),
    ...(author === undefined ? {} : { authors: [author] }),
    ...(year === undefined ? {} : { date: String(year) }),
    ...withoutUndefined({ identifiers, source, document }),
    // It was found by the search.
    found: { sources: [source ?? "a search"], why: "" },
    ...record,
    ...before,
    priority: 5,
    ...undecidedFields,
    notes: override?.decision === "include" ? `Included by a person: ${override.why}` : "",
    ...withoutUndefined({ answers, override, readings }),
  };
}

/** The address for an id, such as doi_10.1000_x; null if the id contains no identifier. */
function urlOf(id: string): string | null {
  const [, kind, rest = ""] = /^(arxiv|doi)_(.+)$/.exec(id) ?? [];
  if (kind === undefined) return null;
  return kind === "arxiv" ? `https://arxiv.org/abs/${rest}` : `https://doi.org/${rest.replace("_", "/")}`;
}
