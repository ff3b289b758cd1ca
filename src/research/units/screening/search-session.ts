import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../engine/lib/clock.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { quantity } from "../../../engine/lib/words.js";
import type { Paper, Rrd, Step } from "../../generated/rrd.js";
import { type SearchRecord, readSearchRecord, writeSearchRecord } from "../../search/search-record.js";
import { retryFailed } from "../../search/retry-failed.js";
import { isFailed, type Listing, type Open, type OnListing } from "../../search/result-list.js";
import { unusedTerms } from "../../search/search-plan.js";
import {
  type CandidateSet,
  candidatesOf,
  candidatesText,
  isFromUser,
  listedRecord,
  type Work,
} from "../../search/candidates.js";
import { findSeeds, type FoundSeeds, type SeedCandidate } from "../../papers/seeds/find-seeds.js";
import { seedsOf } from "../../papers/seeds/seed.js";
import type { SearchSession, Sources } from "../../screening/paper-sources.js";
import { ageOf, type DecidedRecord, rankWorks, type RankedWork } from "../../screening/screening-order.js";
import { runStep } from "../../search/run-round.js";
import { type Rest, type SourceRests, sourceRests } from "../../search/source-rests.js";
import { isFollowedAfterSaturation, isSaturated, isSearched, canFollowKept, nextRound } from "./next-round.js";
import { recallOf, batchesOf } from "./recall-claim.js";
import { blockedTest } from "../../project-files/rrd-file.js";
import { decidedExamples } from "../../derived/decided-examples.js";
import { openUpdate } from "../../derived/open-update.js";
import { separatedPairs, separatedTest } from "../../derived/separated.js";
import { maxRefusals, searchKey } from "../../derived/status.js";
import { isDecided } from "../../papers/rubric/rubric.js";
import { firstDate } from "../../papers/dedup/merge-fields.js";
import { type PaperRecord, versionsOf } from "../../papers/paper-record.js";
import { candidatesFile, searchFile, searchName } from "../../project-files/layout.js";
import { commitSearch, readCommittedSearch } from "../../search/committed-search.js";
import type { Searching } from "../../../engine/generated/event.js";
import { allSources, sourceNamed, sourcesFor, replacementSource, substituteFor } from "../../sources/registry.js";
import type { Source, SourceContext } from "../../sources/shared/source.js";
import { reportLine, reportsOf } from "./source-reports.js";

export interface SearchOptions {
  /** The project's folder. */
  readonly folder: string;
  readonly open: Open;
  /** Readers of the log of answers. If the stored records are lost, these are tried before the network. */
  readonly replay: () => Promise<
    readonly (() => { readonly open: Open; readonly unanswered: () => readonly string[] })[]
  >;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Aborted when the run ends at once. The results of the present round are then ignored. */
  readonly signal: AbortSignal;
  /** True for the first search in a run: what failed in earlier runs is then asked again. */
  readonly isFirstSearch: () => boolean;
  /** The services that were busy in this run. */
  readonly rests: SourceRests;
  /** Called after a round, with a line about each source. */
  readonly onReport: (message: string) => void;
  /** If set, the search record is given to this function and not written, so that a preview writes nothing. */
  readonly onRecord?: (kept: SearchRecord) => void;
  /** Called for each answer during a round. */
  readonly onProgress: (progress: SearchProgress) => void;
}

/** Minimum number of unjudged works for a screening batch. */
const minWorks = 12;

/**
 * Searches in rounds until enough works wait for screening, or no round remains: every keyword in the recent time
 * window, every keyword in the time before, then the references and citations of the best kept papers. `names`: the
 * registry's names of the sources.
 */
