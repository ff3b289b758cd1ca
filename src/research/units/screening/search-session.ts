import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../engine/lib/clock.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Paper, Rrd, Step } from "../../generated/rrd.js";
import { type SearchRecord, readSearchRecord, writeSearchRecord } from "../../search/search-record.js";
import { retryFailed } from "../../search/retry-failed.js";
import { isFailed, type Listing, type Open, type OnListing } from "../../search/result-list.js";
import { termsNotAsked } from "../../search/search-plan.js";
import { type CandidateSet, candidatesOf, candidatesText, isFromUser, type Work } from "../../search/candidates.js";
import { findSeeds, type FoundSeeds, type Sought } from "../../papers/seeds/find-seeds.js";
import { seedsOf } from "../../papers/seeds/seed.js";
import type { SearchSession, Sources } from "../../screening/paper-sources.js";
import { ageOf, type Judged, rankWorks, type Ranked } from "../../screening/screening-order.js";
import { runStep } from "../../search/run-round.js";
import { type Rest, type SourceRests, sourceRests } from "../../search/source-rests.js";
import { isSaturated, isSearched, mayLeadOn, nextRound } from "./next-round.js";
import { recallOf, screeningOf } from "./recall-claim.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import { decidedExamples } from "../../derived/decided-examples.js";
import { openUpdate } from "../../derived/open-update.js";
import { maxRefusals, searchKey } from "../../derived/status.js";
import { isDecided } from "../../papers/rubric/rubric.js";
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
  /** Ways to have the answers of the log; tried before the network when what was kept is lost. */
  readonly replay: () => Promise<readonly (() => { readonly open: Open; readonly missing: () => readonly string[] })[]>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Aborted when the run ends at once: what the round under way then brings says nothing. */
  readonly signal: AbortSignal;
  /** True the first time in a run: what failed in the runs before is then asked again. */
  readonly isFirst: () => boolean;
  /** Of services that were busy in this run. */
  readonly rests: SourceRests;
  /** Told how each source did, once a round is over. */
  readonly tell: (message: string) => void;
  /** Takes what is kept in place of the disk: the asking may come to nothing, and then leaves no trace. */
  readonly hold?: (kept: SearchRecord) => void;
  /** Told of each answer while a round goes on. */
  readonly watch: (progress: SearchProgress) => void;
}

/** So many unjudged works make a screening batch worth while. */
const minWorks = 12;

/**
 * Asks round after round until enough works wait for screening or there is no round left: every keyword in the recent
 * window, every keyword in the time before, then what the best kept papers cite and what cites them. `names` are the
 * registry's names of the sources to ask.
 */
