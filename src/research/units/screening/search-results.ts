import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { countEach } from "../../../engine/lib/group.js";
import type { Exclusion, Paper, Rrd, Step } from "../../generated/rrd.js";
import { correctionsAmong } from "../../papers/dedup/companions.js";
import { unusedTerms } from "../../search/search-plan.js";
import {
  type MergeDecisions,
  isFromUser,
  mergeDecisions,
  distinctRecordsOf,
  separateCompanions,
  type Work,
} from "../../search/candidates.js";
import type { RankedWork } from "../../screening/screening-order.js";
import { citationsOf } from "../../search/snowballing.js";
import { openUpdate } from "../../derived/open-update.js";
import { blockedTest } from "../../project-files/rrd-file.js";
import { openWindows } from "./update-rounds.js";
import { authorsOf } from "../../papers/authors.js";
import { yearOf } from "../../papers/dedup/match-features.js";
import { type PaperRecord, type Update, ownKey, storedFields, versionsOf } from "../../papers/paper-record.js";
import { withoutVersion } from "../../papers/identifiers.js";
import type { SearchSession, Sources } from "../../screening/paper-sources.js";
import { isOwnFolder, isOwnList } from "../../papers/records/own-list.js";
import { decidedIds } from "./search-session.js";
import { type SourceReport, reportsOf } from "./source-reports.js";
import type { Listing } from "../../search/result-list.js";

export type Found = NonNullable<Paper["found"]>;

/** The data that code has about a candidate, and the priority that code proposes. */
interface Assessment {
  readonly priority: number;
  readonly why: string;
  readonly found: Found;
  /** Set if the record comes from a list of the user. */
  readonly brought?: true;
}

/** A record that is offered for screening. Records of folders have no assessment. */
export type ScreeningCandidate = PaperRecord & Partial<Assessment>;

/** The results of the scholarly services so far, for the statistics. */
export interface Searched extends Pick<
  SearchSession,
  "candidatesSha256" | "skippedCount" | "mayLeadOn" | "exhausted" | "seeds"
> {
  readonly rounds: readonly Step[];
  /** Number of records by source. */
  readonly identified: Readonly<Record<string, number>>;
  /** Number of different works in these records. */
  readonly works: number;
  readonly excluded: readonly Exclusion[];
  /** The reasons why other services were searched instead of sources that programs may not use, or that are blocked. */
  readonly substitutions: Readonly<Record<string, string>>;
  /** The services that replace blocked sources. */
  readonly substitutes: ReadonlySet<string>;
  /** Number of works that wait for a later batch; `broughtLeft` counts those from the user. */
  readonly left: number;
  readonly broughtLeft?: number;
  /** Keywords that no source was asked for so far. */
  readonly notAsked: readonly string[];
  /** In an update: the sources whose time window is not completely searched, each with its first day. */
  readonly leftOpen?: Readonly<Record<string, string>>;
  /** Papers of the pool that snowballing found again, with the papers to which it links them. */
  readonly pooled: readonly PoolCitations[];
  /** Corrections of papers that were in the pool before. */
  readonly corrections?: readonly PoolCorrections[];
}

/** Citations between a paper of the pool and other papers of the pool. */
export interface PoolCitations extends Pick<Found, "cites" | "cited_by"> {
  readonly id: string;
}

/** New corrections of a paper of the pool. */
export interface PoolCorrections {
  readonly id: string;
  readonly updates: readonly Update[];
}

/** Searches the services of these requested sources; undefined if the sources have no such services. */
export async function searchResults(
  rrd: Rrd,
  library: Pick<Sources, "services" | "substitution" | "search" | "givenUp">,
  requested: readonly string[],
  replacements: ReadonlyMap<string, string>,
): Promise<
  | {
      works: readonly ScreeningCandidate[];
      reports: readonly SourceReport[];
      search: Searched;
      /** The ids of all records that the search compared, also those of judged works. */
      compared: ReadonlySet<string>;
      /** Addresses of files on this machine that records of the search name as their texts. */
      files: ReadonlySet<string>;
      /** The report of each service; set only if no service answered. */
      away?: readonly SourceReport[];
      /** Busy services, and how long a run waits for them. */
      busy?: NonNullable<SearchSession["busy"]>;
    }
  | undefined
