import type { Paper, ProjectUpdate, Rrd, Step } from "../../generated/rrd.js";
import { isFailed, type Listing } from "../../search/result-list.js";
import { planSearch } from "../../search/search-plan.js";
import { directions } from "../../search/snowballing.js";
import { isOwnList, listRound } from "../../papers/records/own-list.js";
import { blockedNames } from "../../project-files/rrd-file.js";

type Direction = (typeof directions)[number];

/** So many works that cite a paper are looked at; in a window of weeks few cite any. */
const citationsOfAPaper = 100;
const citations: Direction[] = ["citations"];

/**
 * What an update asks: every keyword in its window, which begins earlier for a source that failed the last time; then
 * what was published in it and cites a presented paper.
 */
export function updateRounds(rrd: Rrd, update: ProjectUpdate, sources: readonly string[]): Step[] {
  const { published_from: from, published_until: until, columns } = rrd.requirements;
  const lists = sources.filter(isOwnList);
  const beginning = (source: string) => later(update.sources?.[source] ?? update.since, from);
  const end = until != null && until < update.until ? until : update.until;
  const searched = sources.filter((source) => !isOwnList(source));
  const begins = [...new Set(searched.map(beginning))].filter((day) => day <= end);
  const searches = begins.flatMap((day) =>
    planSearch(
      { ...rrd.requirements, published_from: day, published_until: end },
      { target: Infinity, today: end, sources: searched.filter((source) => beginning(source) === day) },
    ),
  );
  const seeds = rrd.papers_pool
    .filter((paper) => paper.status === "presented" && paper.retracted !== true)
    .flatMap((paper) => {
      const identifiers = namesOf(paper);
      return Object.keys(identifiers).length === 0 ? [] : [{ id: paper.id, identifiers }];
    });
  const first = begins.toSorted()[0];
  const follow: Step[] =
    seeds.length === 0 || first === undefined
      ? []
      : [
          {
            kind: "snowball",
            sources: [...searched],
            directions: citations,
            from: first,
            seeds,
            most: citationsOfAPaper,
          },
        ];
  // What stands in a list now and did not stand there before is new, whenever it was published.
  const listed = lists.length === 0 ? [] : [listRound(lists, columns)];
  return [...listed, ...searches, ...follow].map((step) => ({ ...step, update: update.id }));
}

const later = (day: string, from: string | null | undefined): string => (from != null && from > day ? from : day);

/** Names that services follow a work by. */
function namesOf({ identifiers = {} }: Paper): Record<string, string> {
  const { doi, arxiv, pmid, openalex, s2 } = identifiers;
  return Object.fromEntries(
    Object.entries({ doi, arxiv, pmid, openalex, s2 }).filter((entry): entry is [string, string] => entry[1] != null),
  );
}

/** The first of an update's rounds that was not made yet; undefined where its window is asked. */
export const nextOfUpdate = (
  rrd: Rrd,
  update: ProjectUpdate,
  steps: readonly Step[],
  sources: readonly string[],
): Step | undefined => updateRounds(rrd, update, sources)[steps.filter((step) => step.update === update.id).length];

/** A source whose part of an update's window is still to be asked: from which day, and why. */
export interface LeftOpen {
  readonly since: string;
  readonly reason: string;
}

/**
 * Sources whose part of an update's window stays open: they failed, told only a part, or are asked nothing as long as a
 * person has them blocked. `wanted`: the services that the project's sources lead to.
 */
export function leftOpenBy(
  rrd: Rrd,
  update: ProjectUpdate,
  { steps, listings }: { readonly steps: readonly Step[]; readonly listings: readonly Listing[] },
  wanted: readonly string[],
): ReadonlyMap<string, LeftOpen> {
  // Without a keyword none is searched, and nothing of a window is left.
  const searches = updateRounds(rrd, update, wanted).filter(({ kind }) => kind === "search");
  const searched = new Set(searches.flatMap(({ sources }) => sources));
  const blocked = new Set(blockedNames(rrd).map((name) => name.toLowerCase()));
  const whyNot = (source: string) => (blocked.has(source.toLowerCase()) ? "it is blocked" : "nobody asked it");
  const own = listings.filter(({ step }) => steps[step]?.update === update.id);
  const asked = new Set(own.map(({ source }) => source));
  // That a source does not know who cites a paper is not a failure of its window.
  const isOpen = (listing: Listing) =>
    isFailed(listing)
      ? steps[listing.step]?.kind === "search" || listing.transient === true
      : listing.status === "ok" && listing.reason !== undefined;
  return new Map(
    [
      ...wanted
        .filter((source) => searched.has(source) && !asked.has(source))
        .map((source) => ({ source, reason: whyNot(source) })),
      ...own.filter(isOpen).map(({ source, reason, status }) => ({ source, reason: reason ?? status })),
    ].map(({ source, reason: told }) => {
      // Who failed is named next to the reason.
      const reason = told.startsWith(`${source}: `) ? told.slice(source.length + 2) : told;
      return [source, { since: update.sources?.[source] ?? update.since, reason }];
    }),
  );
}
