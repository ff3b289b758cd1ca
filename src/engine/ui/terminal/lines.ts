import type { Colors } from "picocolors/types.js";
import type { LoopEvent, Outcome } from "../../loop/types.js";
import { bar, count, duration, pad, timeText, truncate, width, wrap } from "./format.js";
import { putOff, stopping } from "../plain.js";
import { oneLine } from "../../lib/sanitise.js";
import { historyBox, historySummary } from "./history-lines.js";
import { type Round, roundRows } from "./searching.js";
import { forecastText, resumption, spending, spent, summary, type Tally, tokensOf, underWay } from "./tally.js";

/** All that the live lines show. */
export interface Live {
  readonly agent: string;
  /** Most iterations of this run. */
  readonly maxIterations?: number | undefined;
  readonly tally: Tally;
  /** The last line the agent said, or the tool it used. */
  readonly said: string;
  /** The sources of a search under way. */
  readonly searching?: Round | undefined;
  /** Titles of the units that are prepared, by the unit. */
  readonly preparing?: ReadonlyMap<string, string>;
  readonly waiting?: { readonly until: number; readonly reason: string } | undefined;
  /** The person pressed Ctrl+C once. */
  readonly stopping?: boolean;
  readonly over?: boolean;
}

/** A line with its colours and without, so that its width is known. */
export interface Line {
  readonly text: string;
  readonly plain: string;
}

/** The lines that are repainted: the unit, the numbers, the progress, the agent's last words. Each fits `columns`. */
export function liveLines(live: Live, now: number, columns: number, colors: Colors): Line[] {
  if (live.over === true) return [];
  const { tally, agent, maxIterations, said, waiting } = live;
  const room = columns - 1;
  const line = (plain: string, paint: (text: string) => string = (text) => text): Line => {
    const fitting = truncate(plain, room);
    return { plain: fitting, text: paint(fitting) };
  };
  const lines: Line[] = [];
  const { current, progress, forecast } = tally;
  if (waiting !== undefined) {
    lines.push(
      line(
        `Waiting until ${timeText(waiting.until, now)} (${duration(Math.max(0, waiting.until - now))}): ${oneLine(waiting.reason)}`,
        colors.yellow,
      ),
    );
  } else if (current !== undefined) {
    for (const each of underWay(tally)) lines.push(line(`${each.phase} · ${oneLine(each.title)}`, colors.bold));
  } else if (live.searching !== undefined) {
    lines.push(line(`Searching, round ${[...live.searching.values()][0]?.round ?? 1}`, colors.bold));
    for (const { text, isWrong } of roundRows(live.searching, room))
      lines.push(line(text, isWrong ? colors.yellow : colors.cyan));
  } else {
    const [title] = live.preparing?.values() ?? [];
    lines.push(line(title === undefined ? "Getting ready…" : `Preparing: ${oneLine(title)}`, colors.dim));
  }
  const run = duration(now - (tally.startedAt ?? now));
  const nth = tally.iterations + 1;
  const times = current === undefined ? run : `${duration(now - current.startedAt)} (run ${run})`;
  const numbers = [
    oneLine(agent),
    `iteration ${nth}${maxIterations === undefined ? "" : ` of ${Math.max(maxIterations, nth)}`}`,
    times,
    spent(tally),
  ];
  lines.push(line(numbers.filter((part) => part !== "").join(" · ")));
  if (progress !== undefined) {
    const { done, total } = progress;
    const label = ` ${done} of ${total}`;
    lines.push(line(`${bar(done, total, Math.min(40, Math.max(0, room - width(label))))}${label}`, colors.cyan));
  }
  if (forecast !== undefined && live.stopping !== true) lines.push(line(forecastText(forecast), colors.dim));
  if (live.stopping === true) lines.push(line(stopping(tally), colors.yellow));
  else if (said !== "" && waiting === undefined) lines.push(line(`› ${said}`, colors.dim));
  return lines;
}

