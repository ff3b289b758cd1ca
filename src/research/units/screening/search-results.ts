import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { countEach } from "../../../engine/lib/group.js";
import type { Exclusion, Paper, Rrd, Step } from "../../generated/rrd.js";
import { correctionsAmong } from "../../papers/dedup/companions.js";
import { termsNotAsked } from "../../search/search-plan.js";
import { type MergeDecisions, isFromUser, mergeDecisions } from "../../search/candidates.js";
import type { Ranked } from "../../screening/screening-order.js";
import { citationsOf } from "../../search/snowballing.js";
import { openUpdate } from "../../derived/open-update.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import { leftOpenBy } from "./update-rounds.js";
import { authorsOf } from "../../papers/authors.js";
import { yearOf } from "../../papers/dedup/match-features.js";
import { type PaperRecord, type Update, ownKey, versionsOf } from "../../papers/paper-record.js";
import { unversioned } from "../../papers/identifiers.js";
import type { SearchSession, Sources } from "../../screening/paper-sources.js";
import { isOwnList } from "../../papers/records/own-list.js";
import { settledIds } from "./search-session.js";
import { type SourceReport, reportsOf } from "./source-reports.js";
import type { Listing } from "../../search/result-list.js";

export type Found = NonNullable<Paper["found"]>;

/** What code found out about a candidate, and what priority it proposes on that ground. */
interface Assessment {
  readonly priority: number;
  readonly why: string;
  readonly found: Found;
  /** A person brought it in a list of their own. */
  readonly brought?: true;
}

/** A record that is put before anyone who screens; one of a folder comes without assessment. */
export type ScreeningCandidate = PaperRecord & Partial<Assessment>;

/** What the scholarly services gave so far, for the statistics. */
export interface Searched extends Pick<
  SearchSession,
  "candidatesSha256" | "passed" | "mayLeadOn" | "exhausted" | "seeds"
> {
  readonly rounds: readonly Step[];
  /** Records by source, and works that they are about. */
  readonly identified: Readonly<Record<string, number>>;
  readonly works: number;
  readonly setAside: readonly Exclusion[];
  /** What was asked in place of a source that programs may not ask, or that is blocked. */
  readonly substitutions: Readonly<Record<string, string>>;
  /** The blocked ones among them. */
  readonly substitutes: ReadonlySet<string>;
  /** Works that wait to be judged once this batch is, and those of them that a person brought. */
  readonly left: number;
  readonly broughtLeft?: number;
  /** Keywords that no source was asked for so far. */
  readonly notAsked: readonly string[];
  /** In an update: sources whose part of its window is still to be asked, with its first day. */
  readonly leftOpen?: Readonly<Record<string, string>>;
  /** What snowballing came upon again: papers that were in the pool before, with the papers that it links them to. */
  readonly pooled: readonly PoolCitations[];
  /** Corrections of papers that were in the pool before. */
  readonly corrections?: readonly PoolCorrections[];
}

/** Citations between a paper of the pool and others of it. */
export interface PoolCitations extends Pick<Found, "cites" | "cited_by"> {
  readonly id: string;
}

/** Corrections that the search has found of a paper of the pool. */
export interface PoolCorrections {
  readonly id: string;
  readonly updates: readonly Update[];
}

/** What a search of the services that these requested names lead to has brought; undefined where none leads to one. */
export async function searchResults(
  rrd: Rrd,
  library: Pick<Sources, "services" | "substitution" | "search" | "givenUp">,
  requested: readonly string[],
  instead: ReadonlyMap<string, string>,
): Promise<
  | {
      works: readonly ScreeningCandidate[];
      reports: readonly SourceReport[];
      search: Searched;
      /** Ids of all records that the search has compared with one another, those of judged works too. */
      compared: ReadonlySet<string>;
      /** Addresses of files on this machine that records of the search name as their texts. */
      files: ReadonlySet<string>;
      /** Where none of them had an answer for now: how each did. */
      away?: readonly SourceReport[];
      /** Services that are busy, and how far a run waits for them. */
      busy?: NonNullable<SearchSession["busy"]>;
    }
  | undefined
