import type { Searching } from "../../generated/event.js";
import { many } from "../../lib/words.js";
import { bar, pad, truncate, width } from "./format.js";
import { oneLine, withoutSourcePrefix } from "../../lib/sanitise.js";

/**
 * What a source did just now, in one line; undefined for its start and for an end that brought nothing to tell.
 * `failures`: how many of its queries, this the last, had no answer for the same reason.
 */
function searchLine(
  { source, done, all, asked, listed = 0, reason: rawReason, failed, over }: Searching,
  failures: number,
): string | undefined {
  const reason = rawReason === undefined ? undefined : withoutSourcePrefix(source, rawReason);
  if (asked === undefined) return failed === true ? `${source} is not asked: ${reason ?? "it can't be"}` : undefined;
  const position = `${source} ${done} of ${all}`;
  if (failed !== true)
    return `${position}, ${asked}: ${many(listed, "record")}${reason === undefined ? "" : ` (${reason})`}`;
  const suffix = over === true ? "; no more queries for now" : "";
  const failureText = failures === 1 ? `, ${asked}: no answer` : `: no answer to ${failures} queries`;
  return `${position}${failureText}: ${(reason ?? "it failed").replace(/\.$/, "")}${suffix}`;
}

/**
 * The lines of a search. Queries of a source that fail one after the other for the same reason are one line, told once
 * another answer or the end of the source's round follows them.
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

/** What the sources of a round have come to, the latest of each. */
export type Round = ReadonlyMap<string, Searching>;

/** The sources of a round after one more event. */
export function roundAfter(previous: Round | undefined, event: Searching): Round {
  const isSame = previous !== undefined && [...previous.values()].every(({ round }) => round === event.round);
  return new Map(isSame ? previous : []).set(event.source, event);
}

const widestBar = 20;

/** A bar for each source of a round, or why it is not asked. Each fits `columns`. */
export function roundRows(
  round: Round,
  columns: number,
): readonly { readonly text: string; readonly isWrong: boolean }[] {
  const nameWidth = Math.min(20, Math.max(...[...round.keys()].map((name) => width(oneLine(name)))));
  return [...round.values()].map(({ source, done, all, found, over, failed, reason }) => {
    const name = pad(truncate(oneLine(source), nameWidth), nameWidth);
    const isWrong = over === true && failed === true;
    const counts = `${done} of ${all} · ${many(found, "record")}`;
    const statusText = isWrong
      ? `${done === 0 ? "not asked" : `stopped after ${done} of ${all}`}: ${oneLine(withoutSourcePrefix(source, reason ?? ""))}`
      : counts;
    const barColumns = columns - nameWidth - width(counts) - 6;
    // A question that nobody needed to ask leaves no gap in the bar of a round that is over.
    const share = over === true ? all : done;
    const barText = isWrong || barColumns < 4 ? "" : `${bar(share, all, Math.min(widestBar, barColumns))} `;
    return { text: truncate(`  ${name}  ${barText}${statusText}`, columns), isWrong };
  });
}
