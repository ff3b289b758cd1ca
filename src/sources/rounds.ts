import { isGivenUp, type Listing, listingOf, type Open, type Told } from "./listing.js";
import type { Step } from "./plan.js";
import { snowball } from "./snowball.js";

/** Asks every source of a round; the sources at the same time, each its own questions one after the other. */
export async function runStep(index: number, step: Step, open: Open, told: Told = () => undefined): Promise<Listing[]> {
  if (step.kind === "snowball") return await snowball(index, step, open, told);
  const asking = step.sources.map(async (name) => {
    const opened = open(name);
    if ("unavailable" in opened || opened.source.search === undefined) {
      const reason = "unavailable" in opened ? opened.unavailable : `${name} can't be searched.`;
      return [{ step: index, source: name, asked: "", status: "error" as const, reason, records: [] }];
    }
    const { source, context } = opened;
    const listings: Listing[] = [];
    for (const query of step.queries) {
      const answer = (await source.search?.(query, context)) ?? { status: "error", reason: `${name} can't be searched.` };
      const listing = listingOf({ step: index, source: name, asked: queryText(query) }, answer);
      listings.push(listing);
      told(listing, { done: listings.length, all: step.queries.length });
      if (isGivenUp(listings)) break;
    }
    return listings;
  });
  return (await Promise.all(asking)).flat();
}

/** What was asked, for people. */
export const queryText = ({ terms, from, until }: { readonly terms: string; readonly from?: string; readonly until?: string }): string =>
  from === undefined && until === undefined ? terms : `${terms} (${from ?? ""} to ${until ?? ""})`;
