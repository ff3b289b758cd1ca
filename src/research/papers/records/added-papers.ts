import { isObject } from "../../../engine/lib/json-fields.js";
import type { OutsideWorkMessage } from "../../../engine/storage/state/steering-inbox.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { type MatchFeatures, matchFeaturesOf } from "../dedup/match-features.js";
import { compareRecords } from "../dedup/same-work.js";
import { workIndex } from "../dedup/work-index.js";
import { storedFields, type PaperRecord } from "../paper-record.js";
import { distinctId } from "../reference.js";
import { withMissingFacts } from "./known-paper.js";

/** The message to a running project with papers that the user added. */
export const addedMessage = (add: readonly NamedPaper[]): OutsideWorkMessage => ({ beside: { add } });

/** The papers in such a message; undefined for other messages. Only the required fields of records are checked. */
export const namedIn = ({ beside: { add } }: OutsideWorkMessage): readonly NamedPaper[] | undefined =>
  Array.isArray(add) && add.every(isNamedPaper) ? add : undefined;

function isNamedPaper(value: unknown): value is NamedPaper {
  const { record } = isObject(value) ? (value as Partial<NamedPaper>) : {};
  return isObject(record) && [record.id, record.title].every(isText) && Array.isArray(record.authors);
}

const isText = (value: unknown): boolean => typeof value === "string";

/**
 * A pending paper with the highest priority, so that it is read before found papers. One that the search found stays
 * a paper of the search in the flow.
 */
function pendingPaper({ record, found }: Omit<NamedPaper, "reference">): Paper {
  const facts = storedFields(record);
  const origin = found === undefined ? { added: true } : { found: { ...found, sources: [...found.sources] } };
  return { ...facts, url: facts.url || null, status: "pending", priority: 5, notes: "Added by a person.", ...origin };
}

/** A paper that the user named. */
export interface NamedPaper {
  /** The user's reference. */
  readonly reference: string;
  readonly record: PaperRecord;
  /** Set if the search found the record and nobody screened it. */
  readonly found?: { readonly sources: readonly string[]; readonly why: string };
}

/** The result of adding a paper to the pool. */
export interface AddedPaper {
  readonly reference: string;
  readonly id: string;
  readonly title: string;
  readonly result: "added" | "already there";
}

/** The state with these papers in its pool. Records that the search found count no longer as not screened. */
export function withAdded(rrd: Rrd, named: readonly NamedPaper[]): { rrd: Rrd; results: readonly AddedPaper[] } {
  const { pool, results } = withPapers(rrd.papers_pool, named);
  const taken = results.filter(({ result }, index) => result === "added" && named[index]?.found !== undefined).length;
  const { discovery_metrics: metrics, ...statistics } = rrd.statistics ?? {};
  const after = { ...rrd, papers_pool: pool };
  if (taken === 0 || metrics?.flow?.not_screened === undefined) return { rrd: after, results };
  const flow = { ...metrics.flow, not_screened: Math.max(0, metrics.flow.not_screened - taken) };
  return { rrd: { ...after, statistics: { ...statistics, discovery_metrics: { ...metrics, flow } } }, results };
}

/** Each named paper that the search found and nobody screened, as the search has it. `works`: these works. */
export function asFound(
  named: readonly NamedPaper[],
  works: readonly { record: PaperRecord; sources: readonly string[] }[],
): NamedPaper[] {
  const index = workIndex();
  for (const { record } of works) index.add(record.id, matchFeaturesOf(record));
  const byId = new Map(works.map((work) => [work.record.id, work]));
  return named.map((one) => {
    const work = byId.get(one.record.id) ?? byId.get(index.twinOf(matchFeaturesOf(one.record))?.id ?? "");
    return work === undefined
      ? one
      : { reference: one.reference, record: work.record, found: { sources: work.sources, why: "added by a person" } };
  });
}

/**
 * The pool with the new papers added. A paper that is already in the pool gets missing fields from the record. Calling
 * it twice changes nothing more. Pure.
 */
function withPapers(
  before: readonly Paper[],
  addedPapers: readonly NamedPaper[],
): { readonly pool: Paper[]; readonly results: readonly AddedPaper[] } {
  const works = workIndex();
  for (const paper of before) works.add(paper.id, matchFeaturesOf(paper));
  const pool = [...before];
  const places = new Map(before.map(({ id }, index) => [id, index]));
  const results = addedPapers.map(({ reference, record, found }): AddedPaper => {
    const features = matchFeaturesOf(record);
    const twin = works.twinOf(features)?.id ?? idOfSameRecord(record, features);
    const place = places.get(twin ?? "");
    const existing = place === undefined ? undefined : pool[place];
    if (place !== undefined && existing !== undefined) {
      const updated = withMissingFacts(existing, record);
      pool[place] = updated;
      // A later record may share only the identifiers that this one has brought.
      if (updated !== existing) works.add(existing.id, matchFeaturesOf(updated));
      return { reference, id: existing.id, title: existing.title, result: "already there" };
    }
    const id = places.has(record.id) ? distinctId(record.id, distinguishingText(record)) : record.id;
    works.add(id, features);
    places.set(id, pool.push(pendingPaper({ record: { ...record, id }, ...withoutUndefined({ found }) })) - 1);
    return { reference, id, title: record.title, result: "added" };
  });
  return { pool, results };

  /** The id of a paper with the same id as the record, unless they are two works by the rules of deduplication. */
  function idOfSameRecord(record: PaperRecord, features: MatchFeatures): string | undefined {
    const existing = pool[places.get(record.id) ?? places.get(distinctId(record.id, distinguishingText(record))) ?? -1];
    if (existing === undefined) return undefined;
    const compared = compareRecords(matchFeaturesOf(existing), features);
    const isOther = !compared.same && (compared.apart !== undefined || existing.title !== record.title);
    return isOther && existing.id === record.id ? undefined : existing.id;
  }
}

/** A text that differs for two works with the same id. */
const distinguishingText = ({ title, venue = "", pages = "" }: PaperRecord): string => `${title} ${venue} ${pages}`;
