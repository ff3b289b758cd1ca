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
import { type CandidateSet, candidatesOf, distinctRecordsOf, separateCompanions } from "../search/candidates.js";
import type { SearchRecord } from "../search/search-record.js";
import { separatedPairs } from "../units/screening/search-session.js";

/**
 * All records of a project: the pool, the excluded records, the duplicates with the records into which they were
 * merged, and the unscreened records of the search. `search`: the stored search, which has the merged duplicates and
 * more data of excluded records; without it, they are taken from rrd.json alone. Pure.
 */
export function allRecords(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  search: Pick<SearchRecord, "listings"> | undefined,
): TracedRecord[] {
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
  const mergedRecords = mergedInto(rrd, candidates, distinctRecordsOf(search?.listings ?? [])).map(
    ({ into, ...record }) => ({ ...record, into: keyOf.get(into) ?? into }),
  );
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
    ...mergedRecords.map(({ into, why, ...record }) => ({ ...record, outcome: duplicateOutcome(into, why) })),
  ];
  const allKeys = keysOf(
    withoutKeys.map((record, index) => (keys[index] === undefined ? record : { ...record, key: keys[index] })),
  );
  return withoutKeys.map((record, index) => ({ ...record, key: allKeys[index] as string }));
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
  return (rrd.excluded ?? []).map((exclusion) => {
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

type MergedRecord = Omit<RecordWithOutcome, "outcome"> & { readonly into: string; readonly why: string };

/** The records that the search merged into others, each once, as the flow counts them. */
function mergedInto(
  { papers_pool: pool, excluded = [] }: Rrd,
  candidates: CandidateSet | undefined,
  recordsOf: ReturnType<typeof distinctRecordsOf>,
): MergedRecord[] {
  if (candidates === undefined) return mergedByPool(pool);
  const { works, merges } = candidates;
  const reasons = new Map(merges.map(({ into, from, source, why }) => [`${into}\n${source}\n${from}`, why]));
  const separate = separateCompanions(works, new Set([...pool, ...excluded].map(({ id }) => id)));
  return works.flatMap((work) =>
    recordsOf(work)
      .slice(1)
      // A companion report that is a record of its own is one of those already, once.
      .filter(({ record }) => !separate.delete(record.id))
      .map(({ record: other }) => ({
        ...storedFields(other),
        into: work.record.id,
        why: reasons.get(`${work.record.id}\n${other.source}\n${other.id}`) ?? "",
      })),
  );
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
        ...withoutUndefined({ date, authors }),
      })),
  );
