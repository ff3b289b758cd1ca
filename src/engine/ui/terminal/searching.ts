import type { Searching } from "../../generated/event.js";
import { quantity } from "../../lib/words.js";
import { bar, lineMs, pad, truncate, textWidth, timeLeft } from "./format.js";
import { oneLine, withoutSourcePrefix } from "../../lib/sanitise.js";

/**
 * The line for an event of a source; undefined if the event only says that the source has started or ended. `failures`:
 * how many of its queries, including this one, failed one after the other for the same reason.
 */
function searchLine(
  { source, done, all, asked, listed = 0, reason: rawReason, failed, over }: Searching,
  failures: number,
): string | undefined {
  const reason = rawReason === undefined ? undefined : withoutSourcePrefix(source, rawReason);
  if (asked === undefined) return failed === true ? `${source} is not asked: ${reason ?? "it can't be"}` : undefined;
  const position = `${source} ${done} of ${all}`;
  if (failed !== true)
    return `${position}, ${asked}: ${quantity(listed, "record")}${reason === undefined ? "" : ` (${reason})`}`;
  const suffix = over === true ? "; no more queries for now" : "";
  const failureText = failures === 1 ? `, ${asked}: no answer` : `: no answer to ${failures} queries`;
  return `${position}${failureText}: ${(reason ?? "it failed").replace(/\.$/, "")}${suffix}`;
}

/**
 * Formats the events of a search. Queries of a source that fail one after the other for the same reason become one
 * line, which is returned after the next answer of the source or at the end of its round.
 */
export function searchLines(): (event: Searching) => readonly string[] {
  const openFailures = new Map<string, { readonly last: Searching; readonly count: number }>();
  return (event) => {
    const { source, round, asked, failed, reason, over } = event;
    const previous = openFailures.get(source);
    openFailures.delete(source);
    const isFailure = failed === true && asked !== undefined;
    const isSame = isFailure && previous?.last.round === round && previous.last.reason === reason;
    const count = isSame ? previous.count + 1 : 1;
    const isDelayed = isFailure && over !== true;
    if (isDelayed) openFailures.set(source, { last: event, count });
    return [
      ...(previous === undefined || isSame ? [] : [searchLine(previous.last, previous.count)]),
      ...(isDelayed ? [] : [searchLine(event, count)]),
    ].filter((line) => line !== undefined);
  };
}

/** The sources of a round, each with its newest event. */
export type SearchRound = ReadonlyMap<string, Searching & { readonly began?: string }>;

/** Adds an event to its round, or starts a new round with it. */
export function withEvent(previous: SearchRound | undefined, event: Searching): SearchRound {
  const isSame = previous !== undefined && [...previous.values()].every(({ round }) => round === event.round);
  return new Map(isSame ? previous : []).set(event.source, {
    ...event,
    began: (isSame ? previous.get(event.source)?.began : undefined) ?? event.at,
  });
}

const leftOf = ({ done, all, at, began = at }: Searching & { readonly began?: string }): string =>
  timeLeft(done, all, Date.parse(at) - Date.parse(began));

const maxBarWidth = 20;

/** A row for each source: a progress bar, or why the source is not used. Each row has at most `columns` columns. */
export function roundRows(
  round: SearchRound,
  columns: number,
): readonly { readonly text: string; readonly isWrong: boolean }[] {
  const nameWidth = Math.min(20, Math.max(...[...round.keys()].map((name) => textWidth(oneLine(name)))));
  return [...round.values()].map((event) => {
    const { source, done, all, found, over, failed, reason } = event;
    const name = pad(truncate(oneLine(source), nameWidth), nameWidth);
    const isWrong = over === true && failed === true;
    const counts = `${done} of ${all} · ${quantity(found, "record")}${over === true ? "" : leftOf(event)}`;
    const statusText = isWrong
      ? `${done === 0 ? "not asked" : `stopped after ${done} of ${all}`}: ${oneLine(withoutSourcePrefix(source, reason ?? ""))}`
      : counts;
    const barColumns = columns - nameWidth - textWidth(counts) - 6;
    // A skipped query leaves no gap in the bar of a finished source.
    const share = over === true ? all : done;
    const barText = isWrong || barColumns < 4 ? "" : `${bar(share, all, Math.min(maxBarWidth, barColumns))} `;
    return { text: truncate(`  ${name}  ${barText}${statusText}`, columns), isWrong };
  });
}

/**
 * Log lines with the progress of a slow source, such as a large folder: at most one in 15 seconds.
 */
export function slowSearchLines(): (event: Searching) => readonly string[] {
  let round: SearchRound | undefined;
  let told: number | undefined;
  return (event) => {
    round = withEvent(round, event);
    const now = Date.parse(event.at);
    told ??= now;
    const latest = round.get(event.source);
    if (latest === undefined || event.over === true || event.asked !== undefined || now - told < lineMs) return [];
    told = now;
    return [`${event.source} ${event.done} of ${event.all}${leftOf(latest)}`];
  };
}
