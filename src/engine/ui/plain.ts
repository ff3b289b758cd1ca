import type { AgentEvent, Failure, LoopEvent, Outcome } from "../loop/types.js";
import type { Sink } from "./sink.js";
import { clockTime, count, duration, timeText } from "../lib/words.js";
import { historyLine } from "./terminal/history-lines.js";
import type { Io } from "./io.js";
import { oneLine } from "../lib/sanitise.js";
import { searchLines } from "./terminal/searching.js";
import {
  emptyTally,
  leftText,
  resumption,
  spending,
  summary,
  addToTally,
  titleOf,
  tokensOf,
  type Tally,
  underWay,
} from "./terminal/tally.js";

/** Plain lines on stderr, for logs and pipes: one line per event worth reading, no escape sequences, local times. */
export function plainSink(io: Pick<Io, "stderr" | "clock">, finish: AbortSignal, verbose = false): Sink {
  let tally = emptyTally;
  /** Titles of the units that are prepared, by the unit, and the units whose preparation was told of. */
  const preparing = new Map<string, string>();
  const announcedUnits = new Set<string>();
  const formatSearch = searchLines();
  let announceTimer: NodeJS.Timeout | undefined;
  const checks = announceLongChecks((line) =>
    io.stderr(`${clockTime(new Date(io.clock.now()).toISOString())} ${line}\n`),
  );
  // Other signals than Ctrl+C end the run at once, or nobody is there to press it.
  const onFinish = () => void (finish.reason === "SIGINT" && io.stderr(`${stopMessage(tally)}\n`));
  finish.addEventListener("abort", onFinish);

  /** While nothing but preparations is under way nothing else is said, for minutes where a host is slow. */
  function announcePreparations(): void {
    announceTimer = undefined;
    for (const [unit, title] of preparing) {
      if (!announcedUnits.has(unit))
        io.stderr(`${clockTime(new Date(io.clock.now()).toISOString())} preparing: ${oneLine(title)}\n`);
      announcedUnits.add(unit);
    }
  }

  return {
    event(event) {
      checks.event(event);
      if (event.type === "preparing") preparing.set(event.unit, event.title);
      if (event.type === "prepared") preparing.delete(event.unit);
      const resumeText = resumption(event, tally);
      if (resumeText !== undefined) io.stderr(`${clockTime(event.at)} ${resumeText}\n`);
      tally = addToTally(tally, event);
      // A check says itself what is waited for.
      if (preparing.size > 0 && underWay(tally).length === 0 && event.type !== "checking")
        announceTimer ??= setTimeout(announcePreparations, silenceMs).unref();
      else announceTimer = void clearTimeout(announceTimer);
      const lines = event.type === "searching" ? formatSearch(event) : [lineOf(event, verbose) ?? []].flat();
      for (const line of lines) io.stderr(`${clockTime(event.at)} ${oneLine(line)}\n`);
      if (event.type === "run-ended")
        io.stderr(`${clockTime(event.at)} ${summary(tally, Date.parse(event.at), io.clock.sleeps?.())}\n`);
    },
    close() {
      clearTimeout(announceTimer);
      checks.close();
      finish.removeEventListener("abort", onFinish);
    },
  };
}

/** Milliseconds of a preparation or a check in which nobody wonders what it is. */
const silenceMs = 3_000;

/** Names a criterion whose check takes longer than a few seconds, once. */
export function announceLongChecks(say: (line: string) => void): Sink {
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => clearTimeout(timer);
  return {
    event(event) {
      // Its line names it; so does what follows where it was interrupted.
      if (event.type === "checked" || event.type === "run-ended") close();
      if (event.type !== "checking") return;
      close();
      timer = setTimeout(() => say(oneLine(`checking: ${event.criterion}`)), silenceMs).unref();
    },
    close,
  };
}

/** What a person who pressed Ctrl+C has to know. */
export const stopMessage = (tally: Tally): string =>
  underWay(tally).length > 0
    ? "Stopping after this iteration; press Ctrl+C again to stop at once."
    : "Stopping; no iteration is under way.";

