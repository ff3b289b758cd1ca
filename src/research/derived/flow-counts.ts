import { countEach } from "../../engine/lib/group.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { couldBeRead } from "../papers/read-depth.js";
import { countedReason, exclusionOf, stageOfRejection, typedReason } from "../screening/eligibility/eligibility.js";

/** Numbers of records by name. */
type Counts = ReadonlyMap<string, number>;

/**
 * One row of a PRISMA flow. Each record is counted in exactly one place, so the records that enter a stage are the sum
 * of those that leave it.
 */
export interface FlowRow {
  /** By source. The sum of `duplicates`, `removed`, `notScreened` and `screened`. */
  readonly identified: Counts;
  readonly duplicates: number;
  /** Removed before screening for other reasons, by reason. */
  readonly removed: Counts;
  /** Not screened yet. */
  readonly notScreened: number;
  /** The sum of `excluded`, `conflicts` and `sought`. */
  readonly screened: number;
  /** Excluded by title and abstract, by criterion, a person's reason (`typedReason`) or `other`. */
  readonly excluded: Counts;
  /** Two readers disagree about title and abstract; the user must decide. */
  readonly conflicts: number;
  /** The sum of `notRead`, `notRetrieved` and `assessed`. */
  readonly sought: number;
  /** Not read yet. */
  readonly notRead: number;
  readonly notRetrieved: number;
  /** The sum of `presented`, `insights`, `rejected` and `waiting`. */
  readonly assessed: number;
  readonly presented: number;
  readonly insights: number;
  /** By criterion, a person's reason, `retracted`, or `points` if the score was too low. */
  readonly rejected: Counts;
  /** Read, but the user must decide. */
  readonly waiting: number;
}

/** A project's records in a PRISMA flow: records from searches, and records from other ways. */
export interface FlowCounts {
  readonly searched: FlowRow;
  /** Not screened, as in PRISMA 2020. */
  readonly other: FlowRow;
}

/** Reasons to leave before screening, beside the stages of an exclusion. */
const searchEndedReason = "not screened: the search ended before them";
const missingReason = "no longer among the records";
/** Sources of records that the last search did not report. */
const earlierSource = "found by earlier searches or by an agent";
const unrecordedSource = "left out since, source not recorded";
const userSource = "added by a person";

/** Counts the records of a project. Pure. */
export function flowCounts(rrd: Rrd): FlowCounts {
  const { papers_pool: papers, excluded = [] } = rrd;
  const recorded = rrd.statistics?.discovery_metrics?.flow;
  const identifiedCounts =
    recorded?.identified === undefined ? undefined : new Map(Object.entries(recorded.identified));
  const isOther = (record: Paper | Exclusion): boolean => isFromOtherWay(record, identifiedCounts);
  const rows = [false, true].map((other) => {
    const papersInRow = papers.filter((paper) => isOther(paper) === other);
    const exclusionsInRow = excluded.filter((exclusion) => isOther(exclusion) === other);
    return { papers: papersInRow, exclusions: exclusionsInRow, row: rowOf(papersInRow, exclusionsInRow) };
  });
  const [first, second] = rows as [(typeof rows)[number], (typeof rows)[number]];
  const other = { ...second.row, identified: countEach([...second.papers, ...second.exclusions].map(originOf)) };
  return { searched: withSearch(rrd, first.row, [...first.papers, ...first.exclusions], identifiedCounts), other };
}

/** Adds what the last search reported: the numbers of identified, merged and unscreened records. */
function withSearch(
  { phase, statistics }: Rrd,
  row: FlowRow,
  records: readonly (Paper | Exclusion)[],
  identifiedCounts: Counts | undefined,
): FlowRow {
  const { duplicates_removed: mergedCount = 0, not_screened: unscreenedCount = 0 } =
    statistics?.discovery_metrics?.flow ?? {};
  const identifiedTotal = total(identifiedCounts ?? new Map());
  const accountedFor = records.length + mergedCount + unscreenedCount;
  // After a reset, records can be offered again, and the user can delete records from the file.
  const missingCount = identifiedCounts === undefined ? 0 : Math.max(0, identifiedTotal - accountedFor);
  const isSearching = phase === "DISCOVERY";
  const removed = new Map(row.removed);
  if (!isSearching)
    for (const [reason, count] of [
      [searchEndedReason, unscreenedCount],
      [missingReason, missingCount],
    ] as const)
      if (count > 0) removed.set(reason, count);
  const identified =
    identifiedCounts === undefined
      ? countEach(records.map(({ source }) => (typeof source === "string" ? source : unrecordedSource)))
      : new Map([
          ...identifiedCounts,
          ...(accountedFor > identifiedTotal ? [[earlierSource, accountedFor - identifiedTotal] as const] : []),
        ]);
  return {
    ...row,
    identified,
    duplicates: row.duplicates + mergedCount,
    removed,
    notScreened: isSearching ? unscreenedCount + missingCount : 0,
  };
}

