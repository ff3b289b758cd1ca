import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { experienceToRead } from "../../compose/forecast-basis.js";
import { configToRead } from "../../compose/config.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { defaultMaxWithoutResult } from "../../engine/loop/stop-conditions/stuck.js";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Forecast } from "../../engine/loop/types.js";
import { groupBy } from "../../engine/lib/group.js";
import { shortCount, shortDuration, quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import type { Standing } from "../../engine/ui/state-text.js";
import { labelledLines, pad, textWidth } from "../../engine/ui/terminal/format.js";
import { tableLines } from "../../engine/ui/terminal/table.js";
import { costText, uncountedText } from "../../engine/ui/terminal/tally.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { statusWords } from "../../research/papers/rubric/rubric.js";
import { totalOf } from "../../research/overview/costs.js";
import { countsOf, countsText } from "../../research/overview/counts.js";
import { nameFor } from "../../research/overview/find-research.js";
import { namesIn } from "../../research/papers/paper-keys.js";
import { type ListedPaper, papersByScore } from "../../research/overview/papers-by-score.js";
import { documentSentences } from "../../research/update/changed-documents.js";
import { forecastOf } from "../../research/workflow/forecast.js";
import { timePerPaper, timeSpent } from "../../research/workflow/timing.js";
import { seedRecallText } from "../../research/papers/seeds/find-seeds.js";
import { screenedOutIds, seedsOf } from "../../research/papers/seeds/seed.js";
import { pageOf } from "../../research/project-files/layout.js";
import { laterFormatIn, readResearch } from "../../research/project-files/research.js";
import {
  agreementText,
  conflictsIn,
  oneSidedText,
  readingsText,
} from "../../research/screening/eligibility/agreement.js";
import { criterionInFull, eligibilityReport } from "../../research/screening/eligibility/eligibility.js";
import { maxRefusals, progressOf } from "../../research/derived/status.js";
import { meaningOf } from "../../research/report/narrative/meaning.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { iterationsWithoutResult } from "../../research/derived/observations.js";
import { deriveStatistics } from "../../research/derived/statistics.js";
import type { Status } from "./kind.js";

/** The status of a project, computed from its records. The derived fields of the file are not used. */
export async function projectStatus(
  folder: string,
  io: Io,
  { standing, papers: showsAll }: { readonly standing: Standing; readonly papers: boolean },
): Promise<Status> {
  const { rrd, ledger } = await readResearch(folder);
  const { running, held, underWay: under_way, isFinished } = standing;
  const unitsUnderWay = new Set(under_way.map(({ unit }) => unit));
  const meaning = meaningOf(await readNarrative(folder), rrd);
  const forecast = forecastOf(rrd, ledger, await experienceToRead(folder, { rrd, ledger }, io));
  const report = { ...reportOf(folder, rrd, ledger, forecast), meaning: meaning?.says ?? null };
  // The file never contains the status "analyzing": a change of the file would look like an edit by the user.
  const pool = report.pool.map((paper) =>
    paper.status === "pending" && unitsUnderWay.has(paper.id) ? { ...paper, status: "analyzing" as const } : paper,
  );
  const name = nameFor(io.cwd, folder);
  const documents = await documentSentences(folder, { rrd, root: rootOf(folder, io.cwd) }, name);
  const { history } = await configToRead(io);
  return {
    json: { ...report, pool, under_way, running, held, documents, finished: isFinished, report: pageOf(folder) },
    rows: [
      ...rowsOf(report, name, history.limits),
      ...documents.map((sentence, index): [string, string] => [index === 0 ? "Documents" : "", sentence]),
    ],
    // Tables are shortened only on a terminal: a pipe gets complete titles.
    linesBelow: pool.length === 0 ? [] : ["", ...paperLines(pool, showsAll, io.tableWidth)],
    warning: await laterFormatIn(folder),
  };
}

type Report = ReturnType<typeof reportOf> & { readonly meaning: string | null };

function reportOf(folder: string, rrd: Rrd, ledger: readonly LedgerLine[], forecast: Forecast | undefined) {
  const { phase } = statusOf(rrd, ledger);
  const progress = progressOf(rrd);
  const statistics = deriveStatistics(rrd);
  const { insights, quotes, ...papers } = countsOf(rrd);
  const average = timePerPaper(rrd, ledger);
  const names = namesIn(rrd);
  const inSeconds = (ms: number | undefined) => (ms === undefined ? null : Math.floor(ms / 1000));
  const { iterations, seconds: _, ...spending } = totalOf(rrd, ledger);
  return {
    folder,
    project: rrd.project,
    phase,
    progress,
    papers,
    pool: papersByScore(rrd),
    insights,
    quotes,
    update: updateOf(rrd),
    last_run: rrd.loop?.last_run ?? null,
    seconds: inSeconds(timeSpent(rrd, ledger)),
    seconds_per_paper: inSeconds(average),
    seconds_left: forecast === undefined || average === undefined ? null : (forecast.seconds ?? null),
    blocked_sources: statistics.discovery_metrics?.sources_blocked ?? [],
    seeds: seedRecallText(seedsOf(rrd), statistics.discovery_metrics?.seeds, screenedOutIds(rrd)) ?? null,
    retracted: statistics.total_retracted ?? 0,
    retraction_check: statistics.retraction_check ?? null,
    refused: rrd.papers_pool
      .filter((paper) => paper.status === "pending" && (paper.refusals?.length ?? 0) > 0)
      .map(({ id, key = id, title, refusals = [] }) => ({
        id,
        key,
        title,
        times: refusals.length,
        given_up: refusals.length >= maxRefusals,
        reasons: refusals.at(-1)?.reasons ?? [],
      })),
    waiting: eligibilityReport(rrd).waiting.map(({ paper: { id, key = id, title }, ...why }) => ({
      id,
      key,
      title,
      ...why,
    })),
    not_retrieved: rrd.papers_pool.flatMap(({ id, key = id, title, status, not_retrieved: why }) =>
      status === "not_retrieved" ? [{ id, key, title, reason: why?.reason ?? "", cure: why?.cure ?? "" }] : [],
    ),
    agreement: statistics.screening_agreement ?? null,
    conflicts: conflictsIn(rrd).map(({ id, title, first, second, isOpen }) => ({
      id,
      key: names.get(id) ?? id,
      title,
      readings: [first, second],
      open: isOpen,
    })),
    iterations,
    without_result: iterationsWithoutResult(rrd, ledger).length,
    steering: (rrd.loop?.steering ?? []).map(({ text }) => text),
    ...spending,
  };
}

/** The last update; null if there was none. */
function updateOf({ updates = [] }: Rrd) {
  const last = updates.at(-1);
  if (last === undefined) return null;
  const { id, since, until, closed_at, failed = {} } = last;
  return { id, since, until, open: closed_at === undefined, not_asked: Object.keys(failed) };
}

function rowsOf(
  status: Report,
  projectName: string,
  { stagnation }: Pick<HistoryLimits, "stagnation">,
): [string, string][] {
  const { papers, blocked_sources: blockedSources, refused } = status;
  const rows: [string, string][] = [];
  const addRow = (label: string, text: string) => void rows.push([label, text]);
  if (status.update !== null) {
    const { id, since, until, open, not_asked: unaskedSources } = status.update;
    const unaskedText = unaskedSources.length === 0 ? "" : `; still to ask: ${oneLine(unaskedSources.join(", "))}`;
    addRow("Update", `${id}, ${since} to ${until}${open ? ", open" : ""}${unaskedText}`);
  }
  addRow("Papers", countsText({ ...papers, insights: status.insights, quotes: status.quotes }));
  addRow("Insights", String(status.insights));
  if (status.quotes.all > 0) addRow("Quotes", `${status.quotes.found} of ${status.quotes.all} found in the papers`);
  if (status.meaning !== null) addRow("Checked", oneLine(status.meaning));
  addRow("Time", workText(status));
  if (status.iterations + (status.not_counted ?? 0) > 0)
    addRow("Iterations", `${status.iterations}${uncountedText(status.not_counted)}`);
  if (status.input + status.output > 0) {
    const cached = status.cached > 0 ? ` (${shortCount(status.cached)} of it cached)` : "";
    addRow("Tokens", `${shortCount(status.input)} in${cached}, ${shortCount(status.output)} out`);
  }
  const isCostKnown = status.cost_usd !== undefined || (status.unreported ?? 0) > 0;
  if ((status.iterations > 0 && isCostKnown) || status.unrecorded !== undefined) addRow("Cost", costText(status));
  if (status.without_result >= 2)
    addRow(
      "No result",
      `for ${status.without_result} iterations in a row; a run stops as stuck after ${defaultMaxWithoutResult}, or after ${stagnation} that repeat each other`,
    );
  for (const instruction of status.steering) addRow("Steering", oneLine(instruction));
  if (status.seeds !== null) addRow("Seeds", oneLine(status.seeds));
  if (blockedSources.length > 0) addRow("Blocked", blockedSources.map((source) => oneLine(String(source))).join(", "));
  const check = retractionText(status);
  if (check !== undefined) addRow("Retracted", check);
  for (const { key, times, given_up: isGivenUp, reasons } of refused) {
    const advice = isGivenUp ? `; given up: 'research-ralph reset ${projectName} --paper ${key}' tries again` : "";
    addRow("Refused", `${oneLine(key)}, ${quantity(times, "time")}: ${oneLine(reasons.join("; "))}${advice}`);
  }
  if (status.agreement !== null) {
    const { agreement } = status;
    const ids = status.conflicts.map(({ key }) => oneLine(key));
    const shownIds = ids.length > 6 ? [...ids.slice(0, 6), `and ${ids.length - 6} more`] : ids;
    addRow(
      "Readers",
      `${oneLine(agreementText(agreement))}${ids.length === 0 ? "" : `; they disagree on ${shownIds.join(", ")}`}`,
    );
    const warning = oneSidedText(agreement);
    if (warning !== undefined) addRow("", oneLine(warning));
  }
  for (const [index, line] of waitingLines(status, projectName).entries()) addRow(index === 0 ? "Waits" : "", line);
  for (const [index, line] of notRetrievedLines(status).entries()) addRow(index === 0 ? "No text" : "", line);
  return rows;
}

/** The papers that are not available, with the reasons and advice. */
function notRetrievedLines({ not_retrieved: papers }: Report): string[] {
  const hiddenCount = papers.length - maxShownByDefault;
  return [
    ...papers.slice(0, maxShownByDefault).map(({ key, reason, cure }) => oneLine(`${key}: ${reason} ${cure}`)),
    ...(hiddenCount > 0 ? [`and ${hiddenCount} more`] : []),
  ];
}

/**
 * How many papers wait for the user for the same reason, with the open criteria and how to decide; empty if none waits.
 * The list of papers names them.
 */
function waitingLines({ waiting }: Report, projectName: string): string[] {
  if (waiting.length === 0) return [];
  const openCriteria = new Map(waiting.flatMap((paper) => paper.open).map((criterion) => [criterion.id, criterion]));
  const ids = (criteria: (typeof waiting)[number]["open"]) => criteria.map(({ id }) => id).join(", ");
  const byReason = groupBy(waiting, ({ conflict, open }) =>
    conflict === undefined ? `${ids(open) || "the criteria"} unclear` : readingsText(conflict),
  );
  return [
    ...[...byReason]
      .slice(0, maxShownByDefault)
      .map(([reason, papers]) =>
        oneLine(`${papers.length === 1 ? papers[0]?.key : quantity(papers.length, "paper")}: ${reason}`),
      ),
    ...(byReason.size > maxShownByDefault
      ? [`and ${quantity(byReason.size - maxShownByDefault, "further reason")}`]
      : []),
    ...[...openCriteria.values()].map((criterion) => oneLine(criterionInFull(criterion))),
    `'research-ralph screen ${projectName}' shows them one after the other; 'research-ralph decide' decides on one paper`,
  ];
}

/** Undefined if no paper is known to be retracted and there was no check. */
function retractionText({ retracted, retraction_check: check }: Report): string | undefined {
  const count = retracted === 0 ? "none known" : quantity(retracted, "paper");
  if (check === null) return retracted === 0 ? undefined : count;
  const { at, checked = 0, not_checked: unchecked = 0 } = check;
  const uncheckedText = unchecked === 0 ? "" : `, ${unchecked} could not be checked`;
  return `${count}; ${quantity(checked, "paper")} checked on ${at?.slice(0, 10) ?? "?"}${uncheckedText}`;
}

function workText({ seconds, seconds_per_paper: average, seconds_left: secondsLeft }: Report): string {
  if (seconds === null) return "nothing recorded";
  const parts = [
    `${shortDuration(seconds * 1000)} of agent time`,
    ...(average === null ? [] : [`${shortDuration(average * 1000)} a paper`]),
    ...(secondsLeft === null ? [] : [`≈ ${shortDuration(secondsLeft * 1000)} of work left`]),
  ];
  return parts.join(", ");
}

/** Minimum width of a title beside the facts of its paper. */
const minTitleWidth = 32;

/** Number of papers in `status` without --papers. */
const maxShownByDefault = 20;

/**
 * The papers with their keys and whole titles, each beside the facts of its paper, or below them where there is little
 * room. `showsAll`: true to show more than twenty papers.
 */
function paperLines(papers: readonly ListedPaper[], showsAll: boolean, maxWidth: number): string[] {
  const shown = showsAll ? papers : papers.slice(0, maxShownByDefault);
  const facts = shown.map(({ key, status, score, year }) => [
    `  ${oneLine(key)}`,
    statusWords[status],
    score === null ? "–" : String(score ?? ""),
    year === null ? "" : String(year),
  ]);
  const factLines = tableLines([{}, {}, {}, {}], facts, maxWidth - 1);
  const labelWidth = Math.max(...factLines.map(textWidth)) + 2;
  const hasRoom = maxWidth - labelWidth >= minTitleWidth;
  const lines = factLines.flatMap((line, index) => {
    const title = oneLine(shown[index]?.title ?? "");
    return hasRoom
      ? labelledLines(pad(line, labelWidth), title, maxWidth - 1)
      : [line, ...labelledLines("    ", title, maxWidth - 1)];
  });
  const hiddenCount = papers.length - shown.length;
  return hiddenCount === 0 ? lines : [...lines, `  and ${hiddenCount} more; --papers lists them all`];
}
