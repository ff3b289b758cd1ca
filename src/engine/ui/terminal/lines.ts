import type { Colors } from "picocolors/types.js";
import type { LoopEvent, Outcome } from "../../loop/types.js";
import { awakeBetween, type Span } from "../../lib/clock.js";
import { clockTime, shortCount, shortDuration, timeText } from "../../lib/words.js";
import { progressBar, pad, truncate, textWidth, wrap } from "./format.js";
import { checkText, delayMessage, stopMessage } from "../plain.js";
import { oneLine } from "../../lib/sanitise.js";
import { historyBox } from "./history-lines.js";
import { type SearchRound, roundRows } from "./searching.js";
import {
  agentsText,
  doneText,
  forecastText,
  problemOf,
  shortForecastText,
  resumptionText,
  usageParts,
  usageSoFar,
  summaryText,
  type Tally,
  numberedText,
  tokensOf,
  runningIterations,
  verdictText,
} from "./tally.js";

/** Everything that the live lines show. */
export interface LiveState {
  /** The name of the project or task; empty if it has none. */
  readonly name: string;
  readonly agent: string;
  readonly isNumbered: boolean;
  /** Maximum number of iterations of this run. */
  readonly maxIterations?: number;
  readonly tally: Tally;
  /** The last line or tool call of an agent. */
  readonly lastOutput: string;
  /** The time of `lastOutput`, in milliseconds since the epoch. */
  readonly lastOutputAt: number;
  /** The sources of a search under way. */
  readonly searchRound?: SearchRound;
  /** Titles of the units in preparation, by unit. */
  readonly preparing?: ReadonlyMap<string, string>;
  /** The criterion that is checked, and the start of the check in milliseconds since the epoch. */
  readonly checking?: { readonly criterion: string; readonly since: number };
  readonly waiting?: { readonly until: number; readonly reason: string };
  /** A question that waits for the user, and the key that answers it. */
  readonly questionLine?: string;
  /** True: the user pressed Ctrl+C once. */
  readonly isStopping?: boolean;
  readonly hasEnded?: boolean;
  /** Spans in which the machine slept; this time does not count as time of the run. */
  readonly sleeps?: readonly Span[];
}

/**
 * The lines that are repainted: the name, each iteration under way with its time and tokens, the output of its agent,
 * the progress, the usage, the forecast and the keys. Each line has at most `columns` columns.
 */
