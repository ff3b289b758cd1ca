import type { Paper, Rrd, Step } from "../../generated/rrd.js";
import { termsNotAsked } from "../../search/search-plan.js";
import { type MergeDecisions, mergeDecisions, type CandidateSet } from "../../search/candidates.js";
import type { Ranked } from "../../search/rank.js";
import { unversioned } from "../../papers/identifiers.js";
import type { SearchSession, Sources } from "./search-session.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { isFailed, type Listing } from "../../search/result-list.js";
import { behindName } from "../../../engine/lib/sanitise.js";

export type Found = NonNullable<Paper["found"]>;

/** What code found out about a candidate, and what priority it proposes on that ground. */
interface Assessment {
  readonly priority: number;
  readonly why: string;
  readonly found: Found;
}

/** A record that is put before anyone who screens; one of a folder comes without assessment. */
export type ScreeningCandidate = PaperRecord & Partial<Assessment>;

/** What the scholarly services gave so far, for the statistics. */
export interface Searched {
  readonly rounds: readonly Step[];
  readonly candidatesSha256: string;
  /** Records by source, and works that they are about. */
  readonly identified: Readonly<Record<string, number>>;
  readonly works: number;
  readonly setAside: readonly {
    readonly id: string;
    readonly title: string;
    readonly stage: "retracted" | "window" | "notice";
    readonly reason: string;
  }[];
  /** What was asked in place of a source that programs may not ask. */
  readonly substitutions: Readonly<Record<string, string>>;
  /** Works that wait to be judged once this batch is. */
  readonly left: number;
  /** Works that were found and come into no batch any more. */
  readonly passed?: number;
  /** Keywords that no source was asked for so far. */
  readonly notAsked?: readonly string[];
  /** A paper kept of this batch may yet be followed to others. */
  readonly mayLeadOn?: boolean;
  readonly exhausted?: string;
}

/** What a search of the services that these requested names lead to has brought; undefined where none leads to one. */
export async function searchResults(
  rrd: Rrd,
  library: Pick<Sources, "services" | "substitution" | "search">,
  requested: readonly string[],
): Promise<
  | { works: readonly ScreeningCandidate[]; reports: readonly SourceReport[]; search: Searched; away?: string }
  | undefined
> {
  const services = new Map(requested.map((name) => [name, library.services(name)] as const));
  const names = [...new Set([...services.values()].flat())];
  if (names.length === 0) return undefined;
  const session = await library.search(rrd, names);
  const noted = (rrd.statistics?.discovery_metrics?.rounds ?? []).length;
  const isContinued = session.steps.length >= noted;
  // A network that is away says nothing of a source: it counts as no failure of theirs.
  const unasked = reportsOf(session.away ?? [], session.candidates, 0).map((report) => ({ ...report, failures: 0 }));
  const own = [...reportsOf(session.listings, session.candidates, isContinued ? noted : 0), ...unasked];
  const decisionsOn = mergeDecisions(session.candidates);
  const substitutions = Object.fromEntries(
    requested.flatMap((name) => {
      const said = library.substitution(name);
      return said === undefined ? [] : [[name, said] as const];
    }),
  );
  return {
    ...(unasked[0] === undefined ? {} : { away: unasked[0].reason ?? unasked[0].status }),
    works: session.works.map((work) => screeningCandidate(work, decisionsOn)),
    reports: [...own, ...asRequested(services, own, substitutions)],
    search: {
      rounds: session.steps,
      candidatesSha256: session.candidatesSha256,
      identified: identified(session),
      works: session.candidates.works.length,
      setAside: session.setAside.map(({ work, stage, reason }) => ({
        id: work.record.id,
        title: work.record.title,
        stage,
        reason,
      })),
      substitutions,
      left: 0,
      passed: session.passed,
      notAsked: termsNotAsked(rrd.requirements, session.steps),
      mayLeadOn: session.mayLeadOn,
      ...(session.exhausted === undefined ? {} : { exhausted: session.exhausted }),
    },
  };
}