/** Stages of exclusions before screening, except duplicates. */
const beforeScreening: ReadonlySet<string> = new Set(["window", "retracted", "notice"]);

const stageOf = ({ stage, duplicate_of: duplicateOf }: Exclusion): string =>
  stage ?? (duplicateOf === undefined ? "screened" : "duplicate");

function rowOf(papers: readonly Paper[], excluded: readonly Exclusion[]): FlowRow {
  const places = countEach(papers.map(placeOf));
  const countAt = (place: string) => places.get(place) ?? 0;
  const screenedOut = excluded.filter((exclusion) => stageOf(exclusion) === "screened");
  const removed = countEach(excluded.map(stageOf).filter((stage) => beforeScreening.has(stage)));
  const duplicates = excluded.filter((exclusion) => stageOf(exclusion) === "duplicate").length;
  const rejected = countEach(papers.filter((paper) => placeOf(paper) === "rejected").map(reasonOf));
  const assessed = countAt("presented") + countAt("insights_extracted") + countAt("rejected") + countAt("waiting");
  const sought = countAt("not read") + countAt("not_retrieved") + assessed;
  const screenedOutPapers = papers.filter((paper) => placeOf(paper) === "screened out");
  const screened = screenedOut.length + screenedOutPapers.length + countAt("conflict") + sought;
  return {
    identified: new Map(),
    duplicates,
    removed,
    notScreened: 0,
    screened,
    excluded: countEach([
      ...screenedOut.map(({ criterion, override }) => reasonName(override, criterion)),
      ...screenedOutPapers.map(reasonOf),
    ]),
    conflicts: countAt("conflict"),
    sought,
    notRead: countAt("not read"),
    notRetrieved: countAt("not_retrieved"),
    assessed,
    presented: countAt("presented"),
    insights: countAt("insights_extracted"),
    rejected,
    waiting: countAt("waiting"),
  };
}

const reasonName = (override: Exclusion["override"], criterion: string | undefined): string =>
  override === undefined ? (criterion ?? "other") : typedReason(override);

/** The one place in the flow where a paper is counted. */
function placeOf(paper: Paper): string {
  const { status, analysis, readings = [] } = paper;
  switch (status) {
    case "pending":
    case "analyzing":
      return "not read";
    case "waiting":
      return analysis == null && readings.length > 0 ? "conflict" : "waiting";
    case "rejected":
      if (stageOfRejection(paper) === "screening") return "screened out";
      // Earlier versions of the file have no other status for papers that could not be read.
      return exclusionOf(paper) === undefined && !couldBeRead(paper) ? "not_retrieved" : "rejected";
    case "presented":
    case "insights_extracted":
    case "not_retrieved":
      return status;
  }
}

const reasonOf = (paper: Paper): string => countedReason(paper) ?? "points";

/** Whether the user added the record or an agent found it by itself. Records from a folder come from a search. */
function isFromOtherWay(record: Paper | Exclusion, knownSources: Counts | undefined): boolean {
  if (!("status" in record)) {
    const { before } = record as Exclusion;
    return before !== undefined && isFromOtherWay(before as unknown as Paper | Exclusion, knownSources);
  }
  const { found, source, added } = record as Paper;
  // Snowballing may name sources for a paper that the user added, too.
  if (added === true) return true;
  if ((found?.sources ?? []).length > 0) return false;
  return knownSources === undefined ? isWebSource(source) : source == null || !knownSources.has(source);
}

const isWebSource = (source: unknown): boolean => typeof source === "string" && /^web\b/i.test(source);

const originOf = (record: Paper | Exclusion): string => {
  const { added, source } = record as Paper;
  return added === true || source == null ? userSource : source;
};

export const total = (counts: Counts): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
