import type { Colors } from "picocolors/types.js";
import type { LoopEvent, Outcome } from "../../loop/types.js";
import { awakeBetween, type Span } from "../../lib/clock.js";
import { clockTime, count, duration, timeText } from "../../lib/words.js";
import { bar, pad, truncate, width, wrap } from "./format.js";
import { checkText, failureText, delayMessage, stopMessage } from "../plain.js";
import { oneLine } from "../../lib/sanitise.js";
import { historyBox } from "./history-lines.js";
import { type Round, roundRows } from "./searching.js";
import {
  forecastText,
  leftText,
  resumption,
  spending,
  spent,
  summary,
  type Tally,
  tokensOf,
  underWay,
} from "./tally.js";

/** All that the live lines show. */
export interface Live {
  /** The project's name; empty where it is missing. */
  readonly name: string;
  readonly agent: string;
  /** Most iterations of this run. */
  readonly maxIterations?: number;
  readonly tally: Tally;
  /** The last line the agent said, or the tool it used. */
  readonly said: string;
  /** When it did, in milliseconds since the epoch. */
  readonly saidAt: number;
  /** The sources of a search under way. */
  readonly searching?: Round;
  /** Titles of the units that are prepared, by the unit. */
  readonly preparing?: ReadonlyMap<string, string>;
  /** The criterion under check, and since when, in milliseconds since the epoch. */
  readonly checking?: { readonly criterion: string; readonly since: number };
  readonly waiting?: { readonly until: number; readonly reason: string };
  /** What waits for the person's yes, and how they say it. */
  readonly asking?: string;
  /** The person pressed Ctrl+C once. */
  readonly stopping?: boolean;
  readonly over?: boolean;
  /** When the machine slept; no time of the run went by then. */
  readonly sleeps?: readonly Span[];
}

/**
 * The lines that are repainted: what is worked on, each unit under way with its clock and tokens, what its agent does,
 * how far the whole is, what it used, what is left, and the keys. Each fits `columns`.
 */
