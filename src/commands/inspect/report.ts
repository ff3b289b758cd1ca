import { configToRead, type ConfigFlags, type ResolvedConfig } from "../../compose/config.js";
import { lockFile } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { writeMessage } from "../../engine/storage/state/steering-inbox.js";
import type { Io } from "../../engine/ui/io.js";
import { quantity } from "../../engine/lib/words.js";
import { labelledLines, print, say, wrap } from "../../engine/ui/terminal/format.js";
import { findWork } from "../kinds/find-work.js";
import { task } from "../kinds/task.js";
import { type FolderOptions, displayPath } from "../../research/overview/find-research.js";
import { type Doubt, doubtsOf, textWithMarks } from "../../research/report/narrative/check.js";
import { pageOf } from "../../research/project-files/layout.js";
import {
  crossReferencesText,
  type Finding,
  questionIfNotTitle,
  type ReportModel,
  reportModel,
} from "../../research/report/model.js";
import { keepPassages } from "../../research/workflow/keep-passages.js";
import { readReportInput } from "../../research/report/read-report.js";
import type { Field, Paper } from "../../research/generated/rrd.js";
import { formOf } from "../../research/project-files/form.js";
import { rowsOfTable } from "../../research/report/sections/extracted.js";
import { answersFor } from "../../research/units/form/agreement.js";
import { valueOf } from "../../research/units/form/columns.js";
import { surenessText } from "../../research/report/strength.js";
import { renderProject } from "../../research/report/documents/render-project.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";

interface ReportOptions extends FolderOptions {
  /** List the sentences with problems, and write nothing. */
  readonly check: boolean;
  readonly flags: ConfigFlags;
}

/**
 * Renders the report of a project again from its state, without a model and without the network. With `check` it writes
 * nothing; then the exit code is 1 if a sentence has a problem, such as a number that is in none of its quotes.
 */
export async function reportCommand({ folder: argument, json, check, flags }: ReportOptions, io: Io): Promise<number> {
  const { kind, folder } = await findWork(io.cwd, argument);
  if (kind === task) return await (await import("../task/report.js")).taskReport(folder, { json, check, flags }, io);
  const notices: string[] = [];
  const notify = (message: string) => {
    notices.push(message);
    if (!json) say(io, message);
  };
  if (check) {
    const read = await readReportInput(folder, new Date(io.clock.now()));
    for (const notice of read.notices) notify(notice);
    const model = reportModel(read.input);
    const doubts = doubtsOf(model);
    if (json)
      io.stdout(`${JSON.stringify({ folder, ...summaryOf(model), report: pageOf(folder), notices }, null, 2)}\n`);
    else printDoubts(model, doubts, io);
    return doubts.length > 0 ? 1 : 0;
  }
  const config = await configToRead(io, flags);
  const isRunning = await isHeldByRun(lockFile(folder));
  const { model, written } = await (isRunning ? readModel : writeReport)(folder, config, io, notify);
  if (json)
    io.stdout(
      `${JSON.stringify({ folder, ...summaryOf(model), report: pageOf(folder), notices, written }, null, 2)}\n`,
    );
  else {
    const figures = [
      ...model.figures.map(({ value, label }) => `${value} ${label}`),
      ...(model.crossReferences.inside + model.crossReferences.outside === 0 ? [] : [crossReferencesText(model)]),
    ];
    const lines = [
      ...wrap(oneLine(model.title), io.columns),
      ...wrap(oneLine(questionIfNotTitle(model)), io.columns).filter((line) => line !== ""),
      ...wrap(
        `Answer: ${model.noAnswerReason ?? model.answer.map((sentence) => textWithMarks(model, sentence)).join(" ")}`,
        io.columns,
      ),
      ...model.findings.flatMap((finding, index) => findingLines(model, finding, index + 1, io.columns)),
      ...(model.noAnswerReason === undefined ? wrap(`How sure: ${surenessText(model.sureness)}`, io.columns) : []),
      ...(model.meaning === undefined ? [] : wrap(`Checked: ${model.meaning.says}`, io.columns)),
      ...wrap(figures.join(" · "), io.columns),
      ...model.warnings.flatMap(({ says }) => wrap(`! ${oneLine(says)}`, io.columns)),
      ...(isRunning ? [] : wrap(`Written in ${displayPath(io.cwd, folder)}: ${written.join(", ")}`, io.columns)),
    ];
    io.stdout(`${lines.join("\n")}\n`);
  }
  return 0;
}

