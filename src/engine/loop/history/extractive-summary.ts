import { type LoopMemory, observationsSinceSummary, recentTitle } from "../run-record/loop-memory.js";
import { withoutNames } from "../run-record/digest.js";
import type { Observation } from "../../generated/memory.js";

/** A reason for refusals or failures. */
interface Lesson {
  /** The number of iterations in which it occurred. */
  readonly times: number;
  /** The last iteration in which it occurred. */
  readonly last: number;
  /** The reason, and if it is known, the iteration in which the same unit was accepted. */
  readonly text: string;
}

/** The number of iterations by outcome. `first`: the first iteration that is counted. */
interface Counts {
  readonly first: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
}

const reasonsTitle = "Why results were refused or runs failed:";
const earlierPrefix = "Before: ";

/**
 * A summary that is written without a model: the number of iterations by outcome, each reason for refusals and failures
 * with its count, and the last iterations one by one. If the earlier summary was also written by this function, it is
 * parsed and continued; if a model wrote it, its beginning is kept. At most `maxChars` characters; the oldest parts are
 * omitted first.
 */
export function extractiveSummary(
  { historySummary = "", metrics, observations, ledger }: LoopMemory,
  maxChars: number,
): string {
  const newObservations = observationsSinceSummary({ observations, metrics });
  const counts = addCounts(
    countsIn(historySummary) ?? { first: newObservations[0]?.iteration ?? 1, accepted: 0, refused: 0, failed: 0 },
    newObservations,
  );
  const lessons = addLessons(lessonsIn(historySummary), newObservations).toSorted((a, b) => b.last - a.last);
  const modelText =
    countsIn(historySummary) === undefined
      ? historySummary.replace(/\s+/g, " ").trim()
      : (modelTextIn(historySummary) ?? "");
  const phase = ledger.at(-1)?.phase;
  const headLines = [
    `Iterations ${counts.first} to ${Math.max(counts.first, ...observations.map(({ iteration }) => iteration))}: ${counts.accepted} accepted, ${counts.refused} refused, ${counts.failed} failed.`,
    ...(phase === undefined ? [] : [`The work is in ${phase}; the last unit was ${observations.at(-1)?.unit}.`]),
    ...(modelText === "" ? [] : [earlierPrefix + truncate(modelText, 600)]),
  ];
  let remainingChars = maxChars - headLines.join("\n").length;
  const takeLines = (title: string, lines: readonly string[], maxChars: number): string[] => {
    const takenLines: string[] = [];
    let usedChars = title.length + 1;
    for (const line of lines) {
      usedChars += line.length + 1;
      if (usedChars > Math.min(maxChars, remainingChars)) break;
      takenLines.push(line);
    }
    if (takenLines.length === 0) return [];
    remainingChars -= [title, ...takenLines].join("\n").length + 1;
    return [title, ...takenLines];
  };
  const lessonLines = takeLines(
    reasonsTitle,
    lessons.map(({ times, last, text }) => `- ${times}×, last #${last}: ${text}`),
    Math.round(remainingChars * 0.65),
  );
  const recentLines = takeLines(
    recentTitle,
    newObservations.slice(-5).toReversed().map(observationLine),
    remainingChars,
  );
  return [...headLines, ...lessonLines, ...recentLines].join("\n");
}

const observationLine = ({ iteration, unit, outcome, said = "" }: Observation): string =>
  `- #${iteration} ${unit} ${outcome}: ${truncate(said, 150)}`;

const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).trimEnd()}…` : text;

function countsIn(summary: string): Counts | undefined {
  const match = /^Iterations (\d+) to \d+: (\d+) accepted, (\d+) refused, (\d+) failed\./.exec(summary);
  if (match === null) return undefined;
  const [first = 1, accepted = 0, refused = 0, failed = 0] = match.slice(1).map(Number);
  return { first, accepted, refused, failed };
}

const addCounts = (counts: Counts, newObservations: readonly Observation[]): Counts =>
  newObservations.reduce((sum, { outcome }) => ({ ...sum, [outcome]: sum[outcome] + 1 }), counts);

const modelTextIn = (summary: string): string | undefined =>
  summary
    .split("\n")
    .find((line) => line.startsWith(earlierPrefix))
    ?.slice(earlierPrefix.length);

function lessonsIn(summary: string): Lesson[] {
  return [...summary.matchAll(/^- (\d+)×, last #(\d+): (.+)/gm)].map(([, times, last, text = ""]) => ({
    times: Number(times),
    last: Number(last),
    text,
  }));
}

/** Adds the lessons of new observations. Two reasons that differ only in names and numbers count as the same. */
function addLessons(knownLessons: readonly Lesson[], newObservations: readonly Observation[]): Lesson[] {
  const lessons = new Map(knownLessons.map((lesson) => [commonPart(lesson.text), lesson]));
  for (const [index, { iteration, unit, outcome, failure, said = "" }] of newObservations.entries()) {
    if (outcome === "accepted") continue;
    const reason = truncate(`${failure ?? outcome}: ${said.split("; ")[0]!}`, 170);
    const acceptedLater = newObservations
      .slice(index + 1)
      .find((laterObservation) => laterObservation.unit === unit && laterObservation.outcome === "accepted");
    const remedyText = acceptedLater === undefined ? "" : ` → ${unit} was accepted in #${acceptedLater.iteration}`;
    const key = commonPart(reason);
    const knownLesson = lessons.get(key);
    lessons.set(key, { times: (knownLesson?.times ?? 0) + 1, last: iteration, text: reason + remedyText });
  }
  return [...lessons.values()];
}

/** The part of a reason that similar reasons share: without numbers, quoted names, paths and remedies. */
const commonPart = (text: string): string => withoutNames(text.split(" → ")[0]!);