> {
  const services = new Map(requested.map((name) => [name, library.services(name)] as const));
  const names = [...new Set([...[...services.values()].flat(), ...(library.givenUp?.() ?? [])])];
  if (names.length === 0) return undefined;
  const session = await library.search(rrd, names);
  const { candidatesSha256, skippedCount, mayLeadOn, exhausted, seeds } = session;
  const recordedRounds = (rrd.statistics?.discovery_metrics?.rounds ?? []).length;
  const isContinued = session.steps.length >= recordedRounds;
  // If the network is not available, it is not counted as a failure of the source.
  const unreachable = reportsOf(session.unreachableListings ?? [], session.candidates, () => false).map((report) => ({
    ...report,
    failures: 0,
  }));
  const { busy } = session;
  const isRecorded = ({ step, source }: Listing) =>
    isContinued && step < recordedRounds && busy?.retried.has(source) !== true;
  const reports = [
    ...addBusyServices(reportsOf(session.listings, session.candidates, isRecorded), busy, blockedTest(rrd)),
    ...unreachable,
  ];
  const decisionsOn = mergeDecisions(session.candidates);
  const substitutions = Object.fromEntries([
    ...requested.flatMap((name) => {
      const replacement = library.substitution(name);
      return replacement === undefined ? [] : [[name, replacement] as const];
    }),
    ...[...replacements].map(
      ([name, replacement]) => [name, `${name} is blocked; ${replacement} is searched in its place.`] as const,
    ),
  ]);
  return {
    ...(unreachable.length === 0 ? {} : { away: unreachable }),
    ...withoutUndefined({ busy }),
    works: session.works.map((work, index) =>
      screeningCandidate(index < maxPerBatch ? work : removeLearnedWords(work), decisionsOn),
    ),
    reports: [...reports, ...reportsByRequestedName(services, reports, substitutions)],
    compared: new Set(
      session.candidates.works.flatMap(({ record, provenance }) =>
        [record, ...versionsOf(provenance)].map(({ id }) => id),
      ),
    ),
    files: new Set(
      session.candidates.works.flatMap(({ record: { pdf_url } }) =>
        pdf_url?.startsWith("file:") === true ? [pdf_url] : [],
      ),
    ),
    search: {
      candidatesSha256,
      skippedCount,
      mayLeadOn,
      ...withoutUndefined({ exhausted, seeds }),
      rounds: session.steps,
      identified: recordsBySource(session),
      works: session.candidates.works.length + separateCompanions(session.candidates.works, decidedIds(rrd)).size,
      excluded: session.excludedWorks.map(({ work: { record }, stage, reason }) => {
        return { id: record.id, title: record.title, stage, reason, ...excludedFacts(record) };
      }),
      substitutions,
      substitutes: new Set(replacements.keys()),
      left: 0,
      notAsked: names.every(isOwnList) ? [] : unusedTerms(rrd.requirements, session.steps),
      pooled: citationsInPool(rrd, session.candidates.works),
      corrections: correctionsInPool(rrd, session.candidates.works),
      ...withoutUndefined({ leftOpen: incompleteSources(rrd, library, session) }),
    },
  };
}

/**
 * The reports, with the number of failed attempts of busy services. A service that is given up has a report in any
 * case.
 */
function addBusyServices(
  reports: readonly SourceReport[],
  busy: SearchSession["busy"],
  isBlocked: (name: string) => boolean,
): SourceReport[] {
  const restByName = new Map((busy?.rests ?? []).map((rest) => [rest.name, rest]));
  const missing = [...restByName.values()].filter(
    ({ name, isGivenUp }) => isGivenUp && !isBlocked(name) && !reports.some((report) => report.name === name),
  );
  return [...reports, ...missing.map(({ name, status, reason }) => ({ name, status, reason }))].map((report) => {
    const rest = restByName.get(report.name);
    return rest === undefined ? report : { ...report, busy: { tries: rest.tries, isGivenUp: rest.isGivenUp } };
  });
}

/**
 * The sources whose part of the open update's time window is not completely searched; undefined if no update is open.
 */
function incompleteSources(
  rrd: Rrd,
  { services }: Pick<Sources, "services">,
  session: SearchSession,
): Record<string, string> | undefined {
  const update = openUpdate(rrd);
  if (update === undefined) return undefined;
  const wanted = [...new Set((rrd.requirements.sources ?? []).flatMap(services))];
  return Object.fromEntries(
    [...openWindows(rrd, update, session, wanted)].map(([source, { since }]) => [source, since]),
  );
}

/** Reports under the names that the user wrote, if they differ from the services' names, such as "Google Scholar". */
function reportsByRequestedName(
  services: ReadonlyMap<string, readonly string[]>,
  reports: readonly SourceReport[],
  substitutions: Readonly<Record<string, string>>,
): SourceReport[] {
  const names = new Set(reports.map(({ name }) => name.toLowerCase()));
  return [...services].flatMap(([name, servicesOfSource]) => {
    const sourceReports = reports.filter((report) => servicesOfSource.includes(report.name));
    const [first] = sourceReports;
    if (first === undefined || names.has(name.toLowerCase())) return [];
    const best =
      sourceReports.find(({ status }) => status === "ok") ??
      sourceReports.find(({ status }) => status === "empty") ??
      first;
    const reason = substitutions[name] ?? best.reason;
    const failures = Math.min(...sourceReports.map((report) => report.failures ?? 0));
    return [{ name, status: best.status, ...(reason == null ? {} : { reason }), failures }];
  });
}

