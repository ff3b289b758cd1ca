import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import type { PhaseTiming, Rrd, Timing } from "../generated/rrd.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { kindOf, kindOfLine, kinds } from "../units/kinds.js";
import { reading } from "../units/reading/kind.js";

const phases: readonly Rrd["phase"][] = ["DISCOVERY", "ANALYSIS", "IDEATION", "COMPLETE"];

/**
 * Start, end and duration of the phases, from the lines of the ledger that still count; what a ledger does not know of
 * (a run of the original) is kept. A duration is the wall time from start to end, as the original's is, without pauses
 * of more than a day. A report or ideas that are only written again move no time: the work was done before. Nor does a
 * check.
 */
export function deriveTiming(rrd: Rrd, ledger: readonly LedgerLine[]): NonNullable<Timing> {
  const before = rrd.timing ?? {};
  const counting = validLines(ledger).filter((line) => line.outcome !== "reset");
  const made = ledger.filter((line) => line.outcome !== "reset");
  const known = new Set(counting.length === made.length ? [] : counting);
  const undone = counting.length === made.length ? [] : made.filter((line) => !known.has(line));
  const again = writtenAgain(rrd, ledger);
  const working = counting.filter((line) => !again.has(line));
  const isPast = (phase: Rrd["phase"]) => phases.indexOf(rrd.phase) > phases.indexOf(phase);
  const span = (phase: Rrd["phase"], kept: PhaseTiming | undefined) => {
    const isOf = (line: LedgerLine) => line.phase === phase;
    const [lines, taken] = [working.filter(isOf), undone.filter(isOf)];
    const last = lines.at(-1);
    if (last === undefined && taken.length === 0)
      return { started_at: null, ended_at: null, duration_seconds: null, ...kept };
    const earlier = earlierSpan(kept, ledger);
    const started_at = stillTrue(kept?.started_at, taken) ?? (lines[0] === undefined ? null : startOf(lines[0]));
    const ended_at = last !== undefined && isPast(phase) ? last.at : null;
    const duration_seconds =
      started_at === null || ended_at === null
        ? null
        : (earlier?.duration_seconds ?? 0) + wallSeconds(lines, earlier === undefined ? started_at : undefined);
    return { ...kept, started_at, ended_at, duration_seconds, ...withoutUndefined({ earlier }) };
  };
  const discovery = span("DISCOVERY", before.discovery);
  const { papers_analyzed: _count, avg_seconds_per_paper: average, ...kept } = before.analysis ?? {};
  const analysis = span("ANALYSIS", kept);
  const ideation = span("IDEATION", before.ideation);
  const spent = counting.filter(isReading);
  const read = spent.filter((line) => line.outcome === "accepted").length;
  const work = spent.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0);
  const first = beganElsewhere(rrd, ledger) ? undefined : counting[0];
  const ends = [before.complete?.ended_at, ideation.ended_at, analysis.ended_at, discovery.ended_at];
  const ended = working.findLast((line) => line.outcome === "accepted")?.at ?? ends.find((at) => at != null) ?? null;
  return {
    ...before,
    research_started_at:
      stillTrue(before.research_started_at, undone) ??
      (first === undefined ? (discovery.started_at ?? null) : startOf(first)),
    discovery,
    analysis: {
      ...analysis,
      papers_analyzed: rrd.papers_pool.filter(isDecided).length,
      avg_seconds_per_paper: read > 0 ? Math.round(work / read) : undone.some(isReading) ? null : (average ?? null),
    },
    ideation,
    complete: { ...before.complete, ended_at: rrd.phase === "COMPLETE" ? ended : null },
  };
}

/** When the work on a project was done, and by whom, for its report. */
export interface Period {
  /** YYYY-MM-DD; undefined where nobody recorded it. */
  readonly from?: string;
  readonly until?: string;
  /** What an earlier report by another program says: "January 14-15, 2026", "Research-Ralph (Claude Opus 4.5)". */
  readonly stated?: { readonly period?: string; readonly agent?: string };
  /** The day of this writing, where the report was there before and is only written again. */
  readonly writtenAgain?: string;
  /** Agents of the iterations so far, in their order. */
  readonly agents: readonly string[];
  /** Papers were read before the ledger began, by an agent that it does not know. */
  readonly beganElsewhere: boolean;
}

/** The period of the work, when a report is written at this moment. */
export function periodOf(rrd: Rrd, ledger: readonly LedgerLine[], now: Date): Period {
  const timing = deriveTiming({ ...rrd, phase: "COMPLETE" }, ledger);
  const lines = validLines(ledger).filter(({ outcome }) => outcome !== "reset");
  const today = now.toISOString().slice(0, 10);
  const isAgain = (lines.some(isAccepted("report")) || hadBefore(rrd, ledger, "report")) && !isNewWork(lines);
  const elsewhere = beganElsewhere(rrd, ledger);
  const { research_period: period, agent } = rrd.statistics?.stated ?? {};
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const stated = withoutUndefined({ period: text(period), agent: text(agent) });
  return {
    ...withoutUndefined({
      from: timing.research_started_at?.slice(0, 10) ?? (elsewhere ? undefined : today),
      until: isAgain ? timing.complete?.ended_at?.slice(0, 10) : today,
      writtenAgain: isAgain ? today : undefined,
      stated: Object.keys(stated).length === 0 ? undefined : stated,
    }),
    agents: [...new Set(lines.flatMap(({ agent: name }) => name ?? []))],
    beganElsewhere: elsewhere,
  };
}