/** What stays on the screen of an event; empty for most. `before` is the tally without the event, `after` the one with it. */
export function permanentLines(
  event: LoopEvent,
  before: Tally,
  after: Tally,
  columns: number,
  colors: Colors,
): string[] {
  const room = columns - 1;
  const block = (text: string, paint: (text: string) => string) =>
    wrap(oneLine(text), room - 2).map((line, index) => paint(`${index === 0 ? "" : "  "}${line}`));
  switch (event.type) {
    case "iteration-started": {
      const resumed = resumption(event, before);
      return resumed === undefined ? [] : block(`· ${resumed}`, colors.dim);
    }
    case "iteration-ended": {
      const title = underWay(before).find(({ iteration }) => iteration === event.iteration)?.title ?? event.unit;
      const tokens = tokensOf(event.usage);
      const cost = [
        duration(event.duration_seconds * 1000),
        ...(tokens === 0 ? [] : [count(tokens)]),
        ...spending(0, event.cost_usd, event.estimated),
      ];
      return endedLines(oneLine(title), event.outcome, cost.join(" · "), room, colors);
    }
    case "history-compressed":
      return historyBox(event, columns, colors);
    case "agent-changed":
      return block(`! ${event.to} continues instead of ${event.from}: ${event.reason}`, colors.yellow);
    case "notice":
      return event.level === "warning"
        ? block(`! ${event.message}`, colors.yellow)
        : block(`· ${event.message}`, colors.dim);
    case "prepared": {
      const put = putOff(event);
      return put === undefined ? [] : block(`! ${put}`, colors.yellow);
    }
    case "run-ended": {
      const { verdict, reason } = event.verdict;
      const paint = verdict === "complete" ? colors.green : verdict === "failed" ? colors.red : colors.yellow;
      const sums = after.iterations === 0 ? [] : [colors.dim(truncate(summary(after, Date.parse(event.at)), room))];
      const history = historySummary(after);
      const compressed = history === undefined ? [] : [colors.dim(truncate(history, room))];
      return [...block(`${verdict === "complete" ? "✓" : "■"} ${verdict}: ${reason}`, paint), ...sums, ...compressed];
    }
    default:
      return [];
  }
}

/** Columns below which what came of an iteration stands in a line of its own, lest it is cut. */
const narrow = 60;

/** "✓ title — summary      1m 12s · 36.1k · $0.12"; the reasons of a failure stand below it, whole. */
function endedLines(title: string, outcome: Outcome, cost: string, room: number, colors: Colors): string[] {
  const left = room - width(cost) - 2;
  if (outcome.outcome === "accepted") {
    const summary = oneLine(outcome.summary);
    if (room < narrow && left - 2 - 3 - width(summary) < 20)
      return [
        `${colors.green("✓")} ${pad(truncate(title, left - 2), left - 2)}  ${colors.dim(cost)}`,
        `    ${truncate(summary, room - 4)}`,
      ];
    // Twenty columns tell a title; the summary says what people wait for.
    const forTitle = Math.max(20, left - 2 - 3 - width(summary));
    const short = truncate(title, Math.min(forTitle, left - 2));
    const rest = truncate(summary, left - 2 - width(short) - 3);
    const text = rest === "" ? short : `${short} — ${rest}`;
    return [`${colors.green("✓")} ${pad(text, left - 2)}  ${colors.dim(cost)}`];
  }
  const why = outcome.outcome === "refused" ? `refused: ${outcome.reasons.join("; ")}` : outcome.failure.message;
  const lines = wrap(oneLine(why), room - 4);
  const shown = lines.length > 4 ? [...lines.slice(0, 3), `${lines[3]}…`] : lines;
  return [
    `${colors.red("✗")} ${pad(truncate(title, left - 2), left - 2)}  ${colors.dim(cost)}`,
    ...shown.map((line) => colors.red(`    ${line}`)),
  ];
}
