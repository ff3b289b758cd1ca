import type { SearchStep, Step } from "../generated/rrd.js";
import {
  isFull,
  isGivenUp,
  type Listing,
  listingOf,
  withFullNotice,
  type Open,
  type OnListing,
} from "./result-list.js";
import { snowball } from "./snowballing.js";

/**
 * Maximum number of times that the period of an update's query is halved while the list is full: 16 periods, at most 31
 * requests. A first search needs only the best results; an update needs all new works.
 */
const maxHalvings = 4;

/** Runs a round. All sources are queried at the same time, each with one question after the other. */
export async function runStep(
  index: number,
  step: Step,
  open: Open,
  onListing: OnListing = () => undefined,
): Promise<Listing[]> {
  if (step.kind === "snowball") return await snowball(index, step, open, onListing);
  const requests = step.sources.map(async (name) => {
    const opened = open(name);
    if ("unavailable" in opened || opened.source.search === undefined) {
      const reason = "unavailable" in opened ? opened.unavailable : `${name} can't be searched.`;
      const listing = { step: index, source: name, asked: "", status: "error" as const, reason, records: [] };
      onListing(listing, { done: 0, all: step.queries.length, over: true });
      return [listing];
    }
    const { source, context } = opened;
    const search = opened.source.search.bind(source);
    const listings: Listing[] = [];
    const waitingQueries = step.queries.map((query) => ({ query, halvings: 0 }));
    for (let entry = waitingQueries.shift(); entry !== undefined; entry = waitingQueries.shift()) {
      const { query, halvings } = entry;
      const answer = await search(query, context);
      const isFullUpdate = step.update !== undefined && isFull(answer, query.most);
      const halves = isFullUpdate && halvings < maxHalvings ? halvesOf(query) : [];
      waitingQueries.unshift(...halves.map((half) => ({ query: half, halvings: halvings + 1 })));
      const reportedAnswer = isFullUpdate && halves.length === 0 ? withFullNotice(answer, query.most) : answer;
      const listing = listingOf({ step: index, source: name, asked: queryText(query) }, reportedAnswer);
      listings.push(listing);
      const [done, all, hasGivenUp] = [listings.length, listings.length + waitingQueries.length, isGivenUp(listings)];
      onListing(listing, { done, all, over: hasGivenUp || done === all });
      if (hasGivenUp) break;
    }
    return listings;
  });
  return (await Promise.all(requests)).flat();
}

type AskedQuery = SearchStep["queries"][number];

/** The query for each half of its period; empty if the period is one day or is not bounded. */
function halvesOf(query: AskedQuery): AskedQuery[] {
  const { from, until } = query;
  if (from === undefined || until === undefined || from >= until) return [];
  const days = (Date.parse(until) - Date.parse(from)) / 86_400_000;
  const dayAfter = (offset: number) => new Date(Date.parse(from) + offset * 86_400_000).toISOString().slice(0, 10);
  const middle = Math.floor(days / 2);
  return [
    { ...query, until: dayAfter(middle) },
    { ...query, from: dayAfter(middle + 1) },
  ];
}

/** A query in a form for people. */
export const queryText = ({
  terms,
  from,
  until,
}: {
  readonly terms: string;
  readonly from?: string;
  readonly until?: string;
}): string => (from === undefined && until === undefined ? terms : `${terms} (${from ?? ""} to ${until ?? ""})`);