/** A report under the name that the person wrote, where that is not the service's own: "Google Scholar". */
function asRequested(
  services: ReadonlyMap<string, readonly string[]>,
  reports: readonly SourceReport[],
  substitutions: Readonly<Record<string, string>>,
): SourceReport[] {
  const names = new Set(reports.map(({ name }) => name.toLowerCase()));
  return [...services].flatMap(([name, its]) => {
    const own = reports.filter((report) => its.includes(report.name));
    const [first] = own;
    if (first === undefined || names.has(name.toLowerCase())) return [];
    const best = own.find(({ status }) => status === "ok") ?? own.find(({ status }) => status === "empty") ?? first;
    const reason = substitutions[name] ?? best.reason;
    const failures = Math.min(...own.map((report) => report.failures ?? 0));
    return [{ name, status: best.status, ...(reason == null ? {} : { reason }), failures }];
  });
}

function screeningCandidate(work: Ranked, decisionsOn: (work: Ranked) => MergeDecisions): ScreeningCandidate {
  const { record, provenance, priority, why } = work;
  const { merged, apart } = decisionsOn(work);
  const { arxiv, ...others } = record.identifiers;
  return {
    ...record,
    identifiers: arxiv === undefined ? others : { ...others, arxiv: unversioned(arxiv) },
    priority,
    why,
    found: {
      sources: [...new Set(provenance.places.map(({ source }) => source))],
      why,
      ...(merged.length === 0 ? {} : { merged: [...merged] }),
      ...(apart.length === 0 ? {} : { apart: [...apart] }),
    },
  };
}

/**
 * Records by source. One that was listed for several queries counts once; where a source gave one id to two works, it counts for each of
 * them, so that there are never more works than records.
 */
function identified({ listings, candidates }: SearchSession): Record<string, number> {
  const sourceOf = new Map(
    listings.flatMap(({ source, records }) => records.map((record) => [record, source] as const)),
  );
  // A source that was asked and listed nothing counts too. Maps: a source may be called constructor.
  const counts = new Map(listings.map(({ source }) => [source, 0]));
  for (const { provenance } of candidates.works) {
    const its = new Map(
      provenance.mergedFrom.map((record) => {
        const source = sourceOf.get(record) ?? record.source;
        return [`${source}\n${record.id}`, source] as const;
      }),
    );
    for (const source of its.values()) counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/** How a source did in one batch, by anyone who asked it. */
export type SourceReport = DiscoveryResult["sources"][number] & {
  /** Failures in a row at the end of what code asked it. */
  readonly failures?: number;
  /** Works that it listed, and those of them that no source before it had. */
  readonly found?: number;
  readonly fresh?: number;
};

/** Queries that a report names; all of them stand in queries.jsonl. */
const maxQueries = 12;

/** A report on every source of some rounds, in the order of their asking. `after`: the rounds up to this one are reported already. */
export function reportsOf(listings: readonly Listing[], candidates: CandidateSet, after: number): SourceReport[] {
  const names = [...new Set(listings.filter(({ step }) => step >= after).map(({ source }) => source))];
  const claimed = new Set<string>();
  const workOf = new Map(
    candidates.works.flatMap(({ record, provenance }) =>
      provenance.mergedFrom.map((member) => [`${member.source}\n${member.id}`, record.id] as const),
    ),
  );
  const works = (listing: Listing) => listing.records.flatMap(({ source, id }) => workOf.get(`${source}\n${id}`) ?? []);
  for (const listing of listings) if (listing.step < after) for (const id of works(listing)) claimed.add(id);
  return names.map((name) => {
    const its = listings.filter(({ source, step }) => source === name && step >= after);
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

/** One line for people: "arXiv: 40 found, 12 new". */
export function reportLine({ name, status, reason, found = 0, fresh = 0 }: SourceReport): string {
  if (status === "ok") return `${name}: ${found} found, ${fresh} new${reason ? ` (${reason})` : ""}`;
  return status === "empty" ? `${name}: nothing found` : `${name} was skipped: ${behindName(name, reason ?? status)}`;
}