/** With --quiet: only what a person has to know: warnings, and why a run ended unless it is complete. */
export const quietSink = (io: Io): Sink => ({
  event(event) {
    if (event.type === "notice" && event.level === "warning") io.stderr(`warning: ${oneLine(event.message)}\n`);
    const delayText = event.type === "prepared" ? delayMessage(event) : undefined;
    if (delayText !== undefined) io.stderr(`warning: ${oneLine(delayText)}\n`);
    if (event.type === "run-ended" && event.verdict.verdict !== "complete")
      io.stderr(`${event.verdict.verdict}: ${oneLine(event.verdict.reason)}\n`);
  },
  close() {},
});

/** What a person has to know of a unit that is put off; undefined of any other. */
export const delayMessage = ({
  title,
  outcome,
  reason,
}: Extract<LoopEvent, { type: "prepared" }>): string | undefined =>
  outcome === "later" ? `"${title}" is done later: ${reason ?? ""}` : undefined;

/** The line of an event that needs no other for it. */
function lineOf(event: LoopEvent, verbose: boolean): string | undefined {
  switch (event.type) {
    case "run-started":
      return `${event.workflow} with ${event.agent}`;
    case "iteration-started": {
      const { done, total } = event.progress;
      const forecastSuffix = event.forecast === undefined ? "" : `; ${leftText(event.forecast)}`;
      return `#${event.iteration} ${event.phase}: ${titleOf(event)} (${done} of ${total} done, brief of ${count(event.brief_tokens)} tokens${forecastSuffix})`;
    }
    case "prepared": {
      const delayText = delayMessage(event);
      return delayText === undefined ? undefined : `warning: ${delayText}`;
    }
    case "agent-changed":
      return `warning: ${event.to} continues instead of ${event.from}: ${event.reason}`;
    case "iteration-ended": {
      const cost = spending(tokensOf(event.usage), event.cost_usd, event.estimated);
      return `#${event.iteration} ${outcomeText(event.outcome)} (${[duration(event.duration_seconds * 1000), ...cost].join(", ")})`;
    }
    case "settled":
      return `#${event.iteration} ${event.phase}, without an agent: ${event.title}: ${event.summary}`;
    case "agent":
      if (event.event.type === "begun") return `#${event.iteration} ${begunText(event.event)}`;
      return event.event.type === "notice" ? `#${event.iteration} ${event.event.message}` : undefined;
    case "checked":
      return checkText(event);
    case "searching":
      return undefined;
    case "waiting":
      return `waiting until ${timeText(event.until, Date.parse(event.at))}: ${event.reason}`;
    case "history-compressed":
      return verbose ? historyLine(event) : undefined;
    case "notice":
      return event.level === "warning" ? `warning: ${event.message}` : event.message;
    case "run-ended":
      return `${event.verdict.verdict}: ${event.verdict.reason}`;
  }
}

/** Where an agent on another machine has begun, and what confines it there. */
export const begunText = ({ worker, confinement }: Extract<AgentEvent, { type: "begun" }>): string =>
  `on ${worker} (${confinement})`;

/** "✓ file_exists hello.txt", or "✗ …" with what is missing. */
export const checkText = ({ criterion, passed, detail }: Extract<LoopEvent, { type: "checked" }>): string =>
  passed ? `✓ ${criterion}` : `✗ ${criterion}: ${detail}`;

/** What became of an iteration, in words. */
function outcomeText(outcome: Outcome): string {
  if (outcome.outcome === "accepted" || outcome.outcome === "noted") return `${outcome.outcome}: ${outcome.summary}`;
  return outcome.outcome === "refused"
    ? `refused: ${outcome.reasons.join("; ")}`
    : `failed: ${failureText(outcome.failure)}`;
}

/** Why an agent failed. What to do about one that is missing stands in the verdict of the run, which says it again. */
export const failureText = ({ kind, message }: Failure): string =>
  kind === "missing" ? (message.split("; ")[0] ?? message) : message;