/** No batch has more records. To save time, only so many works get the words that the ranking has learned. */
const maxPerBatch = 100;
const removeLearnedWords = ({ learnedReasons: _, ...work }: RankedWork): RankedWork => work;

function screeningCandidate(work: RankedWork, decisionsOn: (work: RankedWork) => MergeDecisions): ScreeningCandidate {
  const { record, provenance, priority, why, learnedReasons } = work;
  const { merged, apart } = decisionsOn(work);
  const { arxiv, ...others } = record.identifiers;
  const { cites, cited_by } = citationsOf(provenance.places);
  return {
    ...record,
    identifiers: arxiv === undefined ? others : { ...others, arxiv: withoutVersion(arxiv) },
    priority,
    why,
    ...(isFromUser(work) ? { brought: true as const } : {}),
    found: {
      sources: [...new Set(provenance.places.map(({ source }) => source))],
      why: [why, learnedReasons?.() ?? ""].filter((part) => part !== "").join("; "),
      ...(cites.length === 0 ? {} : { cites: [...cites] }),
      ...(cited_by.length === 0 ? {} : { cited_by: [...cited_by] }),
      ...(merged.length === 0 ? {} : { merged: [...merged] }),
      ...(apart.length === 0 ? {} : { apart: [...apart] }),
    },
  };
}

/**
 * Citations between papers of the pool that the search found. A work can be in the pool under the id of any of its
 * merged records.
 */
function citationsInPool(rrd: Rrd, works: SearchSession["candidates"]["works"]): PoolCitations[] {
  const idsIn = poolIdsOf(rrd);
  return works.flatMap((work) => {
    const { places } = work.provenance;
    if (!places.some(({ seed }) => seed !== undefined)) return [];
    const { cites, cited_by } = citationsOf(places);
    return idsIn(work).map((id) => ({ id, cites: [...cites], cited_by: [...cited_by] }));
  });
}

function correctionsInPool(rrd: Rrd, works: SearchSession["candidates"]["works"]): PoolCorrections[] {
  const idsIn = poolIdsOf(rrd);
  return works.flatMap((work) => {
    const updates = correctionsAmong(work.provenance.companions);
    return updates.length === 0 ? [] : idsIn(work).map((id) => ({ id, updates }));
  });
}

/** Returns a function: the ids of a work's records that are ids of papers of the pool. */
function poolIdsOf(rrd: Rrd): (work: Work) => string[] {
  const pool = new Set(rrd.papers_pool.map(({ id }) => id));
  return ({ record, provenance }) =>
    [...new Set([record, ...versionsOf(provenance)].map(({ id }) => id))].filter((id) => pool.has(id));
}

/** The number of records by source. A source without results counts too. */
function recordsBySource({ listings, candidates }: SearchSession): Record<string, number> {
  const recordsOf = distinctRecordsOf(listings);
  const found = candidates.works.flatMap((work) => recordsOf(work).map(({ source }) => source));
  const asked = listings.filter(({ records }) => !records.some(({ database }) => database !== undefined));
  // The counts are in a map, because a source may have the name "constructor".
  return Object.fromEntries([...new Map(asked.map(({ source }) => [source, 0])), ...countEach(found)]);
}

/** The data of an excluded record that are stored, so that the record is recognised under another id. */
export function excludedFacts(
  record: PaperRecord | undefined,
): Pick<
  Exclusion,
  "key" | "source_key" | "url" | "source" | "identifiers" | "year" | "first_author" | "record" | "document"
> {
  if (record === undefined) return {};
  const { url, source, identifiers = {}, date, authors, document } = record;
  const year = yearOf(date);
  const first_author = authorsOf(authors)[0];
  return {
    ...ownKey(record.ownKey),
    url,
    source,
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
    ...withoutUndefined({ year, first_author }),
    ...(isOwnFolder(source) ? { record: factsOfDocument(record) } : {}),
    ...(document === undefined ? {} : { document: { ...document } }),
  };
}

const fieldsOfExclusion = new Set(["key", "source_key", "id", "title", "url", "source", "identifiers", "document"]);

/** The fields of an excluded document that its exclusion does not have, in the format of a paper. */
const factsOfDocument = (document: PaperRecord): NonNullable<Exclusion["record"]> =>
  Object.fromEntries(
    Object.entries(storedFields(document)).filter(([name, value]) => !fieldsOfExclusion.has(name) && value !== null),
  );
