import type { PaperRecord } from "../papers/paper-record.js";
import type { Answer, Source, SourceContext } from "../sources/shared/source.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** What one request of a round brought, in the source's own order. */
export interface Listing {
  /** Index of the round. */
  readonly step: number;
  readonly source: string;
  /** What was asked, for people. */
  readonly asked: string;
  readonly status: Answer<never>["status"];
  readonly reason?: string;
  /** The same may be answered in some minutes or hours: it says nothing of the source. */
  readonly transient?: true;
  /** Beside it: nobody was there to answer. */
  readonly unreached?: true;
  readonly records: readonly PaperRecord[];
  /** Of a snowball: the paper that cites these or is cited by them. */
  readonly seed?: string;
}

/** A source that can be asked, or why it can't. */
export type Open = (
  name: string,
) => { readonly source: Source; readonly context: SourceContext } | { readonly unavailable: string };

/**
 * Told of each answer as it comes, and of each source that can't be asked. `done` and `all` count the questions to this
 * source in the round;
 * `over`: it is asked nothing more in it.
 */
export type Told = (
  listing: Listing,
  of: { readonly done: number; readonly all: number; readonly over: boolean },
) => void;

/** Failures in a row after which a source is left alone for the rest of a round. */
export const maxFailures = 3;

export const listingOf = (
  about: Pick<Listing, "step" | "source" | "asked" | "seed">,
  answer: Answer<readonly PaperRecord[]>,
): Listing => ({
  ...about,
  status: answer.status,
  ...(answer.status !== "ok"
    ? { reason: answer.reason }
    : answer.incomplete === undefined
      ? {}
      : { reason: answer.incomplete }),
  ...(answer.status === "ok" ? {} : withoutUndefined({ transient: answer.transient, unreached: answer.unreached })),
  records: answer.status === "ok" ? answer.value : [],
});

export const isFailed = ({ status }: Pick<Listing, "status">): boolean => status !== "ok" && status !== "empty";

/** Whether there may be more than was listed: as many as were wanted came, and the source counts no fewer. */
export const isFull = (answer: Answer<readonly unknown[]>, most: number): boolean =>
  answer.status === "ok" &&
  answer.value.length >= most &&
  (answer.total === undefined || answer.total > answer.value.length);

/** A full answer, with the sentence that says so. */
export const markedFull = <Value>(answer: Answer<Value>, most: number): Answer<Value> =>
  answer.status === "ok" && answer.incomplete === undefined
    ? { ...answer, incomplete: `it listed the ${most} works that were asked for, and there may be more` }
    : answer;

/** Whether a service is there and has no time: it asks to wait, fails by itself, or takes too long. */
export const isBusy = ({ transient, unreached }: { readonly transient?: true; readonly unreached?: true }): boolean =>
  transient === true && unreached !== true;

/**
 * A source that refuses or is busy is not asked again in this round, nor one that fails for the third time in a row.
 */
export function isGivenUp(listings: readonly Listing[]): boolean {
  const last = listings.at(-1);
  if (last !== undefined && (last.status === "blocked" || last.status === "rate_limited" || isBusy(last))) return true;
  return listings.length >= maxFailures && listings.slice(-maxFailures).every(({ status }) => status === "error");
}
