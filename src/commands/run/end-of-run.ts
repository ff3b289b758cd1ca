import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResolvedConfig } from "../../compose/config.js";
import type { Verdict } from "../../engine/loop/types.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { labelledLines } from "../../engine/ui/terminal/format.js";
import { costText, uncountedText } from "../../engine/ui/terminal/tally.js";
import type { Io } from "../../engine/ui/io.js";
import { changesSinceReport } from "../../research/derived/since-report.js";
import { pageName, reportName } from "../../research/project-files/layout.js";
import { nameOf } from "../../research/papers/paper-keys.js";
import { readResearch } from "../../research/project-files/research.js";
import { totalOf } from "../../research/overview/costs.js";
import { countsOf, countsText } from "../../research/overview/counts.js";
import { runStatusOf } from "../../engine/storage/running-units.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { nameFor, displayPath } from "../../research/overview/find-research.js";

/** Sentences of the answer are left out beyond this length; the first is always shown. The report has the rest. */
const maxAnswerChars = 400;

/** The first sentences of an answer, each of them whole. */
function firstSentences(sentences: readonly string[]): string {
  let text = "";
  for (const sentence of sentences) {
    if (text !== "" && text.length + sentence.length > maxAnswerChars) return `${text} …`;
    text = text === "" ? sentence : `${text} ${sentence}`;
  }
  return text;
}

/** The sentences of the answer as the report has them, each with its problems in brackets. */
async function answerWithMarks(folder: string, { clock }: Pick<Io, "clock">): Promise<string[]> {
  // Only a complete project needs the code of the report.
  const [{ readReportInput }, { reportModel }, { textWithMarks }] = await Promise.all([
    import("../../research/report/read-report.js"),
    import("../../research/report/model.js"),
    import("../../research/report/narrative/check.js"),
  ]);
  const model = reportModel((await readReportInput(folder, new Date(clock.now()))).input);
  return model.answer.map((sentence) => textWithMarks(model, sentence));
}

/**
 * The lines at the end of a run: the results of the project, and what the user can do next. Empty if the project can't
 * be read; the verdict then gives the reason.
 */
export async function endLines(
  folder: string,
  verdict: Verdict,
  { agent, jobs, unconfined, origins }: Pick<ResolvedConfig, "agent" | "jobs" | "unconfined" | "origins">,
  io: Io,
): Promise<string[]> {
  const state = await readResearch(folder).catch(() => undefined);
  if (state === undefined) return [];
  const name = nameFor(io.cwd, folder);
  const counts = countsOf(state.rrd);
  const total = totalOf(state.rrd, state.ledger);
  const isStopped = (await runStatusOf(folder)).held.length > 0;
  // Options that are stored nowhere must be typed again for the next run.
  const typedOptions = [
    ...(origins.agent === "--agent" ? [` --agent ${shellWord(agent)}`] : []),
    ...(origins.jobs === "--jobs" ? [` --jobs ${jobs}`] : []),
    ...(origins.unconfined === "--unconfined" && unconfined ? [" --unconfined"] : []),
  ].join("");
  const narrative = await readNarrative(folder);
  const hasDoubtedClaim = state.rrd.papers_pool.some(({ analysis }) =>
    (analysis?.evidence ?? []).some(({ check }) => check !== undefined && check.verdict !== "supported"),
  );
  const isUnchecked = narrative?.check?.unchecked !== undefined || hasDoubtedClaim;
  const check = isUnchecked
    ? (await import("../../research/report/narrative/meaning.js")).meaningOf(narrative, state.rrd)
    : undefined;
  const hasAnswer = verdict.verdict === "complete" && (narrative?.answer ?? []).length > 0;
  const answer = hasAnswer ? firstSentences(await answerWithMarks(folder, io)) : "";
  const rows: Row[] = [
    ...(answer === "" ? [] : [{ label: "Answer", text: answer }]),
    { label: "Papers", text: countsText(counts) },
    ...(counts.quotes.all === 0
      ? []
      : [{ label: "Quotes", text: `${counts.quotes.found} of ${counts.quotes.all} found in the papers` }]),
    ...(check === undefined ? [] : [{ label: "Check", text: oneLine(check.says) }]),
    {
      label: "Cost",
      text: `${costText(total)}, for ${quantity(total.iterations, "iteration")} of the project in all${uncountedText(total.not_counted)}`,
    },
    ...(counts.waiting === undefined
      ? []
      : [
          {
            label: "Decide",
            text: "on the papers that wait for you, with one key for each:",
            commands: [`research-ralph screen ${name}`],
          },
        ]),
    { label: "Next", ...nextStep(name, `research-ralph run ${name}${typedOptions}`, verdict, isStopped, state) },
  ];
  const lines = rows.flatMap((row) => linesOfRow(row, io.columns));
  const reportPaths = [pageName, reportName]
    .map((fileName) => join(folder, fileName))
    .filter((path) => existsSync(path));
  if (reportPaths.length === 0) return lines;
  const since = changesSinceReport(state.rrd, state.ledger);
  const ageText = since === undefined ? [] : [`The report is older than ${since}; the next run writes it again.`];
  return [
    ...reportLines(reportPaths, io),
    ...ageText.flatMap((sentence) => labelledLines(" ".repeat(10), sentence, io.columns - 2)),
    ...lines,
  ];
}

