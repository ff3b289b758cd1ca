import type { PaperRecord } from "../papers/paper-record.js";
import type { Answer, Source, SourceContext } from "../sources/shared/source.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** The result of one request in a round, in the order of the source. */
export interface Listing {
  /** Index of the round. */
  readonly step: number;
  readonly source: string;
  /** The query in a form for people. */
  readonly asked: string;
  readonly status: Answer<never>["status"];
  readonly reason?: string;
  /** Set if the same request may succeed some minutes or hours later. */
  readonly transient?: true;
  /** Set with `transient` if the service could not be reached. */
  readonly unreached?: true;
  readonly records: readonly PaperRecord[];
  /** In a snowball step: the paper that these works cite or are cited by. */
  readonly seed?: string;
}

/** Opens a source by name, or gives the reason why it can't be queried. */
export type Open = (
  name: string,
) => { readonly source: Source; readonly context: SourceContext } | { readonly unavailable: string };

/**
 * Called after each answer, and for each source that can't be queried. `done` and `all` count the questions to this
 * source in the round. `over`: the source gets no more questions in this round.
 */
export type OnListing = (
  listing: Listing,
  of: { readonly done: number; readonly all: number; readonly over: boolean },
) => void;

/** After this many failures in a row, a source gets no more questions in the round. */
const maxFailures = 3;

export const listingOf = (
  origin: Pick<Listing, "step" | "source" | "asked" | "seed">,
  answer: Answer<readonly PaperRecord[]>,
): Listing => ({
  ...origin,
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

/**
 * Whether there may be more results: the answer has the maximum number of works, and the source does not say that these
 * are all.
 */
export const isFull = (answer: Answer<readonly unknown[]>, maxWorks: number): boolean =>
  answer.status === "ok" &&
  answer.value.length >= maxWorks &&
  (answer.total === undefined || answer.total > answer.value.length);

/** A full answer with a sentence that says so. */
export const withFullNotice = <Value>(answer: Answer<Value>, maxWorks: number): Answer<Value> =>
  answer.status === "ok" && answer.incomplete === undefined
    ? { ...answer, incomplete: `it listed the ${maxWorks} works that were asked for, and there may be more` }
    : answer;

/** Whether a service was reached but is busy: it asks to wait, reports an internal error, or takes too long. */
export const isBusy = ({ transient, unreached }: { readonly transient?: true; readonly unreached?: true }): boolean =>
  transient === true && unreached !== true;

/** Whether a source gets no more questions in this round: it refuses, is busy, or has failed three times in a row. */
export function isGivenUp(listings: readonly Listing[]): boolean {
  const last = listings.at(-1);
  if (last !== undefined && (last.status === "blocked" || last.status === "rate_limited" || isBusy(last))) return true;
  return listings.length >= maxFailures && listings.slice(-maxFailures).every(({ status }) => status === "error");
}