export async function runSearch(rrd: Rrd, names: readonly string[], options: SearchOptions): Promise<SearchSession> {
  const { rests, signal, tell } = options;
  const open = rests.watching(options.open);
  const path = candidatesFile(options.folder);
  // What the person interrupts fails, which says nothing of a source.
  const watch = (progress: SearchProgress) => (signal.aborted ? undefined : options.watch(progress));
  const watching = (index: number, step: Step) => progressOfRound(index, step, watch);
  const keep = async (record: SearchRecord) =>
    options.hold === undefined ? writeSearchRecord(path, record) : options.hold(record);
  const begun = await begin(rrd, options.folder, options);
  let { kept } = begun;
  const opened = openUpdate(rrd);
  const update = opened?.id;
  if (opened !== undefined && begun.lost !== undefined) {
    // By what was found before, an update knows what is new; and the counts of the search rest on it.
    const isOld = ({ date }: PaperRecord) => date == null || date < opened.since;
    const listings: Listing[] = [];
    for (const [index, step] of begun.lost.entries())
      for (const listing of await runStep(index, step, open, watching(index, step).onListing))
        listings.push({ ...listing, records: listing.records.filter(isOld) });
    // Today is not a day of the old rounds: by it, the next update would leave out all that lies between.
    const day = dayOf(rrd, begun.lost) ?? opened.since;
    if (!signal.aborted) await keep((kept = { ...kept, day, steps: begun.lost, listings }));
  } else if (begun.isRemade) await keep(kept);
  // An update asks for its own window again, not for what failed long ago.
  const isOwn = (step: number) => update === undefined || kept.steps[step]?.update === update;
  const isLeft = leftAlone(rrd, rests, { isFirst: options.isFirst(), now: options.now() });
  const retried = new Set(
    kept.listings.flatMap((listing) =>
      isFailed(listing) && isOwn(listing.step) && !isLeft(listing.source) ? [listing.source] : [],
    ),
  );
  if (retried.size > 0) {
    const listings = await retryFailed(kept.steps, kept.listings, open, isLeft, watching, isOwn);
    if (!signal.aborted) await keep((kept = { ...kept, listings }));
  }
  for (;;) {
    const { next, session } = stateOf(rrd, names, kept, open, { rests, retried, now: options.now() });
    if (next === undefined && options.hold === undefined) await commitSearch(searchFile(options.folder), kept);
    if (next === undefined || signal.aborted) return session;
    const progress = watching(kept.steps.length, next);
    const answers = await runStep(kept.steps.length, next, open, progress.onListing);
    progress.end();
    if (signal.aborted) return session;
    if (kept.listings.length === 0 && answers.length > 0 && answers.every(({ unreached }) => unreached === true))
      return { ...session, away: answers };
    const listings = [...kept.listings, ...answers];
    const isEarlier = ({ step }: Listing) => step < kept.steps.length;
    for (const report of reportsOf(listings, candidatesOf(listings, apartOf(rrd)), isEarlier)) tell(reportLine(report));
    kept = { ...kept, steps: [...kept.steps, next], listings };
    const isFirst = isSearched(names, kept) && !isSearched(names, { steps: kept.steps.slice(0, -1) });
    const left = isFirst ? termsNotAsked(rrd.requirements, kept.steps) : [];
    if (left.length > 0) tell(`Keywords for later rounds, if these bring too little: ${left.join(", ")}.`);
    await keep(kept);
  }
}

/**
 * What the search has come to so far, and the sources that would be asked before a batch is made of it. Asks nobody and
 * writes nothing.
 */
export async function searchSoFar(
  rrd: Rrd,
  names: readonly string[],
  folder: string,
  now: () => number,
): Promise<{ readonly session: SearchSession; readonly asks: readonly string[] }> {
  const { kept } = await begin(rrd, folder, { now, replay: async () => [], tell: () => undefined });
  const { next, session } = stateOf(rrd, names, kept, () => ({ unavailable: "" }));
  const blocked = blockedIn(rrd);
  const failed = kept.listings.filter((listing) => isFailed(listing) && !blocked.has(listing.source.toLowerCase()));
  const again = [...new Set(failed.map(({ source }) => source))];
  return { session, asks: again.length > 0 ? again : (next?.sources ?? []) };
}

/**
 * Tells sources that are not asked again now for what they failed to answer: those that rest or are blocked, and after
 * the first time in a run those that were not busy.
 */
function leftAlone(
  rrd: Rrd,
  rests: SourceRests,
  { isFirst, now }: { readonly isFirst: boolean; readonly now: number },
): (source: string) => boolean {
  const blocked = blockedIn(rrd);
  const all = new Map(rests.all().map((rest) => [rest.name, rest]));
  return (source) => {
    const rest = all.get(source);
    const isBlocked = blocked.has(source.toLowerCase());
    return rest === undefined ? isBlocked || !isFirst : rest.until > now || (isBlocked && !rest.isGivenUp);
  };
}

/** What is known of busy services once a round is over. */
interface Resting {
  readonly rests: SourceRests;
  readonly retried: ReadonlySet<string>;
  readonly now: number;
}