export async function runSearch(rrd: Rrd, names: readonly string[], options: SearchOptions): Promise<SearchSession> {
  const { rests, signal, onReport } = options;
  const open = rests.withPauses(options.open);
  const path = candidatesFile(options.folder);
  // After an interruption, requests fail, but the source is not the reason.
  const watch = (progress: SearchProgress) => (signal.aborted ? undefined : options.onProgress(progress));
  const progressFor = (index: number, step: Step) => progressOfRound(index, step, watch);
  const saveRecord = async (record: SearchRecord) =>
    options.onRecord === undefined ? writeSearchRecord(path, record) : options.onRecord(record);
  const loaded = await loadSearch(rrd, options.folder, options);
  let { kept } = loaded;
  const openedUpdate = openUpdate(rrd);
  const update = openedUpdate?.id;
  if (openedUpdate !== undefined && loaded.lostSteps !== undefined) {
    // An update compares works with those of earlier rounds to find new ones, so the lost rounds are searched again.
    const isOld = ({ date }: PaperRecord) => date == null || date < openedUpdate.since;
    const listings: Listing[] = [];
    for (const [index, step] of loaded.lostSteps.entries())
      for (const listing of await runStep(index, step, open, progressFor(index, step).onListing))
        listings.push({ ...listing, records: listing.records.filter(isOld) });
    // The old rounds did not cover the time until today. With today as their day, the next update would skip that time.
    const day = firstDayOf(rrd, loaded.lostSteps) ?? openedUpdate.since;
    if (!signal.aborted) await saveRecord((kept = { ...kept, day, steps: loaded.lostSteps, listings }));
  } else if (loaded.isRebuilt) await saveRecord(kept);
  // An update repeats failed requests of its own time window only.
  const isOfUpdate = (step: number) => update === undefined || kept.steps[step]?.update === update;
  const isSkipped = skippedSources(rrd, rests, { isFirstSearch: options.isFirstSearch(), now: options.now() });
  const retried = new Set(
    kept.listings.flatMap((listing) =>
      isFailed(listing) && isOfUpdate(listing.step) && !isSkipped(listing.source) ? [listing.source] : [],
    ),
  );
  if (retried.size > 0) {
    const listings = await retryFailed(kept.steps, kept.listings, open, isSkipped, progressFor, isOfUpdate);
    if (!signal.aborted) await saveRecord((kept = { ...kept, listings }));
  }
  let retracted: ReadonlySet<string> | undefined;
  for (;;) {
    const { next, session } = sessionOf(rrd, names, kept, open, { rests, retried });
    const newRetracted = retractedIn(session, retracted);
    if (retracted !== undefined && newRetracted.length > 0) onReport(retractedLine(newRetracted));
    retracted = new Set([...(retracted ?? []), ...newRetracted.map(({ id }) => id)]);
    if (next === undefined && options.onRecord === undefined) await commitSearch(searchFile(options.folder), kept);
    if (next === undefined || signal.aborted) return session;
    const progress = progressFor(kept.steps.length, next);
    const newListings = await runStep(kept.steps.length, next, open, progress.onListing);
    progress.end();
    if (signal.aborted) return session;
    if (
      kept.listings.length === 0 &&
      newListings.length > 0 &&
      newListings.every(({ unreached }) => unreached === true)
    )
      return { ...session, unreachableListings: newListings };
    const listings = [...kept.listings, ...newListings];
    const isEarlier = ({ step }: Listing) => step < kept.steps.length;
    for (const report of reportsOf(listings, candidatesOf(listings, separatedPairs(rrd)), isEarlier))
      onReport(reportLine(report));
    kept = { ...kept, steps: [...kept.steps, next], listings };
    const isFirstKeywordRound = isSearched(names, kept) && !isSearched(names, { steps: kept.steps.slice(0, -1) });
    const laterTerms = isFirstKeywordRound ? unusedTerms(rrd.requirements, kept.steps) : [];
    if (laterTerms.length > 0)
      onReport(`Keywords for later rounds, if these bring too little: ${laterTerms.join(", ")}.`);
    await saveRecord(kept);
  }
}

/** The retracted records that are not screened, except those that the user knows about. */
const retractedIn = (
  { excludedWorks }: Pick<SearchSession, "excludedWorks">,
  known: ReadonlySet<string> = new Set(),
): readonly PaperRecord[] =>
  excludedWorks.flatMap(({ work: { record }, stage }) =>
    stage === "retracted" && !known.has(record.id) ? record : [],
  );

/** Maximum number of retracted records that a line names. */
const maxNamedRecords = 3;

