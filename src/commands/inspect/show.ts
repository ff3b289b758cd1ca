import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createColors } from "picocolors";
import { answerIn } from "../../engine/agents/registry.js";
import { settingsFor } from "../../compose/agents.js";
import { configToRead } from "../../compose/config.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { briefOf, transcriptsFolder } from "../../engine/lib/layout.js";
import { oneLine, sanitise, shellWord } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { shortDuration, timeText } from "../../engine/lib/words.js";
import { lineBreaker, say, wrap } from "../../engine/ui/terminal/format.js";
import { roleWithRound, unlabelledCost, unlabelledTokens } from "../../engine/ui/terminal/tally.js";
import { sumOf } from "../../research/overview/costs.js";
import { allRecords } from "../../research/overview/all-records.js";
import { type FolderOptions, displayPath, nameFor } from "../../research/overview/find-research.js";
import { screeningText } from "../../research/overview/same-work.js";
import { nearestText, recordsNamed, severalMatchError } from "../../research/overview/which-record.js";
import type { TracedRecord } from "../../research/papers/export/cited-work.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";
import { namesIn, nameOf, withKeys, withNames } from "../../research/papers/paper-keys.js";
import { separatedTest } from "../../research/derived/separated.js";
import { criteriaOf } from "../../research/project-files/eligibility-criteria.js";
import type { Exclusion, Paper, Rrd } from "../../research/generated/rrd.js";
import { paperWithPassages } from "../../research/full-text/old-passages.js";
import { textsFolder } from "../../research/project-files/layout.js";
import { laterFormatIn, readResearch } from "../../research/project-files/research.js";
import { passageLines } from "../../research/overview/passage-lines.js";
import { eligibilityLines, readingLines, readingOf } from "../run/reading-report.js";
import { findWork } from "../kinds/find-work.js";
import { statusCommand } from "./status.js";

interface ShowArguments extends FolderOptions {
  /**
   * A paper or an excluded record, in any form that `recordsNamed` accepts, or the number of an iteration. If absent,
   * all papers are listed.
   */
  readonly target?: string;
}

/**
 * Shows one of these: a paper, as `read` does, with its sources and the records that were merged with it; an excluded
 * record; or an iteration with its brief, its answer and the reasons for a refusal.
 */
export async function showCommand({ folder: argument, target, json }: ShowArguments, io: Io): Promise<number> {
  if (target === undefined && argument !== undefined && !(await isWork(io.cwd, argument)))
    return showCommand({ target: argument, json }, io);
  if (target === undefined) return statusCommand({ folder: argument, json, papers: true }, io);
  const { kind, folder } = await findWork(io.cwd, argument);
  if (kind.noun !== "project") {
    const { ledger } = await kind.readStanding(folder, folder);
    const line = findIteration(ledger, target);
    if (line !== undefined) return showIteration(folder, line, json, io);
    throw new ExpectedError(
      `There is no iteration '${target}' in ${folder}; 'research-ralph show ${shellWord(displayPath(io.cwd, folder))}' lists what it did.`,
      2,
    );
  }
  const { rrd, ledger } = await readResearch(folder);
  const laterFormat = await laterFormatIn(folder);
  if (laterFormat !== undefined) say(io, `warning: ${laterFormat}`);
  const line = findIteration(ledger, target);
  const matches = recordsNamed(rrd, target);
  if (line !== undefined && !matches.some(({ id }) => id === target)) return showIteration(folder, line, json, io);
  if (matches.length > 1) throw severalMatchError(target, matches);
  const paper = rrd.papers_pool.find(({ id }) => id === matches[0]?.id);
  if (paper !== undefined) return showPaper(folder, { rrd, ledger }, paper, json, io);
  const excluded = (rrd.excluded ?? []).find(({ id }) => id === matches[0]?.id);
  if (excluded === undefined) {
    // Records that the search merged are not in rrd.json.
    const record = allRecords(withKeys(rrd), ledger, await readKeptSearch(folder, rrd)).find(
      ({ key, id }) => key.toLowerCase() === target.toLowerCase() || id === target,
    );
    if (record !== undefined) return showMerged(record, nameFor(io.cwd, folder), json, io);
    throw new ExpectedError(
      `There is no paper, no excluded record and no iteration '${oneLine(target)}' in ${folder}${nearestText(rrd, target)}; 'research-ralph status --papers' lists the papers, 'research-ralph report' shows the report.`,
      2,
    );
  }
  if (json) io.stdout(`${JSON.stringify(excluded, null, 2)}\n`);
  else for (const outputLine of excludedLines(excluded, rrd, nameFor(io.cwd, folder), io)) io.stdout(`${outputLine}\n`);
  return 0;
}

/** Shows a record of the search that is neither in the pool nor excluded: a merged one, or one that is not screened. */
function showMerged(record: TracedRecord, projectName: string, json: boolean, io: Io): number {
  const { key, title, date, source, url, outcome } = record;
  const { duplicateOf, reason } = outcome;
  const separation = `research-ralph join ${shellWord(projectName)} ${key} --part`;
  const output = [
    title,
    [key, date?.slice(0, 4), source].filter(Boolean).join(" · "),
    ...(duplicateOf === undefined
      ? [outcome.stage]
      : [
          `the same work as ${duplicateOf}${reason === undefined ? "" : `: ${reason}`}`,
          `If it is a different work: '${separation}'`,
        ]),
    url ?? "",
  ];
  if (json) io.stdout(`${JSON.stringify(record, null, 2)}\n`);
  else
    for (const text of output.filter(Boolean))
      for (const line of wrap(oneLine(text), Math.min(io.columns, 100))) io.stdout(`${line}\n`);
  return 0;
}