/** "2026-01-19 to 2026-01-20", in the words of an earlier report where no time was recorded, or that none was. */
export function periodText({ from, until, stated }: Period): string {
  if (from !== undefined && until !== undefined) return from === until ? from : `${from} to ${until}`;
  if (stated?.period !== undefined) return `${stated.period} (as an earlier report states)`;
  if (from === undefined && until === undefined) return "not recorded";
  return from === undefined ? `to ${until}; its beginning was not recorded` : `from ${from}`;
}

/** Work since the last report, or since the ledger began. */
const isNewWork = (lines: readonly LedgerLine[]): boolean => {
  const last = lines.findLastIndex(isAccepted("report"));
  return lines.slice(last + 1).some((line) => isWork(line) && line.outcome === "accepted");
};

const isAccepted = (unit: string) => (line: LedgerLine) => line.unit === unit && line.outcome === "accepted";

/** Searching and reading; what is written from them, or said of that, is not. */
const isWork = (line: LedgerLine): boolean => kindOfLine(line)?.timed === undefined;

/** Whether a line is of a paper that was read. */
export const isReading = (line: LedgerLine): boolean => kindOfLine(line) === reading;

/**
 * Lines that are not the time of the work: of a report or of ideas that were there before, where nothing was searched
 * or read in between, and of checks.
 */
function writtenAgain(rrd: Rrd, ledger: readonly LedgerLine[]): ReadonlySet<LedgerLine> {
  const again = new Set<LedgerLine>();
  const writing = kinds.filter(({ timed }) => timed === "once").map(({ name }) => name);
  const done = new Set(writing.filter((unit) => hadBefore(rrd, ledger, unit)));
  for (const line of validLines(ledger)) {
    if (line.outcome === "reset") continue;
    if (kindOfLine(line)?.timed === "never") again.add(line);
    else if (isWork(line)) {
      if (line.outcome === "accepted") done.clear();
    } else if (done.has(line.unit)) again.add(line);
    else if (line.outcome === "accepted") done.add(line.unit);
  }
  return again;
}

/** Whether a report or ideas were there before the ledger began: their phase was over, or it begins by a reset. */
function hadBefore(rrd: Rrd, ledger: readonly LedgerLine[], unit: string): boolean {
  const [first] = ledger;
  if (first === undefined) return rrd.phase === "COMPLETE";
  if (first.outcome === "reset" && first.to === undefined && isWriting(first)) return true;
  const { analysis, ideation } = rrd.timing ?? {};
  return earlierSpan(kindOf({ kind: unit }).phase === "ANALYSIS" ? analysis : ideation, ledger) !== undefined;
}

const isWriting = (line: LedgerLine): boolean => !isWork(line);

type Earlier = NonNullable<PhaseTiming>["earlier"] | undefined;

/** The span of a phase that was over before the ledger began, as another program recorded it. */
function earlierSpan(kept: PhaseTiming | undefined, ledger: readonly LedgerLine[]): Earlier {
  if (kept?.earlier != null) return kept.earlier;
  const [first] = ledger;
  const { ended_at, duration_seconds } = kept ?? {};
  if (first === undefined || ended_at == null || Date.parse(ended_at) >= Date.parse(startOf(first))) return undefined;
  return { ended_at, ...(duration_seconds == null ? {} : { duration_seconds }) };
}

/** Seconds that phases took before the ledger began, as another program recorded them. */
export const secondsBefore = ({ timing }: Rrd, ledger: readonly LedgerLine[]): number =>
  [timing?.discovery, timing?.analysis, timing?.ideation]
    .map((kept) => (ledger.length === 0 ? kept : earlierSpan(kept, ledger))?.duration_seconds ?? 0)
    .reduce((sum, duration) => sum + duration, 0);

/** Whether papers were read before the ledger began, so that its first line is not when the work began. */
function beganElsewhere(rrd: Rrd, ledger: readonly LedgerLine[]): boolean {
  const [first] = ledger;
  if (first !== undefined && (first.phase === "DISCOVERY" || first.unit === "classic")) return false;
  const units = new Set(ledger.map(({ unit }) => unit));
  return rrd.papers_pool.some((paper) => isDecided(paper) && !units.has(paper.id));
}

/** Whether all of the reading was done before the ledger began, so that its lines are not the time of the work. */
export const wasReadElsewhere = (rrd: Rrd, ledger: readonly LedgerLine[]): boolean =>
  beganElsewhere(rrd, ledger) && !ledger.some((line) => line.outcome !== "reset" && isWork(line));

/** A recorded start, unless it is that of iterations which a reset has undone. */
function stillTrue(started: string | null | undefined, undone: readonly LedgerLine[]): string | null | undefined {
  const [first] = undone;
  return started == null || first === undefined || Date.parse(started) < Date.parse(startOf(first)) ? started : null;
}

/** No iteration lasts a year: a longer duration is damage to the line, and would lead out of all dates. */
const maxSeconds = 366 * 86_400;

/** Nobody works for a day between two iterations. */
const maxPause = 86_400;

const startOf = ({ at, duration_seconds: took = 0 }: LedgerLine): string =>
  new Date(Date.parse(at) - (took > maxSeconds ? 0 : took) * 1000).toISOString();

/** Seconds from a start, or that of the first line, to the end of the last one, without long pauses between them. */
function wallSeconds(lines: readonly LedgerLine[], from?: string): number {
  const began = Date.parse(from ?? "") / 1000;
  let [sum, until] = [0, Number.isNaN(began) ? undefined : began];
  for (const line of lines) {
    const [start, end] = [Date.parse(startOf(line)) / 1000, Date.parse(line.at) / 1000];
    const pause = until === undefined ? 0 : start - until;
    sum += Math.max(0, end - start + (pause > maxPause ? 0 : pause));
    until = end;
  }
  return Math.round(sum);
}
