import type { AgentEvent, LoopEvent, Outcome } from "../loop/types.js";
import type { Sink } from "./sink.js";
import { clockTime, shortCount, shortDuration, timeText } from "../lib/words.js";
import { historyLine } from "./terminal/history-lines.js";
import type { Io } from "./io.js";
import { oneLine } from "../lib/sanitise.js";
import { createSearchFormatter, createSlowSearchFormatter } from "./terminal/searching.js";
import {
  agentsText,
  doneText,
  emptyTally,
  failureText,
  problemOf,
  shortForecastText,
  resumptionText,
  usageParts,
  summaryText,
  addToTally,
  titleOf,
  verdictText,
  tokensOf,
  type Tally,
  numberedText,
  runningIterations,
} from "./terminal/tally.js";

/**
 * Writes plain lines to stderr, for logs and pipes: one line for each important event, without escape sequences, in
 * local time. `isNumbered` as in `WatchOptions`.
 */
export function plainSink(
  io: Pick<Io, "stderr" | "clock">,
  finish: AbortSignal,
  { verbose = false, isNumbered = true }: { readonly verbose?: boolean; readonly isNumbered?: boolean } = {},
): Sink {
  let tally = emptyTally;
  /** Titles of the units in preparation, by unit. */
  const preparing = new Map<string, string>();
  /** Units whose preparation was announced. */
  const announcedUnits = new Set<string>();
  const searchFormatter = createSearchFormatter();
  const slowSearchFormatter = createSlowSearchFormatter();
  let announceTimer: NodeJS.Timeout | undefined;
  let lastFailureText = "";
  const checkAnnouncer = createCheckAnnouncer((line) =>
    io.stderr(`${clockTime(new Date(io.clock.now()).toISOString())} ${line}\n`),
  );
  // Other signals end the run at once, so the message is not needed.
  const announceStop = () => void (finish.reason === "SIGINT" && io.stderr(`${stopMessage(tally)}\n`));
  finish.addEventListener("abort", announceStop);

  /** If only preparations are under way, no other event may come for minutes (a slow host), so they are announced. */
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
      checkAnnouncer.event(event);
      if (event.type === "preparing") preparing.set(event.unit, event.title);
      if (event.type === "prepared") preparing.delete(event.unit);
      const resumeText = resumptionText(event, tally);
      if (resumeText !== undefined) io.stderr(`${clockTime(event.at)} ${resumeText}\n`);
      tally = addToTally(tally, event);
      // `checkAnnouncer` announces checks.
      if (preparing.size > 0 && runningIterations(tally).length === 0 && event.type !== "checking")
        announceTimer ??= setTimeout(announcePreparations, announceAfterMs).unref();
      else announceTimer = void clearTimeout(announceTimer);
      const lines =
        event.type === "searching"
          ? [...searchFormatter(event), ...slowSearchFormatter(event)]
          : [lineOf(event, { verbose, isNumbered, lastFailureText }) ?? []].flat();
      if (event.type === "iteration-ended" && event.outcome.outcome === "failed")
        lastFailureText = failureText(event.outcome.failure);
      for (const line of lines) io.stderr(`${clockTime(event.at)} ${oneLine(line)}\n`);
      if (event.type === "run-ended")
        io.stderr(`${clockTime(event.at)} ${summaryText(tally, Date.parse(event.at), io.clock.sleeps?.())}\n`);
    },
    close() {
      clearTimeout(announceTimer);
      checkAnnouncer.close();
      finish.removeEventListener("abort", announceStop);
    },
  };
}

/** Preparations and checks that take longer than so many milliseconds are announced. */
const announceAfterMs = 3_000;

/** Creates a sink that announces each criterion whose check takes more than a few seconds. */
export function createCheckAnnouncer(writeLine: (line: string) => void): Sink {
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => clearTimeout(timer);
  return {
    event(event) {
      // The line of a finished check names the criterion.
      if (event.type === "checked" || event.type === "run-ended") close();
      if (event.type !== "checking") return;
      close();
      timer = setTimeout(() => writeLine(oneLine(`checking: ${event.criterion}`)), announceAfterMs).unref();
    },
    close,
  };
}