function retractedLine(records: readonly PaperRecord[]): string {
  const titles = records.slice(0, maxNamedRecords).map(({ title }) => `"${oneLine(title)}"`);
  const others = records.length - titles.length;
  return `${quantity(records.length, "record")} left out as retracted: ${titles.join(", ")}${others === 0 ? "" : ` and ${others} more`}.`;
}

/**
 * The results of the search so far, and the sources that would be asked before the next batch. Sends no requests and
 * writes nothing.
 */
export async function readSearchSoFar(
  rrd: Rrd,
  names: readonly string[],
  folder: string,
  now: () => number,
): Promise<{ readonly session: SearchSession; readonly sourcesToAsk: readonly string[] }> {
  const { kept: record } = await loadSearch(rrd, folder, { now, replay: async () => [], onReport: () => undefined });
  const { next, session } = sessionOf(rrd, names, record, () => ({ unavailable: "" }));
  const isBlocked = blockedTest(rrd);
  const failed = record.listings.filter((listing) => isFailed(listing) && !isBlocked(listing.source));
  const failedSources = [...new Set(failed.map(({ source }) => source))];
  return { session, sourcesToAsk: failedSources.length > 0 ? failedSources : (next?.sources ?? []) };
}

/**
 * Returns a function: whether a source's failed requests are not repeated now. The source rests or is blocked, or this
 * is not the first search of the run and the source was not busy.
 */
function skippedSources(
  rrd: Rrd,
  rests: SourceRests,
  { isFirstSearch, now }: { readonly isFirstSearch: boolean; readonly now: number },
): (source: string) => boolean {
  const isBlocked = blockedTest(rrd);
  const restByName = new Map(rests.all().map((rest) => [rest.name, rest]));
  return (source) => {
    const rest = restByName.get(source);
    return rest === undefined
      ? isBlocked(source) || !isFirstSearch
      : rest.until > now || (isBlocked(source) && !rest.isGivenUp);
  };
}

/** The state of busy services after a round. */
interface BusyState {
  readonly rests: SourceRests;
  readonly retried: ReadonlySet<string>;
}

function busyOf(
  rrd: Rrd,
  names: readonly string[],
  listings: readonly Listing[],
  { rests, retried }: BusyState,
): { readonly open: readonly Rest[]; readonly busy?: NonNullable<SearchSession["busy"]> } {
  const isBlocked = blockedTest(rrd);
  const all = rests.all();
  const answered = [...rests.answered()].filter(isBlocked);
  if (all.length + answered.length + retried.size === 0) return { open: [] };
  const unblocked = all.filter(({ name }) => names.includes(name) && !isBlocked(name));
  const isUnreachable = (name: string) => {
    const sourceListings = listings.filter(({ source }) => source === name);
    return sourceListings.length > 0 && sourceListings.every(({ unreached }) => unreached === true);
  };
  // Services that were given up are waited for only if no other source can search.
  const canSearch = names.some((name) => !isBlocked(name) && !isUnreachable(name));
  const open = unblocked.length > 0 || canSearch ? unblocked : all;
  const isToRead = (paper: Paper) => !isDecided(paper) && (paper.refusals?.length ?? 0) < maxRefusals;
  const maxWait = rests.waitingEnd(!rrd.papers_pool.some(isToRead));
  const isOnlyResting = open.length > 0 && open.every(({ isGivenUp, name }) => !isGivenUp || isBlocked(name));
  const waits = isOnlyResting ? { until: Math.min(...open.map(({ until }) => until)), atMost: maxWait } : undefined;
  return { open, busy: { rests: all, answered, retried, ...withoutUndefined({ waits }) } };
}

