import pc from "picocolors";
import type { LoopEvent } from "../../loop/types.js";
import type { Sink } from "../sink.js";
import { begunText } from "../plain.js";
import { wrap } from "./format.js";
import { createRepainter } from "./repaint.js";
import type { Io } from "../io.js";
import { type LiveState, liveLines, permanentLines } from "./lines.js";
import { oneLine } from "../../lib/sanitise.js";
import { withEvent } from "./searching.js";
import { emptyTally, addToTally } from "./tally.js";
import { askOnTerminal, type Questions } from "./questions.js";
import type { Clock } from "../../lib/clock.js";

/** Interval of repaints that update the elapsed times, in milliseconds. */
const tickMs = 1000;
/** Minimum time between two repaints, in milliseconds: an agent may send hundreds of events in a second. */
const minRepaintMs = 100;

interface TerminalOptions {
  /** The name of the project or task. */
  readonly name?: string;
  /** As in `WatchOptions`. */
  readonly isNumbered?: boolean;
  /** Whether each summary of the history is shown too. */
  readonly verbose: boolean;
  readonly agent: string;
  /** Maximum number of iterations of this run. */
  readonly maxIterations?: number;
  /** Finds questions that wait for the user. */
  readonly questions?: Questions;
  /** Aborted if the run ends after the current iteration. */
  readonly finish: AbortSignal;
  readonly clock: Pick<Clock, "now" | "sleeps">;
}

/**
 * Creates a live view on stderr: a few lines about the iterations under way, which are repainted, and above them a
 * permanent line for each iteration that has ended.
 */
export function terminalSink(io: Io, options: TerminalOptions): Sink {
  const colors = pc.createColors(io.color);
  const { agent, maxIterations, name = "", isNumbered = true } = options;
  let live: LiveState = { agent, isNumbered, maxIterations, name, tally: emptyTally, lastOutput: "", lastOutputAt: 0 };
  const screen = createRepainter(io);
  let paintedAt = 0;
  const prompt =
    options.questions &&
    askOnTerminal(options.questions, io.keyboard, {
      paint: (permanent = []) =>
        paint(permanent.flatMap((line) => (line === "" ? [""] : wrap(line, Math.max(1, io.columns - 1))))),
      showCursor: () => screen.showCursor(),
    });
  const timer = setInterval(() => {
    paint();
    void prompt?.update();
  }, tickMs);
  timer.unref();
  const onFinish = () => {
    if (options.finish.reason !== "SIGINT") return;
    live = { ...live, isStopping: true };
    paint();
  };
  options.finish.addEventListener("abort", onFinish);

  function paint(permanent: readonly string[] = []): void {
    const now = options.clock.now();
    screen.paint(
      permanent,
      liveLines({ ...live, sleeps: options.clock.sleeps?.(), questionLine: prompt?.line() }, now, io.columns, colors),
    );
    paintedAt = now;
  }

  return {
    event(event) {
      const oldLive = live;
      const changes = changesFrom(event, live);
      const lastOutputAt = changes.lastOutput === undefined ? live.lastOutputAt : options.clock.now();
      live = { ...live, tally: addToTally(live.tally, event), ...changes, lastOutputAt };
      const permanent = permanentLines(event, oldLive.tally, live.tally, {
        columns: io.columns,
        colors,
        verbose: options.verbose,
        isNumbered,
        sleeps: options.clock.sleeps?.(),
      });
      const isFrequent = (event.type === "agent" || event.type === "searching") && permanent.length === 0;
      if (!isFrequent || options.clock.now() - paintedAt >= minRepaintMs) paint(permanent);
    },
    close() {
      clearInterval(timer);
      prompt?.close();
      options.finish.removeEventListener("abort", onFinish);
      // The live lines are removed; permanent lines stay.
      screen.close({ clear: true });
    },
  };
}

/** The fields of the live state that an event changes, except the tally. */
function changesFrom(event: LoopEvent, { searchRound, preparing = new Map() }: LiveState): Partial<LiveState> {
  if (event.type === "iteration-started" || event.type === "iteration-ended")
    return { waiting: undefined, searchRound: undefined, checking: undefined, lastOutput: "" };
  if (event.type === "checking")
    return { checking: { criterion: oneLine(event.criterion), since: Date.parse(event.at) } };
  if (event.type === "checked") return { checking: undefined };
  if (event.type === "preparing")
    return { waiting: undefined, preparing: new Map(preparing).set(event.unit, event.title) };
  if (event.type === "prepared") {
    const otherTitles = [...preparing].filter(([unit]) => unit !== event.unit);
    return { preparing: new Map(otherTitles), checking: undefined };
  }
  if (event.type === "searching") return { waiting: undefined, searchRound: withEvent(searchRound, event) };
  if (event.type === "waiting") return { waiting: { until: Date.parse(event.until), reason: event.reason } };
  if (event.type === "run-ended") return { hasEnded: true };
  if (event.type !== "agent") return {};
  const { event: agent } = event;
  if (agent.type === "tool") return { lastOutput: oneLine(`${agent.name} ${agent.detail}`) };
  if (agent.type === "begun") return { lastOutput: oneLine(begunText(agent)) };
  const text = agent.type === "text" ? agent.text : agent.type === "notice" ? agent.message : "";
  const lastLine = text
    .split("\n")
    .map(oneLine)
    .findLast((line) => line !== "");
  return lastLine === undefined ? {} : { lastOutput: lastLine };
}