function busyOf(
  rrd: Rrd,
  names: readonly string[],
  listings: readonly Listing[],
  { rests, retried }: Resting,
): { readonly open: readonly Rest[]; readonly busy?: NonNullable<SearchSession["busy"]> } {
  const blocked = blockedIn(rrd);
  const isBlocked = (name: string) => blocked.has(name.toLowerCase());
  const all = rests.all();
  const answered = [...rests.answered()].filter(isBlocked);
  if (all.length + answered.length + retried.size === 0) return { open: [] };
  const unblocked = all.filter(({ name }) => names.includes(name) && !isBlocked(name));
  const isAway = (name: string) => {
    const own = listings.filter(({ source }) => source === name);
    return own.length > 0 && own.every(({ unreached }) => unreached === true);
  };
  // Those that were given up are waited for only where nothing else can search.
  const canSearch = names.some((name) => !isBlocked(name) && !isAway(name));
  const open = unblocked.length > 0 || canSearch ? unblocked : all;
  const isToRead = (paper: Paper) => !isDecided(paper) && (paper.refusals?.length ?? 0) < maxRefusals;
  const atMost = rests.waitsUntil(!rrd.papers_pool.some(isToRead));
  const isOnlyResting = open.length > 0 && open.every(({ isGivenUp, name }) => !isGivenUp || isBlocked(name));
  const waits = isOnlyResting ? { until: Math.min(...open.map(({ until }) => until)), atMost } : undefined;
  return { open, busy: { rests: all, answered, retried, ...withoutUndefined({ waits }) } };
}

const blockedIn = (rrd: Rrd): ReadonlySet<string> => new Set(blockedNames(rrd).map((name) => name.toLowerCase()));

/** What a search has come to, and the next round where one is worth while. */
function stateOf(
  rrd: Rrd,
  names: readonly string[],
  kept: SearchRecord,
  open: Open,
  resting?: Resting,
): { readonly session: SearchSession; readonly next?: Step } {
  const { open: waitedFor, busy } = resting === undefined ? { open: [] } : busyOf(rrd, names, kept.listings, resting);
  const rest = new Set(resting?.rests.all().map(({ name }) => name));
  const awake = names.filter((name) => !rest.has(name));
  const wanted = { ...rrd.requirements, description: rrd.description, today: kept.day };
  const candidates = candidatesOf(kept.listings, apartOf(rrd));
  const seeds = findSeeds(seedsOf(rrd), candidates.works.map(asSought));
  const ranked = seedsFirst(rankWorks(candidates.works, wanted, [...labelsOf(seeds), ...decidedExamples(rrd)]), seeds);
  const { works, setAside, passed } = sort(rrd, ranked, kept);
  const waiting = { rounds: kept.steps.length, waiting: works.length + passed };
  const update = openUpdate(rrd);
  const recall = update === undefined ? recallOf(rrd.requirements, screeningOf(rrd), waiting) : undefined;
  const isOver = recall?.reached ?? (kept.steps.at(-1)?.kind === "snowball" && isSaturated(rrd, kept));
  const isEnough = works.length >= minWorks && !isOver && update === undefined && isSearched(names, kept);
  const next = isEnough ? undefined : nextRound(rrd, awake, kept, recall?.reached === true ? 0 : works.length);
  const isGivenUp = update === undefined && typeof next === "string" && (recall?.reached ?? isSaturated(rrd, kept));
  const isEnded = recall?.reached === true && works.length > 0;
  const isOpen = waitedFor.length > 0 && !isGivenUp && !isEnded;
  const exhausted = typeof next !== "string" || isOpen ? undefined : isEnded ? recall.says : next;
  // A person who brings records wants each of them screened.
  const left = isGivenUp && recall?.reached !== true ? works.filter(isFromUser) : isGivenUp ? [] : works;
  const session = {
    works: left,
    passed: passed + works.length - left.length,
    mayLeadOn: update === undefined && mayLeadOn(rrd, names, kept, open),
    setAside,
    steps: kept.steps,
    listings: kept.listings,
    candidates,
    candidatesSha256: candidatesHash(kept.steps, candidates),
    ...(seeds.works.size + seeds.missing.length === 0 ? {} : { seeds }),
    ...withoutUndefined({ exhausted, busy }),
  };
  return typeof next === "object" ? { session, next } : { session };
}