/**
 * The paths after their label; if one does not fit, each on a separate line. Paths are not wrapped, so they can be
 * copied.
 */
function reportLines(paths: readonly string[], io: Io): string[] {
  const maxPathLength = io.columns - 11;
  // A log may be read in another folder, so its paths are absolute.
  const pathTexts = io.isTTY || io.color ? paths.map((path) => displayPath(io.cwd, path)) : paths;
  const links = paths.map((path, index) => link(path, pathTexts[index] ?? path, io));
  if (pathTexts.some((text) => text.length > maxPathLength))
    return ["  Report", ...links.map((linkText) => `    ${linkText}`)];
  return links.map((linkText, index) => `  ${(index === 0 ? "Report" : "").padEnd(8)}${linkText}`);
}

const link = (path: string, text: string, { color }: Io): string =>
  color ? `\u001b]8;;${pathToFileURL(path).href}\u001b\\${text}\u001b]8;;\u001b\\` : text;

interface Row {
  readonly label: string;
  readonly text: string;
  /** Commands for the user to type or copy; they are not wrapped. */
  readonly commands?: readonly string[];
}

const linesOfRow = ({ label, text, commands = [] }: Row, columns: number): string[] => [
  ...labelledLines(`  ${label.padEnd(8)}`, text, columns - 2),
  ...commands.map((command) => (command.length <= columns - 11 ? `${" ".repeat(10)}${command}` : command)),
];

/** The advice for the user. The doctor checks the agent of the last iteration, not the configured one. */
function nextStep(
  name: string,
  runCommand: string,
  { verdict }: Verdict,
  isStopped: boolean,
  { rrd, ledger }: Awaited<ReturnType<typeof readResearch>>,
): Omit<Row, "label"> {
  const agent = ledger.at(-1)?.agent;
  const paper = rrd.papers_pool.find(({ analysis }) => analysis != null);
  const doctorCommand = `research-ralph doctor${agent === undefined ? "" : ` --agent ${shellWord(agent)}`}`;
  if (isStopped)
    return { text: "let it continue, then run it:", commands: [`research-ralph stop --undo ${name}`, runCommand] };
  switch (verdict) {
    case "complete":
      return {
        text: "read the report, and what was read of a paper:",
        commands: [`research-ralph show ${name}${paper === undefined ? "" : ` ${shellWord(nameOf(paper))}`}`],
      };
    case "stuck":
      return {
        text: "say what to do differently, then run it again; if you mended the agent instead, add --force:",
        commands: [`research-ralph steer ${name} "…"`, runCommand],
      };
    case "failed":
      return { text: "see what is missing, then run it again:", commands: [doctorCommand, runCommand] };
    case "blocked":
      return { text: "do what the verdict says, then run it again:", commands: [runCommand] };
    default:
      return { text: "run it again to continue:", commands: [runCommand] };
  }
}
