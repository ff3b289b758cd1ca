import type { Paper, Rrd, SnowballStep, Step } from "../../generated/rrd.js";
import type { SearchRecord } from "../../search/search-record.js";
import type { Open } from "../../search/result-list.js";
import { seedsOf } from "../../papers/seeds/seed.js";
import { isOwnList, listRound } from "../../papers/records/own-list.js";
import { planSearch } from "../../search/search-plan.js";
import { supportsDirection, directions } from "../../search/snowballing.js";
import { blockedTest } from "../../project-files/rrd-file.js";
import { openUpdate } from "../../derived/open-update.js";
import { targetOf } from "../../derived/status.js";
import { nextRoundOfUpdate, searchableIdentifiers } from "./update-rounds.js";

/** Maximum number of papers whose citations are followed in one round. */
const maxSeedsPerRound = 5;
/** Maximum number of references and citations of each of these papers. */
const maxLinksPerSeed = 30;
/** Maximum number of rounds that follow citations. */
const maxSnowballRounds = 3;
/** A kept paper with at least this priority is followed. */
const seedPriority = 4;
/** Minimum number of judged works since the last round to decide whether a search is exhausted. */
const minJudged = 20;
/** A search is exhausted if a smaller share of these works was kept. */
const minKeptShare = 0.1;

/**
 * The next round, or the reason why there is no further round. `waiting`: the number of works that nobody has judged.
 */
export function nextRound(rrd: Rrd, names: readonly string[], record: SearchRecord, waiting: number): Step | string {
  const sources = unblockedSources(rrd, names);
  if (sources.length === 0) return "every source is blocked";
  const update = openUpdate(rrd);
  if (update !== undefined)
    return (
      nextRoundOfUpdate(rrd, update, record.steps, sources) ??
      `everything from ${update.since} to ${update.until} was asked for`
    );
  const unread = sources.filter((name) => isOwnList(name) && !record.steps.some((step) => step.sources.includes(name)));
  if (unread.length > 0) return listRound(unread, rrd.requirements.columns);
  const searched = sources.filter((name) => !isOwnList(name));
  if (searched.length === 0) return "every list was read to its end";
  const plannedSteps = planSearch(rrd.requirements, { target: targetOf(rrd), today: record.day, sources: searched });
  const saturated = isSaturated(rrd, record);
  const askedQueries = new Map(searched.map((source) => [source, new Set(record.steps.flatMap(queriesTo(source)))]));
  const askedTerms = new Set(record.steps.flatMap(termsOf));
  // If one keyword finds nothing new, another keyword may. A source that replaces a blocked one gets the queries of the
  // others.
  const openSteps = plannedSteps.flatMap((step) => {
    const remainingSources = searched.filter((source) =>
      queriesOf(step).some((query) => askedQueries.get(source)?.has(query) !== true),
    );
    return remainingSources.length === 0 ? [] : [{ ...step, sources: remainingSources }];
  });
  const next = openSteps.find((step) => !saturated || termsOf(step).some((term) => !askedTerms.has(term)));
  if (snowballsOf(record) === 0 && next !== undefined) return next;
  const missingPapers = targetOf(rrd) - rrd.papers_pool.length;
  if (waiting > 0 && !saturated)
    return waiting >= missingPapers
      ? "enough works wait for screening"
      : (nextSnowball(rrd, record, searched) ?? "every round is done");
  return (
    nextSnowball(rrd, record, searched) ??
    (saturated ? `fewer than one in ten of the last ${minJudged} screened works was kept` : "every round is done")
  );
}

/** Whether at least one source was searched by keywords, if any source can be. */
export const isSearched = (names: readonly string[], { steps }: Pick<SearchRecord, "steps">): boolean =>
  names.every(isOwnList) || steps.some(({ sources }) => sources.some((name) => !isOwnList(name)));

