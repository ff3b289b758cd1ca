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
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { partText, unlabelledCost, unlabelledTokens } from "../../engine/ui/terminal/tally.js";
import { sumOf } from "../../research/overview/costs.js";
import { type FolderOptions, displayPath } from "../../research/overview/find-research.js";
import { recordsNamed, severalMatch } from "../../research/overview/which-record.js";
import { namesIn, nameOf, withNames } from "../../research/papers/paper-keys.js";
import { criteriaOf } from "../../research/project-files/eligibility-criteria.js";
import type { Criterion, Exclusion, Paper } from "../../research/generated/rrd.js";
import { paperWithPassages } from "../../research/full-text/old-passages.js";
import { textsFolder } from "../../research/project-files/layout.js";
import { laterFormatIn, readResearch } from "../../research/project-files/research.js";
import { passageLines } from "../../research/overview/passage-lines.js";
import { eligibilityLines, readingLines, readingOf } from "../run/reading-report.js";
import { findWork } from "../kinds/find-work.js";
import { statusCommand } from "./status.js";

interface ShowArguments extends FolderOptions {
  /** A paper or an excluded record as `recordsNamed` takes it, or an iteration's number; absent: list all papers. */
  readonly target?: string;
}

/**
 * Shows one paper as `read` does with where it was found and what was merged with it, a record that was excluded, or
 * what one iteration was asked, answered and refused for.
 */
export async function showCommand({ folder: argument, target, json }: ShowArguments, io: Io): Promise<number> {
  if (target === undefined && argument !== undefined && !(await isWork(io.cwd, argument)))
    return showCommand({ target: argument, json }, io);
  if (target === undefined) return statusCommand({ folder: argument, json, papers: true }, io);
  const { kind, folder } = await findWork(io.cwd, argument);
  if (kind.noun !== "project") {
    const { ledger } = await kind.look(folder, folder);
    const line = iterationNamed(ledger, target);
    if (line !== undefined) return showIteration(folder, line, json, io);
    throw new ExpectedError(
      `There is no iteration '${target}' in ${folder}; 'research-ralph show ${shellWord(displayPath(io.cwd, folder))}' lists what it did.`,
      2,
    );
  }
  const { rrd, ledger } = await readResearch(folder);
  const later = await laterFormatIn(folder);
  if (later !== undefined) say(io, `warning: ${later}`);
  const line = iterationNamed(ledger, target);
  const named = recordsNamed(rrd, target);
  if (line !== undefined && !named.some(({ id }) => id === target)) return showIteration(folder, line, json, io);
  if (named.length > 1) throw severalMatch(target, named);
  const paper = rrd.papers_pool.find(({ id }) => id === named[0]?.id);
  if (paper !== undefined) return showPaper(folder, { rrd, ledger }, paper, json, io);
  const excluded = (rrd.excluded ?? []).find(({ id }) => id === named[0]?.id);
  if (excluded === undefined)
    throw new ExpectedError(
      `There is no paper, no excluded record and no iteration '${oneLine(target)}' in ${folder}; 'research-ralph status --papers' lists the papers.`,
      2,
    );
  if (json) io.stdout(`${JSON.stringify(excluded, null, 2)}\n`);
  else for (const each of excludedLines(excluded, criteriaOf(rrd), namesIn(rrd), io)) io.stdout(`${each}\n`);
  return 0;
}

async function showPaper(
  folder: string,
  { rrd, ledger }: Awaited<ReturnType<typeof readResearch>>,
  found: Paper,
  json: boolean,
  io: Io,
): Promise<number> {
  const paper = await paperWithPassages(textsFolder(folder), found);
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

const iterationNamed = (ledger: readonly LedgerLine[], target: string): LedgerLine | undefined =>
  /^#?\d+$/.test(target) ? ledger.find(({ iteration }) => iteration === Number(target.replace("#", ""))) : undefined;

async function showIteration(folder: string, line: LedgerLine, json: boolean, io: Io): Promise<number> {
  const said = await wordsOf(folder, line, io);
  if (json) io.stdout(`${JSON.stringify({ ...line, ...said }, null, 2)}\n`);
  else for (const each of iterationLines(line, said, io)) io.stdout(`${each}\n`);
  return 0;
}

/** Whether a word names a project or a task; else it is what to show of the only one. */
const isWork = (cwd: string, argument: string): Promise<boolean> =>
  findWork(cwd, argument).then(
    () => true,
    () => false,
  );

/** What was said in an iteration, as far as it is kept on this machine. */
interface Words {
  readonly brief: string | null;
  readonly answer: string | null;
}

async function wordsOf(folder: string, { iteration, agent }: LedgerLine, io: Io): Promise<Words> {
  const transcript = join(transcriptsFolder(folder), `${iteration}.jsonl`);
  const text = (path: string) => readFile(path, "utf8").catch(() => null);
  const [brief, printed] = await Promise.all([text(briefOf(transcript)), text(transcript)]);
  const config = await configToRead(io);
  const answer = printed === null || agent === undefined ? null : answerIn(printed, agent, settingsFor(config, io));
  return { brief, answer };
}

/** A record that came into no pool, and why: as a duplicate, of which paper; by which criterion, with the answers. */
function excludedLines(
  record: Exclusion,
  criteria: readonly Criterion[],
  names: ReadonlyMap<string, string>,
  io: Io,
): string[] {
  const { id, title, stage, reason } = record;
  const name = [nameOf(record), ...(record.year === undefined ? [] : [String(record.year)])].join(" · ");
  const flow = (text: string, indent = "") =>
    wrap(oneLine(text), Math.min(io.columns, 100) - indent.length).map((line) => indent + line);
  return [
    ...flow(title ?? id),
    ...flow(name),
    ...flow(`excluded${stage === undefined ? "" : ` (${stage})`}: ${withNames(reason, names)}`),
    ...eligibilityLines(record, criteria, flow, createColors(io.color), (kept) =>
      passageLines(kept, { columns: Math.min(io.columns, 100), color: io.color, indent: "      " }),
    ),
  ];
}

function iterationLines(line: LedgerLine, { brief, answer }: Words, io: Io): string[] {
  const { iteration, unit, phase, outcome, agent, model, role, round, reasons = [], at } = line;
  const whose = role === undefined ? "" : `${partText(role, round)}, `;
  const flow = (text: string) => wrap(oneLine(text), Math.min(io.columns, 100) - 4).map((each) => `  ${each}`);
  const sum = sumOf([line]);
  const part = (head: string, text: string | null) => [
    "",
    head,
    ...(text === null
      ? ["  not kept on this machine"]
      : text
          .trimEnd()
          .split("\n")
          .map((each) => `  ${sanitise(each)}`)),
  ];
  return [
    oneLine(`#${iteration} ${phase}: ${whose}${unit} ${outcome} (${timeText(at, io.clock.now())})`),
    oneLine(
      `${agent ?? "code alone"}${model === undefined ? "" : `, ${model}`}, ${shortDuration(sum.seconds * 1000)}, ${unlabelledTokens(sum)}, ${unlabelledCost(sum)}`,
    ),
    ...(reasons.length === 0
      ? []
      : ["", outcome === "refused" ? "Refused because" : "Reasons", ...reasons.flatMap(flow)]),
    ...(agent === undefined ? [] : [...part("Answer", answer), ...part("Brief", brief)]),
  ];
}
