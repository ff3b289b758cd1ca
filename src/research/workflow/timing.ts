import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { validLines } from "../../engine/storage/state/ledger.js";
import type { PhaseTiming, Rrd, Timing } from "../generated/rrd.js";
import { isDecided } from "../papers/rubric/rubric.js";
import { kindOf, kindOfLine, kinds } from "../units/kinds.js";
import { reading } from "../units/reading/kind.js";

const phases: readonly Rrd["phase"][] = ["DISCOVERY", "ANALYSIS", "IDEATION", "COMPLETE"];

/**
 * Start, end and duration of the phases, from the valid lines of the ledger. Values that the ledger can't contain, such
 * as those of a run of the original tool, are kept. A duration is the wall time from start to end without pauses of
 * more than a day. Writing a report or ideas again does not change times, because the work was done before; nor does a
 * check.
 */
export function deriveTiming(rrd: Rrd, ledger: readonly LedgerLine[]): NonNullable<Timing> {
  const recordedTiming = rrd.timing ?? {};
  const validWork = validLines(ledger).filter((line) => line.outcome !== "reset");
  const allWork = ledger.filter((line) => line.outcome !== "reset");
  const validSet = new Set(validWork.length === allWork.length ? [] : validWork);
  const resetLines = validWork.length === allWork.length ? [] : allWork.filter((line) => !validSet.has(line));
  const untimed = untimedLines(rrd, ledger);
  const timedLines = validWork.filter((line) => !untimed.has(line));
  const isPast = (phase: Rrd["phase"]) => phases.indexOf(rrd.phase) > phases.indexOf(phase);
  const span = (phase: Rrd["phase"], recorded: PhaseTiming | undefined) => {
    const isOfPhase = (line: LedgerLine) => line.phase === phase;
    const [lines, resetLinesOfPhase] = [timedLines.filter(isOfPhase), resetLines.filter(isOfPhase)];
    const last = lines.at(-1);
    if (last === undefined && resetLinesOfPhase.length === 0)
      return { started_at: null, ended_at: null, duration_seconds: null, ...recorded };
    const earlier = earlierSpan(recorded, ledger);
    const started_at =
      startUnlessReset(recorded?.started_at, resetLinesOfPhase) ?? (lines[0] === undefined ? null : startOf(lines[0]));
    const ended_at = last !== undefined && isPast(phase) ? last.at : null;
    const duration_seconds =
      started_at === null || ended_at === null
        ? null
        : (earlier?.duration_seconds ?? 0) + wallSeconds(lines, earlier === undefined ? started_at : undefined);
    return { ...recorded, started_at, ended_at, duration_seconds, ...withoutUndefined({ earlier }) };
  };
  const discovery = span("DISCOVERY", recordedTiming.discovery);
  const { papers_analyzed: _count, avg_seconds_per_paper: average, ...recorded } = recordedTiming.analysis ?? {};
  const analysis = span("ANALYSIS", recorded);
  const ideation = span("IDEATION", recordedTiming.ideation);
  const readings = validWork.filter(isReading);
  const acceptedCount = readings.filter((line) => line.outcome === "accepted").length;
  const readingSeconds = readings.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0);
  const first = hasEarlierReadings(rrd, ledger) ? undefined : validWork[0];
  const ends = [recordedTiming.complete?.ended_at, ideation.ended_at, analysis.ended_at, discovery.ended_at];
  const lastEnd =
    timedLines.findLast((line) => line.outcome === "accepted")?.at ?? ends.find((at) => at != null) ?? null;
  return {
    ...recordedTiming,
    research_started_at:
      startUnlessReset(recordedTiming.research_started_at, resetLines) ??
      (first === undefined ? (discovery.started_at ?? null) : startOf(first)),
    discovery,
    analysis: {
      ...analysis,
      papers_analyzed: rrd.papers_pool.filter(isDecided).length,
      avg_seconds_per_paper:
        acceptedCount > 0
          ? Math.round(readingSeconds / acceptedCount)
          : resetLines.some(isReading)
            ? null
            : (average ?? null),
    },
    ideation,
    complete: { ...recordedTiming.complete, ended_at: rrd.phase === "COMPLETE" ? lastEnd : null },
  };
}