export function liveLines(live: Live, now: number, columns: number, colors: Colors): string[] {
  if (live.over === true) return [];
  const { tally, said: lastOutput, waiting, checking } = live;
  const room = columns - 1;
  const line = (plain: string, paint: (text: string) => string = (text) => text): string =>
    paint(truncate(plain, room));
  /** `rightPart` is never cut; `leftPart` is cut if the line is too long. */
  const twoSided = (leftPart: string, rightPart: string, paint?: (text: string) => string): string => {
    const maxLeftWidth = room - width(rightPart) - 2;
    return maxLeftWidth < 8
      ? line(leftPart, paint)
      : line(`${pad(truncate(leftPart, maxLeftWidth), maxLeftWidth)}  ${rightPart}`, paint);
  };
  const checkingLine = ({ criterion, since }: NonNullable<Live["checking"]>): string =>
    twoSided(`Checking: ${criterion}`, duration(Math.max(0, now - since)), colors.dim);
  const { progress, forecast } = tally;
  const current = underWay(tally);
  const lines: string[] = [];
  const phase = current.at(-1)?.phase ?? tally.phase;
  const head = [live.name, phase].map((part) => oneLine(part ?? "")).filter((part) => part !== "");
  if (head.length > 0) lines.push(twoSided(head.join(" · "), clockTime(now).slice(0, 5), colors.dim));
  if (waiting !== undefined) {
    const until = `Waiting until ${timeText(waiting.until, now)} (${duration(Math.max(0, waiting.until - now))})`;
    lines.push(line(`${until}: ${oneLine(waiting.reason)}`, colors.yellow));
  } else if (current.length > 0) {
    for (const { iteration, title, startedAt, tokens } of current) {
      const iterationUsage = [
        duration(awakeBetween(startedAt, now, live.sleeps)),
        ...(tokens === 0 ? [] : [`${count(tokens)} tokens`]),
      ].join(" · ");
      lines.push(twoSided(`#${iteration} ${oneLine(title)}`, iterationUsage, colors.bold));
    }
    const silenceMs = now - live.saidAt;
    if (checking !== undefined) lines.push(checkingLine(checking));
    else if (lastOutput !== "")
      lines.push(
        silenceMs < quietMs
          ? line(`› ${lastOutput}`, colors.dim)
          : twoSided(`› ${lastOutput}`, duration(silenceMs), colors.dim),
      );
  } else if (checking !== undefined) {
    lines.push(checkingLine(checking));
  } else if (live.searching !== undefined) {
    lines.push(line(`Searching, round ${[...live.searching.values()][0]?.round ?? 1}`, colors.bold));
    for (const { text, isWrong } of roundRows(live.searching, room))
      lines.push(line(text, isWrong ? colors.yellow : colors.cyan));
  } else {
    const [title] = live.preparing?.values() ?? [];
    lines.push(line(title === undefined ? "Getting ready…" : `Preparing: ${oneLine(title)}`, colors.dim));
  }
  if (progress !== undefined) {
    const { done, total, counts = {} } = progress;
    const parts = Object.entries(counts).map(([name, value]) => ({
      value,
      text: `${value} ${name.replaceAll("_", " ")}`,
    }));
    const labelOf = (visibleParts: typeof parts) =>
      ` ${[`${done} of ${total}`, ...visibleParts.map(({ text }) => text)].join(" · ")}`;
    // Where not all have room, counts of 0 say the least.
    const label = width(labelOf(parts)) <= room ? labelOf(parts) : labelOf(parts.filter(({ value }) => value > 0));
    const barWidth = Math.min(24, room - width(label));
    lines.push(line(barWidth < 6 ? label.trim() : `${bar(done, total, barWidth)}${label}`, colors.cyan));
  }
  const lastIteration = lastAllowed(live);
  const numbers = [
    oneLine(live.agent),
    `run ${duration(awakeBetween(tally.startedAt ?? now, now, live.sleeps))}`,
    spent(tally),
    ...(lastIteration === undefined ? [] : [`limit #${lastIteration}`]),
  ];
  lines.push(line(numbers.filter((part) => part !== "").join(" · ")));
  if (live.asking !== undefined) lines.push(line(`! ${oneLine(live.asking)}`, colors.yellow));
  if (live.stopping === true)
    return [...lines, ...wrap(stopMessage(tally), room).map((each) => line(each, colors.yellow))];
  if (forecast !== undefined) lines.push(line(columns < 80 ? leftText(forecast) : forecastText(forecast), colors.dim));
  return [...lines, line(columns < 80 ? shortKeys : keys, colors.dim)];
}

const keys = "Ctrl+C: stop after this iteration · from another terminal: steer, pause, stop";
const shortKeys = "Ctrl+C: stop after this · elsewhere: steer, pause, stop";

/** Silence from which on it is shown, in milliseconds: a tool that takes long, or an agent that hangs. */
const quietMs = 10_000;

/** The number of the last iteration that this run may have, as far as that is known. */
function lastAllowed({ maxIterations, tally }: Live): number | undefined {
  const current = underWay(tally);
  const first = current[0]?.iteration;
  if (maxIterations === undefined || first === undefined) return undefined;
  return Math.max(first + maxIterations - tally.iterations - 1, ...current.map(({ iteration }) => iteration));
}

/**
 * The lines of an event that stay on the screen; empty for most events. `oldTally` is the tally without the event,
 * `newTally` the tally with it.
 */
