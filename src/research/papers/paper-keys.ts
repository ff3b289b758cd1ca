import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { authorsOf, smallWords } from "./authors.js";
import { isKey, type Publication } from "./paper-record.js";
import { normalTitle } from "./normalise-title.js";
import { personName } from "./person-name.js";

/** The fields of a record that determine its key. */
export interface KeyedRecord {
  readonly id: string;
  readonly title?: string | null;
  readonly authors?: readonly string[] | string | null;
  /** The first four characters are the year. */
  readonly date?: string | null;
  readonly key?: string;
  readonly publication?: Pick<Publication, "groups">;
}

/** The name of a record for people: its key, or its id if it has no key yet. */
export const nameOf = ({ key, id }: Pick<KeyedRecord, "key" | "id">): string => key ?? id;

/**
 * Names of a project's records for people, by id. If a paper and an excluded record have the same id, the paper counts.
 */
export const namesIn = ({ papers_pool: pool, excluded = [] }: Rrd): ReadonlyMap<string, string> =>
  new Map([...excluded, ...pool].map((record) => [record.id, nameOf(record)]));

/** A stored sentence with keys in place of ids, for people. `names`: from `namesIn`. */
export const withNames = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replace(/\b(?:arxiv|doi|pmid|pmcid|url|file|listed)_[\w.-]*\w/g, (id) => names.get(id) ?? id);

/**
 * A key for each record, in their order: its present key, if it is valid and not used by an earlier record; else a key
 * from surname and year ("lee2024", "lee2024b"), or from the first words of the title ("heat-pumps-cold"). A key is
 * never equal to the id of a record. Keys that differ only in case are equal. Existing keys do not change when records
 * are added.
 */
export function keysOf(records: readonly KeyedRecord[]): string[] {
  const used = new Set(records.map(({ id }) => id.toLowerCase()));
  const keys = records.map(({ key }) => {
    const lowerKey = key?.toLowerCase() ?? "";
    if (key === undefined || !isKey(key) || used.has(lowerKey)) return undefined;
    used.add(lowerKey);
    return key;
  });
  // The last number that was used for each base, because thousands of works can have the same name and year.
  const lastNumbers = new Map<string, number>();
  return keys.map((key, index) => {
    if (key !== undefined) return key;
    const base = baseKeyOf(records[index] as KeyedRecord);
    for (let n = (lastNumbers.get(base) ?? 0) + 1; ; n += 1) {
      const isLettered = n <= 26 && /\d$/.test(base);
      const next = n === 1 ? base : isLettered ? `${base}${String.fromCharCode(96 + n)}` : `${base}-${n}`;
      if (used.has(next)) continue;
      used.add(next);
      lastNumbers.set(base, n);
      return next;
    }
  });
}

/** Maximum number of characters of a key without the year. */
const maxNameChars = 24;

/** The surname of the first author, or else the first words of the title; then the year, if it is known. */
function baseKeyOf({ authors, title, date, publication }: KeyedRecord): string {
  const [first] = authorsOf(authors);
  const name = first === undefined ? undefined : personName(first, publication?.groups);
  const surname = name === undefined ? "" : "literal" in name ? name.literal : name.family;
  const surnameLetters = normalTitle(surname).replace(/[^a-z]/g, "");
  const year = /^\d{4}/.exec(date ?? "")?.[0] ?? "";
  return `${surnameLetters.length > 1 ? surnameLetters.slice(0, maxNameChars) : firstWords(title ?? "") || "paper"}${year}`;
}

/** At most three words of a title in Latin letters, joined by hyphens. */
function firstWords(title: string): string {
  const words = normalTitle(title)
    .split(" ")
    .filter((word) => /^[a-z]{2,}$/.test(word) && !smallWords.has(word));
  const keyWords = words.slice(0, 3);
  while (keyWords.length > 1 && keyWords.join("-").length > maxNameChars) keyWords.pop();
  return keyWords.join("-").slice(0, maxNameChars);
}

/**
 * The state with a key for every paper and every excluded record. A key in the file that is used or invalid becomes
 * `source_key`. Pure; returns the same state if all keys are valid.
 */
export function withKeys(rrd: Rrd): Rrd {
  const { papers_pool: pool, excluded = [] } = rrd;
  const keys = keysOf([
    ...pool,
    ...excluded.map(({ id, key, title, first_author = null, year }) => ({
      id,
      ...withoutUndefined({ key, title }),
      authors: first_author,
      date: year?.toString() ?? null,
    })),
  ]);
  const withListKeys = <Kept extends Paper | Exclusion>(list: Kept[], offset: number): Kept[] =>
    list.every(({ key }, index) => key === keys[offset + index])
      ? list
      : list.map((record, index) => withKey(record, keys[offset + index] as string));
  const papers = withListKeys(pool, 0);
  const records = withListKeys(excluded, pool.length);
  if (papers === pool && records === excluded) return rrd;
  return { ...rrd, papers_pool: papers, ...(rrd.excluded === undefined ? {} : { excluded: records }) };
}

/** The key is always the field after the id, so that the file does not depend on when the key was set. */
function withKey<Kept extends Paper | Exclusion>(record: Kept, key: string): Kept {
  if (record.key === key) return record;
  const { id, key: earlierKey, source_key, ...rest } = record;
  return { id, key, ...withoutUndefined({ source_key: earlierKey ?? source_key }), ...rest } as Kept;
}