> {
  const services = new Map(requested.map((name) => [name, library.services(name)] as const));
  const names = [...new Set([...[...services.values()].flat(), ...(library.givenUp?.() ?? [])])];
  if (names.length === 0) return undefined;
  const session = await library.search(rrd, names);
  const { candidatesSha256, passed, mayLeadOn, exhausted, seeds } = session;
  const noted = (rrd.statistics?.discovery_metrics?.rounds ?? []).length;
  const isContinued = session.steps.length >= noted;
  // A network that is away says nothing of a source: it counts as no failure of theirs.
  const unasked = reportsOf(session.away ?? [], session.candidates, () => false).map((report) => ({
    ...report,
    failures: 0,
  }));
  const { busy } = session;
  const isNoted = ({ step, source }: Listing) => isContinued && step < noted && busy?.retried.has(source) !== true;
  const blocked = new Set(blockedNames(rrd));
  const own = [...ofBusy(reportsOf(session.listings, session.candidates, isNoted), busy, blocked), ...unasked];
  const decisionsOn = mergeDecisions(session.candidates);
  const substitutions = Object.fromEntries([
    ...requested.flatMap((name) => {
      const said = library.substitution(name);
      return said === undefined ? [] : [[name, said] as const];
    }),
    ...[...instead].map(([name, other]) => [name, `${name} is blocked; ${other} is searched in its place.`] as const),
  ]);
  return {
    ...(unasked.length === 0 ? {} : { away: unasked }),
    ...withoutUndefined({ busy }),
    works: session.works.map((work, index) =>
      screeningCandidate(index < maxOfABatch ? work : withoutLearned(work), decisionsOn),
    ),
    reports: [...own, ...asRequested(services, own, substitutions)],
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
      passed,
      mayLeadOn,
      ...withoutUndefined({ exhausted, seeds }),
      rounds: session.steps,
      identified: identified(session),
      works: session.candidates.works.length + decidedAlone(rrd, session),
      setAside: session.setAside.map(({ work: { record }, stage, reason }) => {
        return { id: record.id, title: record.title, stage, reason, ...excludedFacts(record) };
      }),
      substitutions,
      substitutes: new Set(instead.keys()),
      left: 0,
      notAsked: names.every(isOwnList) ? [] : termsNotAsked(rrd.requirements, session.steps),
      pooled: pooledCitations(rrd, session.candidates.works),
      corrections: pooledCorrections(rrd, session.candidates.works),
      ...withoutUndefined({ leftOpen: leftOpenIn(rrd, library, session) }),
    },
  };
}

/** The reports with how often services were busy in a row; one that is given up from now on has one in any case. */
function ofBusy(
  reports: readonly SourceReport[],
  busy: SearchSession["busy"],
  blocked: ReadonlySet<string>,
): SourceReport[] {
  const rests = new Map((busy?.rests ?? []).map((rest) => [rest.name, rest]));
  const missing = [...rests.values()].filter(
    ({ name, isGivenUp }) => isGivenUp && !blocked.has(name) && !reports.some((report) => report.name === name),
  );
  return [...reports, ...missing.map(({ name, status, reason }) => ({ name, status, reason }))].map((report) => {
    const rest = rests.get(report.name);
    return rest === undefined ? report : { ...report, busy: { tries: rest.tries, isGivenUp: rest.isGivenUp } };
  });
}

/** Companion reports that were set aside or judged before their work was found: they count as works of their own. */
function decidedAlone(rrd: Rrd, { candidates }: SearchSession): number {
  const settled = settledIds(rrd);
  const companions = candidates.works.flatMap(({ provenance }) => provenance.companions ?? []);
  // Some services give a correction the identifier of its article.
  const works = new Set(
    candidates.works.flatMap(({ record, provenance }) => [record, ...versionsOf(provenance)].map(({ id }) => id)),
  );
  const isAlone = ({ record: { id } }: (typeof companions)[number]) => settled.has(id) && !works.has(id);
  return new Set(companions.filter(isAlone).map(({ record }) => record.id)).size;
}