/** The results of the search, and the next round if it is useful. */
function sessionOf(
  rrd: Rrd,
  names: readonly string[],
  record: SearchRecord,
  open: Open,
  resting?: BusyState,
): { readonly session: SearchSession; readonly next?: Step } {
  const { open: awaited, busy } = resting === undefined ? { open: [] } : busyOf(rrd, names, record.listings, resting);
  const restingNames = new Set(resting?.rests.all().map(({ name }) => name));
  const availableNames = names.filter((name) => !restingNames.has(name));
  const requirements = { ...rrd.requirements, description: rrd.description, today: record.day };
  const candidates = candidatesOf(record.listings, separatedPairs(rrd));
  const seeds = findSeeds(seedsOf(rrd), candidates.works.map(toSeedCandidate));
  const ranked = putSeedsFirst(
    rankWorks(candidates.works, requirements, [...seedExamples(seeds), ...decidedExamples(rrd)]),
    seeds,
  );
  const { works, excludedWorks, skippedCount } = sortWorks(rrd, ranked, record);
  const waiting = { rounds: record.steps.length, waiting: works.length + skippedCount };
  const update = openUpdate(rrd);
  const recall = update === undefined ? recallOf(rrd.requirements, batchesOf(rrd), waiting) : undefined;
  const isOver = recall?.reached ?? (record.steps.at(-1)?.kind === "snowball" && isSaturated(rrd, record));
  const isEnough = works.length >= minWorks && !isOver && update === undefined && isSearched(names, record);
  const next = isEnough
    ? undefined
    : nextRound(rrd, availableNames, record, recall?.reached === true ? 0 : works.length);
  const isGivenUp = update === undefined && typeof next === "string" && (recall?.reached ?? isSaturated(rrd, record));
  const isEnded = recall?.reached === true && works.length > 0;
  const isOpen = awaited.length > 0 && !isGivenUp && !isEnded;
  const exhausted = typeof next !== "string" || isOpen ? undefined : isEnded ? recall.statement : next;
  // Records from the user are all screened.
  const remainingWorks = isGivenUp && recall?.reached !== true ? works.filter(isFromUser) : isGivenUp ? [] : works;
  const session = {
    works: remainingWorks,
    skippedCount: skippedCount + works.length - remainingWorks.length,
    mayLeadOn: update === undefined && canFollowKept(rrd, names, record, open),
    excludedWorks,
    steps: record.steps,
    listings: record.listings,
    candidates,
    candidatesSha256: candidatesHash(record.steps, candidates),
    ...(seeds.works.size + seeds.missing.length === 0 ? {} : { seeds }),
    ...withoutUndefined({ exhausted, busy }),
  };
  return typeof next === "object" ? { session, next } : { session };
}

const toSeedCandidate = ({ record, provenance: { mergedFrom } }: Work): SeedCandidate => ({ record, mergedFrom });

/** Seeds as examples of relevant works. Later decisions come after them and count more. */
const seedExamples = ({ works, missing }: FoundSeeds): DecidedRecord[] => [
  ...[...works].map(([id, { title, abstract }]) => ({ id, title: title ?? "", abstract, kept: true })),
  ...missing.flatMap(({ reference, id = `seed ${reference}`, title, abstract }) =>
    title == null ? [] : [{ id, title, abstract, kept: true }],
  ),
];

/** Puts the user's seeds first. The other works keep their order. */
function putSeedsFirst(ranked: readonly RankedWork[], { works }: FoundSeeds): readonly RankedWork[] {
  if (works.size === 0) return ranked;
  const isSeedWork = ({ record }: RankedWork) => works.has(record.id);
  return [
    ...ranked
      .filter(isSeedWork)
      .map((work) => ({ ...work, priority: 5, why: `named by a person as a seed; ${work.why}` })),
    ...ranked.filter((work) => !isSeedWork(work)),
  ];
}

/**
 * The ids of works that need no further decision. A record that was excluded as a duplicate is judged again if the user
 * says that it is another work.
 */
export function decidedIds(rrd: Rrd): ReadonlySet<string> {
  const isSeparated = separatedTest(rrd);
  const excluded = (rrd.excluded ?? []).filter((exclusion) => !isSeparated(exclusion));
  return new Set([...rrd.papers_pool, ...excluded].map(({ id }) => id));
}

/**
 * Loads the stored search, or rebuilds it from the log of an earlier run, or starts a new one. Tells the user if
 * records were lost.
 */
