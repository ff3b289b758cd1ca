import { createHash } from "node:crypto";
import type { Exclusion, Rrd } from "../../generated/rrd.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { clip, estimateTokens } from "../../../engine/lib/tokens.js";
import { workIndex } from "../../papers/dedup/work-index.js";
import { matchFeaturesOf } from "../../papers/dedup/match-features.js";
import type { SeparatedPair } from "../../papers/dedup/merge-records.js";
import { knownDocuments, type MovedDocument } from "../../papers/known-documents.js";
import { excludedFacts, type ScreeningCandidate, type Searched, searchResults } from "./search-results.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { isChangedSince } from "../../full-text/local-file.js";
import { parseReference } from "../../papers/reference.js";
import { openUpdate } from "../../derived/open-update.js";
import { separatedPairs } from "../../derived/separated.js";
import { batchesWithoutNew } from "../../derived/status.js";
import type { SearchSession, Sources } from "../../screening/paper-sources.js";
import { outsideDates, decidedIds } from "./search-session.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { screeningWordsTokens } from "../../screening/eligibility/criteria-section.js";
import { blockedNames, blockedTest } from "../../project-files/rrd-file.js";
import { storedFields, type PaperRecord } from "../../papers/paper-record.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";
import type { SourceReport } from "./source-reports.js";

/** Maximum tokens of the candidates in a batch. */
const batchTokens = 2_400;
/** Maximum number of answers to eligibility criteria in one result. */
const maxAnswers = 160;

/** Maximum tokens of an abstract in a brief. With criteria, quotes are copied from abstracts, so most are complete. */
export const abstractTokensOf = (rrd: Rrd): number => (criteriaOf(rrd).length === 0 ? 120 : 400);

/** The limits of a batch: the tokens of its candidates, and their number. Criteria reduce both. */
function batchLimits(rrd: Rrd, contextOverflows: number): { readonly tokens: number; readonly candidates: number } {
  const criteria = criteriaOf(rrd);
  if (criteria.length === 0) return { tokens: batchTokens / 2 ** contextOverflows, candidates: Infinity };
  const tokens = (batchTokens - screeningWordsTokens(criteria)) / 2 ** contextOverflows;
  return { tokens, candidates: Math.max(1, Math.floor(maxAnswers / criteria.length)) };
}

/** A batch of records for screening, and the reports on the sources that code searched. */
export interface Batch {
  readonly candidates: readonly ScreeningCandidate[];
  readonly sources: readonly SourceReport[];
  /** Candidates that are the same work as a paper of the pool, an earlier candidate or an excluded record. */
  readonly duplicates: readonly { candidate: ScreeningCandidate; of: string; why?: string }[];
  /** Papers whose document was moved, or of which more is known now. */
  readonly moved?: readonly MovedDocument[];
  /** Sources that the agent must search, because code can't, or could not this time. */
  readonly toAgent?: readonly string[];
  /** Set if another agent has already searched for this batch, and this one only judges the candidates. */
  readonly judgeOnly?: true;
  /** Busy services, and how long a run waits for them. */
  readonly busy?: NonNullable<SearchSession["busy"]>;
  /** The results of the scholarly services; absent if no service was searched. */
  readonly search?: Searched;
  /**
   * The records of sources that need no search, such as folders: the number by source, and the number of those that
   * wait for a later batch.
   */
  readonly listed?: {
    readonly identified: Readonly<Record<string, number>>;
    readonly left: number;
    /** Number of documents that an update does not offer again, although nobody has screened them. */
    readonly passed: number;
    readonly sha256: string;
    /** Records that are excluded for the first time because of the project's dates. */
    readonly excluded: readonly Exclusion[];
  };
}

/**
 * The candidates of the sources that code can search, without those that are in the pool or were screened out, in the
 * order of `research/screening/screening-order.ts`. The number of tokens is limited, to half as many for each time that
 * the unit exceeded a model's context (`contextOverflows`).
 */
