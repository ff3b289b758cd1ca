import { isObject } from "../../../engine/lib/json-fields.js";
import type { BesideMessage } from "../../../engine/storage/state/steering-inbox.js";
import type { Paper } from "../../generated/rrd.js";
import { type MatchFeatures, matchFeaturesOf } from "../dedup/match-features.js";
import { compareRecords } from "../dedup/same-work.js";
import { workIndex } from "../dedup/work-index.js";
import { storedFields, type PaperRecord } from "../paper-record.js";
import { distinctId } from "../reference.js";
import { withFactsOf } from "./known-paper.js";

/** Papers as a run is told of them that holds the project. */
export const addedMessage = (add: readonly NamedPaper[]): BesideMessage => ({ beside: { add } });

/** The papers of such a message; undefined for another. Of their fields those are checked that every record has. */
export const namedIn = ({ beside: { add } }: BesideMessage): readonly NamedPaper[] | undefined =>
  Array.isArray(add) && add.every(isNamed) ? add : undefined;

function isNamed(one: unknown): one is NamedPaper {
  const { record } = isObject(one) ? (one as Partial<NamedPaper>) : {};
  return isObject(record) && [record.id, record.title].every(isText) && Array.isArray(record.authors);
}

const isText = (value: unknown): boolean => typeof value === "string";

/** A paper that is read before those that a search found. */
function toRead(record: PaperRecord): Paper {
  const facts = storedFields(record);
  const about = { priority: 5, notes: "Added by a person.", added: true };
  return { ...facts, url: facts.url || null, status: "pending", ...about };
}

/** A paper that a person names. */
export interface NamedPaper {
  /** As they named it. */
  readonly reference: string;
  readonly record: PaperRecord;
}

/** What becomes of it in the pool. */
export interface AddedPaper {
  readonly reference: string;
  readonly id: string;
  readonly title: string;
  readonly result: "added" | "already there";
}

/**
 * The pool with those papers that are not in it; of one that is, what the record knows besides is kept. Done again, it
 * changes nothing. Pure.
 */
export function withPapers(
  before: readonly Paper[],
  found: readonly NamedPaper[],
): { readonly pool: Paper[]; readonly results: readonly AddedPaper[] } {
  const works = workIndex();
  for (const paper of before) works.add(paper.id, matchFeaturesOf(paper));
  const pool = [...before];
  const places = new Map(before.map(({ id }, index) => [id, index]));
  const results = found.map(({ reference, record }): AddedPaper => {
    const traits = matchFeaturesOf(record);
    const twin = works.twinOf(traits)?.id ?? sameName(record, traits);
    const place = places.get(twin ?? "");
    const known = place === undefined ? undefined : pool[place];
    if (place !== undefined && known !== undefined) {
      pool[place] = withFactsOf(known, record);
      return { reference, id: known.id, title: known.title, result: "already there" };
    }
    const id = places.has(record.id) ? distinctId(record.id, aboutOf(record)) : record.id;
    works.add(id, traits);
    places.set(id, pool.push(toRead({ ...record, id })) - 1);
    return { reference, id, title: record.title, result: "added" };
  });
  return { pool, results };

  /** A paper of the same id, unless the rules of deduplication say that it is another work. */
  function sameName(record: PaperRecord, traits: MatchFeatures): string | undefined {
    const known = pool[places.get(record.id) ?? places.get(distinctId(record.id, aboutOf(record))) ?? -1];
    if (known === undefined) return undefined;
    const compared = compareRecords(matchFeaturesOf(known), traits);
    const isOther = !compared.same && (compared.apart !== undefined || known.title !== record.title);
    return isOther && known.id === record.id ? undefined : known.id;
  }
}

/** What tells two works of one name apart. */
const aboutOf = ({ title, venue = "", pages = "" }: PaperRecord): string => `${title} ${venue} ${pages}`;