/** When and by which agents the work on a project was done, for its report. */
export interface Period {
  /** YYYY-MM-DD; undefined if it was not recorded. */
  readonly from?: string;
  readonly until?: string;
  /** The values in an earlier report of another program: "January 14-15, 2026", "Research-Ralph (Claude Opus 4.5)". */
  readonly stated?: { readonly period?: string; readonly agent?: string };
  /** Agents of the iterations so far, in their order. */
  readonly agents: readonly string[];
  /** Whether papers were read before the ledger began, by an unknown agent. */
  readonly hasEarlierWork: boolean;
}

/** The period of the work, for a report that is written now. */
export function periodOf(rrd: Rrd, ledger: readonly LedgerLine[], now: Date): Period {
  const timing = deriveTiming({ ...rrd, phase: "COMPLETE" }, ledger);
  const lines = validLines(ledger).filter(({ outcome }) => outcome !== "reset");
  const today = now.toISOString().slice(0, 10);
  const isRewritten =
    (lines.some(isAccepted("report")) || wasWrittenBefore(rrd, ledger, "report")) && !isNewWork(lines);
  const hasEarlierWork = hasEarlierReadings(rrd, ledger);
  const { research_period: period, agent } = rrd.statistics?.stated ?? {};
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const stated = withoutUndefined({ period: text(period), agent: text(agent) });
  return {
    ...withoutUndefined({
      from: timing.research_started_at?.slice(0, 10) ?? (hasEarlierWork ? undefined : today),
      until: isRewritten ? timing.complete?.ended_at?.slice(0, 10) : today,
      stated: Object.keys(stated).length === 0 ? undefined : stated,
    }),
    agents: [...new Set(lines.flatMap(({ agent: name }) => name ?? []))],
    hasEarlierWork,
  };
}

/**
 * For example "2026-01-19 to 2026-01-20". If no time was recorded, the period in an earlier report or "not recorded".
 */
export function periodText({ from, until, stated }: Period): string {
  if (from !== undefined && until !== undefined) return from === until ? from : `${from} to ${until}`;
  if (stated?.period !== undefined) return `${stated.period} (as an earlier report states)`;
  if (from === undefined && until === undefined) return "not recorded";
  return from === undefined ? `to ${until}; its beginning was not recorded` : `from ${from}`;
}

/** Whether there was work since the last report, or since the ledger began. */
const isNewWork = (lines: readonly LedgerLine[]): boolean => {
  const last = lines.findLastIndex(isAccepted("report"));
  return lines.slice(last + 1).some((line) => isWork(line) && line.outcome === "accepted");
};

const isAccepted = (unit: string) => (line: LedgerLine) => line.unit === unit && line.outcome === "accepted";

/** Whether a line is of a search or a reading, and not of a report, ideas or a check. */
const isWork = (line: LedgerLine): boolean => kindOfLine(line)?.timed === undefined;

/** Whether a line is of a reading of a paper. */
const isReading = (line: LedgerLine): boolean => kindOfLine(line) === reading;

/**
 * Lines that do not count as time of the work: those of checks, and those of a report or of ideas that existed before,
 * if there was no search or reading since then.
 */
function untimedLines(rrd: Rrd, ledger: readonly LedgerLine[]): ReadonlySet<LedgerLine> {
  const untimed = new Set<LedgerLine>();
  const writingUnits = kinds.filter(({ timed }) => timed === "once").map(({ name }) => name);
  const writtenUnits = new Set(writingUnits.filter((unit) => wasWrittenBefore(rrd, ledger, unit)));
  for (const line of validLines(ledger)) {
    if (line.outcome === "reset") continue;
    if (kindOfLine(line)?.timed === "never") untimed.add(line);
    else if (isWork(line)) {
      if (line.outcome === "accepted") writtenUnits.clear();
    } else if (writtenUnits.has(line.unit)) untimed.add(line);
    else if (line.outcome === "accepted") writtenUnits.add(line.unit);
  }
  return untimed;
}

/**
 * Whether a report or ideas existed before the ledger began: their phase was over, or the ledger begins with their
 * reset.
 */
function wasWrittenBefore(rrd: Rrd, ledger: readonly LedgerLine[], unit: string): boolean {
  const [first] = ledger;
  if (first === undefined) return rrd.phase === "COMPLETE";
  if (first.outcome === "reset" && first.to === undefined && isWriting(first)) return true;
  const { analysis, ideation } = rrd.timing ?? {};
  return earlierSpan(kindOf({ kind: unit }).phase === "ANALYSIS" ? analysis : ideation, ledger) !== undefined;
}

const isWriting = (line: LedgerLine): boolean => !isWork(line);

type EarlierSpan = NonNullable<PhaseTiming>["earlier"] | undefined;