async function loadSearch(
  rrd: Rrd,
  folder: string,
  { replay, now, onReport, onRecord }: Pick<SearchOptions, "replay" | "now" | "onReport" | "onRecord">,
): Promise<{
  readonly kept: SearchRecord;
  readonly isRebuilt: boolean;
  /** The rounds whose answers are lost. */
  readonly lostSteps?: readonly Step[];
}> {
  const path = candidatesFile(folder);
  const search = searchKey(rrd);
  const stored = await readSearchRecord(path, search);
  if (stored !== undefined && stored !== "broken")
    return { kept: removeUnopenedRounds(stored, rrd, onRecord !== undefined), isRebuilt: false };
  const metrics = rrd.statistics?.discovery_metrics;
  const steps = metrics?.searched_for === search ? (metrics.rounds ?? []) : [];
  const empty: SearchRecord = { search, day: new Date(now()).toISOString().slice(0, 10), steps: [], listings: [] };
  const lossText = `What the search has found (${path}) ${stored === "broken" ? "can't be read" : "is gone"}`;
  const committed = steps.length === 0 ? undefined : await readCommittedSearch(searchFile(folder));
  // It may be one batch ahead: it is written after the search, and the rounds are recorded after the batch was judged.
  const isOfRounds = committed?.search === search && isDeepStrictEqual(committed.steps.slice(0, steps.length), steps);
  const day = firstDayOf(rrd, steps) ?? (isOfRounds ? committed.day : undefined) ?? empty.day;
  const rebuilt: SearchRecord[] = [];
  let missing = 0;
  for (const openLog of steps.length === 0 ? [] : await replay()) {
    const replayed = openLog();
    const listings: Listing[] = [];
    for (const [index, step] of steps.entries()) listings.push(...(await runStep(index, step, replayed.open)));
    missing = replayed.unanswered().length;
    // A log without any answer to these rounds does not have their records.
    if (missing > 0 || listings.every(isFailed)) continue;
    rebuilt.push({ ...empty, day, steps, listings });
    if (candidatesHash(steps, candidatesOf(listings, separatedPairs(rrd))) === metrics?.pool_sha256) break;
  }
  const best = rebuilt.at(-1) ?? (isOfRounds ? committed : undefined);
  if (best === undefined) {
    if (steps.length > 0 || stored === "broken")
      onReport(
        `${lossText}${missing > 0 ? `, and so ${missing === 1 ? "is an answer" : `are ${missing} answers`} of sources` : ""}; the sources are asked again.`,
      );
    return { kept: empty, isRebuilt: false, ...(steps.length > 0 ? { lostSteps: steps } : {}) };
  }
  onReport(
    `${lossText}; it was rebuilt from ${rebuilt.length > 0 ? "the answers in queries.jsonl" : searchName}, without asking any source.`,
  );
  return { kept: removeUnopenedRounds(best, rrd, onRecord !== undefined), isRebuilt: true };
}

/**
 * Removes the rounds of an update that was never opened, because the program was killed. `isPreview`: the
 * open update of the state is not stored yet.
 */
function removeUnopenedRounds(kept: SearchRecord, rrd: Rrd, isPreview: boolean): SearchRecord {
  const unsavedUpdate = isPreview ? openUpdate(rrd)?.id : undefined;
  const openedUpdates = new Set((rrd.updates ?? []).map(({ id }) => id).filter((id) => id !== unsavedUpdate));
  const isKept = ({ update }: Step) => update === undefined || openedUpdates.has(update);
  if (kept.steps.every(isKept)) return kept;
  const steps = kept.steps.filter(isKept);
  const listings = kept.listings.flatMap((listing) => {
    const step = kept.steps[listing.step];
    return step === undefined || !isKept(step) ? [] : [{ ...listing, step: steps.indexOf(step) }];
  });
  return { ...kept, steps, listings };
}

const candidatesHash = (steps: readonly Step[], candidates: CandidateSet): string =>
  createHash("sha256").update(candidatesText(steps, candidates)).digest("hex");

/**
 * The day on which the search began: the end of the time window of its first rounds. Undefined if the user set the last
 * day of publication, because the rounds then end on that day.
 */
