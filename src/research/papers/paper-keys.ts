import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { authorsOf, smallWords } from "./authors.js";
import { isKey } from "./paper-record.js";
import { normalTitle } from "./normalise-title.js";
import { personName } from "./person-name.js";

/** What a key is made of, or was. */
export interface Keyed {
  readonly id: string;
  readonly title?: string | null;
  readonly authors?: readonly string[] | string | null;
  /** YYYY at its beginning. */
  readonly date?: string | null;
  readonly key?: string;
}

/** What people call a record: its key, or its id where it has none yet. */
export const nameOf = ({ key, id }: Pick<Keyed, "key" | "id">): string => key ?? id;

/** What people call the records of a project, by id: of a paper and an excluded record of one id the paper. */
export const namesIn = ({ papers_pool: pool, excluded = [] }: Rrd): ReadonlyMap<string, string> =>
  new Map([...excluded, ...pool].map((one) => [one.id, nameOf(one)]));

/** A stored sentence as people read it: with the key of a record in place of its id. `names`: of `namesIn`. */
export const withNames = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replace(/\b(?:arxiv|doi|pmid|pmcid|url|file|listed)_[\w.-]*\w/g, (id) => names.get(id) ?? id);

/**
 * A key for each record, in their order: the one that it has, where it can be one and no record before it has it, else
 * one of surname and year, "lee2024", "lee2024b", or of the title's first words, "heat-pumps-cold". Never the id of any
 * record. Keys are told apart without regard to capitals; a key that is there does not change when records are added.
 */
export function keysOf(records: readonly Keyed[]): string[] {
  const used = new Set(records.map(({ id }) => id.toLowerCase()));
  const keys = records.map(({ key }) => {
    const folded = key?.toLowerCase() ?? "";
    if (key === undefined || !isKey(key) || used.has(folded)) return undefined;
    used.add(folded);
    return key;
  });
  // Where the last search ended: thousands of works may have one name and year.
  const tried = new Map<string, number>();
  return keys.map((key, index) => {
    if (key !== undefined) return key;
    const base = baseOf(records[index] as Keyed);
    for (let n = (tried.get(base) ?? 0) + 1; ; n += 1) {
      const isLettered = n <= 26 && /\d$/.test(base);
      const next = n === 1 ? base : isLettered ? `${base}${String.fromCharCode(96 + n)}` : `${base}-${n}`;
      if (used.has(next)) continue;
      used.add(next);
      tried.set(base, n);
      return next;
    }
  });
}

/** Characters of a key's name at most. */
const longest = 24;

/** Surname of the first author, else the first words of the title; behind it the year, where it is known. */
function baseOf({ authors, title, date }: Keyed): string {
  const [first] = authorsOf(authors);
  const name = first === undefined ? undefined : personName(first);
  const surname = name === undefined ? "" : "literal" in name ? name.literal : name.family;
  const who = normalTitle(surname).replace(/[^a-z]/g, "");
  const year = /^\d{4}/.exec(date ?? "")?.[0] ?? "";
  return `${who.length > 1 ? who.slice(0, longest) : firstWords(title ?? "") || "paper"}${year}`;
}

/** Three words of a title in Latin letters at most, hyphens between them. */
function firstWords(title: string): string {
  const words = normalTitle(title)
    .split(" ")
    .filter((word) => /^[a-z]{2,}$/.test(word) && !smallWords.has(word));
  const kept = words.slice(0, 3);
  while (kept.length > 1 && kept.join("-").length > longest) kept.pop();
  return kept.join("-").slice(0, longest);
}

/**
 * The state with a key for every paper and every excluded record. A key of a file that is taken, or can't be one, stays
 * as `source_key`. Pure; the same state where all have theirs.
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
  const keyed = <Kept extends Paper | Exclusion>(list: Kept[], from: number): Kept[] =>
    list.every(({ key }, index) => key === keys[from + index])
      ? list
      : list.map((one, index) => withKey(one, keys[from + index] as string));
  const papers = keyed(pool, 0);
  const records = keyed(excluded, pool.length);
  if (papers === pool && records === excluded) return rrd;
  return { ...rrd, papers_pool: papers, ...(rrd.excluded === undefined ? {} : { excluded: records }) };
}

/** The key stands behind the id, so that the file is the same whenever the record got it. */
function withKey<Kept extends Paper | Exclusion>(one: Kept, key: string): Kept {
  if (one.key === key) return one;
  const { id, key: before, source_key, ...rest } = one;
  return { id, key, ...withoutUndefined({ source_key: before ?? source_key }), ...rest } as Kept;
}
