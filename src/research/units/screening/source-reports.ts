import { quantity } from "../../../engine/lib/words.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { isFailed, type Listing } from "../../search/result-list.js";
import { type CandidateSet, listedRecord } from "../../search/candidates.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";

/** The report on a source in one batch, from code or the agent. */
export type SourceReport = DiscoveryResult["sources"][number] & {
  /** Number of failures in a row at the end of the requests from code. */
  readonly failures?: number;
  /** Set while the service is busy: the number of failed attempts in a row, and whether it is given up. */
  readonly busy?: { readonly tries: number; readonly isGivenUp: boolean };
  /** Number of records in a list of the user. */
  readonly records?: number;
  /** Number of works that the source found. */
  readonly found?: number;
  /** Number of these works that no earlier source found. */
  readonly fresh?: number;
};

/** Maximum number of queries in a report; all queries are in queries.jsonl. */
const maxQueries = 12;

/**
 * A report on every source in the order in which the sources were asked. Listings that were already reported are left
 * out.
 */
export function reportsOf(
  listings: readonly Listing[],
  candidates: CandidateSet,
  isReported: (listing: Listing) => boolean,
): SourceReport[] {
  const names = [...new Set(listings.filter((listing) => !isReported(listing)).map(({ source }) => source))];
  const reportedIds = new Set<string>();
  // By the record, because several works of a list may have one DOI.
  const workOf = new Map(
    candidates.works.flatMap(({ record, provenance }) =>
      provenance.mergedFrom.map((member) => [listedRecord(member), record.id] as const),
    ),
  );
  const workIds = ({ records }: Listing) => records.flatMap((record) => workOf.get(record) ?? []);
  for (const listing of listings) if (isReported(listing)) for (const id of workIds(listing)) reportedIds.add(id);
  return names.map((name) => {
    const sourceListings = listings.filter((listing) => listing.source === name && !isReported(listing));
    const found = new Set(sourceListings.flatMap(workIds));
    const newCount = [...found].filter((id) => !reportedIds.has(id)).length;
    for (const id of found) reportedIds.add(id);
    const failing = sourceListings.slice(sourceListings.findLastIndex((listing) => !isFailed(listing)) + 1);
    // If the network is not available, or the service is busy, all queries of a batch fail: this counts as one failure.
    const lastingFailures = failing.filter(({ transient }) => transient !== true).length;
    const failures = lastingFailures + (failing.length > lastingFailures ? 1 : 0);
    const last = sourceListings.findLast(({ reason, status }) => reason !== undefined && status !== "empty");
    const ownRecords = sourceListings.flatMap(({ records }) =>
      records.filter(({ database }) => database !== undefined),
    );
    const queries = sourceListings.flatMap(({ asked }) => (asked === "" ? [] : [asked])).slice(0, maxQueries);
    return {
      name,
      status: statusOf(sourceListings),
      ...(last?.reason === undefined ? {} : { reason: last.reason }),
      queries,
      failures,
      ...(ownRecords.length === 0 ? {} : { records: ownRecords.length }),
      found: found.size,
      fresh: newCount,
    };
  });
}

/** If a source answered at least once, it is available. Otherwise its last status counts. */
function statusOf(listings: readonly Listing[]): SourceReport["status"] {
  const statuses = listings.map(({ status }) => status);
  return statuses.includes("ok") ? "ok" : statuses.includes("empty") ? "empty" : (statuses.at(-1) ?? "error");
}

/**
 * One line for the user, such as "arXiv: 40 found, 12 new". If the agent searched, the line has no numbers. Of a list
 * of the user, all records are found, also those that are duplicates of others in it.
 */
export function reportLine({ name, status, reason, records, found, fresh = 0 }: SourceReport): string {
  if (status === "ok" && found === undefined) return `${name}: ok`;
  const newText = fresh === found ? "" : fresh === 0 ? ", none new" : `, ${fresh} new`;
  const duplicates = Math.max(0, (records ?? 0) - (found ?? 0));
  const duplicatesText = duplicates === 0 ? "" : `, ${quantity(duplicates, "duplicate")} in it`;
  if (status === "ok")
    return `${name}: ${(found ?? 0) + duplicates} found${duplicatesText}${newText}${reason ? ` (${reason})` : ""}`;
  return status === "empty"
    ? `${name}: nothing found`
    : `${name} was skipped: ${withoutSourcePrefix(name, reason ?? status)}`;
}
