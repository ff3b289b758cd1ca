import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { isFailed, type Listing } from "../../search/result-list.js";
import type { CandidateSet } from "../../search/candidates.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";

/** The report on a source in one batch, from code or the agent. */
export type SourceReport = DiscoveryResult["sources"][number] & {
  /** Number of failures in a row at the end of the requests from code. */
  readonly failures?: number;
  /** Set while the service is busy: the number of failed attempts in a row, and whether it is given up. */
  readonly busy?: { readonly tries: number; readonly isGivenUp: boolean };
  /** Number of works that it found. */
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
  const claimed = new Set<string>();
  const workOf = new Map(
    candidates.works.flatMap(({ record, provenance }) =>
      provenance.mergedFrom.map((member) => [`${member.source}\n${member.id}`, record.id] as const),
    ),
  );
  const workIds = (listing: Listing) =>
    listing.records.flatMap(({ source, id }) => workOf.get(`${source}\n${id}`) ?? []);
  for (const listing of listings) if (isReported(listing)) for (const id of workIds(listing)) claimed.add(id);
  return names.map((name) => {
    const itsListings = listings.filter((listing) => listing.source === name && !isReported(listing));
    const found = new Set(itsListings.flatMap(workIds));
    const newCount = [...found].filter((id) => !claimed.has(id)).length;
    for (const id of found) claimed.add(id);
    const failing = itsListings.slice(itsListings.findLastIndex((listing) => !isFailed(listing)) + 1);
    // If the network is not available, or the service is busy, all queries of a batch fail: this counts as one failure.
    const lasting = failing.filter(({ transient }) => transient !== true).length;
    const failures = lasting + (failing.length > lasting ? 1 : 0);
    const last = itsListings.findLast(({ reason, status }) => reason !== undefined && status !== "empty");
    const queries = itsListings.flatMap(({ asked }) => (asked === "" ? [] : [asked])).slice(0, maxQueries);
    return {
      name,
      status: statusOf(itsListings),
      ...(last?.reason === undefined ? {} : { reason: last.reason }),
      queries,
      failures,
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
 * One line for people: "arXiv: 40 found, 12 new". If the agent searched, there are no numbers.
 */
export function reportLine({ name, status, reason, found, fresh = 0 }: SourceReport): string {
  if (status === "ok" && found === undefined) return `${name}: ok`;
  const beyond = fresh === found ? "" : fresh === 0 ? ", none new" : `, ${fresh} new`;
  if (status === "ok") return `${name}: ${found} found${beyond}${reason ? ` (${reason})` : ""}`;
  return status === "empty"
    ? `${name}: nothing found`
    : `${name} was skipped: ${withoutSourcePrefix(name, reason ?? status)}`;
}
