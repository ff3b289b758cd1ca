import { type LoopMemory, sinceSummary } from "../run-record/loop-memory.js";
import { withoutNames } from "../run-record/digest.js";
import type { Observation } from "../../generated/memory.js";

/** Why something was refused or failed, how often so far, and what came of it. */
interface Lesson {
  readonly times: number;
  /** The last iteration it happened in. */
  readonly last: number;
  readonly text: string;
}

interface Counts {
  readonly first: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
}

const why = "Why results were refused or runs failed:";
const lately = "Lately:";
const before = "Before: ";

/**
 * A summary without a model: how many iterations ended how, the reasons for refusals and failures with how often each
 * occurred and what helped, and the last iterations one by one. It reads its own earlier summaries, so it can be
 * continued again and again; of one written by a model it keeps extracts. At most `maxChars` characters; the oldest
 * parts are left out first.
 */
export function extractiveSummary(
  { historySummary = "", metrics, observations, ledger }: LoopMemory,
  maxChars: number,
): string {
  const fresh = sinceSummary({ observations, metrics });
  const counts = counted(
    countsIn(historySummary) ?? { first: fresh[0]?.iteration ?? 1, accepted: 0, refused: 0, failed: 0 },
    fresh,
  );
  const lessons = learned(lessonsIn(historySummary), fresh).toSorted((a, b) => b.last - a.last);
  const foreign =
    countsIn(historySummary) === undefined
      ? historySummary.replace(/\s+/g, " ").trim()
      : (foreignIn(historySummary) ?? "");
  const phase = ledger.at(-1)?.phase;
  const head = [
    `Iterations ${counts.first} to ${Math.max(counts.first, ...observations.map(({ iteration }) => iteration))}: ${counts.accepted} accepted, ${counts.refused} refused, ${counts.failed} failed.`,
    ...(phase === undefined ? [] : [`The work is in ${phase}; the last unit was ${observations.at(-1)?.unit}.`]),
    ...(foreign === "" ? [] : [before + cut(foreign, 600)]),
  ];
  let room = maxChars - head.join("\n").length;
  const keep = (title: string, lines: readonly string[], share: number): string[] => {
    const kept: string[] = [];
    let used = title.length + 1;
    for (const line of lines) {
      used += line.length + 1;
      if (used > Math.min(share, room)) break;
      kept.push(line);
    }
    if (kept.length === 0) return [];
    room -= [title, ...kept].join("\n").length + 1;
    return [title, ...kept];
  };
  const past = keep(
    why,
    lessons.map(({ times, last, text }) => `- ${times}×, last #${last}: ${text}`),
    Math.round(room * 0.65),
  );
  const recent = keep(lately, fresh.slice(-5).toReversed().map(inOneLine), room);
  return [...head, ...past, ...recent].join("\n");
}

const inOneLine = ({ iteration, unit, outcome, said = "" }: Observation): string =>
  `- #${iteration} ${unit} ${outcome}: ${cut(said, 150)}`;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;

function countsIn(summary: string): Counts | undefined {
  const match = /^Iterations (\d+) to \d+: (\d+) accepted, (\d+) refused, (\d+) failed\./.exec(summary);
  if (match === null) return undefined;
  const [first = 1, accepted = 0, refused = 0, failed = 0] = match.slice(1).map(Number);
  return { first, accepted, refused, failed };
}

const counted = (counts: Counts, fresh: readonly Observation[]): Counts =>
  fresh.reduce((sum, { outcome }) => ({ ...sum, [outcome]: sum[outcome] + 1 }), counts);

const foreignIn = (summary: string): string | undefined =>
  summary
    .split("\n")
    .find((line) => line.startsWith(before))
    ?.slice(before.length);

function lessonsIn(summary: string): Lesson[] {
  return [...summary.matchAll(/^- (\d+)×, last #(\d+): (.+)/gm)].map(([, times, last, text = ""]) => ({
    times: Number(times),
    last: Number(last),
    text,
  }));
}

/** Adds what the fresh observations teach; the same reason in other words of the same pattern counts as the same. */
function learned(known: readonly Lesson[], fresh: readonly Observation[]): Lesson[] {
  const lessons = new Map(known.map((lesson) => [likeness(lesson.text), lesson]));
  for (const [index, { iteration, unit, outcome, failure, said = "" }] of fresh.entries()) {
    if (outcome === "accepted") continue;
    const reason = cut(`${failure ?? outcome}: ${said.split("; ")[0]!}`, 170);
    const later = fresh.slice(index + 1).find((each) => each.unit === unit && each.outcome === "accepted");
    const helped = later === undefined ? "" : ` → ${unit} was accepted in #${later.iteration}`;
    const key = likeness(reason);
    const known = lessons.get(key);
    lessons.set(key, { times: (known?.times ?? 0) + 1, last: iteration, text: reason + helped });
  }
  return [...lessons.values()];
}

/**
 * What a reason has in common with others of its kind: neither numbers, nor names in quotes or paths, nor what came of
 * it.
 */
const likeness = (text: string): string => withoutNames(text.split(" → ")[0]!);
