import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { isFailed, type Listing } from "../../search/result-list.js";
import type { CandidateSet } from "../../search/candidates.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";

/** How a source did in one batch, by anyone who asked it. */
export type SourceReport = DiscoveryResult["sources"][number] & {
  /** Failures in a row at the end of what code asked it. */
  readonly failures?: number;
  /** Set while the service is busy: tries in vain in a row, and whether it is given up. */
  readonly busy?: { readonly tries: number; readonly isGivenUp: boolean };
  /** Works that it listed, and those of them that no source before it had. */
  readonly found?: number;
  readonly fresh?: number;
};

/** Queries that a report names; all of them stand in queries.jsonl. */
const maxQueries = 12;

/** A report on every source, in the order of their asking, without the listings that are reported already. */
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
  const works = (listing: Listing) => listing.records.flatMap(({ source, id }) => workOf.get(`${source}\n${id}`) ?? []);
  for (const listing of listings) if (isReported(listing)) for (const id of works(listing)) claimed.add(id);
  return names.map((name) => {
    const its = listings.filter((listing) => listing.source === name && !isReported(listing));
    const found = new Set(its.flatMap(works));
    const fresh = [...found].filter((id) => !claimed.has(id)).length;
    for (const id of found) claimed.add(id);
    const failing = its.slice(its.findLastIndex((listing) => !isFailed(listing)) + 1);
    // A network that is away, or a service that is busy, fails every query of a batch: it counts once.
    const lasting = failing.filter(({ transient }) => transient !== true).length;
    const failures = lasting + (failing.length > lasting ? 1 : 0);
    const last = its.findLast(({ reason, status }) => reason !== undefined && status !== "empty");
    const queries = its.flatMap(({ asked }) => (asked === "" ? [] : [asked])).slice(0, maxQueries);
    return {
      name,
      status: statusOf(its),
      ...(last?.reason === undefined ? {} : { reason: last.reason }),
      queries,
      failures,
      found: found.size,
      fresh,
    };
  });
}

/** A source that answered once can be asked; one that never did is what it said last. */
function statusOf(listings: readonly Listing[]): SourceReport["status"] {
  const said = listings.map(({ status }) => status);
  return said.includes("ok") ? "ok" : said.includes("empty") ? "empty" : (said.at(-1) ?? "error");
}

/** One line for people: "arXiv: 40 found, 12 beyond the sources before". What code did not search has no numbers. */
export function reportLine({ name, status, reason, found, fresh = 0 }: SourceReport): string {
  if (status === "ok" && found === undefined) return `${name}: ok`;
  const beyond = fresh === found ? "" : `, ${fresh} beyond the sources before`;
  if (status === "ok") return `${name}: ${found} found${beyond}${reason ? ` (${reason})` : ""}`;
  return status === "empty"
    ? `${name}: nothing found`
    : `${name} was skipped: ${withoutSourcePrefix(name, reason ?? status)}`;
}
