import type { Paper, Rrd, SnowballStep, Step } from "../../generated/rrd.js";
import type { SearchRecord } from "../../search/search-record.js";
import type { Open } from "../../search/result-list.js";
import { seedsOf } from "../../papers/seeds/seed.js";
import { isOwnList, listRound } from "../../papers/records/own-list.js";
import { planSearch } from "../../search/search-plan.js";
import { supportsDirection, directions } from "../../search/snowballing.js";
import { blockedNames } from "../../project-files/rrd-file.js";
import { openUpdate } from "../../derived/open-update.js";
import { targetOf } from "../../derived/status.js";
import { nextOfUpdate } from "./update-rounds.js";

/** So many papers are followed in one round, and so many of each one's references and citations are looked at. */
const seedsOfARound = 5;
const linksOfASeed = 30;
const maxSnowballs = 3;
/** From this priority on a kept paper is worth following. */
const seedPriority = 4;
/** A search is exhausted when of so many works judged since the last round fewer than this share was kept. */
const judgedAtLeast = 20;
const keptAtLeast = 0.1;

/** The next round, or why it is missing. `waiting`: works that nobody has judged. */
export function nextRound(rrd: Rrd, names: readonly string[], kept: SearchRecord, waiting: number): Step | string {
  const sources = askable(rrd, names);
  if (sources.length === 0) return "every source is blocked";
  const update = openUpdate(rrd);
  if (update !== undefined)
    return (
      nextOfUpdate(rrd, update, kept.steps, sources) ??
      `everything from ${update.since} to ${update.until} was asked for`
    );
  const unread = sources.filter((name) => isOwnList(name) && !kept.steps.some((step) => step.sources.includes(name)));
  if (unread.length > 0) return listRound(unread, rrd.requirements.columns);
  const searched = sources.filter((name) => !isOwnList(name));
  if (searched.length === 0) return "every list was read to its end";
  const planned = planSearch(rrd.requirements, { target: targetOf(rrd), today: kept.day, sources: searched });
  const saturated = isSaturated(rrd, kept);
  const asked = new Map(searched.map((source) => [source, new Set(kept.steps.flatMap(queriesTo(source)))]));
  const terms = new Set(kept.steps.flatMap(termsOf));
  // What one keyword no longer brings another may still bring.
  // A source that came later, in the place of one that is blocked, is asked what the others were.
  const open = planned.flatMap((step) => {
    const left = searched.filter((source) => queriesOf(step).some((query) => asked.get(source)?.has(query) !== true));
    return left.length === 0 ? [] : [{ ...step, sources: left }];
  });
  const next = open.find((step) => !saturated || termsOf(step).some((term) => !terms.has(term)));
  if (snowballsOf(kept) === 0 && next !== undefined) return next;
  const room = targetOf(rrd) - rrd.papers_pool.length;
  if (waiting > 0 && !saturated)
    return waiting >= room ? "enough works wait for screening" : (follow(rrd, kept, searched) ?? "every round is done");
  return (
    follow(rrd, kept, searched) ??
    (saturated ? `fewer than one in ten of the last ${judgedAtLeast} screened works was kept` : "every round is done")
  );
}

/** Whether sources were asked for words yet, where some of them can be. */
export const isSearched = (names: readonly string[], { steps }: Pick<SearchRecord, "steps">): boolean =>
  names.every(isOwnList) || steps.some(({ sources }) => sources.some((name) => !isOwnList(name)));

/** Whether a paper kept from the next batch may be followed yet, so that the search is not over with it. */
export function mayLeadOn(rrd: Rrd, names: readonly string[], kept: SearchRecord, open: Open): boolean {
  const links = (name: string) => directions.some((direction) => supportsDirection(direction, open(name)));
  return snowballsOf(kept) < maxSnowballs && !isSaturated(rrd, kept) && askable(rrd, names).some(links);
}

/** Whether a paper is worth following. */
export const isSeed = ({ priority, identifiers }: Pick<Paper, "priority" | "identifiers">): boolean =>
  (priority ?? 0) >= seedPriority && Object.keys(identifiers ?? {}).length > 0;

function askable(rrd: Rrd, names: readonly string[]): string[] {
  const blocked = new Set(blockedNames(rrd).map((name) => name.toLowerCase()));
  return names.filter((name) => !blocked.has(name.toLowerCase()));
}

const snowballsOf = ({ steps }: SearchRecord): number => steps.filter(({ kind }) => kind === "snowball").length;
const queriesOf = (step: Step): string[] =>
  step.kind === "search" ? step.queries.map(({ terms, from, until }) => JSON.stringify([terms, from, until])) : [];
const queriesTo =
  (source: string) =>
  (step: Step): string[] =>
    step.sources.includes(source) ? queriesOf(step) : [];
const termsOf = (step: Step): string[] => (step.kind === "search" ? step.queries.map(({ terms }) => terms) : []);

function follow(rrd: Rrd, kept: SearchRecord, sources: readonly string[]): Step | undefined {
  const seeds = snowballsOf(kept) >= maxSnowballs ? [] : startsOf(rrd, kept);
  return seeds.length === 0 ? undefined : { kind: "snowball", sources: [...sources], seeds, most: linksOfASeed };
}

/** Papers to follow: those that the person named, then the best kept ones, that were not followed yet. */
function startsOf(rrd: Rrd, kept: SearchRecord): SnowballStep["seeds"] {
  const followed = new Set(
    kept.steps.flatMap((step) => (step.kind === "snowball" ? step.seeds.map(({ id }) => id) : [])),
  );
  const named = seedsOf(rrd).flatMap(({ id, identifiers }) => (id === undefined ? [] : [{ id, identifiers }]));
  const best = rrd.papers_pool.filter(isSeed).toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  const all = [...named.filter(({ identifiers }) => Object.keys(identifiers).length > 0), ...best];
  return [...new Map(all.map((paper) => [paper.id, paper])).values()]
    .filter(({ id }) => !followed.has(id))
    .slice(0, seedsOfARound)
    .map(({ id, identifiers = {} }) => {
      const { doi, arxiv, pmid, openalex, s2 } = identifiers;
      return {
        id,
        identifiers: Object.fromEntries(
          Object.entries({ doi, arxiv, pmid, openalex, s2 }).filter(([, value]) => value !== undefined),
        ),
      };
    });
}

/**
 * Whether what was judged since the last round brought next to nothing. Where a recall is asked for, only the stopping
 * rule says that it is enough.
 */
export function isSaturated(rrd: Rrd, kept: SearchRecord): boolean {
  if (rrd.requirements.screening !== undefined) return false;
  const batches = (rrd.statistics?.discovery_metrics?.screening ?? []).filter(
    ({ rounds }) => rounds === kept.steps.length,
  );
  let screened = 0;
  let taken = 0;
  for (const batch of batches.toReversed()) {
    screened += batch.screened;
    taken += batch.kept;
    if (screened >= judgedAtLeast) return taken / screened < keptAtLeast;
  }
  return false;
}