export function liveLines(live: LiveState, now: number, columns: number, colors: Colors): string[] {
  if (live.hasEnded === true) return [];
  const { tally, lastOutput, waiting, checking } = live;
  const maxWidth = columns - 1;
  const line = (plain: string, applyColor: (text: string) => string = (text) => text): string =>
    applyColor(truncate(plain, maxWidth));
  /** `rightPart` is never cut; `leftPart` is cut if the line is too long. */
  const twoSidedLine = (leftPart: string, rightPart: string, applyColor: (text: string) => string): string => {
    const maxLeftWidth = maxWidth - textWidth(rightPart) - 2;
    return maxLeftWidth < 8
      ? line(leftPart, applyColor)
      : line(`${pad(truncate(leftPart, maxLeftWidth), maxLeftWidth)}  ${rightPart}`, applyColor);
  };
  const checkingLine = ({ criterion, since }: NonNullable<LiveState["checking"]>): string =>
    twoSidedLine(`Checking: ${criterion}`, shortDuration(Math.max(0, now - since)), colors.dim);
  const { progress, forecast } = tally;
  const running = runningIterations(tally);
  const lines: string[] = [];
  const phase = running.at(-1)?.phase ?? tally.phase;
  const head = [live.name, phase].map((part) => oneLine(part ?? "")).filter((part) => part !== "");
  if (head.length > 0) lines.push(twoSidedLine(head.join(" · "), clockTime(now).slice(0, 5), colors.dim));
  if (waiting !== undefined) {
    const waitText = `Waiting until ${timeText(waiting.until, now)} (${shortDuration(Math.max(0, waiting.until - now))})`;
    lines.push(line(`${waitText}: ${oneLine(waiting.reason)}`, colors.yellow));
  } else if (running.length > 0) {
    for (const { iteration, title, startedAt, tokens } of running) {
      const iterationUsage = [
        shortDuration(awakeBetween(startedAt, now, live.sleeps)),
        ...(tokens === 0 ? [] : [`${shortCount(tokens)} tokens`]),
      ].join(" · ");
      lines.push(twoSidedLine(numberedText(iteration, oneLine(title), live.isNumbered), iterationUsage, colors.bold));
    }
    const silenceMs = now - live.lastOutputAt;
    if (checking !== undefined) lines.push(checkingLine(checking));
    else if (lastOutput !== "")
      lines.push(
        silenceMs < shownSilenceMs
          ? line(`› ${lastOutput}`, colors.dim)
          : twoSidedLine(`› ${lastOutput}`, shortDuration(silenceMs), colors.dim),
      );
  } else if (checking !== undefined) {
    lines.push(checkingLine(checking));
  } else if (live.searchRound !== undefined) {
    lines.push(line(`Searching, round ${[...live.searchRound.values()][0]?.round ?? 1}`, colors.bold));
    for (const { text, isFailed } of roundRows(live.searchRound, maxWidth))
      lines.push(line(text, isFailed ? colors.yellow : colors.cyan));
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
      ` ${[doneText(progress), ...visibleParts.map(({ text }) => text)].join(" · ")}`;
    // If the counts do not all fit, counts of 0 are omitted.
    const label =
      textWidth(labelOf(parts)) <= maxWidth ? labelOf(parts) : labelOf(parts.filter(({ value }) => value > 0));
    const barWidth = Math.min(24, maxWidth - textWidth(label));
    lines.push(line(barWidth < 6 ? label.trim() : `${progressBar(done, total, barWidth)}${label}`, colors.cyan));
  }
  const lastIteration = lastAllowedIteration(live);
  const runFacts = [
    oneLine(agentsText(live.agent, tally.jobs)),
    `run ${shortDuration(awakeBetween(tally.startedAt ?? now, now, live.sleeps))}`,
    usageSoFar(tally),
    ...(lastIteration === undefined || !live.isNumbered ? [] : [`limit: #${lastIteration}`]),
  ];
  lines.push(line(runFacts.filter((part) => part !== "").join(" · ")));
  if (live.questionLine !== undefined) lines.push(line(`! ${oneLine(live.questionLine)}`, colors.yellow));
  if (live.isStopping === true)
    return [...lines, ...wrap(stopMessage(tally), maxWidth).map((text) => line(text, colors.yellow))];
  if (forecast !== undefined)
    lines.push(line(columns < 80 ? shortForecastText(forecast) : forecastText(forecast), colors.dim));
  return [...lines, line(columns < 80 ? shortKeyHelp : keyHelp, colors.dim)];
}

const keyHelp = "Ctrl+C: stop after this iteration · from another terminal: steer, stop";
const shortKeyHelp = "Ctrl+C: stop after this · elsewhere: steer, stop";

/**
 * If an agent prints nothing for so many milliseconds, the duration of its silence is shown: a tool may take long, or
 * the agent may hang.
 */
const shownSilenceMs = 10_000;

