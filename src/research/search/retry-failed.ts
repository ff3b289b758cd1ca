import type { SnowballStep, Step } from "../generated/rrd.js";
import { isFailed, type Listing, type Open, type OnListing } from "./result-list.js";
import { queryText, runStep } from "./run-round.js";
import { supportsDirection, directions, linkQuestion } from "./snowballing.js";
import type { Answer, Query } from "../sources/shared/source.js";
import type { Identifiers, PaperRecord } from "../papers/paper-record.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** Starts a round again. Returns the observer of its answers. */
type StartRound = (index: number, step: Step) => { readonly onListing: OnListing; end(): void };

/**
 * Repeats the rounds in which a source failed. Answers stay; only failed questions are asked again. `isExcluded`:
 * sources that must not be queried. `mayRepeat`: rounds that may be repeated; the others stay unchanged.
 */
export async function retryFailed(
  steps: readonly Step[],
  earlierListings: readonly Listing[],
  open: Open,
  isExcluded: (source: string) => boolean,
  startRound: StartRound,
  mayRepeat: (step: number) => boolean,
): Promise<Listing[]> {
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries()) {
    const roundListings = earlierListings.filter((listing) => listing.step === index);
    if (!mayRepeat(index)) {
      listings.push(...roundListings);
      continue;
    }
    if (step.kind === "snowball") {
      const isRepeated = hasOpenQuestion(step, roundListings, open, isExcluded);
      listings.push(
        ...(isRepeated
          ? await runObserved(startRound, index, step, withEarlierLinks(step, open, roundListings, isExcluded))
          : roundListings),
      );
      continue;
    }
    for (const name of new Set([...step.sources, ...roundListings.map(({ source }) => source)])) {
      const sourceListings = roundListings.filter(({ source }) => source === name);
      const isUnchanged = isExcluded(name) || !sourceListings.some(isFailed) || "unavailable" in open(name);
      listings.push(
        ...(isUnchanged
          ? sourceListings
          : await runObserved(
              startRound,
              index,
              { ...step, sources: [name] },
              withEarlierAnswers(open, sourceListings),
            )),
      );
    }
  }
  return listings;
}

async function runObserved(startRound: StartRound, index: number, step: Step, open: Open): Promise<Listing[]> {
  const { onListing, end } = startRound(index, step);
  const listings = await runStep(index, step, open, onListing);
  end();
  return listings;
}

/**
 * Whether a question about a seed is unanswered and some source could answer it. A source that was given up got no
 * further questions.
 */
function hasOpenQuestion(
  step: SnowballStep,
  roundListings: readonly Listing[],
  open: Open,
  isExcluded: (name: string) => boolean,
): boolean {
  return step.seeds.some(({ id }) =>
    directions.some((direction) => {
      const answers = roundListings.filter(({ asked }) => asked === linkQuestion(direction, id));
      if (answers.some(({ status }) => status === "ok")) return false;
      const sources = step.sources.filter((name) => !isExcluded(name) && supportsDirection(direction, open(name)));
      return sources.some((name) => !answers.some((listing) => listing.source === name && !isFailed(listing)));
    }),
  );
}

const answerOf = ({ status, records, reason }: Listing): Answer<readonly PaperRecord[]> =>
  status === "ok"
    ? { status, value: records, ...withoutUndefined({ incomplete: reason }) }
    : { status, reason: reason ?? "" };

/** Opens sources that return their earlier answers, and are queried only for the rest. */
const withEarlierAnswers =
  (open: Open, earlierListings: readonly Listing[]): Open =>
  (name) => {
    const opened = open(name);
    if ("unavailable" in opened || opened.source.search === undefined) return opened;
    const ask = opened.source.search.bind(opened.source);
    const search = async (query: Query) => {
      const listing = earlierListings.find((listing) => listing.asked === queryText(query) && !isFailed(listing));
      return listing === undefined ? await ask(query, opened.context) : answerOf(listing);
    };
    return { ...opened, source: { ...opened.source, search } };
  };

/** Like `withEarlierAnswers`, for references and citations. An excluded source also returns its earlier failures. */
const withEarlierLinks =
  (step: SnowballStep, open: Open, earlierListings: readonly Listing[], isExcluded: (name: string) => boolean): Open =>
  (name) => {
    const opened = open(name);
    if ("unavailable" in opened) return opened;
    const { references: _, citations: __, ...source } = opened.source;
    const links = directions.flatMap((direction) => {
      const ask = opened.source[direction];
      if (ask === undefined) return [];
      const follow = async (
        work: Identifiers,
        maxRecords: number,
        _: unknown,
        from?: string,
      ): Promise<Answer<readonly PaperRecord[]>> => {
        const seed = step.seeds.find(({ identifiers }) => identifiers === work);
        const listing = earlierListings.find(
          (listing) => listing.source === name && listing.asked === linkQuestion(direction, seed?.id ?? ""),
        );
        if (listing !== undefined && (isExcluded(name) || !isFailed(listing))) return answerOf(listing);
        return isExcluded(name)
          ? { status: "blocked", reason: `${name} is left alone.` }
          : await ask(work, maxRecords, opened.context, from);
      };
      return [[direction, follow] as const];
    });
    return { ...opened, source: { ...source, ...Object.fromEntries(links) } };
  };
