import { countEach } from "../../engine/lib/group.js";
import type { Step } from "../generated/rrd.js";
import { type SeparatedPair, type LookAlikes, type Merge, mergeRecords } from "../papers/dedup/merge-records.js";
import { distinctId, hash8 } from "../papers/reference.js";
import { isOwnList } from "../papers/records/own-list.js";
import type { Listing, Open } from "./result-list.js";
import { type PaperRecord, type ListPlace, type Provenance, versionsOf } from "../papers/paper-record.js";
import { runStep } from "./run-round.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** A work that sources listed: its record, and the provenance of the record. */
export interface Work {
  readonly record: PaperRecord;
  readonly provenance: Provenance;
}

export interface CandidateSet {
  /** In the order of their weight: works in many lists and high ranks come first. */
  readonly works: readonly Work[];
  readonly merges: readonly Merge[];
  readonly lookAlikes: readonly LookAlikes[];
}

/**
 * Constant of reciprocal rank fusion. With it, the first place in one list weighs as much as two places in the middle.
 */
const fusionConstant = 60;

/** Whether the user's own list contains the work. Such a work is screened, whatever its rank. */
export const isFromUser = ({ provenance: { mergedFrom, places } }: Work): boolean =>
  mergedFrom.some(({ database }) => database !== undefined) || places.some(({ source }) => isOwnList(source));

/** The sum of reciprocal ranks over all lists with this work; higher for high ranks and for many lists. */
export const listWeight = ({ provenance }: Work): number =>
  provenance.places.reduce((sum, { rank }) => sum + 1 / (fusionConstant + rank + 1), 0);

/**
 * Runs the steps and merges the answers. The result depends only on the answers, not on a clock or random numbers, so a
 * replay gives the same pool.
 */
export async function assembleCandidates(
  steps: readonly Step[],
  open: Open,
  apart: readonly SeparatedPair[],
): Promise<CandidateSet> {
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries()) listings.push(...(await runStep(index, step, open)));
  return candidatesOf(listings, apart);
}

/**
 * The candidate set of each list of answers, with the separated pairs (`apart`) that it was made with. An entry lives
 * as long as its list.
 */
const setCache = new WeakMap<readonly Listing[], { readonly decisions: string; readonly set: CandidateSet }>();

/**
 * The works in these answers. Every batch asks for them, and merging the records of a large search takes seconds. So
 * the result is cached for each list of answers; the list must not be changed.
 */
export function candidatesOf(listings: readonly Listing[], apart: readonly SeparatedPair[]): CandidateSet {
  const decisions = JSON.stringify(apart);
  const cachedSet = setCache.get(listings);
  if (cachedSet?.decisions === decisions) return cachedSet.set;
  const set = mergeListings(listings, apart);
  setCache.set(listings, { decisions, set });
  return set;
}

/** The records of the listings, by their copies with another id. */
const listedRecords = new WeakMap<PaperRecord, PaperRecord>();

/** The record of a listing: itself, or the one of which this is a copy with the id of a separated record. */
export const listedRecord = (record: PaperRecord): PaperRecord => listedRecords.get(record) ?? record;

/**
 * The id that separates a record from another one with its id, such as the record of another database with one DOI. It
 * depends only on the record.
 */
export function separatedId(record: PaperRecord): string {
  const { id, title, authors, date, source, database = source, venue, volume, issue, pages, abstract } = record;
  return `${id}_${hash8(JSON.stringify([database, title, authors, date, venue, volume, issue, pages, abstract]))}`;
}

/** Returns a function: the record, or a copy with the id by which the user has separated it from others with its id. */
function separatedRecords(apart: readonly SeparatedPair[]): (record: PaperRecord) => PaperRecord {
  const ids = new Set(apart.flat());
  const sharedIds = new Set([...ids].flatMap((id) => /^(.+)_[0-9a-f]{8}$/.exec(id)?.[1] ?? []));
  return (record) => {
    const id = sharedIds.has(record.id) ? separatedId(record) : record.id;
    if (id === record.id || !ids.has(id)) return record;
    const copy = { ...record, id };
    listedRecords.set(copy, record);
    return copy;
  };
}

function mergeListings(listings: readonly Listing[], apart: readonly SeparatedPair[]): CandidateSet {
  const withSeparatedId = separatedRecords(apart);
  const places = new Map<PaperRecord, ListPlace>();
  for (const { source, asked, records, seed } of listings)
    for (const [rank, record] of records.entries())
      places.set(withSeparatedId(record), {
        source: record.database ?? source,
        asked,
        rank,
        ...withoutUndefined({ seed }),
      });
  const { works, merges, lookAlikes } = mergeRecords([...places.keys()], apart);
  const worksWithPlaces = works.map(({ record, ...from }) => ({
    record,
    provenance: { ...from, places: versionsOf(from).flatMap((member) => places.get(member) ?? []) },
  }));
  return {
    works: withDistinctIds(worksWithPlaces, places).toSorted(
      (a, b) => listWeight(b) - listWeight(a) || (a.record.id < b.record.id ? -1 : 1),
    ),
    merges,
    lookAlikes,
  };
}

/**
 * Gives the user's works distinct ids. An export can contain several works with one DOI; the work whose record came
 * first keeps the id.
 */