function firstDayOf({ requirements }: Rrd, steps: readonly Step[]): string | undefined {
  if (requirements.published_until != null) return undefined;
  const firstQueries = steps.flatMap((step) =>
    step.kind === "search" && step.update === undefined ? step.queries : [],
  );
  return firstQueries.flatMap(({ until }) => until ?? [])[0];
}

function sortWorks(
  rrd: Rrd,
  ranked: readonly RankedWork[],
  kept: SearchRecord,
): Pick<SearchSession, "works" | "excludedWorks" | "skippedCount"> {
  const settled = decidedIds(rrd);
  const ids = new Set(ranked.map(({ record }) => record.id));
  // The works of saturated keyword searches were given up before the first citations were followed.
  const isGivenUp = openUpdate(rrd) === undefined && isFollowedAfterSaturation(rrd, kept);
  const isKnownBefore = earlierWorkTest(rrd, kept);
  const works: RankedWork[] = [];
  let passed = 0;
  const setAside: SearchSession["excludedWorks"][number][] = [];
  for (const work of ranked) {
    const { record, provenance } = work;
    // If another work has the same id, the decision on that id is not a decision on this work.
    const isOwn = ({ id }: PaperRecord) => id === record.id || !ids.has(id);
    if ([record, ...versionsOf(provenance)].some((each) => settled.has(each.id) && isOwn(each))) continue;
    if (isKnownBefore(work)) {
      passed += 1;
      continue;
    }
    const exclusion = exclusionOf(work, rrd, kept.day);
    const isSkipped = isGivenUp && !isFromUser(work) && !provenance.places.some(({ seed }) => seed !== undefined);
    if (exclusion !== undefined) setAside.push({ work, ...exclusion });
    else if (isSkipped) passed += 1;
    else works.push(work);
  }
  return { works, excludedWorks: setAside, skippedCount: passed };
}

/** Returns a function: whether a work was found before the open update. It was excluded or skipped then. */
function earlierWorkTest(rrd: Rrd, { steps, listings }: SearchRecord): (work: Work) => boolean {
  const update = openUpdate(rrd);
  if (update === undefined) return () => false;
  const before = new Set(listings.flatMap(({ step, records }) => (steps[step]?.update === update.id ? [] : records)));
  return ({ provenance }) => versionsOf(provenance).some((record) => before.has(listedRecord(record)));
}

function exclusionOf(
  work: RankedWork,
  rrd: Rrd,
  today: string,
): { stage: "retracted" | "window" | "notice"; reason: string } | undefined {
  const { record } = work;
  if (record.retracted === true) {
    const update = record.updates?.find(({ type }) => type === "retraction" || type === "withdrawal");
    return {
      stage: "retracted",
      reason: `retracted or withdrawn${update === undefined ? "" : ` (${update.source}${update.date === undefined ? "" : `, ${update.date}`})`}`,
    };
  }
  if (record.kind === "notice") return { stage: "notice", reason: "a notice about another work" };
  if (hasDateLimits(rrd)) {
    const reason = outsideDates(rrd, record, versionsOf(work.provenance));
    return reason === undefined ? undefined : { stage: "window", reason };
  }
  // Limits on how far back sources are searched do not apply to the user's records.
  if (isFromUser(work)) return undefined;
  const maxAgeDays = Math.max(
    rrd.requirements.historical_lookback_days ?? Infinity,
    rrd.requirements.time_window_days ?? 0,
  );
  const age = ageOf(record.date, today);
  // A year alone may mean any day of it.
  const toleranceDays = (record.date ?? "").length < 10 ? 366 : 1;
  if (age !== undefined && age > maxAgeDays + toleranceDays)
    return { stage: "window", reason: `of ${record.date}, older than ${maxAgeDays} days` };
  return undefined;
}

const hasDateLimits = ({ requirements: { published_from: from, published_until: until } }: Rrd): boolean =>
  from != null || until != null;

/**
 * The reason why the project's publication dates exclude a record; undefined if they do not, or its date is unknown. A
 * work is also within the dates if its first version is, such as the preprint of a later article.
 */
