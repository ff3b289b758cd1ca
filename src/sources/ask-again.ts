import { isFailed, type Listing, type Open } from "./listing.js";
import type { Step } from "./plan.js";
import { queryText, runStep } from "./rounds.js";
import type { Query } from "./source.js";

/** Makes the rounds again in which a source failed: what was answered stands, only what was not is asked. Blocked sources are left alone. */
export async function askAgain(steps: readonly Step[], kept: readonly Listing[], open: Open, blocked: ReadonlySet<string>): Promise<Listing[]> {
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries()) {
    const its = kept.filter((listing) => listing.step === index);
    const isWorthIt = step.kind === "search" && its.some((listing) => isFailed(listing) && !blocked.has(listing.source.toLowerCase()));
    if (!isWorthIt) {
      listings.push(...its);
      continue;
    }
    for (const name of step.sources) {
      const old = its.filter(({ source }) => source === name);
      const isLeft = blocked.has(name.toLowerCase()) || !old.some(isFailed) || "unavailable" in open(name);
      listings.push(...(isLeft ? old : await runStep(index, { ...step, sources: [name] }, remembering(open, old))));
    }
  }
  return listings;
}

/** Sources that give the answers they gave, and are asked for the rest. */
const remembering =
  (open: Open, kept: readonly Listing[]): Open =>
  (name) => {
    const opened = open(name);
    if ("unavailable" in opened) return opened;
    const search = async (query: Query) => {
      const old = kept.find((listing) => listing.asked === queryText(query) && !isFailed(listing));
      if (old?.status === "ok") return { status: "ok" as const, value: old.records, ...(old.reason === undefined ? {} : { incomplete: old.reason }) };
      if (old !== undefined) return { status: "empty" as const, reason: old.reason ?? "" };
      return (await opened.source.search?.(query, opened.context)) ?? { status: "error" as const, reason: `${name} can't be searched.` };
    };
    return { ...opened, source: { ...opened.source, search } };
  };
