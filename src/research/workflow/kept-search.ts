import type { Rrd } from "../generated/rrd.js";
import { searchOf } from "../derived/status.js";
import { candidatesFile, searchFile } from "../project-files/layout.js";
import { readCommittedSearch } from "../search/committed-search.js";
import { readSearchRecord, type SearchRecord } from "../search/search-record.js";

/** What is kept of a project's search on this machine, else what was committed of it; undefined where neither is. */
export async function readKeptSearch(folder: string, rrd: Rrd): Promise<SearchRecord | undefined> {
  const kept = await readSearchRecord(candidatesFile(folder), searchOf(rrd));
  return kept === undefined || kept === "broken" ? readCommittedSearch(searchFile(folder)) : kept;
}
