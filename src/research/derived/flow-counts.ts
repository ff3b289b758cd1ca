import { countEach } from "../../engine/lib/group.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { couldBeRead } from "../papers/read-depth.js";
import { isOwnFolder } from "../papers/records/own-list.js";
import { separatedTest } from "./separated.js";
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
  /**
   * Excluded by title and abstract, also by a reading of the abstract alone, by criterion, a person's reason
   * (`typedReason`) or `other`.
   */
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
  /** Those of the assessed papers of which only the abstract was read. */
  readonly byAbstract: number;
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
  /** Not screened, as in PRISMA 2020: also the documents of the user's folders, unless somebody screens them. */
  readonly other: FlowRow;
}

/** Reasons to leave before screening, beside the stages of an exclusion. */
const searchEndedReason = "not screened: the search ended before them";
const unreadReason = "not read: the search ended before them";
const missingReason = "no longer among the records";
/** Sources of records that the last search did not report. */
const earlierSource = "found by earlier searches or by an agent";
const unrecordedSource = "left out since, source not recorded";
const userSource = "added by a person";

/** Counts the records of a project. Pure. */
export function flowCounts(rrd: Rrd): FlowCounts {
  const papers = rrd.papers_pool;
  const isSeparated = separatedTest(rrd);
  const excluded = (rrd.excluded ?? []).filter((exclusion) => !isSeparated(exclusion));
  const { identified, not_screened: openCount = 0 } = rrd.statistics?.discovery_metrics?.flow ?? {};
  const identifiedCounts = identified === undefined ? undefined : new Map(Object.entries(identified));
  const screensAll = screensAllDocuments(rrd);
  const isOther = (record: Paper | Exclusion): boolean =>
    isFromOtherWay(record, identifiedCounts) || (isDocument(record) && !screensAll && isUnscreened(rrd, record));
  const recordsOf = (isOtherRow: boolean): RecordsOfRow => {
    const papersInRow = papers.filter((paper) => isOther(paper) === isOtherRow);
    const exclusionsInRow = excluded.filter((exclusion) => isOther(exclusion) === isOtherRow);
    return { records: [...papersInRow, ...exclusionsInRow], row: rowOf(papersInRow, exclusionsInRow) };
  };
  const [searched, other] = [recordsOf(false), recordsOf(true)];
  const known = countEach(other.records.map(originOf));
  const screenedDocuments = countEach(searched.records.filter(isDocument).map(originOf));
  const isScreening = screensAll || hasCriteria(rrd);
  const left = isScreening
    ? new Map<string, number>()
    : documentsLeft(identifiedCounts ?? new Map(), [known, screenedDocuments], openCount);
  // The folders are counted as they were listed last, with the documents of both rows.
  const searchedCount = (name: string, count: number): number =>
    isOwnFolder(name) ? (isScreening ? count - (known.get(name) ?? 0) : (screenedDocuments.get(name) ?? 0)) : count;
  const otherIdentified = new Map([
    ...known,
    ...[...left].map(([name, count]) => [name, count + (known.get(name) ?? 0)] as const),
  ]);
  return {
    searched: withSearch(
      rrd,
      searched,
      identifiedCounts &&
        new Map(
          [...identifiedCounts].flatMap(([name, count]) => {
            const itsCount = searchedCount(name, count);
            return itsCount > 0 ? [[name, itsCount] as const] : [];
          }),
        ),
      openCount - total(left),
    ),
    other: { ...withOpen(rrd, other.row, new Map([[unreadReason, total(left)]])), identified: otherIdentified },
  };
}

interface RecordsOfRow {
  readonly records: readonly (Paper | Exclusion)[];
  readonly row: FlowRow;
}

const isDocument = ({ source }: Paper | Exclusion): boolean => typeof source === "string" && isOwnFolder(source);

const hasCriteria = ({ requirements }: Rrd): boolean => (requirements.criteria ?? []).length > 0;

/** Whether each document of the user's folders was screened by title and abstract, although no record of it says so. */
function screensAllDocuments({ requirements, excluded = [] }: Rrd): boolean {
  // Earlier versions let an agent drop documents by their titles.
  const isDropped = (exclusion: Exclusion) =>
    isDocument(exclusion) && stageOf(exclusion) === "screened" && !hasScreeningRecord(exclusion);
  return requirements.screening !== undefined || excluded.some(isDropped);
}

const hasScreeningRecord = ({ readings, answers = [] }: Paper | Exclusion): boolean =>
  readings !== undefined || answers.some(({ stage }) => stage === "screening");

/**
 * Whether nobody screened a document: it was taken up while the project had no criteria. One that left before screening
 * is counted as the project takes up documents now.
 */
