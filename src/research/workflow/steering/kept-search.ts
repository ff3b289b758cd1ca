import type { Exclusion, Rrd } from "../../generated/rrd.js";
import { storedFields } from "../../papers/paper-record.js";
import { candidatesOf } from "../../search/candidates.js";
import { separatedPairs } from "../../derived/separated.js";
import { decidedIds } from "../../units/screening/search-session.js";
import { searchKey } from "../../derived/status.js";
import { candidatesFile, searchFile } from "../../project-files/layout.js";
import { readCommittedSearch } from "../../search/committed-search.js";
import { readSearchRecord, type SearchRecord } from "../../search/search-record.js";

/** The saved search of a project on this machine, or else the committed one; undefined if there is neither. */
export async function readKeptSearch(folder: string, rrd: Rrd): Promise<SearchRecord | undefined> {
  const saved = await readSearchRecord(candidatesFile(folder), searchKey(rrd));
  return saved === undefined || saved === "broken" ? readCommittedSearch(searchFile(folder)) : saved;
}

/** The works of a saved search that nobody screened yet, with the sources of each. */
export async function unscreenedWorks(folder: string, rrd: Rrd) {
  const search = await readKeptSearch(folder, rrd);
  if (search === undefined) return [];
  const settled = decidedIds(rrd);
  return candidatesOf(search.listings, separatedPairs(rrd))
    .works.filter(({ record }) => !settled.has(record.id))
    .map(({ record, provenance }) => ({
      record,
      sources: [...new Set(provenance.places.map(({ source }) => source))],
    }));
}

/**
 * Returns a function that adds fields from the saved search to excluded records with these ids, which the user
 * includes: authors, abstract and sources. For an excluded record, rrd.json has only the fields that identify it.
 */
export async function makeCompleter(folder: string, rrd: Rrd, ids: ReadonlySet<string>): Promise<(rrd: Rrd) => Rrd> {
  const isIncomplete = ({ id, before }: Exclusion) => ids.has(id) && before === undefined;
  if (!(rrd.excluded ?? []).some(isIncomplete)) return (current) => current;
  const search = await readKeptSearch(folder, rrd);
  const works = search === undefined ? [] : candidatesOf(search.listings, separatedPairs(rrd)).works;
  const completeRecords = new Map(
    works
      .filter(({ record }) => ids.has(record.id))
      .map(({ record, provenance }) => {
        const sources = [...new Set(provenance.places.map(({ source }) => source))];
        return [record.id, { ...storedFields(record), found: { sources, why: "" } }];
      }),
  );
  return (current) => ({
    ...current,
    excluded: (current.excluded ?? []).map((exclusion) => {
      const before = isIncomplete(exclusion) ? completeRecords.get(exclusion.id) : undefined;
      return before === undefined ? exclusion : { ...exclusion, before };
    }),
  });
}
