import { createHash } from "node:crypto";
import type { Exclusion, Rrd } from "../../generated/rrd.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { clip, estimateTokens } from "../../../engine/lib/tokens.js";
import { workIndex } from "../../papers/dedup/work-index.js";
import { matchFeaturesOf } from "../../papers/dedup/match-features.js";
import type { Apart } from "../../papers/dedup/merge-records.js";
import { knownDocuments, type MovedDocument } from "../../papers/known-documents.js";
import { excludedFacts, type ScreeningCandidate, type Searched, searchResults } from "./search-results.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { isChangedSince } from "../../full-text/local-file.js";
import { parseReference } from "../../papers/reference.js";
import { openUpdate } from "../../derived/open-update.js";
import { batchesWithoutNew } from "../../derived/status.js";
import type { SearchSession, Sources } from "../../screening/paper-sources.js";
import { apartOf, outsideDates, settledIds } from "./search-session.js";
import { criteriaOf } from "../../project-files/eligibility-criteria.js";
import { screeningWordsTokens } from "../../screening/eligibility/criteria-section.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import { storedFields, type PaperRecord } from "../../papers/paper-record.js";
import { withoutSourcePrefix } from "../../../engine/lib/sanitise.js";
import type { SourceReport } from "./source-reports.js";

const batchTokens = 2_400;
/** Answers to eligibility criteria that one result is asked for. */
const maxAnswers = 160;

/** How much of an abstract a brief shows: all of most where quotes are to be copied from it. */
export const abstractTokensOf = (rrd: Rrd): number => (criteriaOf(rrd).length === 0 ? 120 : 400);

/** What a batch has room for: tokens of candidates, and candidates. The criteria take their part of both. */
function roomOf(rrd: Rrd, smaller: number): { readonly tokens: number; readonly candidates: number } {
  const criteria = criteriaOf(rrd);
  if (criteria.length === 0) return { tokens: batchTokens / 2 ** smaller, candidates: Infinity };
  const tokens = (batchTokens - screeningWordsTokens(criteria)) / 2 ** smaller;
  return { tokens, candidates: Math.max(1, Math.floor(maxAnswers / criteria.length)) };
}

/** What a discovery batch holds for screening, and how the sources that code searched itself did. */
export interface Batch {
  readonly candidates: readonly ScreeningCandidate[];
  readonly sources: readonly SourceReport[];
  /** Candidates that are the same work as a paper of the pool, an earlier candidate or a record that was left out. */
  readonly duplicates: readonly { candidate: ScreeningCandidate; of: string; why?: string }[];
  /** Documents of papers that lie elsewhere now, or of which more is known. */
  readonly moved?: readonly MovedDocument[];
  /** Sources that are left to the agent: code can't ask them, or could not just now. */
  readonly toAgent?: readonly string[];
  /** Another agent has searched for it already; this one only judges its candidates. */
  readonly judgeOnly?: true;
  /** Services that are busy, and how far a run waits for them. */
  readonly busy?: NonNullable<SearchSession["busy"]>;
  /** What the search of the scholarly services brought; absent where none is asked. */
  readonly search?: Searched;
  /**
   * Records of the sources that need no search, such as folders: how many each holds, and how many of them wait for a
   * later batch.
   */
  readonly listed?: {
    readonly identified: Readonly<Record<string, number>>;
    readonly left: number;
    /** Documents that an update leaves as an earlier search did: nobody has screened them. */
    readonly passed: number;
    readonly sha256: string;
    /** Those that the dates of the project leave out, for the first time. */
    readonly setAside: readonly Exclusion[];
  };
}

/**
 * Candidates of the sources that need no agent, less those already in the pool or screened out, in the order of
 * `research/screening/screening-order.ts`; bounded in tokens, by half as many each time that the unit filled a model's
 * context too far (`smaller`).
 */
