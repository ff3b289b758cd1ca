import { isObject } from "../../../engine/lib/json-fields.js";
import type { BesideMessage } from "../../../engine/storage/state/steering-inbox.js";
import type { Paper } from "../../generated/rrd.js";
import { type MatchFeatures, matchFeaturesOf } from "../dedup/match-features.js";
import { compareRecords } from "../dedup/same-work.js";
import { workIndex } from "../dedup/work-index.js";
import { storedFields, type PaperRecord } from "../paper-record.js";
import { distinctId } from "../reference.js";
import { withMissingFacts } from "./known-paper.js";

/** The message to a running project with papers that the user added. */
export const addedMessage = (add: readonly NamedPaper[]): BesideMessage => ({ beside: { add } });

/** The papers in such a message; undefined for other messages. Only the required fields of records are checked. */
export const namedIn = ({ beside: { add } }: BesideMessage): readonly NamedPaper[] | undefined =>
  Array.isArray(add) && add.every(isNamedPaper) ? add : undefined;

function isNamedPaper(value: unknown): value is NamedPaper {
  const { record } = isObject(value) ? (value as Partial<NamedPaper>) : {};
  return isObject(record) && [record.id, record.title].every(isText) && Array.isArray(record.authors);
}

const isText = (value: unknown): boolean => typeof value === "string";

/** A pending paper with the highest priority, so that it is read before found papers. */
function pendingPaper(record: PaperRecord): Paper {
  const facts = storedFields(record);
  const flags = { priority: 5, notes: "Added by a person.", added: true };
  return { ...facts, url: facts.url || null, status: "pending", ...flags };
}

/** A paper that the user named. */
export interface NamedPaper {
  /** The user's reference. */
  readonly reference: string;
  readonly record: PaperRecord;
}

/** The result of adding a paper to the pool. */
export interface AddedPaper {
  readonly reference: string;
  readonly id: string;
  readonly title: string;
  readonly result: "added" | "already there";
}

/**
 * The pool with the new papers added. A paper that is already in the pool gets missing fields from the record. Calling
 * it twice changes nothing more. Pure.
 */
export function withPapers(
  before: readonly Paper[],
  addedPapers: readonly NamedPaper[],
): { readonly pool: Paper[]; readonly results: readonly AddedPaper[] } {
  const works = workIndex();
  for (const paper of before) works.add(paper.id, matchFeaturesOf(paper));
  const pool = [...before];
  const places = new Map(before.map(({ id }, index) => [id, index]));
  const results = addedPapers.map(({ reference, record }): AddedPaper => {
    const features = matchFeaturesOf(record);
    const twin = works.twinOf(features)?.id ?? idOfSameRecord(record, features);
    const place = places.get(twin ?? "");
    const existing = place === undefined ? undefined : pool[place];
    if (place !== undefined && existing !== undefined) {
      pool[place] = withMissingFacts(existing, record);
      return { reference, id: existing.id, title: existing.title, result: "already there" };
    }
    const id = places.has(record.id) ? distinctId(record.id, distinguishingText(record)) : record.id;
    works.add(id, features);
    places.set(id, pool.push(pendingPaper({ ...record, id })) - 1);
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