type ReportMaker = (
  folder: string,
  config: ResolvedConfig,
  io: Io,
  notify: (message: string) => void,
) => Promise<{ readonly model: ReportModel; readonly written: readonly string[] }>;

const writeReport: ReportMaker = async (folder, { git, stateDir }, { clock }, notify) => {
  await keepPassages(folder, git, notify);
  const rendered = await renderProject(folder, { git, now: clock.now, notify });
  await signState(folder, stateDir);
  return rendered;
};

/** Makes the report from the current state, but writes no file: the run that works on the project writes them. */
const readModel: ReportMaker = async (folder, { stateDir }, { clock }, notify) => {
  const { input, notices } = await readReportInput(folder, new Date(clock.now()));
  for (const notice of notices) notify(notice);
  await writeMessage(folder, { beside: { report: true } }, clock.now(), stateDir);
  notify(
    "A run is under way. It will write the documents of the report before its next iteration, and print a message.",
  );
  return { model: reportModel(input), written: [] };
};

/** A finding, and the papers and number of its quotes. */
function findingLines(model: ReportModel, finding: Finding, number: number, columns: number): string[] {
  const { quotes } = finding;
  const papers = [...new Set(quotes.map(({ paper }) => paper.label))].join(", ");
  const basis = quotes.length === 0 ? "no quote" : `${quantity(quotes.length, "quote")}: ${papers}`;
  return labelledLines(`${number}. `, oneLine(`${textWithMarks(model, finding)} [${basis}]`), columns);
}

const answerText = ({ answer }: ReportModel): string => answer.map(({ text }) => oneLine(text)).join(" ");

const summaryOf = (model: ReportModel) => ({
  question: model.question,
  narrative: model.narrative,
  answer: model.noAnswerReason === undefined ? answerText(model) : null,
  sureness: model.noAnswerReason === undefined ? surenessText(model.sureness) : null,
  figures: Object.fromEntries(model.figures.map(({ name, value }) => [name, value])),
  numbers: Object.assign({}, ...model.figures.map(({ numbers }) => numbers)),
  extracted: valuesByPaper(model),
  ...(model.meaning === undefined
    ? {}
    : {
        meaning: {
          says: model.meaning.says,
          judged: model.meaning.judged,
          borne_out: model.meaning.supported,
          removed: model.meaning.removed.length,
        },
      }),
  not_borne_out: (model.meaning?.removed ?? []).map(({ text, says }) => ({ text, says })),
  doubts: doubtsOf(model),
  insights: model.insightCount,
  cross_references: model.crossReferences.inside,
  cross_references_outside: model.crossReferences.outside,
  warnings: [
    ...model.warnings.map(({ says }) => says),
    ...model.rows.flatMap((row) =>
      row.hasWarnings ? model.entry(row).warnings.map((warning) => `${row.label}: ${warning}`) : [],
    ),
  ],
});

/** The values of the form by paper and field id; null where the paper gives none that a quote supports. */
function valuesByPaper({ rrd, rows }: ReportModel) {
  const papers = new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));
  const form = formOf(rrd);
  const valueIn = (paper: Paper, field: Field) => {
    const { final } = answersFor(paper, field);
    const value = valueOf(field, final);
    const isList = value !== undefined && Array.isArray(final?.value);
    return { value: (isList ? final.value : value) ?? null, status: final?.status ?? "not-answered" };
  };
  return form.length === 0
    ? []
    : rowsOfTable({ rrd, rows }).map(({ id, label }) => ({
        id,
        label,
        values: Object.fromEntries(form.map((field) => [field.id, valueIn(papers.get(id) as Paper, field)])),
      }));
}

function printDoubts(model: ReportModel, doubts: readonly Doubt[], io: Io): void {
  for (const { where, text, reason } of doubts) print(io, `${where}: ${oneLine(reason)}: “${oneLine(text)}”`);
  const sentence =
    model.narrative === "nothing"
      ? "No report has been written yet, so there is nothing to check."
      : doubts.length === 0
        ? "A quote supports every number and every source of the report."
        : `${quantity(doubts.length, "sentence")} to look at.`;
  print(io, sentence);
}