function withDistinctIds(works: readonly Work[], places: ReadonlyMap<PaperRecord, ListPlace>): readonly Work[] {
  const counts = countEach(works.map(({ record }) => record.id));
  if (counts.size === works.length) return works;
  const order = new Map([...places.keys()].map((record, index) => [record, index]));
  const firstPosition = ({ provenance }: Work) =>
    Math.min(...provenance.mergedFrom.map((member) => order.get(member) ?? Infinity));
  const usedIds = new Set<string>();
  const newIds = new Map<Work, string>();
  for (const work of works.toSorted((a, b) => firstPosition(a) - firstPosition(b))) {
    const { id, title } = work.record;
    if (usedIds.has(id) && isFromUser(work)) newIds.set(work, distinctId(id, title));
    usedIds.add(id);
  }
  return works.map((work) => {
    const id = newIds.get(work);
    return id === undefined ? work : { ...work, record: { ...work.record, id } };
  });
}

/** A record of a work, with the source or the user's database that it counts for. */
interface CountedRecord {
  readonly record: PaperRecord;
  readonly source: string;
}

/**
 * Returns a function that gives the distinct records of a work, the main record first. If a source returned a record
 * for several queries, it counts once. If a source gave one id to two works, the record is in both, so that there are
 * never more works than records. In a file of the user, all records are distinct.
 */
export function distinctRecordsOf(listings: readonly Listing[]): (work: Work) => readonly CountedRecord[] {
  const keys = new Map<PaperRecord, CountedRecord & { readonly key: string }>();
  for (const { source, records } of listings) {
    const occurrences = new Map<string, number>();
    for (const record of records) {
      const { id, database } = record;
      const place = [source, database ?? "", id].join("\n");
      const occurrence = database === undefined ? 0 : (occurrences.get(place) ?? 0);
      occurrences.set(place, occurrence + 1);
      keys.set(record, { record, source: database ?? source, key: `${place}\n${occurrence}` });
    }
  }
  const countedRecord = (record: PaperRecord) => ({
    ...(keys.get(listedRecord(record)) ?? { source: record.source, key: `${record.source}\n\n${record.id}\n0` }),
    record,
  });
  return ({ provenance }) => [
    ...new Map(provenance.mergedFrom.map((record) => [countedRecord(record).key, countedRecord(record)])).values(),
  ];
}

/**
 * The ids of companion reports that are records of their own in a project, such as a correction that was screened.
 * `decidedIds`: the ids in the pool and of excluded records.
 */
export function separateCompanions(works: readonly Work[], decidedIds: ReadonlySet<string>): Set<string> {
  // Some services give a correction the identifier of its article.
  const ids = new Set(
    works.flatMap(({ record, provenance }) => [record, ...versionsOf(provenance)].map(({ id }) => id)),
  );
  const companions = works.flatMap(({ provenance }) => provenance.companions ?? []);
  return new Set(companions.map(({ record }) => record.id).filter((id) => decidedIds.has(id) && !ids.has(id)));
}

/** For one work: the records that were merged into it, and similar works that were not, each with the reason. */
export interface MergeDecisions {
  readonly merged: readonly {
    readonly id: string;
    readonly source: string;
    readonly url: string;
    readonly why: string;
  }[];
  readonly apart: readonly { readonly id: string; readonly why: string }[];
}

/**
 * Sentences that say why other records were merged with `mainRecord` or not. A record with its id is the same record
 * from another source. `names`: names of records for people, by id.
 */
export const mergeSentences = (
  mainRecord: Pick<PaperRecord, "id"> & Partial<Pick<PaperRecord, "source">>,
  {
    merged = [],
    apart = [],
  }: {
    readonly merged?: readonly { readonly id: string; readonly source: string; readonly why: string }[];
    readonly apart?: readonly { readonly id: string; readonly why: string }[];
  },
  names: ReadonlyMap<string, string> = new Map(),
): string[] => [
  ...merged.flatMap(({ id, source, why }) => {
    if (id !== mainRecord.id) return [`merged with ${names.get(id) ?? id} of ${source}: ${why}`];
    return source === mainRecord.source ? [] : [`also found by ${source}`];
  }),
  ...apart.map(({ id, why }) => `not merged with ${names.get(id) ?? id}: ${why}`),
];

/** A work has few versions. Only titles such as "Editorial" have more similar works. */
const maxLookAlikes = 10;

/** Returns a function that gives the merge decisions on a work. */
export function mergeDecisions({ merges, lookAlikes }: CandidateSet): (work: Work) => MergeDecisions {
  const reasons = new Map(merges.map(({ into, from, source, why }) => [`${into}\n${source}\n${from}`, why]));
  const apart = new Map<string, { id: string; why: string }[]>();
  for (const { ids, why } of lookAlikes)
    for (const [index, id] of ids.entries()) {
      const similarWorks = apart.get(id) ?? [];
      if (similarWorks.length < maxLookAlikes) similarWorks.push({ id: ids[1 - index] ?? "", why });
      apart.set(id, similarWorks);
    }
  return ({ record, provenance }) => {
    // A record can be in the results of several queries.
    const [main, ...others] = provenance.mergedFrom;
    const merged = new Map(
      others
        .filter(({ id, source }) => id !== main?.id || source !== main.source)
        .map(({ id, source, url }) => [
          `${source}\n${id}`,
          { id, source, url, why: reasons.get(`${record.id}\n${source}\n${id}`) ?? "" },
        ]),
    );
    return { merged: [...merged.values()], apart: apart.get(record.id) ?? [] };
  };
}

/** The pool as text. Recorded hashes depend on this format. */
export function candidatesText(steps: readonly Step[], { works, merges }: CandidateSet): string {
  const records = works.map(({ record, provenance: { mergedFrom, places } }) => ({
    ...record,
    members: mergedFrom,
    places,
  }));
  return `${JSON.stringify({ steps, records, merges }, null, 1)}\n`;
}
