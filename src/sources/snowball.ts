import type { Step } from "./plan.js";
import { isGivenUp, type Listing, listingOf, type Open, type Told } from "./listing.js";
import type { Source } from "./source.js";

/** Follows what each seed cites and what cites it, each with the first source of the round that can and answers. */
export async function snowball(index: number, step: Extract<Step, { kind: "snowball" }>, open: Open, told: Told): Promise<Listing[]> {
  const listings: Listing[] = [];
  const all = step.seeds.length * 2;
  for (const seed of step.seeds) {
    for (const direction of ["references", "citations"] as const) {
      for (const name of step.sources) {
        const opened = open(name);
        if ("unavailable" in opened || opened.source[direction] === undefined) continue;
        if (isGivenUp(listings.filter(({ source }) => source === name))) continue;
        const answer = await (opened.source[direction] as Follow)(seed.identifiers, step.most, opened.context);
        const asked = `${direction === "references" ? "what is cited by" : "what cites"} ${seed.id}`;
        const listing = listingOf({ step: index, source: name, asked, seed: seed.id }, answer);
        listings.push(listing);
        const own = listings.filter(({ source }) => source === name);
        told(listing, { done: own.length, all, over: isGivenUp(own) });
        // "Knows none" may only mean that this source has not read the reference list.
        if (answer.status === "ok") break;
      }
    }
  }
  return listings;
}

type Follow = NonNullable<Source["references"]>;
