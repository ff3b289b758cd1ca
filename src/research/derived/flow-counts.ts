import { countEach } from "../../engine/lib/group.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { couldBeRead } from "../papers/read-depth.js";
import { exclusionOf, stageOfRejection } from "../screening/eligibility/eligibility.js";

/** How many records, by a name. */
type Counts = ReadonlyMap<string, number>;

/**
 * One row of a PRISMA flow. Each record stands in one place of it, so that what goes into a stage is the sum of what
 * comes out of it.
 */
export interface FlowRow {
  /** `duplicates`, `removed`, `notScreened` and `screened` together; by source. */
  readonly identified: Counts;
  readonly duplicates: number;
  /** Removed before screening for another reason, by it. */
  readonly removed: Counts;
  /** Nobody has screened them yet. */
  readonly notScreened: number;
  /** `excluded`, `conflicts` and `sought` together. */
  readonly screened: number;
  /** Excluded by title and abstract: by criterion, `person` or `other`. */
  readonly excluded: Counts;
  /** Two readers disagree by title and abstract, and a person decides. */
  readonly conflicts: number;
  /** `notRead`, `notRetrieved` and `assessed` together. */
  readonly sought: number;
  /** Nobody has tried to read them yet. */
  readonly notRead: number;
  readonly notRetrieved: number;
  /** `presented`, `insights`, `rejected` and `waiting` together. */
  readonly assessed: number;
  readonly presented: number;
  readonly insights: number;
  /** By criterion, `person`, `retracted`, or `points` where too few were given. */
  readonly rejected: Counts;
  /** A person decides on what was read. */
  readonly waiting: number;
}

/** The records of a project as a PRISMA flow counts them: what a search found, and what came another way. */
export interface FlowCounts {
  readonly searched: FlowRow;
  readonly other: FlowRow;
}

/** Reasons to leave before screening, beside the stages of an exclusion. */
const searchEnded = "not screened: the search ended before them";
const noLonger = "no longer among the records";
/** Sources of records that the last search has not reported. */
const foundBefore = "found by earlier searches or by an agent";
const noSource = "left out since, source not recorded";
const byPerson = "added by a person";

/** Counts the records of a project. Pure. */
export function flowCounts(rrd: Rrd): FlowCounts {
  const { papers_pool: papers, excluded = [] } = rrd;
  const recorded = rrd.statistics?.discovery_metrics?.flow;
  const known = recorded?.identified === undefined ? undefined : new Map(Object.entries(recorded.identified));
  const isOther = (record: Paper | Exclusion): boolean => cameAnotherWay(record, known);
  const rows = [false, true].map((other) => {
    const mine = papers.filter((paper) => isOther(paper) === other);
    const left = excluded.filter((one) => isOther(one) === other);
    return { mine, left, row: rowOf(mine, left) };
  });
  const [first, second] = rows as [(typeof rows)[number], (typeof rows)[number]];
  const other = { ...second.row, identified: countEach([...second.mine, ...second.left].map(wayOf)) };
  return { searched: withSearch(rrd, first.row, [...first.mine, ...first.left], known), other };
}

/** What a search reports beside the records that are known: what it merged, what nobody has screened, and how many. */
function withSearch(
  { phase, statistics }: Rrd,
  row: FlowRow,
  records: readonly (Paper | Exclusion)[],
  known: Counts | undefined,
): FlowRow {
  const { duplicates_removed: merged = 0, not_screened: left = 0 } = statistics?.discovery_metrics?.flow ?? {};
  const sum = total(known ?? new Map());
  const held = records.length + merged + left;
  // A reset lets records be offered again, and a person may take some out of the file.
  const gone = known === undefined ? 0 : Math.max(0, sum - held);
  const isSearching = phase === "DISCOVERY";
  const removed = new Map(row.removed);
  if (!isSearching)
    for (const [reason, count] of [
      [searchEnded, left],
      [noLonger, gone],
    ] as const)
      if (count > 0) removed.set(reason, count);
  const identified =
    known === undefined
      ? countEach(records.map(({ source }) => (typeof source === "string" ? source : noSource)))
      : new Map([...known, ...(held > sum ? [[foundBefore, held - sum] as const] : [])]);
  return {
    ...row,
    identified,
    duplicates: row.duplicates + merged,
    removed,
    notScreened: isSearching ? left + gone : 0,
  };
}

/** Stages of an exclusion before screening, other than duplicates. */
const beforeScreening: ReadonlySet<string> = new Set(["window", "retracted", "notice"]);

const stageOf = ({ stage, duplicate_of: of }: Exclusion): string =>
  stage ?? (of === undefined ? "screened" : "duplicate");

function rowOf(papers: readonly Paper[], excluded: readonly Exclusion[]): FlowRow {
  const places = countEach(papers.map(placeOf));
  const at = (place: string) => places.get(place) ?? 0;
  const screenedOut = excluded.filter((one) => stageOf(one) === "screened");
  const removed = countEach(excluded.map(stageOf).filter((stage) => beforeScreening.has(stage)));
  const duplicates = excluded.filter((one) => stageOf(one) === "duplicate").length;
  const rejected = countEach(papers.filter((paper) => placeOf(paper) === "rejected").map(reasonOf));
  const assessed = at("presented") + at("insights_extracted") + at("rejected") + at("waiting");
  const sought = at("not read") + at("not_retrieved") + assessed;
  const byTitle = papers.filter((paper) => placeOf(paper) === "screened out");
  const screened = screenedOut.length + byTitle.length + at("conflict") + sought;
  return {
    identified: new Map(),
    duplicates,
    removed,
    notScreened: 0,
    screened,
    excluded: countEach([
      ...screenedOut.map(({ criterion, override }) => reasonWord(override, criterion)),
      ...byTitle.map(reasonOf),
    ]),
    conflicts: at("conflict"),
    sought,
    notRead: at("not read"),
    notRetrieved: at("not_retrieved"),
    assessed,
    presented: at("presented"),
    insights: at("insights_extracted"),
    rejected,
    waiting: at("waiting"),
  };
}

const reasonWord = (override: Exclusion["override"], criterion: string | undefined): string =>
  override === undefined ? (criterion ?? "other") : (override.criterion ?? "person");

/** The one place of a paper in the flow. */
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
      if (stageOfRejection(paper) === "retrieval") return "not_retrieved";
      // Files of before knew no other place for what nobody could read.
      return exclusionOf(paper) === undefined && !couldBeRead(paper) ? "not_retrieved" : "rejected";
    case "presented":
    case "insights_extracted":
    case "not_retrieved":
      return status;
  }
}

const reasonOf = (paper: Paper): string => exclusionOf(paper) ?? "points";

/** Papers that a person added, or an agent found by itself. Those of a folder were listed. */
function cameAnotherWay(record: Paper | Exclusion, known: Counts | undefined): boolean {
  if (!("status" in record)) {
    const { before } = record as Exclusion;
    return before !== undefined && cameAnotherWay(before as unknown as Paper | Exclusion, known);
  }
  const { found, source, added } = record as Paper;
  if ((found?.sources ?? []).length > 0) return false;
  if (known === undefined) return added === true || isWeb(source);
  return added === true || source == null || !known.has(source);
}

const isWeb = (source: unknown): boolean => typeof source === "string" && /^web\b/i.test(source);

const wayOf = (record: Paper | Exclusion): string => {
  const { added, source } = record as Paper;
  return added === true || source == null ? byPerson : source;
};

export const total = (counts: Counts): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
