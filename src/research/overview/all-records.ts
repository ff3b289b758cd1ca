import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { passageText } from "../../text/evidence/quoted.js";
import type { Answer, Criterion, Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { lookupReason } from "../full-text/own-record.js";
import { keysOf, namesIn, withNames } from "../papers/paper-keys.js";
import { storedFields, type PaperRecord } from "../papers/paper-record.js";
import { type Cited, type Outcome, type TracedRecord, withTags } from "../papers/export/cited-work.js";
import { stageOf } from "../derived/flow-counts.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { criterionInFull, exclusionOf, stageOfRejection } from "../screening/eligibility/eligibility.js";
import {
  type CandidateSet,
  candidatesOf,
  distinctRecordsOf,
  separateCompanions,
  separatedId,
} from "../search/candidates.js";
import type { SearchRecord } from "../search/search-record.js";
import { separatedPairs, separatedReason, separatedTest } from "../derived/separated.js";

/** A record that code merged into another one, so that it is neither in the pool nor excluded. */
export interface MergedDuplicate {
  /** Its key in exports. */
  readonly key: string;
  readonly title: string;
  readonly source?: string | null | undefined;
  /** The id of the work that it was merged into. */
  readonly into: string;
  /** The id by which it can be separated from the others. Undefined if the search does not tell them apart. */
  readonly separateAs?: string | undefined;
  /** The ids of the other records of the work. */
  readonly others: readonly string[];
}

/**
 * The records that code merged into others, by the keys under which `allRecords` lists them; and a function for the
 * number of works in the search, if it is stored.
 */
export const searchedDuplicates = (
  rrd: Rrd,
  search: Pick<SearchRecord, "listings"> | undefined,
): { readonly merged: readonly MergedDuplicate[]; readonly countWorks: ((rrd: Rrd) => number) | undefined } => ({
  merged: tracedRecords(rrd, [], search).merged,
  countWorks: search && ((state) => candidatesOf(search.listings, separatedPairs(state)).works.length),
});

/**
 * All records of a project: the pool, the excluded records, the duplicates with the records into which they were
 * merged, and the unscreened records of the search. `search`: the stored search, which has the merged duplicates and
 * more data of excluded records; without it, they are taken from rrd.json alone. Pure.
 */
export const allRecords = (
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  search: Pick<SearchRecord, "listings"> | undefined,
): TracedRecord[] => tracedRecords(rrd, ledger, search).records;

function tracedRecords(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  search: Pick<SearchRecord, "listings"> | undefined,
): { readonly records: TracedRecord[]; readonly merged: readonly MergedDuplicate[] } {
  const candidates = search === undefined ? undefined : candidatesOf(search.listings, separatedPairs(rrd));
  const excluded = rrd.excluded ?? [];
  const settledIds = new Set([...rrd.papers_pool, ...excluded].map(({ id }) => id));
  const unscreened = (candidates?.works ?? []).filter(({ record }) => !settledIds.has(record.id));
  const ownRecords: RecordWithOutcome[] = [
    ...poolRecords(rrd, ledger),
    ...excludedRecords(rrd, ledger, candidates),
    ...unscreened.map(({ record }) => ({
      ...storedFields(record),
      outcome: { stage: "not screened", decision: "open" } as const,
    })),
  ];
  const keys = keysOf(ownRecords);
  const keyOf = new Map(
    ownRecords.map(({ id }, index) => [id, keys[index] as string]).toReversed() as [string, string][],
  );
  const mergedRecords = mergedInto(rrd, candidates, distinctRecordsOf(search?.listings ?? []));
  const withoutKeys = [
    ...ownRecords.map((record) =>
      record.outcome.duplicateOf === undefined
        ? record
        : {
            ...record,
            outcome: {
              ...record.outcome,
              duplicateOf: keyOf.get(record.outcome.duplicateOf) ?? record.outcome.duplicateOf,
            },
          },
    ),
    ...mergedRecords.map(({ into, why, separateAs: _, others: __, ...record }) => ({
      ...record,
      outcome: duplicateOutcome(keyOf.get(into) ?? into, why),
    })),
  ];
  const allKeys = keysOf(
    withoutKeys.map((record, index) => (keys[index] === undefined ? record : { ...record, key: keys[index] })),
  );
  return {
    records: withoutKeys.map((record, index) => ({ ...record, key: allKeys[index] as string })),
    merged: mergedRecords.map(({ title, source, into, separateAs, others }, index) => ({
      ...{ key: allKeys[ownRecords.length + index] as string, title, source, into, separateAs, others },
    })),
  };
}

/** Maximum number of passages of a paper in an export. */
const maxPassages = 10;

type RecordWithOutcome = Cited & Pick<Paper, "source"> & { readonly outcome: Outcome };

const duplicateOutcome = (duplicateOf: string, reason: string): Outcome => ({
  stage: "duplicate",
  decision: "excluded",
  decidedBy: "code",
  duplicateOf,
  ...(reason === "" ? {} : { reason }),
});

function poolRecords(rrd: Rrd, ledger: readonly LedgerLine[]): RecordWithOutcome[] {
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  const readers = new Map(
    ledger.flatMap(({ unit, outcome, agent }) =>
      outcome === "accepted" && agent !== undefined ? [[unit, agent] as const] : [],
    ),
  );
  return withTags(rrd).map((paper) => ({ ...paper, outcome: outcomeOfPaper(paper, criteria, readers.get(paper.id)) }));
}

function outcomeOfPaper(paper: Paper, criteria: ReadonlyMap<string, Criterion>, reader: string | undefined): Outcome {
  const { status, override, answers, notes, analysis, not_retrieved: notRetrieved } = paper;
  const passages = (analysis?.evidence ?? [])
    .filter((evidence) => evidence.status === "verified")
    .slice(0, maxPassages)
    .map((evidence) => ({
      text: oneLine(passageText(evidence)),
      ...withoutUndefined({ locator: evidence.locator ?? undefined }),
    }));
  const reason = exclusionOf(paper);
  const criterion = reason === undefined ? undefined : criteria.get(reason);
  const decision =
    status === "presented" || status === "insights_extracted"
      ? "included"
      : status === "rejected"
        ? "excluded"
        : "open";
  return {
    stage: stageOfRejection(paper),
    decision,
    ...(userDecision(override) ??
      withoutUndefined({
        decidedBy: decision === "open" ? undefined : reader,
        reason: oneLine(notRetrieved?.reason ?? notes ?? "") || undefined,
      })),
    ...(criterion === undefined ? {} : criterionOf(criterion, answers)),
    ...(passages.length === 0 ? {} : { passages }),
  };
}

const userDecision = (override: Paper["override"]): Pick<Outcome, "decidedBy" | "reason"> | undefined =>
  override === undefined ? undefined : { decidedBy: "a person", reason: oneLine(override.why) };

function criterionOf(criterion: Criterion, answers: readonly Answer[] = []): Pick<Outcome, "criterion" | "quote"> {
  const answer = answers.findLast(({ criterion: itsCriterion }) => itsCriterion === criterion.id);
  const quote = answer === undefined || answer.answer === "unclear" ? "" : oneLine(passageText(answer));
  return { criterion: oneLine(criterionInFull(criterion)), ...withoutUndefined({ quote: quote || undefined }) };
}

/** Decisions of several readers are not in ledger lines, but in the record; those of one agent are in the ledger. */
function excludedRecords(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  candidates: CandidateSet | undefined,
): RecordWithOutcome[] {
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  const recordById = new Map(candidates?.works.map(({ record }) => [record.id, record]));
  const screeners = new Set(
    ledger.flatMap(({ phase, outcome, agent }) =>
      phase === "DISCOVERY" && outcome === "accepted" && agent !== undefined ? [agent] : [],
    ),
  );
  const names = namesIn(rrd);
  const isSeparated = separatedTest(rrd);
  // A record that the search merged may have become a duplicate of another work.
  const isOfOtherWork = ({ id, reason }: Exclusion) =>
    reason === separatedReason && candidates !== undefined && !recordById.has(id);
  return (rrd.excluded ?? []).flatMap((exclusion): RecordWithOutcome | [] => {
    if (isSeparated(exclusion))
      return isOfOtherWork(exclusion)
        ? []
        : {
            ...factsOfExcluded(exclusion, recordById.get(exclusion.id)),
            outcome: { stage: "not screened", decision: "open" },
          };
    const stage = stageOf(exclusion);
    const { override, answers, readings } = exclusion;
    const criterion = criteria.get(exclusion.criterion ?? "");
    const readers = readings === undefined ? [...screeners] : readings.map(({ by }) => by);
    const decidedBy = stage === "screened" ? [...new Set(readers)].join(", ") || undefined : "code";
    return {
      ...factsOfExcluded(exclusion, recordById.get(exclusion.id)),
      outcome: {
        stage: stage === "screened" ? "screening" : stage,
        decision: "excluded",
        ...(userDecision(override) ?? {
          reason: oneLine(withNames(exclusion.reason, names)),
          ...withoutUndefined({ decidedBy }),
        }),
        ...(criterion === undefined ? {} : criterionOf(criterion, answers)),
        ...withoutUndefined({ duplicateOf: exclusion.duplicate_of }),
      },
    };
  });
}

/** The fields of an excluded record: those of the stored search, or of the exclusion of a document. */
function factsOfExcluded(
  exclusion: Exclusion,
  foundRecord: PaperRecord | undefined,
): Omit<RecordWithOutcome, "outcome"> {
  const { id, key, title, url = null, source, identifiers, year, first_author: author, record } = exclusion;
  if (foundRecord !== undefined) return { ...storedFields(foundRecord), ...withoutUndefined({ key }) };
  return {
    id,
    title: title ?? id,
    url,
    ...withoutUndefined({
      key,
      identifiers,
      date: year?.toString(),
      source,
      authors: author === undefined ? undefined : [author],
    }),
    ...record,
  };
}

type MergedRecord = Omit<RecordWithOutcome, "outcome"> & { readonly why: string } & Pick<
    MergedDuplicate,
    "into" | "separateAs" | "others"
  >;

/** The records that the search merged into others, each once, as the flow counts them. */
function mergedInto(
  { papers_pool: pool, excluded = [] }: Rrd,
  candidates: CandidateSet | undefined,
  recordsOf: ReturnType<typeof distinctRecordsOf>,
): MergedRecord[] {
  if (candidates === undefined) return mergedByPool(pool);
  const { works, merges } = candidates;
  const reasons = new Map(merges.map(({ into, from, source, why }) => [`${into}\n${source}\n${from}`, why]));
  const separatedKeys = new Map(
    excluded.flatMap(({ id, key, reason }) => (reason === separatedReason ? [[id, key] as const] : [])),
  );
  const separate = separateCompanions(works, new Set([...pool, ...excluded].map(({ id }) => id)));
  return works.flatMap((work) => {
    const records = recordsOf(work);
    return (
      records
        .slice(1)
        // A companion report that is a record of its own is one of those already, once.
        .filter(({ record }) => !separate.delete(record.id))
        .map(({ record: other }) => ({
          ...storedFields(other),
          ...withoutUndefined({ key: separatedKeys.get(other.id) }),
          into: work.record.id,
          why: reasons.get(`${work.record.id}\n${other.source}\n${other.id}`) ?? "",
          ...separation(
            other,
            records.map(({ record }) => record),
          ),
        }))
    );
  });
}

/**
 * How a record of a work can be separated from the others: by its id, or if another record has that id, by its data.
 * Records with equal data go with it.
 */
function separation(
  record: PaperRecord,
  [main, ...duplicates]: readonly PaperRecord[],
): Pick<MergedDuplicate, "separateAs" | "others"> {
  const all = main === undefined ? duplicates : [main, ...duplicates];
  const isIdShared = all.some((other) => other !== record && other.id === record.id);
  const separateAs = isIdShared ? separatedId(record) : record.id;
  const isLikeMain = main !== undefined && isIdShared && separatedId(main) === separateAs;
  return {
    separateAs: isLikeMain ? undefined : separateAs,
    others: [...new Set(all.map(({ id }) => id).filter((id) => id !== separateAs))],
  };
}

/** Without the stored search, what the papers say. A document of a known paper is its text, and no record. */
const mergedByPool = (pool: readonly Paper[]): MergedRecord[] =>
  pool.flatMap(({ id, title, source, date, authors, found }) =>
    (found?.merged ?? [])
      .filter((merge) => merge.id !== id || merge.source !== source)
      .filter(({ why, url }) => why !== lookupReason && url?.startsWith("file:") !== true)
      .map((merge) => ({
        id: merge.id,
        title,
        source: merge.source,
        url: merge.url ?? null,
        into: id,
        why: merge.why,
        separateAs: merge.id === id ? undefined : merge.id,
        others: [id],
        ...withoutUndefined({ date, authors }),
      })),
  );