/** The message after Ctrl+C. */
export const stopMessage = (tally: Tally): string =>
  runningIterations(tally).length > 0
    ? "Stopping after this iteration; press Ctrl+C again to stop at once."
    : "Stopping; no iteration is under way.";

/** Creates the sink for --quiet: it shows only warnings, and the reason if a run ended before the work is complete. */
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

/** The warning for a unit that is delayed; undefined for other units. */
export const delayMessage = ({
  title,
  outcome,
  reason,
}: Extract<LoopEvent, { type: "prepared" }>): string | undefined =>
  outcome === "later" ? `"${title}" is done later: ${reason ?? ""}` : undefined;

/**
 * The line of an event; undefined if the event has no line, or if its line depends on earlier events.
 * `lastFailureText`: the text of the line before, which a wait for the same reason does not repeat.
 */
function lineOf(
  event: LoopEvent,
  {
    verbose,
    isNumbered,
    lastFailureText,
  }: { readonly verbose: boolean; readonly isNumbered: boolean; readonly lastFailureText: string },
): string | undefined {
  const numbered = (iteration: number, text: string) => numberedText(iteration, text, isNumbered);
  switch (event.type) {
    case "run-started":
      return `${event.workflow} with ${agentsText(event.agent, event.jobs)}`;
    case "iteration-started": {
      const forecastSuffix = event.forecast === undefined ? "" : `; ${shortForecastText(event.forecast)}`;
      return numbered(
        event.iteration,
        `${event.phase}: ${titleOf(event)} (${doneText(event.progress)} done, brief of ${shortCount(event.brief_tokens)} tokens${forecastSuffix})`,
      );
    }
    case "prepared": {
      const delayText = delayMessage(event);
      return delayText === undefined ? undefined : `warning: ${delayText}`;
    }
    case "agent-changed":
      return `warning: ${event.to} continues instead of ${event.from}: ${event.reason}`;
    case "iteration-ended": {
      const cost = usageParts(tokensOf(event.usage), event.cost_usd, event.estimated);
      return numbered(
        event.iteration,
        `${outcomeText(event.outcome)} (${[shortDuration(event.duration_seconds * 1000), ...cost].join(", ")})`,
      );
    }
    case "settled":
      return numbered(event.iteration, `${event.phase}, without an agent: ${event.title}: ${event.summary}`);
    case "agent":
      if (event.event.type === "begun") return numbered(event.iteration, begunText(event.event));
      return event.event.type === "notice" ? numbered(event.iteration, event.event.message) : undefined;
    case "checked":
      return checkText(event);
    case "searching":
      return undefined;
    case "waiting":
      return event.reason === lastFailureText
        ? `waiting ${shortDuration(Date.parse(event.until) - Date.parse(event.at))}, then trying again`
        : `waiting until ${timeText(event.until, Date.parse(event.at))}: ${event.reason}`;
    case "history-compressed":
      return verbose ? historyLine(event) : undefined;
    case "notice":
      return event.level === "warning" ? `warning: ${event.message}` : event.message;
    case "run-ended":
      return verdictText(event.verdict, isNumbered);
  }
}

/** The worker and the confinement of an agent that started on another machine. */
export const begunText = ({ worker, confinement }: Extract<AgentEvent, { type: "begun" }>): string =>
  `on ${worker} (${confinement})`;

/** "✓ file_exists hello.txt", or "✗ …" with the reason. */
export const checkText = ({ criterion, passed, detail }: Extract<LoopEvent, { type: "checked" }>): string =>
  passed ? `✓ ${criterion}` : `✗ ${criterion}: ${detail}`;

/** The outcome of an iteration as text. */
function outcomeText(outcome: Outcome): string {
  if (outcome.outcome === "accepted" || outcome.outcome === "noted") return `${outcome.outcome}: ${outcome.summary}`;
  return `${outcome.outcome === "failed" ? "failed: " : ""}${problemOf(outcome) ?? ""}`;
}