/** Whether papers that the next batch keeps may be followed, so that the search may continue after it. */
export function canFollowKept(rrd: Rrd, names: readonly string[], record: SearchRecord, open: Open): boolean {
  const hasCitations = (name: string) => directions.some((direction) => supportsDirection(direction, open(name)));
  return (
    snowballsOf(record) < maxSnowballRounds &&
    !isSaturated(rrd, record) &&
    unblockedSources(rrd, names).some(hasCitations)
  );
}

/** Whether a paper's citations are worth following. */
export const isSeed = ({ priority, identifiers }: Pick<Paper, "priority" | "identifiers">): boolean =>
  (priority ?? 0) >= seedPriority && Object.keys(identifiers ?? {}).length > 0;

function unblockedSources(rrd: Rrd, names: readonly string[]): string[] {
  const isBlocked = blockedTest(rrd);
  return names.filter((name) => !isBlocked(name));
}

const snowballsOf = ({ steps }: SearchRecord): number => steps.filter(({ kind }) => kind === "snowball").length;
const queriesOf = (step: Step): string[] =>
  step.kind === "search" ? step.queries.map(({ terms, from, until }) => JSON.stringify([terms, from, until])) : [];
const queriesTo =
  (source: string) =>
  (step: Step): string[] =>
    step.sources.includes(source) ? queriesOf(step) : [];
const termsOf = (step: Step): string[] => (step.kind === "search" ? step.queries.map(({ terms }) => terms) : []);

function nextSnowball(rrd: Rrd, record: SearchRecord, sources: readonly string[]): Step | undefined {
  const seeds = snowballsOf(record) >= maxSnowballRounds ? [] : nextSeeds(rrd, record);
  return seeds.length === 0 ? undefined : { kind: "snowball", sources: [...sources], seeds, most: maxLinksPerSeed };
}

/** The papers whose citations are followed next: first those that the user named, then the best kept ones. */
function nextSeeds(rrd: Rrd, record: SearchRecord): SnowballStep["seeds"] {
  const followed = new Set(
    record.steps.flatMap((step) => (step.kind === "snowball" ? step.seeds.map(({ id }) => id) : [])),
  );
  const userSeeds = seedsOf(rrd).flatMap(({ id, identifiers }) => (id === undefined ? [] : [{ id, identifiers }]));
  const keptSeeds = rrd.papers_pool.filter(isSeed).toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  const all = [...userSeeds.filter(({ identifiers }) => Object.keys(identifiers).length > 0), ...keptSeeds];
  return [...new Map(all.map((paper) => [paper.id, paper])).values()]
    .filter(({ id }) => !followed.has(id))
    .slice(0, maxSeedsPerRound)
    .map((seed) => ({ id: seed.id, identifiers: searchableIdentifiers(seed) }));
}

/**
 * Whether the works that were judged since the last round gave almost no papers. If the user asked for a recall, only
 * the stopping rule decides.
 */
export const isSaturated = (rrd: Rrd, record: SearchRecord): boolean => isSaturatedAfter(rrd, record.steps.length);

/** Whether the keyword rounds were saturated when the first citations were followed. */
export function isFollowedAfterSaturation(rrd: Rrd, { steps }: SearchRecord): boolean {
  const firstSnowball = steps.findIndex(({ kind }) => kind === "snowball");
  return firstSnowball >= 0 && isSaturatedAfter(rrd, firstSnowball);
}

/** `isSaturated` after this number of rounds. */
function isSaturatedAfter(rrd: Rrd, roundCount: number): boolean {
  if (rrd.requirements.screening !== undefined) return false;
  const batches = (rrd.statistics?.discovery_metrics?.screening ?? []).filter(({ rounds }) => rounds === roundCount);
  let screened = 0;
  let kept = 0;
  for (const batch of batches.toReversed()) {
    screened += batch.screened;
    kept += batch.kept;
    if (screened >= minJudged) return kept / screened < minKeptShare;
  }
  return false;
}