/** The recorded end and duration of a phase that was over before the ledger began. */
function earlierSpan(recorded: PhaseTiming | undefined, ledger: readonly LedgerLine[]): EarlierSpan {
  if (recorded?.earlier != null) return recorded.earlier;
  const [first] = ledger;
  const { ended_at, duration_seconds } = recorded ?? {};
  if (first === undefined || ended_at == null || Date.parse(ended_at) >= Date.parse(startOf(first))) return undefined;
  return { ended_at, ...(duration_seconds == null ? {} : { duration_seconds }) };
}

/** The recorded duration of all phases before the ledger began, in seconds. */
const secondsBeforeLedger = ({ timing }: Rrd, ledger: readonly LedgerLine[]): number =>
  [timing?.discovery, timing?.analysis, timing?.ideation]
    .map((recorded) => (ledger.length === 0 ? recorded : earlierSpan(recorded, ledger))?.duration_seconds ?? 0)
    .reduce((sum, duration) => sum + duration, 0);

/** Whether papers were read before the ledger began, so that its first line is not the beginning of the work. */
function hasEarlierReadings(rrd: Rrd, ledger: readonly LedgerLine[]): boolean {
  const [first] = ledger;
  if (first !== undefined && (first.phase === "DISCOVERY" || first.unit === "classic")) return false;
  const units = new Set(ledger.map(({ unit }) => unit));
  return rrd.papers_pool.some((paper) => isDecided(paper) && !units.has(paper.id));
}

/** Whether all papers were read before the ledger began, so that its lines do not count as time of the work. */
export const wereAllReadBefore = (rrd: Rrd, ledger: readonly LedgerLine[]): boolean =>
  hasEarlierReadings(rrd, ledger) && !ledger.some((line) => line.outcome !== "reset" && isWork(line));

/** A recorded start; null if it is the start of iterations that were reset. */
function startUnlessReset(
  started: string | null | undefined,
  resetLines: readonly LedgerLine[],
): string | null | undefined {
  const [first] = resetLines;
  return started == null || first === undefined || Date.parse(started) < Date.parse(startOf(first)) ? started : null;
}

/** A longer duration of an iteration is an error in the line and is ignored. */
const maxSeconds = 366 * 86_400;

/** A longer pause between two iterations does not count as work. */
const maxPauseSeconds = 86_400;

const startOf = ({ at, duration_seconds: durationSeconds = 0 }: LedgerLine): string =>
  new Date(Date.parse(at) - (durationSeconds > maxSeconds ? 0 : durationSeconds) * 1000).toISOString();

/** Seconds from `from`, or else from the start of the first line, to the end of the last line, without long pauses. */
function wallSeconds(lines: readonly LedgerLine[], from?: string): number {
  const startSeconds = Date.parse(from ?? "") / 1000;
  let [sum, until] = [0, Number.isNaN(startSeconds) ? undefined : startSeconds];
  for (const line of lines) {
    const [start, end] = [Date.parse(startOf(line)) / 1000, Date.parse(line.at) / 1000];
    const pause = until === undefined ? 0 : start - until;
    sum += Math.max(0, end - start + (pause > maxPauseSeconds ? 0 : pause));
    until = end;
  }
  return Math.round(sum);
}

/**
 * The time in milliseconds that agents worked on a project, without pauses between runs; undefined if no time was
 * recorded.
 */
export function timeSpent(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => line.duration_seconds !== undefined);
  const ledgerSeconds = lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0);
  // Folders of the original have no ledger, but the duration of each phase; the time since then is added.
  const earlierSeconds = secondsBeforeLedger(rrd, ledger);
  const seconds = earlierSeconds + ledgerSeconds;
  // The time for writing the report again is not the time of the work.
  if (earlierSeconds === 0 && wereAllReadBefore(rrd, ledger)) return undefined;
  return lines.length === 0 && seconds === 0 ? undefined : seconds * 1000;
}

/** The average time in milliseconds for one decided paper, with failed attempts. */
export function timePerPaper(rrd: Rrd, ledger: readonly LedgerLine[]): number | undefined {
  const lines = ledger.filter((line) => isReading(line) && line.duration_seconds !== undefined);
  const readCount = lines.filter((line) => line.outcome === "accepted").length;
  if (readCount > 0) return (lines.reduce((sum, line) => sum + (line.duration_seconds ?? 0), 0) / readCount) * 1000;
  const average = rrd.timing?.analysis?.avg_seconds_per_paper;
  return average == null ? undefined : average * 1000;
}