const isUnscreened = (rrd: Rrd, record: Paper | Exclusion): boolean =>
  "status" in record || stageOf(record) === "screened" ? !hasScreeningRecord(record) : !hasCriteria(rrd);

/** The documents that were not taken up yet, by folder. At most `most`: the others are missing from the file. */
function documentsLeft(identified: Counts, known: readonly Counts[], most: number): Counts {
  const left = new Map<string, number>();
  for (const [name, count] of identified) {
    const knownCount = known.reduce((sum, counts) => sum + (counts.get(name) ?? 0), 0);
    const itsLeft = Math.min(count - knownCount, most - total(left));
    if (isOwnFolder(name) && itsLeft > 0) left.set(name, itsLeft);
  }
  return left;
}

/** Adds the records that are still open, or with the reason that they stay so after the search. */
function withOpen({ phase }: Rrd, row: FlowRow, open: ReadonlyMap<string, number>): FlowRow {
  if (phase === "DISCOVERY") return { ...row, notScreened: total(open) };
  return { ...row, removed: new Map([...row.removed, ...[...open].filter(([, count]) => count > 0)]) };
}

/** Adds what the last search reported: the numbers of identified, merged and unscreened records. */
function withSearch(
  rrd: Rrd,
  { row, records }: RecordsOfRow,
  identifiedCounts: Counts | undefined,
  unscreenedCount: number,
): FlowRow {
  const mergedCount = rrd.statistics?.discovery_metrics?.flow?.duplicates_removed ?? 0;
  const identifiedTotal = total(identifiedCounts ?? new Map());
  const accountedFor = records.length + mergedCount + unscreenedCount;
  // After a reset, records can be offered again, and the user can delete records from the file.
  const missingCount = identifiedCounts === undefined ? 0 : Math.max(0, identifiedTotal - accountedFor);
  const identified =
    identifiedCounts === undefined
      ? countEach(records.map(({ source }) => (typeof source === "string" ? source : unrecordedSource)))
      : new Map([
          ...identifiedCounts,
          ...(accountedFor > identifiedTotal ? [[earlierSource, accountedFor - identifiedTotal] as const] : []),
        ]);
  const open = new Map([
    [searchEndedReason, unscreenedCount],
    [missingReason, missingCount],
  ]);
  return withOpen(rrd, { ...row, identified, duplicates: row.duplicates + mergedCount }, open);
}

/** Stages of exclusions before screening, except duplicates. */
const beforeScreening: ReadonlySet<string> = new Set(["window", "retracted", "notice"]);

/** The stage at which a record was excluded. Exclusions of other programs may not name it. */
export const stageOf = ({ stage, duplicate_of: duplicateOf }: Exclusion): NonNullable<Exclusion["stage"]> =>
  stage ?? (duplicateOf === undefined ? "screened" : "duplicate");

function rowOf(papers: readonly Paper[], excluded: readonly Exclusion[]): FlowRow {
  const places = countEach(papers.map(placeOf));
  const byAbstract = papers.filter(
    (paper) => paper.read_depth === "abstract" && assessedPlaces.has(placeOf(paper)),
  ).length;
  const countAt = (place: string) => places.get(place) ?? 0;
  const screenedOut = excluded.filter((exclusion) => stageOf(exclusion) === "screened");
  const removed = countEach(excluded.map(stageOf).filter((stage) => beforeScreening.has(stage)));
  const duplicates = excluded.filter((exclusion) => stageOf(exclusion) === "duplicate").length;
  const rejected = countEach(papers.filter((paper) => placeOf(paper) === "rejected").map(reasonOf));
  const assessed = [...assessedPlaces].reduce((sum, place) => sum + countAt(place), 0);
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
    byAbstract,
    presented: countAt("presented"),
    insights: countAt("insights_extracted"),
    rejected,
    waiting: countAt("waiting"),
  };
}

const reasonName = (override: Exclusion["override"], criterion: string | undefined): string =>
  override === undefined ? (criterion ?? "other") : typedReason(override);

/** The places of papers that were assessed for eligibility. */
const assessedPlaces: ReadonlySet<string> = new Set(["presented", "insights_extracted", "rejected", "waiting"]);

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
      if (exclusionOf(paper) === undefined && !couldBeRead(paper)) return "not_retrieved";
      // Of what an abstract excludes, no report was assessed.
      return stageOfRejection(paper) === "abstract" ? "screened out" : "rejected";
    case "presented":
    case "insights_extracted":
    case "not_retrieved":
      return status;
  }
}

const reasonOf = (paper: Paper): string => countedReason(paper) ?? "points";

/** Whether the user added the record or an agent found it by itself. `knownSources`: those of the last search. */
export function isFromOtherWay(record: Paper | Exclusion, knownSources: Counts | undefined): boolean {
  if (!("status" in record)) {
    const { before } = record;
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
