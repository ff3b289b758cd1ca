import type { Step } from "../generated/rrd.js";
import { isGivenUp, type Listing, listingOf, type Open, type Told } from "./result-list.js";
import { snowball } from "./snowballing.js";

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
    for (const query of step.queries) {
      const answer = (await source.search?.(query, context)) ?? {
        status: "error",
        reason: `${name} can't be searched.`,
      };
      const listing = listingOf({ step: index, source: name, asked: queryText(query) }, answer);
      listings.push(listing);
      const [done, all, givenUp] = [listings.length, step.queries.length, isGivenUp(listings)];
      told(listing, { done, all, over: givenUp || done === all });
      if (givenUp) break;
    }
    return listings;
  });
  return (await Promise.all(asking)).flat();
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