export async function nextBatch(rrd: Rrd, library: Sources, contextOverflows = 0): Promise<Batch> {
  const sources: SourceReport[] = [];
  const choice = createCandidateChooser(rrd, batchLimits(rrd, contextOverflows));
  const requested = rrd.requirements.sources ?? [];
  const countBySource = new Map<string, number>();
  const documentLists: [string, readonly PaperRecord[]][] = [];
  const inFolders: string[] = [];
  const update = openUpdate(rrd);
  for (const name of requested.filter((source) => library.serves(source))) {
    let documents: readonly PaperRecord[];
    let lists: readonly string[];
    try {
      lists = (await library.lists?.(name)) ?? [];
      documents = await library.candidates(name);
    } catch (error) {
      sources.push({ name, status: "error", reason: error instanceof Error ? error.message : String(error) });
      continue;
    }
    sources.push({
      name,
      status: documents.length + lists.length > 0 ? "ok" : "empty",
      ...(documents.length + lists.length > 0 ? {} : { reason: "it holds no documents" }),
    });
    inFolders.push(...lists);
    if (documents.length === 0 && lists.length > 0) continue;
    documentLists.push([name, documents]);
  }
  // Two names for the same service count as one source.
  const servicesKey = (name: string) => library.services(name).join("\n") || name;
  const toSearch = [...requested.filter((source) => !library.serves(source)), ...inFolders];
  const sourceNames = toSearch.filter(
    (name, index) => toSearch.findIndex((other) => servicesKey(other) === servicesKey(name)) === index,
  );
  const isBlocked = blockedTest(rrd);
  const unblocked = sourceNames.filter((name) => !isBlocked(name));
  const replacements = replacementServices(rrd, library, sourceNames);
  const found = await searchResults(rrd, library, [...unblocked, ...replacements.values()], replacements);
  const { works = [], reports = [], search, compared, away, busy } = found ?? {};
  // The PDF file of a record in a list belongs to that record; it is not another work.
  const { files = new Set() } = found ?? {};
  let waiting = 0;
  let passed = 0;
  const moved: MovedDocument[] = [];
  const setAside: Exclusion[] = [];
  const settled = decidedIds(rrd);
  for (const [name, all] of documentLists) {
    const knownFiles = knownDocuments(
      all.filter(({ url }) => !files.has(url)),
      rrd,
    );
    moved.push(...knownFiles.moved);
    const documents =
      update === undefined ? knownFiles.documents : await findNewerFiles(knownFiles.documents, update.since);
    countBySource.set(name, knownFiles.documents.length);
    const offered = new Set(documents);
    passed += knownFiles.documents.filter((each) => !offered.has(each) && !settled.has(each.id)).length;
    const inDates: PaperRecord[] = [];
    for (const document of documents) {
      const reason = settled.has(document.id) ? undefined : outsideDates(rrd, document);
      if (reason === undefined) inDates.push(document);
      else {
        const { id, title } = document;
        setAside.push({ id, title, stage: "window", reason, ...excludedFacts(document) });
      }
    }
    waiting += inDates.length - choice.take(inDates);
  }
  // If no source can be reached, an agent would find nothing either.
  if (away !== undefined && choice.candidates.length === 0) throw new ExpectedError(noSourceMessage(away), 5);
  const remainingWorks = works.slice(choice.take(works, compared));
  const failed = new Set(
    reports.filter(({ status }) => status !== "ok" && status !== "empty").map(({ name }) => name.toLowerCase()),
  );
  const busyNames = new Set(busy?.rests.map(({ name }) => name));
  // Code searches a busy service again later.
  const mustAgentSearch = (name: string) => {
    const servicesOfSource = library.services(name);
    return (
      servicesOfSource.length === 0 ||
      (failed.has(name.toLowerCase()) && !servicesOfSource.some((service) => busyNames.has(service)))
    );
  };
  const toAgent = unblocked.filter(mustAgentSearch);
  const skipped = new Set(rrd.statistics?.discovery_metrics?.sources_skipped ?? []);
  const waitsForServices =
    busy !== undefined &&
    (busy.waits !== undefined || busy.rests.some(({ name, isGivenUp }) => isGivenUp && !isBlocked(name))) &&
    (batchesWithoutNew(rrd) > 0 || toAgent.every((name) => skipped.has(name)));
  return {
    candidates: choice.candidates,
    sources: [...sources, ...reports],
    duplicates: choice.duplicates,
    ...(moved.length === 0 ? {} : { moved }),
    // In an update, and while other services are busy, sources that only the agent can search are left out: the agent
    // would cost tokens without finding anything.
    toAgent: update === undefined && !waitsForServices ? toAgent : [],
    ...withoutUndefined({ busy }),
    ...(search === undefined
      ? {}
      : {
          search: {
            ...search,
            left: remainingWorks.length,
            broughtLeft: remainingWorks.filter(({ brought }) => brought === true).length,
          },
        }),
    ...(countBySource.size === 0
      ? {}
      : {
          listed: {
            identified: Object.fromEntries(countBySource),
            left: waiting,
            passed,
            sha256: recordsHash(documentLists),
            excluded: setAside,
          },
        }),
  };
}