const asSought = ({ record, provenance: { mergedFrom } }: Work): Sought => ({ record, mergedFrom });

/** Seeds as examples of what is relevant; what was decided on them since counts more and comes behind. */
const labelsOf = ({ works, missing }: FoundSeeds): Judged[] => [
  ...[...works].map(([id, { title, abstract }]) => ({ id, title: title ?? "", abstract, kept: true })),
  ...missing.flatMap(({ reference, id = `seed ${reference}`, title, abstract }) =>
    title == null ? [] : [{ id, title, abstract, kept: true }],
  ),
];

/** The works in their order, those that a person named first. */
function seedsFirst(ranked: readonly Ranked[], { works }: FoundSeeds): readonly Ranked[] {
  if (works.size === 0) return ranked;
  const isNamed = ({ record }: Ranked) => works.has(record.id);
  return [
    ...ranked
      .filter(isNamed)
      .map((work) => ({ ...work, priority: 5, why: `named by a person as a seed; ${work.why}` })),
    ...ranked.filter((work) => !isNamed(work)),
  ];
}

export const apartOf = (rrd: Rrd): readonly (readonly [string, string])[] =>
  (rrd.apart ?? []).flatMap(([a, b]) => (a === undefined || b === undefined ? [] : [[a, b] as const]));

/**
 * Works that need no judging any more. What was left out as a duplicate is judged after all once a person says that it
 * is another work.
 */
export function settledIds(rrd: Rrd): ReadonlySet<string> {
  const apart = apartOf(rrd);
  const isUndone = (id: string, of: string | null | undefined) =>
    apart.some((pair) => of != null && pair.includes(id) && pair.includes(of));
  const excluded = (rrd.excluded ?? []).filter(({ id, duplicate_of }) => !isUndone(id, duplicate_of));
  return new Set([...rrd.papers_pool, ...excluded].map(({ id }) => id));
}

/**
 * What is kept of this search, or what the log of an earlier run holds of it, or a new one. Says so where something was
 * lost.
 */
async function begin(
  rrd: Rrd,
  folder: string,
  { replay, now, tell, hold }: Pick<SearchOptions, "replay" | "now" | "tell" | "hold">,
): Promise<{
  readonly kept: SearchRecord;
  readonly isRemade: boolean;
  /** Rounds that were made and of whose answers nothing is left. */
  readonly lost?: readonly Step[];
}> {
  const path = candidatesFile(folder);
  const search = searchKey(rrd);
  const kept = await readSearchRecord(path, search);
  if (kept !== undefined && kept !== "broken")
    return { kept: withoutUnopened(kept, rrd, hold !== undefined), isRemade: false };
  const metrics = rrd.statistics?.discovery_metrics;
  const steps = metrics?.searched_for === search ? (metrics.rounds ?? []) : [];
  const empty: SearchRecord = { search, day: new Date(now()).toISOString().slice(0, 10), steps: [], listings: [] };
  const what = `What the search has found (${path}) ${kept === "broken" ? "can't be read" : "is gone"}`;
  const committed = steps.length === 0 ? undefined : await readCommittedSearch(searchFile(folder));
  // It may be a batch ahead: it was written once all was asked, and the rounds are noted once the batch is judged.
  const isOfThese = committed?.search === search && isDeepStrictEqual(committed.steps.slice(0, steps.length), steps);
  const day = dayOf(rrd, steps) ?? (isOfThese ? committed.day : undefined) ?? empty.day;
  const remade: SearchRecord[] = [];
  let missing = 0;
  for (const way of steps.length === 0 ? [] : await replay()) {
    const replayed = way();
    const listings: Listing[] = [];
    for (const [index, step] of steps.entries()) listings.push(...(await runStep(index, step, replayed.open)));
    missing = replayed.missing().length;
    // A log that names no source of these rounds holds nothing of them.
    if (missing > 0 || listings.every(isFailed)) continue;
    remade.push({ ...empty, day, steps, listings });
    if (candidatesHash(steps, candidatesOf(listings, apartOf(rrd))) === metrics?.pool_sha256) break;
  }
  const best = remade.at(-1) ?? (isOfThese ? committed : undefined);
  if (best === undefined) {
    if (steps.length > 0 || kept === "broken")
      tell(
        `${what}${missing > 0 ? `, and so ${missing === 1 ? "is an answer" : `are ${missing} answers`} of sources` : ""}; the sources are asked again.`,
      );
    return { kept: empty, isRemade: false, ...(steps.length > 0 ? { lost: steps } : {}) };
  }
  tell(
    `${what}; it was rebuilt from ${remade.length > 0 ? "the answers in queries.jsonl" : searchName}, without asking any source.`,
  );
  return { kept: withoutUnopened(best, rrd, hold !== undefined), isRemade: true };
}