/** Sources whose part of the open update's window is still to be asked; undefined where none is open. */
function leftOpenIn(
  rrd: Rrd,
  { services }: Pick<Sources, "services">,
  session: SearchSession,
): Record<string, string> | undefined {
  const update = openUpdate(rrd);
  if (update === undefined) return undefined;
  const wanted = [...new Set((rrd.requirements.sources ?? []).flatMap(services))];
  return Object.fromEntries(
    [...leftOpenBy(rrd, update, session, wanted)].map(([source, { since }]) => [source, since]),
  );
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

/** More records than fit into a batch, whose words are worth naming. */
const maxOfABatch = 100;
const withoutLearned = ({ learned: _, ...work }: Ranked): Ranked => work;

function screeningCandidate(work: Ranked, decisionsOn: (work: Ranked) => MergeDecisions): ScreeningCandidate {
  const { record, provenance, priority, why, learned } = work;
  const { merged, apart } = decisionsOn(work);
  const { arxiv, ...others } = record.identifiers;
  const { cites, cited_by } = citationsOf(provenance.places);
  return {
    ...record,
    identifiers: arxiv === undefined ? others : { ...others, arxiv: unversioned(arxiv) },
    priority,
    why,
    ...(isFromUser(work) ? { brought: true as const } : {}),
    found: {
      sources: [...new Set(provenance.places.map(({ source }) => source))],
      why: [why, learned?.() ?? ""].filter((part) => part !== "").join("; "),
      ...(cites.length === 0 ? {} : { cites: [...cites] }),
      ...(cited_by.length === 0 ? {} : { cited_by: [...cited_by] }),
      ...(merged.length === 0 ? {} : { merged: [...merged] }),
      ...(apart.length === 0 ? {} : { apart: [...apart] }),
    },
  };
}

/** A work may stand in the pool under the id of any record that it was merged from. */
function pooledCitations(rrd: Rrd, works: SearchSession["candidates"]["works"]): PoolCitations[] {
  const pool = new Set(rrd.papers_pool.map(({ id }) => id));
  return works.flatMap(({ record, provenance }) => {
    const { places } = provenance;
    if (!places.some(({ seed }) => seed !== undefined)) return [];
    const { cites, cited_by } = citationsOf(places);
    return [...new Set([record, ...versionsOf(provenance)].map(({ id }) => id))]
      .filter((id) => pool.has(id))
      .map((id) => ({ id, cites: [...cites], cited_by: [...cited_by] }));
  });
}

function pooledCorrections(rrd: Rrd, works: SearchSession["candidates"]["works"]): PoolCorrections[] {
  const pool = new Set(rrd.papers_pool.map(({ id }) => id));
  return works.flatMap(({ record, provenance }) => {
    const updates = correctionsAmong(provenance.companions);
    const ids = updates.length === 0 ? [] : [record, ...versionsOf(provenance)].map(({ id }) => id);
    return [...new Set(ids)].filter((id) => pool.has(id)).map((id) => ({ id, updates }));
  });
}

/**
 * Records by source. One that was listed for several queries counts once; where a source gave one id to two works, it
 * counts for each of them, so that there are never more works than records. Of a file that a person brought, each of
 * its records counts, as they would count it.
 */
function identified({ listings, candidates }: SearchSession): Record<string, number> {
  const listOf = new Map(listings.flatMap(({ source, records }) => records.map((record) => [record, source] as const)));
  const placeOf = (record: PaperRecord): string => {
    const list = listOf.get(record) ?? record.source;
    return `${record.database ?? list}\n${record.database === undefined ? "" : list}`;
  };
  // A source that was asked and listed nothing counts too. Maps: a source may be called constructor.
  const counts = new Map<string, number>();
  const atLeast = (place: string, count: number) => counts.set(place, Math.max(count, counts.get(place) ?? 0));
  for (const { source, records } of listings) {
    const brought = records.filter(({ database }) => database !== undefined);
    if (brought.length === 0) atLeast(`${source}\n`, 0);
    for (const [place, count] of countEach(brought.map(placeOf))) atLeast(place, count);
  }
  const each = candidates.works.flatMap(({ provenance }) => [
    ...new Map(
      provenance.mergedFrom.map((record) => [`${placeOf(record)}\n${record.id}`, placeOf(record)] as const),
    ).values(),
  ]);
  for (const [place, count] of countEach(each)) atLeast(place, count);
  const bySource = new Map<string, number>();
  for (const [place, count] of counts) {
    const [source = ""] = place.split("\n");
    bySource.set(source, (bySource.get(source) ?? 0) + count);
  }
  return Object.fromEntries(bySource);
}

/** What is kept of an excluded record, so that it is known again under another id. */
export function excludedFacts(
  record: PaperRecord | undefined,
): Pick<Exclusion, "key" | "source_key" | "url" | "source" | "identifiers" | "year" | "first_author" | "document"> {
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
    ...(document === undefined ? {} : { document: { ...document } }),
  };
}