export async function nextBatch(rrd: Rrd, library: Sources, smaller = 0): Promise<Batch> {
  const sources: SourceReport[] = [];
  const choice = chooser(rrd, roomOf(rrd, smaller));
  const asked = rrd.requirements.sources ?? [];
  const held = new Map<string, number>();
  const lists: [string, readonly PaperRecord[]][] = [];
  const inFolders: string[] = [];
  const update = openUpdate(rrd);
  for (const name of asked.filter((source) => library.serves(source))) {
    let documents: readonly PaperRecord[];
    let within: readonly string[];
    try {
      within = (await library.lists?.(name)) ?? [];
      documents = await library.candidates(name);
    } catch (error) {
      sources.push({ name, status: "error", reason: error instanceof Error ? error.message : String(error) });
      continue;
    }
    sources.push({
      name,
      status: documents.length + within.length > 0 ? "ok" : "empty",
      ...(documents.length + within.length > 0 ? {} : { reason: "it holds no documents" }),
    });
    inFolders.push(...within);
    if (documents.length === 0 && within.length > 0) continue;
    lists.push([name, documents]);
  }
  // One service under two of its names is one source.
  const services = (name: string) => library.services(name).join("\n") || name;
  const unserved = [...asked.filter((source) => !library.serves(source)), ...inFolders];
  const others = unserved.filter(
    (name, index) => unserved.findIndex((other) => services(other) === services(name)) === index,
  );
  const blocked = new Set(blockedNames(rrd).map((name) => name.toLowerCase()));
  const mayBeAsked = others.filter((name) => !blocked.has(name.toLowerCase()));
  const instead = standIns(library, others, blocked);
  const found = await searchResults(rrd, library, [...mayBeAsked, ...instead.values()], instead);
  const { works = [], reports = [], search, compared, away, busy } = found ?? {};
  // The PDF of a record that a list describes stands for that record, not for a work of its own.
  const { files = new Set() } = found ?? {};
  let waiting = 0;
  let passed = 0;
  const moved: MovedDocument[] = [];
  const setAside: Exclusion[] = [];
  const settled = settledIds(rrd);
  for (const [name, all] of lists) {
    const known = knownDocuments(
      all.filter(({ url }) => !files.has(url)),
      rrd,
    );
    moved.push(...known.moved);
    const documents = update === undefined ? known.documents : await newerFiles(known.documents, update.since);
    held.set(name, known.documents.length);
    const offered = new Set(documents);
    passed += known.documents.filter((each) => !offered.has(each) && !settled.has(each.id)).length;
    const within: PaperRecord[] = [];
    for (const document of documents) {
      const reason = settled.has(document.id) ? undefined : outsideDates(rrd, document);
      if (reason === undefined) within.push(document);
      else {
        const { id, title } = document;
        setAside.push({ id, title, stage: "window", reason, ...excludedFacts(document) });
      }
    }
    waiting += within.length - choice.take(within);
  }
  // Where none can be reached, an agent would be paid to find nothing.
  if (away !== undefined && choice.candidates.length === 0) throw new ExpectedError(awayText(away), 5);
  const left = works.slice(choice.take(works, compared));
  const failed = new Set(
    reports.filter(({ status }) => status !== "ok" && status !== "empty").map(({ name }) => name.toLowerCase()),
  );
  const resting = new Set(busy?.rests.map(({ name }) => name));
  // One that is busy is asked again by code, once it has rested.
  const isTheAgents = (name: string) => {
    const its = library.services(name);
    return its.length === 0 || (failed.has(name.toLowerCase()) && !its.some((service) => resting.has(service)));
  };
  const toAgent = mayBeAsked.filter(isTheAgents);
  const skipped = new Set(rrd.statistics?.discovery_metrics?.sources_skipped ?? []);
  const isWaited =
    busy !== undefined &&
    (busy.waits !== undefined ||
      busy.rests.some(({ name, isGivenUp }) => isGivenUp && !blocked.has(name.toLowerCase()))) &&
    (batchesWithoutNew(rrd) > 0 || toAgent.every((name) => skipped.has(name)));
  return {
    candidates: choice.candidates,
    sources: [...sources, ...reports],
    duplicates: choice.duplicates,
    ...(moved.length === 0 ? {} : { moved }),
    // What only an agent can search is left out of an update, and where it brought nothing while others rest: it would
    // cost tokens where nothing came.
    toAgent: update === undefined && !isWaited ? toAgent : [],
    ...withoutUndefined({ busy }),
    ...(search === undefined
      ? {}
      : {
          search: { ...search, left: left.length, broughtLeft: left.filter(({ brought }) => brought === true).length },
        }),
    ...(held.size === 0
      ? {}
      : {
          listed: { identified: Object.fromEntries(held), left: waiting, passed, sha256: listedHash(lists), setAside },
        }),
  };
}

/** That no source can be searched, with each that was asked and why, what there is to do about it said once. */
export function awayText(reports: readonly Pick<SourceReport, "name" | "status" | "reason">[]): string {
  const advice = new Set<string>();
  const said = reports.map(({ name, status, reason }) => {
    const [why = "", ...todo] = withoutSourcePrefix(name, reason ?? status)
      .replace(/\.$/, "")
      .split("; ");
    for (const one of todo) advice.add(one);
    return `${name}: ${why}`;
  });
  return `No source can be searched for now: ${[...said, ...advice].join("; ")}; run again later, or bring papers of your own, which needs no network: research-ralph <folder of papers> "…".`;
}

