import type { SnowballStep } from "../generated/rrd.js";
import type { PaperRecord, ListPlace } from "../papers/paper-record.js";
import type { Answer } from "../sources/shared/source.js";
import { isFull, isGivenUp, type Listing, listingOf, markedFull, type Open, type Told } from "./result-list.js";

/** Both ways that lead from a paper to others. */
export const directions = ["references", "citations"] as const;
type Direction = (typeof directions)[number];

/** What was asked of a paper, for people. */
export const followed = (direction: Direction, id: string): string =>
  `${direction === "references" ? "what is cited by" : "what cites"} ${id}`;

/** The papers that snowballing says a record cites, and those that cite it. */
export function citationsOf(places: readonly Pick<ListPlace, "asked" | "seed">[]): {
  readonly cites: readonly string[];
  readonly cited_by: readonly string[];
} {
  const from = (direction: Direction) => [
    ...new Set(
      places.flatMap(({ asked, seed }) => (seed !== undefined && asked === followed(direction, seed) ? seed : [])),
    ),
  ];
  return { cites: from("citations"), cited_by: from("references") };
}

/** Whether a source knows references or citations at all. */
export const asksFor = (direction: Direction, opened: ReturnType<Open>): boolean =>
  !("unavailable" in opened) && opened.source[direction] !== undefined;

/** An answer without what was published before a day. What has no day stays. */
function since(answer: Answer<readonly PaperRecord[]>, from: string | undefined): Answer<readonly PaperRecord[]> {
  if (from === undefined || answer.status !== "ok") return answer;
  const isIn = ({ date }: PaperRecord) => date == null || date >= from.slice(0, date.length);
  return { ...answer, value: answer.value.filter(isIn) };
}

/** Follows what each seed cites and what cites it, each with the first source of the round that can and answers. */
export async function snowball(index: number, step: SnowballStep, open: Open, told: Told): Promise<Listing[]> {
  const listings: Listing[] = [];
  const wanted = step.directions ?? directions;
  const questions = step.seeds.length * wanted.length;
  for (const seed of step.seeds) {
    for (const direction of wanted) {
      for (const name of step.sources) {
        const opened = open(name);
        if ("unavailable" in opened) continue;
        const follow = opened.source[direction];
        if (follow === undefined || isGivenUp(listings.filter(({ source }) => source === name))) continue;
        const all = await follow(seed.identifiers, step.most, opened.context, step.from);
        const isShort = step.update !== undefined && isFull(all, step.most);
        const answer = since(isShort ? markedFull(all, step.most) : all, step.from);
        const listing = listingOf(
          { step: index, source: name, asked: followed(direction, seed.id), seed: seed.id },
          answer,
        );
        listings.push(listing);
        const own = listings.filter(({ source }) => source === name);
        told(listing, { done: own.length, all: questions, over: isGivenUp(own) });
        // "Knows none" may only mean that this source has not read the reference list.
        if (answer.status === "ok") break;
      }
    }
  }
  return listings;
}
