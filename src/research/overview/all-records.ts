import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { passageText } from "../../text/evidence/quoted.js";
import type { Answer, Criterion, Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { lookupReason } from "../full-text/own-record.js";
import { keysOf, namesIn, withNames } from "../papers/paper-keys.js";
import { storedFields, type PaperRecord } from "../papers/paper-record.js";
import { type Cited, type Outcome, type TracedRecord, withTags } from "../papers/export/cited-work.js";
import { criteriaOf } from "../project-files/eligibility-criteria.js";
import { criterionInFull, exclusionOf, stageOfRejection } from "../screening/eligibility/eligibility.js";
import { type CandidateSet, candidatesOf } from "../search/candidates.js";
import type { SearchRecord } from "../search/search-record.js";
import { apartOf } from "../units/screening/search-session.js";

/**
 * Every record of a project: the pool, what was excluded, the duplicates with the record that each went into, and what
 * the search found and nobody has screened. `search`: what is kept of it, which knows the duplicates that it merged and
 * more of what was excluded than rrd.json; without it they are told from rrd.json alone. Pure.
 */
export function allRecords(
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  search: Pick<SearchRecord, "listings"> | undefined,
): TracedRecord[] {
  const found = search === undefined ? undefined : candidatesOf(search.listings, apartOf(rrd));
  const excluded = rrd.excluded ?? [];
  const known = new Set([...rrd.papers_pool, ...excluded].map(({ id }) => id));
  const left = (found?.works ?? []).filter(({ record }) => !known.has(record.id));
  const own: Untraced[] = [
    ...ofPool(rrd, ledger),
    ...ofExcluded(rrd, ledger, found),
    ...left.map(({ record }) => ({
      ...storedFields(record),
      outcome: { stage: "not screened", decision: "open" } as const,
    })),
  ];
  const keys = keysOf(own);
  const keyOf = new Map(own.map(({ id }, index) => [id, keys[index] as string]).toReversed() as [string, string][]);
  const merged = ofMerged(rrd, found).map(({ into, ...record }) => ({ ...record, into: keyOf.get(into) ?? into }));
  const all = [
    ...own.map((record) =>
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
    ...merged.map(({ into, why, ...record }) => ({ ...record, outcome: asDuplicate(into, why) })),
  ];
  const allKeys = keysOf(
    all.map((record, index) => (keys[index] === undefined ? record : { ...record, key: keys[index] })),
  );
  return all.map((record, index) => ({ ...record, key: allKeys[index] as string }));
}

/** The most passages of a paper that go out with it. */
const maxPassages = 10;

type Untraced = Cited & Pick<Paper, "source"> & { readonly outcome: Outcome };

const asDuplicate = (duplicateOf: string, reason: string): Outcome => ({
  stage: "duplicate",
  decision: "excluded",
  decidedBy: "code",
  duplicateOf,
  ...(reason === "" ? {} : { reason }),
});

function ofPool(rrd: Rrd, ledger: readonly LedgerLine[]): Untraced[] {
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  const readers = new Map(
    ledger.flatMap(({ unit, outcome, agent }) =>
      outcome === "accepted" && agent !== undefined ? [[unit, agent] as const] : [],
    ),
  );
  return withTags(rrd).map((paper) => ({ ...paper, outcome: outcomeOfPaper(paper, criteria, readers.get(paper.id)) }));
}

function outcomeOfPaper(paper: Paper, criteria: ReadonlyMap<string, Criterion>, reader: string | undefined): Outcome {
  const { status, override, answers, notes, analysis, not_retrieved: missing } = paper;
  const passages = (analysis?.evidence ?? [])
    .filter((evidence) => evidence.status === "verified")
    .slice(0, maxPassages)
    .map((evidence) => ({
      text: oneLine(passageText(evidence)),
      ...withoutUndefined({ locator: evidence.locator ?? undefined }),
    }));
  const why = exclusionOf(paper);
  const criterion = why === undefined ? undefined : criteria.get(why);
  const decision =
    status === "presented" || status === "insights_extracted"
      ? "included"
      : status === "rejected"
        ? "excluded"
        : "open";
  return {
    stage: stageOfRejection(paper),
    decision,
    ...(byPerson(override) ??
      withoutUndefined({
        decidedBy: decision === "open" ? undefined : reader,
        reason: oneLine(missing?.reason ?? notes ?? "") || undefined,
      })),
    ...(criterion === undefined ? {} : criterionOf(criterion, answers)),
    ...(passages.length === 0 ? {} : { passages }),
  };
}

const byPerson = (override: Paper["override"]): Pick<Outcome, "decidedBy" | "reason"> | undefined =>
  override === undefined ? undefined : { decidedBy: "a person", reason: oneLine(override.why) };

function criterionOf(criterion: Criterion, answers: readonly Answer[] = []): Pick<Outcome, "criterion" | "quote"> {
  const answer = answers.findLast(({ criterion: of }) => of === criterion.id);
  const quote = answer === undefined || answer.answer === "unclear" ? "" : oneLine(passageText(answer));
  return { criterion: oneLine(criterionInFull(criterion)), ...withoutUndefined({ quote: quote || undefined }) };
}

/** What the agents of a search decide stands in no iteration of its own; where one agent screened, it did. */
function ofExcluded(rrd: Rrd, ledger: readonly LedgerLine[], found: CandidateSet | undefined): Untraced[] {
  const criteria = new Map(criteriaOf(rrd).map((criterion) => [criterion.id, criterion]));
  const facts = new Map(found?.works.map(({ record }) => [record.id, record]));
  const screeners = new Set(
    ledger.flatMap(({ phase, outcome, agent }) =>
      phase === "DISCOVERY" && outcome === "accepted" && agent !== undefined ? [agent] : [],
    ),
  );
  const names = namesIn(rrd);
  return (rrd.excluded ?? []).map((one) => {
    const { stage = one.duplicate_of === undefined ? "screened" : "duplicate", override, answers, readings } = one;
    const criterion = criteria.get(one.criterion ?? "");
    const readers = readings === undefined ? [...screeners] : readings.map(({ by }) => by);
    const decidedBy = stage === "screened" ? [...new Set(readers)].join(", ") || undefined : "code";
    return {
      ...factsOfExcluded(one, facts.get(one.id)),
      outcome: {
        stage: stage === "screened" ? "screening" : stage,
        decision: "excluded",
        ...(byPerson(override) ?? {
          reason: oneLine(withNames(one.reason, names)),
          ...withoutUndefined({ decidedBy }),
        }),
        ...(criterion === undefined ? {} : criterionOf(criterion, answers)),
        ...withoutUndefined({ duplicateOf: one.duplicate_of }),
      },
    };
  });
}

function factsOfExcluded(one: Exclusion, record: PaperRecord | undefined): Omit<Untraced, "outcome"> {
  const { id, key, title, url = null, identifiers, year, first_author: author } = one;
  if (record !== undefined) return { ...storedFields(record), ...withoutUndefined({ key }) };
  return {
    id,
    title: title ?? id,
    url,
    ...withoutUndefined({
      key,
      identifiers,
      date: year?.toString(),
      authors: author === undefined ? undefined : [author],
    }),
  };
}

/** The records that a search merged into others. */
function ofMerged(
  { papers_pool: pool }: Rrd,
  found: CandidateSet | undefined,
): (Omit<Untraced, "outcome"> & { readonly into: string; readonly why: string })[] {
  const whys = new Map(found?.merges.map(({ into, from, source, why }) => [`${into}\n${source}\n${from}`, why]));
  const records = (found?.works ?? []).flatMap(({ record, provenance: { mergedFrom } }) =>
    mergedFrom
      .slice(1)
      .map((other) => ({
        ...storedFields(other),
        into: record.id,
        why: whys.get(`${record.id}\n${other.source}\n${other.id}`) ?? "",
      })),
  );
  const told = new Set(records.map(({ into, source, id }) => `${into}\n${source}\n${id}`));
  const others = pool.flatMap(({ id, title, date, authors, found: how }) =>
    (how?.merged ?? [])
      .filter((each) => each.why !== lookupReason && !told.has(`${id}\n${each.source}\n${each.id}`))
      .map((each) => ({
        id: each.id,
        title,
        source: each.source,
        url: each.url ?? null,
        into: id,
        why: each.why,
        ...withoutUndefined({ date, authors }),
      })),
  );
  return [...records, ...others];
}