/**
 * The message that no source can be searched, with the reason of each source. Advice that several sources share is
 * given once.
 */
export function noSourceMessage(reports: readonly Pick<SourceReport, "name" | "status" | "reason">[]): string {
  const advice = new Set<string>();
  const reasons = reports.map(({ name, status, reason }) => {
    const [why = "", ...adviceParts] = withoutSourcePrefix(name, reason ?? status)
      .replace(/\.$/, "")
      .split("; ");
    for (const sentence of adviceParts) advice.add(sentence);
    return `${name}: ${why}`;
  });
  return `No source can be searched for now: ${[...reasons, ...advice].join("; ")}; run again later, or use your own papers, which needs no network: research-ralph <folder of papers> "…".`;
}

/**
 * A hash of the records of folders and samples. It depends only on the documents' data, so it does not change if they
 * are moved.
 */
export function recordsHash(lists: readonly (readonly [source: string, documents: readonly PaperRecord[]])[]): string {
  const facts = lists.map(([source, documents]) => [
    source,
    documents.map(({ title, authors, date, abstract }) => [title, authors, date, abstract]),
  ]);
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/**
 * The services that are searched instead of blocked sources, by the names of these sources: the next service that can
 * search, if all services of the source are blocked.
 */
function replacementServices(
  rrd: Rrd,
  library: Pick<Sources, "services" | "standIn">,
  requested: readonly string[],
): ReadonlyMap<string, string> {
  const replacements = new Map<string, string>();
  const unavailable = [...blockedNames(rrd), ...requested.flatMap((name) => [...library.services(name)])];
  const isBlocked = blockedTest(rrd);
  for (const name of requested) {
    const services = library.services(name);
    if (services.length === 0 || !(isBlocked(name) || services.every(isBlocked))) continue;
    const replacement = library.standIn?.(unavailable);
    if (replacement === undefined) break;
    replacements.set(name, replacement);
    unavailable.push(replacement);
  }
  return replacements;
}

/**
 * The excluded works, with the data that is stored of them. Duplicates are left out, because their papers are in the
 * pool.
 */
function excludedWorks({ excluded = [], apart }: Rrd): {
  readonly ids: ReadonlySet<string>;
  readonly index: ReturnType<typeof workIndex>;
} {
  const index = workIndex();
  const ids = new Set<string>();
  const isApart = (id: string) => (apart ?? []).some((pair) => pair.includes(id));
  for (const { id, title, url, identifiers, year, first_author, stage, override } of excluded) {
    if (title == null || stage === "duplicate" || override !== undefined || isApart(id)) continue;
    const authors = first_author === undefined ? [] : [first_author];
    const date = year === undefined ? null : String(year);
    // A notice may have the title of its article, but it is another work.
    const kind = stage === "notice" ? ("notice" as const) : undefined;
    index.add(
      id,
      matchFeaturesOf({ id, title, url: url ?? null, authors, date, ...withoutUndefined({ identifiers, kind }) }),
    );
    ids.add(id);
  }
  return { ids, index };
}

/** Documents of a folder that were changed or added on or after this day. Samples are never new. */
async function findNewerFiles(documents: readonly PaperRecord[], since: string): Promise<PaperRecord[]> {
  const newer: PaperRecord[] = [];
  for (const document of documents) {
    const reference = parseReference(document.url);
    if (reference.kind === "file" && (await isChangedSince(reference.path, since))) newer.push(document);
  }
  return newer;
}

/** Collects candidates while there is space, each work once. */
function createCandidateChooser(rrd: Rrd, limits: ReturnType<typeof batchLimits>) {
  const candidates: ScreeningCandidate[] = [];
  const duplicates: { candidate: ScreeningCandidate; of: string; why: string }[] = [];
  const settled = decidedIds(rrd);
  const knownWorks = workIndex();
  for (const paper of rrd.papers_pool) knownWorks.add(paper.id, matchFeaturesOf(paper));
  const excludedIndex = excludedWorks(rrd);
  const apart: readonly SeparatedPair[] = separatedPairs(rrd);
  const abstractTokens = abstractTokensOf(rrd);
  let freeTokens = limits.tokens;
  let isBatchFull = false;
  /**
   * Handles these candidates until the batch is full. Returns how many were handled: chosen, duplicates, or settled
   * before. The stored data of an excluded record is incomplete, so it is only used if the record is neither among
   * these candidates nor in `compared`.
   */
  const take = (offered: readonly ScreeningCandidate[], compared: ReadonlySet<string> = new Set()): number => {
    const excludedAmongOffered = workIndex();
    const comparedIds = new Set(compared);
    for (const candidate of offered)
      if (excludedIndex.ids.has(candidate.id)) {
        excludedAmongOffered.add(candidate.id, matchFeaturesOf(candidate));
        comparedIds.add(candidate.id);
      }
    let handled = 0;
    for (const candidate of offered) {
      if (settled.has(candidate.id)) {
        handled += 1;
        continue;
      }
      const candidateTokens = estimateTokens(JSON.stringify(candidateData(candidate, abstractTokens)));
      const exceedsLimits = candidateTokens > freeTokens || candidates.length >= limits.candidates;
      if (isBatchFull || (exceedsLimits && candidates.length > 0)) {
        isBatchFull = true;
        break;
      }
      const features = matchFeaturesOf(candidate);
      const duplicateOf =
        knownWorks.twinOf(features, (id) => !apart.some((pair) => pair.includes(id) && pair.includes(candidate.id))) ??
        // The work was judged under another id.
        excludedAmongOffered.twinOf(features) ??
        excludedIndex.index.twinOf(features, (id) => !comparedIds.has(id));
      handled += 1;
      if (duplicateOf !== undefined) {
        duplicates.push({ candidate, of: duplicateOf.id, why: duplicateOf.why });
        continue;
      }
      freeTokens -= candidateTokens;
      knownWorks.add(candidate.id, features);
      candidates.push(candidate);
    }
    return handled;
  };
  return { candidates, duplicates, take };
}

/**
 * A candidate as the brief shows it: only the data that is needed for the decision, with an abstract of at most
 * `abstractTokens` tokens.
 */
export function candidateData(candidate: ScreeningCandidate, abstractTokens: number): object {
  const abstract = candidate.abstract == null ? candidate.abstract : clip(candidate.abstract, abstractTokens);
  if (candidate.why === undefined) {
    const { license: _, comment: __, ...facts } = storedFields(candidate);
    return { ...facts, authors: candidate.authors.slice(0, 6), abstract };
  }
  const { id, title, authors, date, source, venue, priority, why, retracted } = candidate;
  return {
    id,
    title: clip(title, 60),
    authors: [...authors.slice(0, 3), ...(authors.length > 3 ? [`and ${authors.length - 3} more`] : [])],
    date,
    source,
    ...(venue === undefined ? {} : { venue: clip(venue, 16) }),
    abstract,
    priority,
    why: clip(why, 50),
    ...(retracted === true ? { retracted } : {}),
  };
}
