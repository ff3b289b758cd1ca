import type { SearchStep, Step } from "../generated/rrd.js";
import { isFull, isGivenUp, type Listing, listingOf, markedFull, type Open, type Told } from "./result-list.js";
import { snowball } from "./snowballing.js";

/**
 * So often the period of an update's query is halved, as long as it brings as many works as were asked for: 16 periods
 * and 31 requests at most. The first search wants the best of each list; an update wants all that came.
 */
const maxHalvings = 4;

/** Asks every source of a round; the sources at the same time, each its own questions one after the other. */
export async function runStep(index: number, step: Step, open: Open, told: Told = () => undefined): Promise<Listing[]> {
  if (step.kind === "snowball") return await snowball(index, step, open, told);
  const asking = step.sources.map(async (name) => {
    const opened = open(name);
    if ("unavailable" in opened || opened.source.search === undefined) {
      const reason = "unavailable" in opened ? opened.unavailable : `${name} can't be searched.`;
      const listing = { step: index, source: name, asked: "", status: "error" as const, reason, records: [] };
      told(listing, { done: 0, all: step.queries.length, over: true });
      return [listing];
    }
    const { source, context } = opened;
    const listings: Listing[] = [];
    const left = step.queries.map((query) => ({ query, halvings: 0 }));
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { query, halvings } = next;
      const answer = (await source.search?.(query, context)) ?? {
        status: "error" as const,
        reason: `${name} can't be searched.`,
      };
      const full = step.update !== undefined && isFull(answer, query.most);
      const halves = full && halvings < maxHalvings ? halvesOf(query) : [];
      left.unshift(...halves.map((half) => ({ query: half, halvings: halvings + 1 })));
      const said = full && halves.length === 0 ? markedFull(answer, query.most) : answer;
      const listing = listingOf({ step: index, source: name, asked: queryText(query) }, said);
      listings.push(listing);
      const [done, all, givenUp] = [listings.length, listings.length + left.length, isGivenUp(listings)];
      told(listing, { done, all, over: givenUp || done === all });
      if (givenUp) break;
    }
    return listings;
  });
  return (await Promise.all(asking)).flat();
}

type AskedQuery = SearchStep["queries"][number];

/** The query for each half of its period; none where that is a day, or has no beginning or end. */
function halvesOf(query: AskedQuery): AskedQuery[] {
  const { from, until } = query;
  if (from === undefined || until === undefined || from >= until) return [];
  const days = (Date.parse(until) - Date.parse(from)) / 86_400_000;
  const dayAfter = (some: number) => new Date(Date.parse(from) + some * 86_400_000).toISOString().slice(0, 10);
  const middle = Math.floor(days / 2);
  return [
    { ...query, until: dayAfter(middle) },
    { ...query, from: dayAfter(middle + 1) },
  ];
}

/** What was asked, for people. */
export const queryText = ({
  terms,
  from,
  until,
}: {
  readonly terms: string;
  readonly from?: string;
  readonly until?: string;
}): string => (from === undefined && until === undefined ? terms : `${terms} (${from ?? ""} to ${until ?? ""})`);