export function outsideDates(
  rrd: Rrd,
  { date }: Pick<Work["record"], "date">,
  versions: readonly PaperRecord[] = [],
): string | undefined {
  const { published_from: from, published_until: until } = rrd.requirements;
  if (!hasDateLimits(rrd) || date == null || date === "") return undefined;
  // If only the year is known, the work may be on either side of a day in it.
  const isOutside = (day: string): boolean =>
    day < (from ?? "").slice(0, day.length) || day > (until ?? "9999").slice(0, day.length);
  return isOutside(date) && isOutside(firstDate(versions) ?? date)
    ? `of ${date}, outside ${from ?? "any time"} to ${until ?? "today"}`
    : undefined;
}

/** The progress of one source in a round. */
export type SearchProgress = Omit<Searching, "type" | "at">;

/** Reports the progress of a round; the first has the index 0. `end`: the round is over for all sources. */
function progressOfRound(
  index: number,
  step: Step,
  watch: (progress: SearchProgress) => void,
): { readonly onListing: OnListing; end(): void } {
  const latest = new Map<string, SearchProgress>();
  const round = index + 1;
  const report = (progress: SearchProgress) => {
    latest.set(progress.source, progress);
    watch(progress);
  };
  if (step.kind === "search")
    for (const source of step.sources) report({ source, round, done: 0, all: step.queries.length, found: 0 });
  return {
    onListing(listing, { done, all, over }) {
      const { source, asked, records, reason } = listing;
      report({
        source,
        round,
        done,
        all,
        found: (latest.get(source)?.found ?? 0) + records.length,
        // Snowballing asks a service for each paper: only what fails is worth a line of its own.
        ...(asked === "" || (step.kind === "snowball" && !isFailed(listing)) ? {} : { asked, listed: records.length }),
        ...withoutUndefined({ reason }),
        ...(isFailed(listing) ? { failed: true as const } : {}),
        ...(over ? { over: true as const } : {}),
      });
    },
    end() {
      for (const { source, done, all, found, over } of latest.values())
        if (over !== true) watch({ source, round, done, all, found, over: true });
    },
  };
}

interface ScholarlyOptions extends Pick<SearchOptions, "folder" | "replay" | "now"> {
  /** Paths of `list:` sources are relative to this folder. */
  readonly root: string;
  readonly contextFor: (source: Source) => SourceContext | { readonly unavailable: string };
}

/** The services of the registry to which a source name leads. */
export const serviceNames = (root: string): Pick<Sources, "services" | "substitution" | "standIn"> => ({
  services: (name) =>
    sourcesFor(name, root)
      .filter(({ search }) => search !== undefined)
      .map((source) => source.name),
  substitution: (name) => substituteFor(name)?.reason,
  standIn: replacementSource,
});

/** The search of the scholarly services. */
export function scholarlySearch({
  root,
  contextFor,
  patienceMs,
  sleeps,
  ...searching
}: ScholarlyOptions &
  Pick<SearchOptions, "signal" | "onReport" | "onProgress" | "onRecord"> &
  Pick<Clock, "sleeps"> & { readonly patienceMs: number }): Pick<
  Sources,
  "services" | "substitution" | "standIn" | "search" | "givenUp"
> {
  const open = openerFor(root, contextFor);
  const rests = sourceRests({ now: searching.now, patienceMs, ...withoutUndefined({ sleeps }) });
  const isUnavailable = (name: string) => "unavailable" in open(name);
  let wasSearched = false;
  const isFirst = () => !wasSearched && (wasSearched = true);
  return {
    ...serviceNames(root),
    standIn: (taken) => replacementSource([...taken, ...allSources.map(({ name }) => name).filter(isUnavailable)]),
    search: (rrd, names) => runSearch(rrd, names, { ...searching, open, isFirstSearch: isFirst, rests }),
    givenUp: () => rests.all().flatMap(({ name, isGivenUp }) => (isGivenUp ? [name] : [])),
  };
}

const openerFor =
  (root: string, contextFor: ScholarlyOptions["contextFor"]): SearchOptions["open"] =>
  (name) => {
    const source = sourceNamed(name, root);
    if (source === undefined) return { unavailable: `There is no source '${name}'.` };
    const context = contextFor(source);
    return "unavailable" in context ? context : { source, context };
  };