/** Stands for what folders and samples listed: by what the documents say, so that it is the same wherever they lie. */
export function listedHash(lists: readonly (readonly [source: string, documents: readonly PaperRecord[]])[]): string {
  const facts = lists.map(([source, documents]) => [
    source,
    documents.map(({ title, authors, date, abstract }) => [title, authors, date, abstract]),
  ]);
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/**
 * What is searched in the place of requested sources that are blocked, by their names: the next service that can
 * search, where nothing is left of what the name leads to.
 */
function standIns(
  library: Pick<Sources, "services" | "standIn">,
  requested: readonly string[],
  blocked: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const instead = new Map<string, string>();
  const taken = [...blocked, ...requested.flatMap((name) => [...library.services(name)])];
  const isBlocked = (name: string) => blocked.has(name.toLowerCase());
  for (const name of requested) {
    const services = library.services(name);
    if (services.length === 0 || !(isBlocked(name) || services.every(isBlocked))) continue;
    const other = library.standIn?.(taken);
    if (other === undefined) break;
    instead.set(name, other);
    taken.push(other);
  }
  return instead;
}

/** Works that were excluded, by what is kept of them. A duplicate is its paper of the pool, which is compared. */
function leftOutWorks({ excluded = [], apart }: Rrd): {
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
    // A notice may carry the title of its article, which is another work.
    const kind = stage === "notice" ? ("notice" as const) : undefined;
    index.add(
      id,
      matchFeaturesOf({ id, title, url: url ?? null, authors, date, ...withoutUndefined({ identifiers, kind }) }),
    );
    ids.add(id);
  }
  return { ids, index };
}

/** Documents of a folder that were changed, or came into it, on this day or later; samples never are. */
async function newerFiles(documents: readonly PaperRecord[], since: string): Promise<PaperRecord[]> {
  const newer: PaperRecord[] = [];
  for (const document of documents) {
    const reference = parseReference(document.url);
    if (reference.kind === "file" && (await isChangedSince(reference.path, since))) newer.push(document);
  }
  return newer;
}

/** Takes candidates while there is room, each work once. */
function chooser(rrd: Rrd, most: ReturnType<typeof roomOf>) {
  const candidates: ScreeningCandidate[] = [];
  const duplicates: { candidate: ScreeningCandidate; of: string; why: string }[] = [];
  const settled = settledIds(rrd);
  const known = workIndex();
  for (const paper of rrd.papers_pool) known.add(paper.id, matchFeaturesOf(paper));
  const left = leftOutWorks(rrd);
  const apart: readonly Apart[] = apartOf(rrd);
  const abstractTokens = abstractTokensOf(rrd);
  let room = most.tokens;
  let full = false;
  /**
   * How many of these were settled, as chosen or as duplicates. What is kept of a record that was left out says little:
   * it stands for the record only where that is not among these, nor `compared` with them.
   */
  const take = (some: readonly ScreeningCandidate[], compared: ReadonlySet<string> = new Set()): number => {
    const inFull = workIndex();
    const listed = new Set(compared);
    for (const candidate of some)
      if (left.ids.has(candidate.id)) {
        inFull.add(candidate.id, matchFeaturesOf(candidate));
        listed.add(candidate.id);
      }
    let done = 0;
    for (const candidate of some) {
      if (settled.has(candidate.id)) {
        done += 1;
        continue;
      }
      const size = estimateTokens(JSON.stringify(shown(candidate, abstractTokens)));
      const isFull = size > room || candidates.length >= most.candidates;
      if (full || (isFull && candidates.length > 0)) {
        full = true;
        break;
      }
      const traits = matchFeaturesOf(candidate);
      const twin =
        known.twinOf(traits, (id) => !apart.some((pair) => pair.includes(id) && pair.includes(candidate.id))) ??
        // It was judged under another id.
        inFull.twinOf(traits) ??
        left.index.twinOf(traits, (id) => !listed.has(id));
      done += 1;
      if (twin !== undefined) {
        duplicates.push({ candidate, of: twin.id, why: twin.why });
        continue;
      }
      room -= size;
      known.add(candidate.id, traits);
      candidates.push(candidate);
    }
    return done;
  };
  return { candidates, duplicates, take };
}

/**
 * A candidate as the brief shows it: of what code found, only what it takes to judge, of its abstract so many tokens.
 */
export function shown(candidate: ScreeningCandidate, abstractTokens: number): object {
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
