import type { SnowballStep } from "../generated/rrd.js";
import type { PaperRecord, ListPlace } from "../papers/paper-record.js";
import type { Answer } from "../sources/shared/source.js";
import {
  isFull,
  isGivenUp,
  type Listing,
  listingOf,
  withFullNotice,
  type Open,
  type OnListing,
} from "./result-list.js";

/** The two directions of links between papers. */
export const directions = ["references", "citations"] as const;
type Direction = (typeof directions)[number];

/** The question about a paper, in a form for people. */
export const linkQuestion = (direction: Direction, id: string): string =>
  `${direction === "references" ? "what is cited by" : "what cites"} ${id}`;

/** The papers that a record cites and that cite it, as far as snowballing found them. */
export function citationsOf(places: readonly Pick<ListPlace, "asked" | "seed">[]): {
  readonly cites: readonly string[];
  readonly cited_by: readonly string[];
} {
  const seedsWith = (direction: Direction) => [
    ...new Set(
      places.flatMap(({ asked, seed }) => (seed !== undefined && asked === linkQuestion(direction, seed) ? seed : [])),
    ),
  ];
  return { cites: seedsWith("citations"), cited_by: seedsWith("references") };
}

/** Whether a source has this kind of links. */
export const supportsDirection = (direction: Direction, opened: ReturnType<Open>): boolean =>
  !("unavailable" in opened) && opened.source[direction] !== undefined;

/** Removes works that were published before a day. Works without a date stay. */
function withoutOlderWorks(
  answer: Answer<readonly PaperRecord[]>,
  from: string | undefined,
): Answer<readonly PaperRecord[]> {
  if (from === undefined || answer.status !== "ok") return answer;
  const isInPeriod = ({ date }: PaperRecord) => date == null || date >= from.slice(0, date.length);
  return { ...answer, value: answer.value.filter(isInPeriod) };
}

/** Requests the references and citations of each seed, each from the first source that has them and answers. */
export async function snowball(
  index: number,
  step: SnowballStep,
  open: Open,
  onListing: OnListing,
): Promise<Listing[]> {
  const listings: Listing[] = [];
  const wantedDirections = step.directions ?? directions;
  const questionCount = step.seeds.length * wantedDirections.length;
  for (const seed of step.seeds) {
    for (const direction of wantedDirections) {
      for (const name of step.sources) {
        const opened = open(name);
        if ("unavailable" in opened) continue;
        const follow = opened.source[direction];
        if (follow === undefined || isGivenUp(listings.filter(({ source }) => source === name))) continue;
        const fullAnswer = await follow(seed.identifiers, step.most, opened.context, step.from);
        const isCutOff = step.update !== undefined && isFull(fullAnswer, step.most);
        const answer = withoutOlderWorks(isCutOff ? withFullNotice(fullAnswer, step.most) : fullAnswer, step.from);
        const listing = listingOf(
          { step: index, source: name, asked: linkQuestion(direction, seed.id), seed: seed.id },
          answer,
        );
        listings.push(listing);
        const sourceListings = listings.filter(({ source }) => source === name);
        onListing(listing, { done: sourceListings.length, all: questionCount, over: isGivenUp(sourceListings) });
        // An empty answer may only mean that this source has not read the reference list, so the next source is tried.
        if (answer.status === "ok") break;
      }
    }
  }
  return listings;
}