export function permanentLines(
  event: LoopEvent,
  oldTally: Tally,
  newTally: Tally,
  {
    columns,
    colors,
    verbose,
    sleeps,
  }: { readonly columns: number; readonly colors: Colors; readonly verbose: boolean } & Pick<Live, "sleeps">,
): string[] {
  const room = columns - 1;
  const block = (text: string, paint: (text: string) => string) =>
    wrap(oneLine(text), room - 2).map((line, index) => paint(`${index === 0 ? "" : "  "}${line}`));
  switch (event.type) {
    case "iteration-started": {
      const resumeText = resumption(event, oldTally);
      return resumeText === undefined ? [] : block(`· ${resumeText}`, colors.dim);
    }
    case "iteration-ended": {
      const title = underWay(oldTally).find(({ iteration }) => iteration === event.iteration)?.title ?? event.unit;
      const tokens = tokensOf(event.usage);
      const cost = [
        duration(event.duration_seconds * 1000),
        ...(tokens === 0 ? [] : [count(tokens)]),
        ...spending(0, event.cost_usd, event.estimated),
      ];
      return iterationEndLines(`#${event.iteration} ${oneLine(title)}`, event.outcome, cost.join(" · "), room, colors);
    }
    case "settled": {
      const summary = { outcome: "noted", summary: event.summary } as const;
      return iterationEndLines(`#${event.iteration} ${oneLine(event.title)}`, summary, "no agent", room, colors);
    }
    case "history-compressed":
      return verbose ? historyBox(event, columns, colors) : [];
    case "agent-changed":
      return block(`! ${event.to} continues instead of ${event.from}: ${event.reason}`, colors.yellow);
    case "notice":
      return event.level === "warning"
        ? block(`! ${event.message}`, colors.yellow)
        : block(`· ${event.message}`, colors.dim);
    case "checked":
      return block(`  ${truncate(oneLine(checkText(event)), room - 4)}`, event.passed ? colors.dim : colors.yellow);
    case "prepared": {
      const delayText = delayMessage(event);
      return delayText === undefined ? [] : block(`! ${delayText}`, colors.yellow);
    }
    case "run-ended": {
      const { verdict, reason } = event.verdict;
      const paint = verdict === "complete" ? colors.green : verdict === "failed" ? colors.red : colors.yellow;
      const summaryLines =
        newTally.iterations + (newTally.free ?? 0) === 0
          ? []
          : [colors.dim(truncate(summary(newTally, Date.parse(event.at), sleeps), room))];
      return [...block(`${verdict === "complete" ? "✓" : "■"} ${verdict}: ${reason}`, paint), ...summaryLines];
    }
    default:
      return [];
  }
}

/** Columns below which what came of an iteration stands in a line of its own, so that it is not cut. */
const narrowColumns = 60;

/** "✓ title — summary      1m 12s · 36.1k · $0.12"; the reasons of a failure stand below it, whole. */
function iterationEndLines(title: string, outcome: Outcome, cost: string, room: number, colors: Colors): string[] {
  const grade = outcome.outcome === "accepted" ? outcome.grade : undefined;
  // Colours tell a unit that ended well from one that did not; the mark says that the work on it is done.
  const paint = { high: colors.green, middle: colors.yellow, low: colors.dim, none: (text: string) => text }[
    grade ?? "none"
  ];
  const leftWidth = room - width(cost) - 2;
  if (outcome.outcome === "accepted" || outcome.outcome === "noted") {
    const mark = outcome.outcome === "accepted" ? colors.green("✓") : colors.dim("·");
    const summary = oneLine(outcome.summary);
    if (room < narrowColumns && leftWidth - 2 - 3 - width(summary) < 20)
      return [
        `${mark} ${pad(truncate(title, leftWidth - 2), leftWidth - 2)}  ${colors.dim(cost)}`,
        paint(`    ${truncate(summary, room - 4)}`),
      ];
    // Twenty-four columns tell a title with its number; the summary says what people wait for.
    const titleWidth = Math.max(24, leftWidth - 2 - 3 - width(summary));
    const shortTitle = truncate(title, Math.min(titleWidth, leftWidth - 2));
    const shortSummary = truncate(summary, leftWidth - 2 - width(shortTitle) - 3);
    const text = shortSummary === "" ? shortTitle : `${shortTitle} — ${paint(shortSummary)}`;
    const plain = shortSummary === "" ? shortTitle : `${shortTitle} — ${shortSummary}`;
    return [`${mark} ${text}${" ".repeat(Math.max(0, leftWidth - 2 - width(plain)))}  ${colors.dim(cost)}`];
  }
  const reason =
    outcome.outcome === "refused" ? `refused: ${outcome.reasons.join("; ")}` : failureText(outcome.failure);
  const lines = wrap(oneLine(reason), room - 4);
  const visibleLines = lines.length > 4 ? [...lines.slice(0, 3), `${lines[3]}…`] : lines;
  return [
    `${colors.red("✗")} ${pad(truncate(title, leftWidth - 2), leftWidth - 2)}  ${colors.dim(cost)}`,
    ...visibleLines.map((line) => colors.red(`    ${line}`)),
  ];
}
