import { countEach } from "../../engine/lib/group.js";
import type { Step } from "../generated/rrd.js";
import { type Apart, type LookAlikes, type Merge, mergeRecords } from "../papers/dedup/merge-records.js";
import { idApart } from "../papers/reference.js";
import { isOwnList } from "../papers/records/own-list.js";
import type { Listing, Open } from "./result-list.js";
import { type PaperRecord, type ListPlace, type Provenance, versionsOf } from "../papers/paper-record.js";
import { runStep } from "./run-round.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** A work that sources listed: its record, and where that comes from. */
export interface Work {
  readonly record: PaperRecord;
  readonly provenance: Provenance;
}

export interface CandidateSet {
  /** Those that most lists put first at the front. */
  readonly works: readonly Work[];
  readonly merges: readonly Merge[];
  readonly lookAlikes: readonly LookAlikes[];
}

/** Reciprocal rank fusion: what stands first in one list weighs as much as what stands in the middle of two. */
const fusion = 60;

/** Whether a person brought a record of the work, in a list of their own: it is to be screened, whatever its rank. */
export const isBrought = ({ provenance: { mergedFrom, places } }: Work): boolean =>
  mergedFrom.some(({ database }) => database !== undefined) || places.some(({ source }) => isOwnList(source));

/** How high, and in how many lists, a work stands. */
export const listWeight = ({ provenance }: Work): number =>
  provenance.places.reduce((sum, { rank }) => sum + 1 / (fusion + rank + 1), 0);

/**
 * Makes rounds of asking and puts the answers together. Without any clock or chance of its own: the same answers give
 * the same pool, which is how a search is replayed.
 */
export async function assembleCandidates(
  steps: readonly Step[],
  open: Open,
  apart: readonly Apart[],
): Promise<CandidateSet> {
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries()) listings.push(...(await runStep(index, step, open)));
  return candidatesOf(listings, apart);
}

/** What the answers came to, as long as they are kept, beside what was said apart. */
const known = new WeakMap<readonly Listing[], { readonly said: string; readonly set: CandidateSet }>();

/**
 * The works that the answers name. Every batch asks for them again, and comparing the records of a large search takes
 * seconds: of the same list of answers, which nobody changes, they are put together once.
 */
export function candidatesOf(listings: readonly Listing[], apart: readonly Apart[]): CandidateSet {
  const said = JSON.stringify(apart);
  const before = known.get(listings);
  if (before?.said === said) return before.set;
  const set = putTogether(listings, apart);
  known.set(listings, { said, set });
  return set;
}

function putTogether(listings: readonly Listing[], apart: readonly Apart[]): CandidateSet {
  const places = new Map<PaperRecord, ListPlace>();
  for (const { source, asked, records, seed } of listings)
    for (const [rank, record] of records.entries())
      places.set(record, { source: record.database ?? source, asked, rank, ...withoutUndefined({ seed }) });
  const { works, merges, lookAlikes } = mergeRecords([...places.keys()], apart);
  const pooled = works.map(({ record, ...from }) => ({
    record,
    provenance: { ...from, places: versionsOf(from).flatMap((member) => places.get(member) ?? []) },
  }));
  return {
    works: withOwnIds(pooled, places).toSorted(
      (a, b) => listWeight(b) - listWeight(a) || (a.record.id < b.record.id ? -1 : 1),
    ),
    merges,
    lookAlikes,
  };
}

/**
 * The works, of which those that a person brought have ids of their own: an export may give several works one DOI, and
 * its record that came first goes by it.
 */
function withOwnIds(works: readonly Work[], places: ReadonlyMap<PaperRecord, ListPlace>): readonly Work[] {
  const counts = countEach(works.map(({ record }) => record.id));
  if (counts.size === works.length) return works;
  const order = new Map([...places.keys()].map((record, index) => [record, index]));
  const first = ({ provenance }: Work) => Math.min(...provenance.mergedFrom.map((each) => order.get(each) ?? Infinity));
  const taken = new Set<string>();
  const ids = new Map<Work, string>();
  for (const work of works.toSorted((a, b) => first(a) - first(b))) {
    const { id, title } = work.record;
    if (taken.has(id) && isBrought(work)) ids.set(work, idApart(id, title));
    taken.add(id);
  }
  return works.map((work) => {
    const id = ids.get(work);
    return id === undefined ? work : { ...work, record: { ...work.record, id } };
  });
}

/** Of one work: the records that went into it and why, and works that look like it and are not. */
export interface MergeDecisions {
  readonly merged: readonly {
    readonly id: string;
    readonly source: string;
    readonly url: string;
    readonly why: string;
  }[];
  readonly apart: readonly { readonly id: string; readonly why: string }[];
}

/** Why records are one work or not, a sentence each. `names`: what people call records, by id. */
export const mergeSentences = (
  {
    merged = [],
    apart = [],
  }: {
    readonly merged?: readonly { readonly id: string; readonly source: string; readonly why: string }[];
    readonly apart?: readonly { readonly id: string; readonly why: string }[];
  },
  names: ReadonlyMap<string, string> = new Map(),
): string[] => [
  ...merged.map(({ id, source, why }) => `merged with ${names.get(id) ?? id} of ${source}: ${why}`),
  ...apart.map(({ id, why }) => `not merged with ${names.get(id) ?? id}: ${why}`),
];

/** A work has few versions; only titles such as "Editorial" have more that look alike. */
const maxLookAlikes = 10;

/** Answers for any of the works what was decided on it. */
export function mergeDecisions({ merges, lookAlikes }: CandidateSet): (work: Work) => MergeDecisions {
  const whys = new Map(merges.map(({ into, from, source, why }) => [`${into}\n${source}\n${from}`, why]));
  const apart = new Map<string, { id: string; why: string }[]>();
  for (const { ids, why } of lookAlikes)
    for (const [index, id] of ids.entries()) {
      const known = apart.get(id) ?? [];
      if (known.length < maxLookAlikes) known.push({ id: ids[1 - index] ?? "", why });
      apart.set(id, known);
    }
  return ({ record, provenance }) => {
    // The same record comes back for several queries.
    const merged = new Map(
      provenance.mergedFrom
        .slice(1)
        .map(({ id, source, url }) => [
          `${source}\n${id}`,
          { id, source, url, why: whys.get(`${record.id}\n${source}\n${id}`) ?? "" },
        ]),
    );
    return { merged: [...merged.values()], apart: apart.get(record.id) ?? [] };
  };
}

/** The pool as it is written and compared: recorded hashes rest on this form. */
export function candidatesText(steps: readonly Step[], { works, merges }: CandidateSet): string {
  const records = works.map(({ record, provenance: { mergedFrom, places } }) => ({
    ...record,
    members: mergedFrom,
    places,
  }));
  return `${JSON.stringify({ steps, records, merges }, null, 1)}\n`;
}
