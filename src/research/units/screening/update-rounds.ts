import type { Paper, ProjectUpdate, Rrd, Step } from "../../generated/rrd.js";
import { isFailed, type Listing } from "../../search/result-list.js";
import { planSearch } from "../../search/search-plan.js";
import { directions } from "../../search/snowballing.js";
import { isOwnList, listRound } from "../../papers/records/own-list.js";
import { blockedTest } from "../../project-files/rrd-file.js";

type Direction = (typeof directions)[number];

/** Maximum number of citations of each paper. In a time window of some weeks, few works cite a paper. */
const maxCitationsPerPaper = 100;
const citations: Direction[] = ["citations"];

/**
 * The rounds of an update: every keyword in its time window, which begins earlier for a source that failed last time;
 * then the works in the window that cite a presented paper.
 */
function updateRounds(rrd: Rrd, update: ProjectUpdate, sources: readonly string[]): Step[] {
  const { published_from: from, published_until: until, columns } = rrd.requirements;
  const lists = sources.filter(isOwnList);
  const firstDayFor = (source: string) => laterDay(update.sources?.[source] ?? update.since, from);
  const end = until != null && until < update.until ? until : update.until;
  const searched = sources.filter((source) => !isOwnList(source));
  const firstDays = [...new Set(searched.map(firstDayFor))].filter((day) => day <= end);
  const searches = firstDays.flatMap((day) =>
    planSearch(
      { ...rrd.requirements, published_from: day, published_until: end },
      { target: Infinity, today: end, sources: searched.filter((source) => firstDayFor(source) === day) },
    ),
  );
  const seeds = rrd.papers_pool
    .filter((paper) => paper.status === "presented" && paper.retracted !== true)
    .flatMap((paper) => {
      const identifiers = searchableIdentifiers(paper);
      return Object.keys(identifiers).length === 0 ? [] : [{ id: paper.id, identifiers }];
    });
  const earliest = firstDays.toSorted()[0];
  const snowball: Step[] =
    seeds.length === 0 || earliest === undefined
      ? []
      : [
          {
            kind: "snowball",
            sources: [...searched],
            directions: citations,
            from: earliest,
            seeds,
            most: maxCitationsPerPaper,
          },
        ];
  // A record that was added to a list is new, whenever it was published.
  const listed = lists.length === 0 ? [] : [listRound(lists, columns)];
  return [...listed, ...searches, ...snowball].map((step) => ({ ...step, update: update.id }));
}

const laterDay = (day: string, from: string | null | undefined): string => (from != null && from > day ? from : day);

/** The identifiers by which services find the citations of a work. */
export function searchableIdentifiers({ identifiers = {} }: Pick<Paper, "identifiers">): Record<string, string> {
  const { doi, arxiv, pmid, openalex, s2 } = identifiers;
  return Object.fromEntries(
    Object.entries({ doi, arxiv, pmid, openalex, s2 }).filter((entry): entry is [string, string] => entry[1] != null),
  );
}

/** The next round of an update; undefined if all its rounds were made. */
export const nextRoundOfUpdate = (
  rrd: Rrd,
  update: ProjectUpdate,
  steps: readonly Step[],
  sources: readonly string[],
): Step | undefined => updateRounds(rrd, update, sources)[steps.filter((step) => step.update === update.id).length];

/** A source whose part of an update's time window was not completely searched: from which day, and the reason. */
export interface OpenWindow {
  readonly since: string;
  readonly reason: string;
}

/**
 * The sources whose part of an update's time window was not completely searched: they failed, answered only in part, or
 * are blocked by the user. `wanted`: the services of the project's sources.
 */
export function openWindows(
  rrd: Rrd,
  update: ProjectUpdate,
  { steps, listings }: { readonly steps: readonly Step[]; readonly listings: readonly Listing[] },
  wanted: readonly string[],
): ReadonlyMap<string, OpenWindow> {
  // Without keywords, no source is searched, so no window is open.
  const searches = updateRounds(rrd, update, wanted).filter(({ kind }) => kind === "search");
  const searched = new Set(searches.flatMap(({ sources }) => sources));
  const isBlocked = blockedTest(rrd);
  const updateListings = listings.filter(({ step }) => steps[step]?.update === update.id);
  const asked = new Set(updateListings.map(({ source }) => source));
  // If a source does not know the citations of a paper, its window still counts as complete.
  const isOpen = (listing: Listing) =>
    isFailed(listing)
      ? steps[listing.step]?.kind === "search" || listing.transient === true
      : listing.status === "ok" && listing.reason !== undefined;
  return new Map(
    [
      ...wanted
        .filter((source) => searched.has(source) && !asked.has(source))
        .map((source) => ({ source, reason: isBlocked(source) ? "it is blocked" : "it was not searched" })),
      ...updateListings.filter(isOpen).map(({ source, reason, status }) => ({ source, reason: reason ?? status })),
    ].map(({ source, reason: fullReason }) => {
      // The text that shows the reason already names the source.
      const reason = fullReason.startsWith(`${source}: `) ? fullReason.slice(source.length + 2) : fullReason;
      return [source, { since: update.sources?.[source] ?? update.since, reason }];
    }),
  );
}
