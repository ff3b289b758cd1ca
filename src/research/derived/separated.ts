import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";

/** Pairs of ids of records that the user declared to be two works. */
export const separatedPairs = ({ apart }: Pick<Rrd, "apart">): readonly (readonly [string, string])[] =>
  (apart ?? []).flatMap(([a, b]) => (a === undefined || b === undefined ? [] : [[a, b] as const]));

/**
 * Returns a function: whether code excluded a record as a duplicate, and the user has separated it since. Such a record
 * is not screened yet. A duplicate that the user joined (`before`) is different.
 */
export function separatedTest(rrd: Pick<Rrd, "apart">): (exclusion: Exclusion) => boolean {
  const pairs = separatedPairs(rrd);
  return ({ id, duplicate_of: of, before }) =>
    of != null && before === undefined && pairs.some((pair) => pair.includes(id) && pair.includes(of));
}

/** The reason in `excluded` of a record that the search merged and the user has separated. It keeps the key. */
export const separatedReason = "a person says that it is another work";

/**
 * The state without the exclusions of separated duplicates that were screened or merged again since, so that each
 * record is counted once. The record that replaces an exclusion gets its key. Pure; may return the same state.
 */
export function withoutScreenedSeparated(rrd: Rrd): Rrd {
  const excluded = rrd.excluded ?? [];
  const isSeparated = separatedTest(rrd);
  const remaining = excluded.filter((exclusion) => !isSeparated(exclusion));
  const screenedIds = new Set([...rrd.papers_pool, ...remaining].map(({ id }) => id));
  const replaced = excluded.filter((exclusion) =>
    isSeparated(exclusion) ? screenedIds.has(exclusion.id) : exclusion.reason === separatedReason,
  );
  if (replaced.length === 0) return rrd;
  const keys = new Map(replaced.map(({ id, key }) => [id, key]));
  const withEarlierKey = <Kept extends Paper | Exclusion>(record: Kept): Kept => {
    const key = keys.get(record.id);
    return key === undefined || record.key !== undefined ? record : { ...record, key };
  };
  return {
    ...rrd,
    papers_pool: rrd.papers_pool.map(withEarlierKey),
    excluded: excluded.filter((exclusion) => !replaced.includes(exclusion)).map(withEarlierKey),
  };
}