async function showPaper(
  folder: string,
  { rrd, ledger }: Awaited<ReturnType<typeof readResearch>>,
  foundPaper: Paper,
  json: boolean,
  io: Io,
): Promise<number> {
  const paper = await paperWithPassages(textsFolder(folder), foundPaper);
  const insights = (rrd.insights ?? []).filter(({ paper_id }) => paper_id === paper.id);
  const reading = readingOf(
    { ...rrd, insights },
    ledger.filter(({ unit }) => unit === paper.id),
    paper,
  );
  if (json) io.stdout(`${JSON.stringify(reading, null, 2)}\n`);
  else for (const line of readingLines(reading, io, false, namesIn(rrd))) io.stdout(`${line}\n`);
  return 0;
}

const findIteration = (ledger: readonly LedgerLine[], target: string): LedgerLine | undefined =>
  /^#?\d+$/.test(target) ? ledger.find(({ iteration }) => iteration === Number(target.replace("#", ""))) : undefined;

async function showIteration(folder: string, line: LedgerLine, json: boolean, io: Io): Promise<number> {
  const texts = await readIterationTexts(folder, line, io);
  if (json) io.stdout(`${JSON.stringify({ ...line, ...texts }, null, 2)}\n`);
  else for (const outputLine of iterationLines(line, texts, io)) io.stdout(`${outputLine}\n`);
  return 0;
}

/** Whether the argument names a project or a task. If not, it names what to show of the only project. */
const isWork = (cwd: string, argument: string): Promise<boolean> =>
  findWork(cwd, argument).then(
    () => true,
    () => false,
  );

/** The texts of an iteration; null if a text is not stored on this machine. */
interface IterationTexts {
  readonly brief: string | null;
  readonly answer: string | null;
}

async function readIterationTexts(folder: string, { iteration, agent }: LedgerLine, io: Io): Promise<IterationTexts> {
  const transcript = join(transcriptsFolder(folder), `${iteration}.jsonl`);
  const readText = (path: string) => readFile(path, "utf8").catch(() => null);
  const [brief, transcriptText] = await Promise.all([readText(briefOf(transcript)), readText(transcript)]);
  const config = await configToRead(io);
  const answer =
    transcriptText === null || agent === undefined ? null : answerIn(transcriptText, agent, settingsFor(config, io));
  return { brief, answer };
}

/** Lines about an excluded record, with the reason: the paper that it duplicates, or the criterion with the answers. */
function excludedLines(record: Exclusion, rrd: Rrd, projectName: string, io: Io): string[] {
  const { id, title, stage, reason } = record;
  const name = [nameOf(record), ...(record.year === undefined ? [] : [String(record.year)])].join(" · ");
  const wrapLines = lineBreaker(Math.min(io.columns, 100));
  return [
    ...wrapLines(title ?? id),
    ...wrapLines(name),
    ...wrapLines(
      separatedTest(rrd)(record)
        ? `not screened yet: ${screeningText(rrd, projectName)}`
        : `excluded${stage === undefined ? "" : ` (${stage})`}: ${withNames(reason, namesIn(rrd))}`,
    ),
    ...eligibilityLines(record, criteriaOf(rrd), wrapLines, createColors(io.color), (quote) =>
      passageLines(quote, { columns: Math.min(io.columns, 100), color: io.color, indent: "      " }),
    ),
  ];
}

function iterationLines(line: LedgerLine, { brief, answer }: IterationTexts, io: Io): string[] {
  const { iteration, unit, phase, outcome, agent, model, role, round, reasons = [], at } = line;
  const rolePrefix = role === undefined ? "" : `${roleWithRound(role, round)}, `;
  const wrapLines = (text: string) =>
    wrap(oneLine(text), Math.min(io.columns, 100) - 4).map((outputLine) => `  ${outputLine}`);
  const usage = sumOf([line]);
  const section = (head: string, text: string | null) => [
    "",
    head,
    ...(text === null
      ? ["  not stored on this machine"]
      : text
          .trimEnd()
          .split("\n")
          .map((outputLine) => `  ${sanitise(outputLine)}`)),
  ];
  return [
    oneLine(`#${iteration} ${phase}: ${rolePrefix}${unit} ${outcome} (${timeText(at, io.clock.now())})`),
    oneLine(
      `${agent ?? "code alone"}${model === undefined ? "" : `, ${model}`}, ${shortDuration(usage.seconds * 1000)}, ${unlabelledTokens(usage)}, ${unlabelledCost(usage)}`,
    ),
    ...(reasons.length === 0
      ? []
      : ["", outcome === "refused" ? "Refused because" : "Reasons", ...reasons.flatMap(wrapLines)]),
    ...(agent === undefined ? [] : [...section("Answer", answer), ...section("Brief", brief)]),
  ];
}