/**
 * The search without what was asked for an update that was never opened, because a kill came between. `isAsking`: the
 * one that is open in the state is only about to be.
 */
function withoutUnopened(kept: SearchRecord, rrd: Rrd, isAsking: boolean): SearchRecord {
  const asked = isAsking ? openUpdate(rrd)?.id : undefined;
  const opened = new Set((rrd.updates ?? []).map(({ id }) => id).filter((id) => id !== asked));
  const isKept = ({ update }: Step) => update === undefined || opened.has(update);
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
 * The end of the recent window is the day on which the search began; an update's ends later, and a last day of
 * publication that a person set says nothing of it.
 */
function dayOf({ requirements }: Rrd, steps: readonly Step[]): string | undefined {
  if (requirements.published_until != null) return undefined;
  const first = steps.flatMap((step) => (step.kind === "search" && step.update === undefined ? step.queries : []));
  return first.flatMap(({ until }) => until ?? [])[0];
}

function sort(
  rrd: Rrd,
  ranked: readonly Ranked[],
  kept: SearchRecord,
): Pick<SearchSession, "works" | "setAside" | "passed"> {
  const settled = settledIds(rrd);
  const ids = new Set(ranked.map(({ record }) => record.id));
  const lastSnowball = kept.steps.at(-1)?.kind === "snowball";
  const isOld = knownBefore(rrd, kept);
  const works: Ranked[] = [];
  let passed = 0;
  const setAside: SearchSession["setAside"][number][] = [];
  for (const work of ranked) {
    const { record, provenance } = work;
    // A record whose id another work has too says nothing of this one.
    const isOwn = ({ id }: PaperRecord) => id === record.id || !ids.has(id);
    if ([record, ...versionsOf(provenance)].some((each) => settled.has(each.id) && isOwn(each))) continue;
    if (isOld(work)) {
      passed += 1;
      continue;
    }
    const because = leftOut(work, rrd, kept.day);
    // What the search itself brought was judged, or given up, before the first paper was followed.
    const isPassed =
      openUpdate(rrd) === undefined &&
      rrd.requirements.screening === undefined &&
      lastSnowball &&
      !isFromUser(work) &&
      !provenance.places.some(({ seed }) => seed !== undefined);
    if (because !== undefined) setAside.push({ work, ...because });
    else if (isPassed) passed += 1;
    else works.push(work);
  }
  return { works, setAside, passed };
}

/** Tells works that were listed before the update that is under way began: they were passed over for good reasons. */
function knownBefore(rrd: Rrd, { steps, listings }: SearchRecord): (work: Work) => boolean {
  const update = openUpdate(rrd);
  if (update === undefined) return () => false;
  const before = new Set(listings.flatMap(({ step, records }) => (steps[step]?.update === update.id ? [] : records)));
  return ({ provenance }) => versionsOf(provenance).some((record) => before.has(record));
}

function leftOut(
  work: Ranked,
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
  if (hasDates(rrd)) {
    const reason = outsideDates(rrd, record);
    return reason === undefined ? undefined : { stage: "window", reason };
  }
  // How far back sources are searched says nothing of what a person brings.
  if (isFromUser(work)) return undefined;
  const back = Math.max(rrd.requirements.historical_lookback_days ?? Infinity, rrd.requirements.time_window_days ?? 0);
  const age = ageOf(record.date, today);
  // A year alone may be some months younger than its first day.
  const slack = (record.date ?? "").length < 10 ? 366 : 1;
  if (age !== undefined && age > back + slack)
    return { stage: "window", reason: `of ${record.date}, older than ${back} days` };
  return undefined;
}

const hasDates = ({ requirements: { published_from: from, published_until: until } }: Rrd): boolean =>
  from != null || until != null;

/** Why the dates that a person set leave a record out; undefined where they don't, or nobody knows its date. */
export function outsideDates(rrd: Rrd, { date }: Pick<Work["record"], "date">): string | undefined {
  const { published_from: from, published_until: until } = rrd.requirements;
  if (!hasDates(rrd) || date == null || date === "") return undefined;
  // Of a year alone nobody knows on which side of a day within it the work lies.
  const isOutside = date < (from ?? "").slice(0, date.length) || date > (until ?? "9999").slice(0, date.length);
  return isOutside ? `of ${date}, outside ${from ?? "any time"} to ${until ?? "today"}` : undefined;
}

/** How far one source is with a round of a search. */
export type SearchProgress = Omit<Searching, "type" | "at">;

/** Tells of one round as it goes on; the first is 0. `end`: it is over, for all sources. */
function progressOfRound(
  index: number,
  step: Step,
  watch: (progress: SearchProgress) => void,
): { readonly onListing: OnListing; end(): void } {
  const latest = new Map<string, SearchProgress>();
  const round = index + 1;
  const tell = (progress: SearchProgress) => {
    latest.set(progress.source, progress);
    watch(progress);
  };
  if (step.kind === "search")
    for (const source of step.sources) tell({ source, round, done: 0, all: step.queries.length, found: 0 });
  return {
    onListing(listing, { done, all, over }) {
      const { source, asked, records, reason } = listing;
      tell({
        source,
        round,
        done,
        all,
        found: (latest.get(source)?.found ?? 0) + records.length,
        ...(asked === "" ? {} : { asked, listed: records.length }),
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
  /** Files of `list:` sources are relative to it. */
  readonly root: string;
  readonly contextFor: (source: Source) => SourceContext | { readonly unavailable: string };
}

/** Which services of the registry a source leads to. */
export const services = (root: string): Pick<Sources, "services" | "substitution" | "standIn"> => ({
  services: (name) =>
    sourcesFor(name, root)
      .filter(({ search }) => search !== undefined)
      .map((source) => source.name),
  substitution: (name) => substituteFor(name)?.reason,
  standIn: replacementSource,
});

/** The search of those services. */
export function scholarly({
  root,
  contextFor,
  patienceMs,
  sleeps,
  ...searching
}: ScholarlyOptions &
  Pick<SearchOptions, "signal" | "tell" | "watch" | "hold"> &
  Pick<Clock, "sleeps"> & { readonly patienceMs: number }): Pick<
  Sources,
  "services" | "substitution" | "standIn" | "search" | "givenUp"
> {
  const open = opening(root, contextFor);
  const rests = sourceRests({ now: searching.now, patienceMs, ...withoutUndefined({ sleeps }) });
  const isUnavailable = (name: string) => "unavailable" in open(name);
  let asked = false;
  const isFirst = () => !asked && (asked = true);
  return {
    ...services(root),
    standIn: (taken) => replacementSource([...taken, ...allSources.map(({ name }) => name).filter(isUnavailable)]),
    search: (rrd, names) => runSearch(rrd, names, { ...searching, open, isFirst, rests }),
    givenUp: () => rests.all().flatMap(({ name, isGivenUp }) => (isGivenUp ? [name] : [])),
  };
}

const opening =
  (root: string, contextFor: ScholarlyOptions["contextFor"]): SearchOptions["open"] =>
  (name) => {
    const source = sourceNamed(name, root);
    if (source === undefined) return { unavailable: `There is no source '${name}'.` };
    const context = contextFor(source);
    return "unavailable" in context ? context : { source, context };
  };
