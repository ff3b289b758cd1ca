import type { Exclusion, Rrd } from "../../generated/rrd.js";
import { storedFields } from "../../papers/paper-record.js";
import { candidatesOf } from "../../search/candidates.js";
import { apartOf } from "../../units/screening/search-session.js";
import { searchKey } from "../../derived/status.js";
import { candidatesFile, searchFile } from "../../project-files/layout.js";
import { readCommittedSearch } from "../../search/committed-search.js";
import { readSearchRecord, type SearchRecord } from "../../search/search-record.js";

/** What is kept of a project's search on this machine, else what was committed of it; undefined where neither is. */
export async function readKeptSearch(folder: string, rrd: Rrd): Promise<SearchRecord | undefined> {
  const kept = await readSearchRecord(candidatesFile(folder), searchKey(rrd));
  return kept === undefined || kept === "broken" ? readCommittedSearch(searchFile(folder)) : kept;
}

/**
 * What completes excluded records of these ids, which a person includes, with all that the search knows of them:
 * authors, abstract, and where it found them. rrd.json keeps no more of an excluded record than it takes to know it.
 */
export async function completing(folder: string, rrd: Rrd, ids: ReadonlySet<string>): Promise<(rrd: Rrd) => Rrd> {
  const isMeant = ({ id, before }: Exclusion) => ids.has(id) && before === undefined;
  if (!(rrd.excluded ?? []).some(isMeant)) return (whole) => whole;
  const search = await readKeptSearch(folder, rrd);
  const works = search === undefined ? [] : candidatesOf(search.listings, apartOf(rrd)).works;
  const known = new Map(
    works
      .filter(({ record }) => ids.has(record.id))
      .map(({ record, provenance }) => {
        const sources = [...new Set(provenance.places.map(({ source }) => source))];
        return [record.id, { ...storedFields(record), found: { sources, why: "" } }];
      }),
  );
  return (whole) => ({
    ...whole,
    excluded: (whole.excluded ?? []).map((one) => {
      const before = isMeant(one) ? known.get(one.id) : undefined;
      return before === undefined ? one : { ...one, before };
    }),
  });
}
