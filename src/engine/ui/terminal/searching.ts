import type { Searching } from "../../generated/event.js";
import { quantity } from "../../lib/words.js";
import { progressBar, logIntervalMs, pad, truncate, textWidth, timeLeftText } from "./format.js";
import { oneLine, withoutSourcePrefix } from "../../lib/sanitise.js";

/**
 * The line for an event of a source; undefined if the event only says that the source has started or ended.
 * `failureCount`: how many queries of the source, including this one, failed one after the other for the same reason.
 */
function searchLine(
  { source, done, all, asked: query, listed: recordCount = 0, reason: rawReason, failed, over: isFinished }: Searching,
  failureCount: number,
): string | undefined {
  const reason = rawReason === undefined ? undefined : withoutSourcePrefix(source, rawReason);
  if (query === undefined) return failed === true ? `${source} is not asked: ${reason ?? "it can't be"}` : undefined;
  const position = `${source} ${done} of ${all}`;
  if (failed !== true)
    return `${position}, ${query}: ${quantity(recordCount, "record")}${reason === undefined ? "" : ` (${reason})`}`;
  const suffix = isFinished === true ? "; no more queries for now" : "";
  const failureText = failureCount === 1 ? `, ${query}: no answer` : `: no answer to ${failureCount} queries`;
  return `${position}${failureText}: ${(reason ?? "it failed").replace(/\.$/, "")}${suffix}`;
}

/**
 * Creates a function that formats the events of a search. Queries of a source that fail one after the other for the
 * same reason become one line, which is returned after the next answer of the source or at the end of its round. A
 * failure for a reason that was told before is not told again.
 */
export function createSearchFormatter(): (event: Searching) => readonly string[] {
  const openFailures = new Map<string, { readonly last: Searching; readonly count: number }>();
  const told = new Set<string>();
  const lineOnce = (event: Searching, count: number): string | undefined => {
    if (event.failed !== true) return searchLine(event, count);
    const cause = `${event.source}\n${event.reason}`;
    return told.has(cause) ? undefined : (told.add(cause), searchLine(event, count));
  };
  return (event) => {
    const { source, round, asked: query, failed, reason, over: isFinished } = event;
    const previous = openFailures.get(source);
    openFailures.delete(source);
    const isFailure = failed === true && query !== undefined;
    const isRepeated = isFailure && previous?.last.round === round && previous.last.reason === reason;
    const count = isRepeated ? previous.count + 1 : 1;
    const isDelayed = isFailure && isFinished !== true;
    if (isDelayed) openFailures.set(source, { last: event, count });
    return [
      ...(previous === undefined || isRepeated ? [] : [lineOnce(previous.last, previous.count)]),
      ...(isDelayed ? [] : [lineOnce(event, count)]),
    ].filter((line) => line !== undefined);
  };
}

/** The sources of a round, each with its newest event. */
export type SearchRound = ReadonlyMap<string, Searching & { readonly startedAt?: string }>;

/** Adds an event to its round, or starts a new round with it. */
export function withEvent(previous: SearchRound | undefined, event: Searching): SearchRound {
  const isSameRound = previous !== undefined && [...previous.values()].every(({ round }) => round === event.round);
  return new Map(isSameRound ? previous : []).set(event.source, {
    ...event,
    startedAt: (isSameRound ? previous.get(event.source)?.startedAt : undefined) ?? event.at,
  });
}

const timeLeftOf = ({ done, all, at, startedAt = at }: Searching & { readonly startedAt?: string }): string =>
  timeLeftText(done, all, Date.parse(at) - Date.parse(startedAt));

const maxBarWidth = 20;

/** A row for each source: a progress bar, or why the source is not used. Each row has at most `columns` columns. */
export function roundRows(
  round: SearchRound,
  columns: number,
): readonly { readonly text: string; readonly isFailed: boolean }[] {
  const nameWidth = Math.min(20, Math.max(...[...round.keys()].map((name) => textWidth(oneLine(name)))));
  return [...round.values()].map((event) => {
    const { source, done, all, found, over: isFinished, failed, reason } = event;
    const name = pad(truncate(oneLine(source), nameWidth), nameWidth);
    const isFailed = isFinished === true && failed === true;
    const counts = `${done} of ${all} · ${quantity(found, "record")}${isFinished === true ? "" : timeLeftOf(event)}`;
    const statusText = isFailed
      ? `${done === 0 ? "not asked" : `stopped after ${done} of ${all}`}: ${oneLine(withoutSourcePrefix(source, reason ?? ""))}`
      : counts;
    const barColumns = columns - nameWidth - textWidth(counts) - 6;
    // The bar of a finished source is full, even if queries were skipped.
    const doneInBar = isFinished === true ? all : done;
    const barText =
      isFailed || barColumns < 4 ? "" : `${progressBar(doneInBar, all, Math.min(maxBarWidth, barColumns))} `;
    return { text: truncate(`  ${name}  ${barText}${statusText}`, columns), isFailed };
  });
}

/**
 * Creates a function that returns log lines with the progress of a slow source, such as a large folder: at most one
 * line in 15 seconds.
 */
export function createSlowSearchFormatter(): (event: Searching) => readonly string[] {
  let round: SearchRound | undefined;
  let lastLineAt: number | undefined;
  return (event) => {
    round = withEvent(round, event);
    const now = Date.parse(event.at);
    lastLineAt ??= now;
    const latest = round.get(event.source);
    if (latest === undefined || event.over === true || event.asked !== undefined || now - lastLineAt < logIntervalMs)
      return [];
    lastLineAt = now;
    return [`${event.source} ${event.done} of ${event.all}${timeLeftOf(latest)}`];
  };
}
