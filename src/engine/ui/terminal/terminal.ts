import pc from "picocolors";
import type { LoopEvent } from "../../loop/types.js";
import type { Sink } from "../sink.js";
import { begunText } from "../plain.js";
import { wrap } from "./format.js";
import { repainter } from "./repaint.js";
import type { Io } from "../io.js";
import { type Live, liveLines, permanentLines } from "./lines.js";
import { oneLine } from "../../lib/sanitise.js";
import { roundAfter } from "./searching.js";
import { emptyTally, addToTally } from "./tally.js";
import { askOnTerminal, type Questions } from "./questions.js";
import type { Clock } from "../../lib/clock.js";

/** A tick a second keeps the elapsed times moving; more would be noise. */
const tickMs = 1000;
/** An agent may stream hundreds of events a second; people can't read more than a few paintings. */
const minimumMs = 100;

interface TerminalOptions {
  /** The project's name. */
  readonly name?: string;
  /** Each summary of the history too. */
  readonly verbose: boolean;
  readonly agent: string;
  /** Most iterations of this run. */
  readonly maxIterations?: number;
  /** What may wait for a person's yes. */
  readonly questions?: Questions;
  /** Aborted when the run ends after the iteration under way. */
  readonly finish: AbortSignal;
  readonly clock: Pick<Clock, "now" | "sleeps">;
}

/**
 * A live view on stderr: a few lines about the iteration under way, repainted in place, with one permanent line above
 * them for each iteration that ended.
 */
export function terminalSink(io: Io, options: TerminalOptions): Sink {
  const colors = pc.createColors(io.color);
  const { agent, maxIterations, name = "" } = options;
  let live: Live = { agent, maxIterations, name, tally: emptyTally, said: "", saidAt: 0 };
  const screen = repainter(io);
  let paintedAt = 0;
  const prompt =
    options.questions &&
    askOnTerminal(options.questions, io.keyboard, {
      paint: (permanent = []) =>
        paint(permanent.flatMap((line) => (line === "" ? [""] : wrap(line, Math.max(1, io.columns - 1))))),
      release: () => screen.showCursor(),
    });
  const timer = setInterval(() => {
    paint();
    void prompt?.look();
  }, tickMs);
  timer.unref();
  const onFinish = () => {
    if (options.finish.reason !== "SIGINT") return;
    live = { ...live, stopping: true };
    paint();
  };
  options.finish.addEventListener("abort", onFinish);

  function paint(permanent: readonly string[] = []): void {
    const now = options.clock.now();
    screen.paint(
      permanent,
      liveLines({ ...live, sleeps: options.clock.sleeps?.(), asking: prompt?.line() }, now, io.columns, colors),
    );
    paintedAt = now;
  }

  return {
    event(event) {
      const oldLive = live;
      const change = changesFrom(event, live);
      const saidAt = change.said === undefined ? live.saidAt : options.clock.now();
      live = { ...live, tally: addToTally(live.tally, event), ...change, saidAt };
      const permanent = permanentLines(event, oldLive.tally, live.tally, {
        columns: io.columns,
        colors,
        verbose: options.verbose,
        sleeps: options.clock.sleeps?.(),
      });
      const isChatter = (event.type === "agent" || event.type === "searching") && permanent.length === 0;
      if (!isChatter || options.clock.now() - paintedAt >= minimumMs) paint(permanent);
    },
    close() {
      clearInterval(timer);
      prompt?.close();
      options.finish.removeEventListener("abort", onFinish);
      // The live lines go; what is permanent stays.
      screen.close({ clear: true });
    },
  };
}

/** What an event changes of the live lines besides the sums. */
function changesFrom(event: LoopEvent, { searching, preparing = new Map() }: Live): Partial<Live> {
  if (event.type === "iteration-started" || event.type === "iteration-ended")
    return { waiting: undefined, searching: undefined, checking: undefined, said: "" };
  if (event.type === "checking")
    return { checking: { criterion: oneLine(event.criterion), since: Date.parse(event.at) } };
  if (event.type === "checked") return { checking: undefined };
  if (event.type === "preparing")
    return { waiting: undefined, preparing: new Map(preparing).set(event.unit, event.title) };
  if (event.type === "prepared") {
    const remaining = [...preparing].filter(([unit]) => unit !== event.unit);
    return { preparing: new Map(remaining), checking: undefined };
  }
  if (event.type === "searching") return { waiting: undefined, searching: roundAfter(searching, event) };
  if (event.type === "waiting") return { waiting: { until: Date.parse(event.until), reason: event.reason } };
  if (event.type === "run-ended") return { over: true };
  if (event.type !== "agent") return {};
  const { event: agent } = event;
  if (agent.type === "tool") return { said: oneLine(`${agent.name} ${agent.detail}`) };
  if (agent.type === "begun") return { said: oneLine(begunText(agent)) };
  const text = agent.type === "text" ? agent.text : agent.type === "notice" ? agent.message : "";
  const last = text
    .split("\n")
    .map(oneLine)
    .findLast((line) => line !== "");
  return last === undefined ? {} : { said: last };
}