/** The number of the last iteration that this run may start; undefined if it is unknown. */
function lastAllowedIteration({ maxIterations, tally }: LiveState): number | undefined {
  const running = runningIterations(tally);
  const firstIteration = running[0]?.iteration;
  if (maxIterations === undefined || firstIteration === undefined) return undefined;
  return Math.max(firstIteration + maxIterations - tally.iterations - 1, ...running.map(({ iteration }) => iteration));
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
    isNumbered,
  }: { readonly columns: number; readonly colors: Colors; readonly verbose: boolean } & Pick<
    LiveState,
    "sleeps" | "isNumbered"
  >,
): string[] {
  const maxWidth = columns - 1;
  const wrappedLines = (text: string, applyColor: (text: string) => string) =>
    wrap(oneLine(text), maxWidth - 2).map((line, index) => applyColor(`${index === 0 ? "" : "  "}${line}`));
  switch (event.type) {
    case "iteration-started": {
      const resumeText = resumptionText(event, oldTally);
      return resumeText === undefined ? [] : wrappedLines(`· ${resumeText}`, colors.dim);
    }
    case "iteration-ended": {
      const title =
        runningIterations(oldTally).find(({ iteration }) => iteration === event.iteration)?.title ?? event.unit;
      const tokens = tokensOf(event.usage);
      const cost = [
        shortDuration(event.duration_seconds * 1000),
        ...(tokens === 0 ? [] : [shortCount(tokens)]),
        ...usageParts(0, event.cost_usd, event.estimated),
      ];
      return iterationEndLines(
        numberedText(event.iteration, oneLine(title), isNumbered),
        event.outcome,
        cost.join(" · "),
        maxWidth,
        colors,
        oldTally.problem,
      );
    }
    case "settled": {
      const summary = { outcome: "noted", summary: event.summary } as const;
      return iterationEndLines(
        numberedText(event.iteration, oneLine(event.title), isNumbered),
        summary,
        "no agent",
        maxWidth,
        colors,
      );
    }
    case "history-compressed":
      return verbose ? historyBox(event, columns, colors) : [];
    case "agent-changed":
      return wrappedLines(`! ${event.to} continues instead of ${event.from}: ${event.reason}`, colors.yellow);
    case "notice":
      return event.level === "warning"
        ? wrappedLines(`! ${event.message}`, colors.yellow)
        : wrappedLines(`· ${event.message}`, colors.dim);
    case "checked":
      return wrappedLines(
        `  ${truncate(oneLine(checkText(event)), maxWidth - 4)}`,
        event.passed ? colors.dim : colors.yellow,
      );
    case "prepared": {
      const delayText = delayMessage(event);
      return delayText === undefined ? [] : wrappedLines(`! ${delayText}`, colors.yellow);
    }
    case "run-ended": {
      const { verdict } = event.verdict;
      const applyColor = verdict === "complete" ? colors.green : verdict === "failed" ? colors.red : colors.yellow;
      const summaryLines =
        newTally.iterations + (newTally.uncounted ?? 0) === 0
          ? []
          : [colors.dim(truncate(summaryText(newTally, Date.parse(event.at), sleeps), maxWidth))];
      return [
        ...wrappedLines(`${verdict === "complete" ? "✓" : "■"} ${verdictText(event.verdict, isNumbered)}`, applyColor),
        ...summaryLines,
      ];
    }
    default:
      return [];
  }
}

/** On a terminal with fewer columns, the result of an iteration gets its own line, so that it is not cut. */
const narrowColumns = 60;

/**
 * "✓ title — summary      1m 12s · 36.1k · $0.12". After a failure, the reasons follow on their own lines, unless they
 * are equal to those of the last iteration (`lastProblem`).
 */
function iterationEndLines(
  title: string,
  outcome: Outcome,
  cost: string,
  maxWidth: number,
  colors: Colors,
  lastProblem?: string,
): string[] {
  const grade = outcome.outcome === "accepted" ? outcome.grade : undefined;
  // The colour of the summary shows the grade; the mark shows that the iteration is done.
  const applyColor = { high: colors.green, middle: colors.yellow, low: colors.dim, none: (text: string) => text }[
    grade ?? "none"
  ];
  const leftWidth = maxWidth - textWidth(cost) - 2;
  if (outcome.outcome === "accepted" || outcome.outcome === "noted") {
    const mark = outcome.outcome === "accepted" ? colors.green("✓") : colors.dim("·");
    const summary = oneLine(outcome.summary);
    if (maxWidth < narrowColumns && leftWidth - 2 - 3 - textWidth(summary) < 20)
      return [
        `${mark} ${pad(truncate(title, leftWidth - 2), leftWidth - 2)}  ${colors.dim(cost)}`,
        applyColor(`    ${truncate(summary, maxWidth - 4)}`),
      ];
    // The title keeps at least 24 columns, enough for its number; the rest is for the summary, which is more important.
    const titleWidth = Math.max(24, leftWidth - 2 - 3 - textWidth(summary));
    const shortTitle = truncate(title, Math.min(titleWidth, leftWidth - 2));
    const shortSummary = truncate(summary, leftWidth - 2 - textWidth(shortTitle) - 3);
    const text = shortSummary === "" ? shortTitle : `${shortTitle} — ${applyColor(shortSummary)}`;
    const uncoloredText = shortSummary === "" ? shortTitle : `${shortTitle} — ${shortSummary}`;
    return [`${mark} ${text}${" ".repeat(Math.max(0, leftWidth - 2 - textWidth(uncoloredText)))}  ${colors.dim(cost)}`];
  }
  const problem = problemOf(outcome) ?? "";
  const lines = wrap(problem === lastProblem ? "for the same reason" : problem, maxWidth - 4);
  const visibleLines = lines.length > 4 ? [...lines.slice(0, 3), `${lines[3]}…`] : lines;
  return [
    `${colors.red("✗")} ${pad(truncate(title, leftWidth - 2), leftWidth - 2)}  ${colors.dim(cost)}`,
    ...visibleLines.map((line) => colors.red(`    ${line}`)),
  ];
}
