import type { Searching } from "../../generated/event.js";
import { bar, many, pad, truncate, width } from "./format.js";
import { oneLine, behindName } from "../../lib/sanitise.js";

/** What a source did just now, in one line; undefined for its start and for an end that brought nothing to tell. */
export function searchLine({
  source,
  done,
  all,
  asked,
  listed = 0,
  reason: why,
  failed,
  over,
}: Searching): string | undefined {
  const reason = why === undefined ? undefined : behindName(source, why);
  if (asked === undefined) return failed === true ? `${source} is not asked: ${reason ?? "it can't be"}` : undefined;
  const came =
    failed === true
      ? `no answer: ${reason ?? "it failed"}`
      : `${many(listed, "record")}${reason === undefined ? "" : ` (${reason})`}`;
  const left = over === true && failed === true ? "; no more queries for now" : "";
  return `${source} ${done} of ${all}, ${asked}: ${came.replace(/\.$/, "")}${left}`;
}

/** What the sources of a round have come to, the latest of each. */
export type Round = ReadonlyMap<string, Searching>;

/** The sources of a round after one more event. */
export function roundAfter(before: Round | undefined, event: Searching): Round {
  const isSame = before !== undefined && [...before.values()].every(({ round }) => round === event.round);
  return new Map(isSame ? before : []).set(event.source, event);
}

const widestBar = 20;

/** A bar for each source of a round, or why it is not asked. Each fits `columns`. */
export function roundRows(
  round: Round,
  columns: number,
): readonly { readonly text: string; readonly isWrong: boolean }[] {
  const names = Math.min(20, Math.max(...[...round.keys()].map((name) => width(oneLine(name)))));
  return [...round.values()].map(({ source, done, all, found, over, failed, reason }) => {
    const name = pad(truncate(oneLine(source), names), names);
    const isWrong = over === true && failed === true;
    const counts = `${done} of ${all} · ${many(found, "record")}`;
    const said = isWrong
      ? `${done === 0 ? "not asked" : `stopped after ${done} of ${all}`}: ${oneLine(behindName(source, reason ?? ""))}`
      : counts;
    const room = columns - names - width(counts) - 6;
    // A question that nobody needed to ask leaves no gap in the bar of a round that is over.
    const share = over === true ? all : done;
    const drawn = isWrong || room < 4 ? "" : `${bar(share, all, Math.min(widestBar, room))} `;
    return { text: truncate(`  ${name}  ${drawn}${said}`, columns), isWrong };
  });
}
