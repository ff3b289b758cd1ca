import { type Markup, markup } from "../../../engine/lib/markup.js";
import { headlineOf } from "../../../engine/ui/state-text.js";
import { maxTitleChars, type ReportModel } from "../model.js";
import { movesText, moveWords } from "../narrative/what-changed.js";
import { type PaperRow, statusWords } from "../papers.js";
import { anchorOf } from "../pictures/picture.js";
import type { Sureness } from "../strength.js";
import type { PageContext } from "./context.js";
import { meaningLine, statementLine } from "./statements.js";

/** The line above the question: whether the report is finished, and who read the papers. */
export function reportHeader({ model, notices = [] }: PageContext): Markup {
  const state = headlineOf({ isFinished: model.isFinished, stage: model.phase.toLowerCase() });
  const agents = model.agents.length === 0 ? "" : ` · read by ${model.agents.join(", ")}`;
  return markup`<header><p class="kicker">${state}${model.day === "" ? "" : ` · ${model.day}`}${agents}</p><h1 dir="auto">${titleOf(model)}</h1>${notices.map((notice) => markup`<p class="note bad">${notice}</p>`)}</header>
`;
}

/** The name of a project, shortened if it is very long. */
export const titleOf = ({ title }: ReportModel): string =>
  title.length > maxTitleChars ? `${title.slice(0, maxTitleChars - 1)}…` : title;

/** The changes of the last update: papers, then findings. */
export function* changes({ model }: PageContext): Iterable<Markup> {
  if (model.changes === undefined) return;
  const { since, until, findings, failed, isWritten, ...papers } = model.changes;
  const paper = (row: PaperRow) => markup`<a href="#${anchorOf(row.id)}">${row.title}</a>`;
  yield markup`<p>Changes from ${since} to ${until}:</p><ul>${papers.new.map((row) => markup`<li><b>New:</b> ${paper(row)}, ${statusWords[row.status].toLowerCase()}</li>`)}${papers.changed.map(
    (change) => markup`<li><b>Changed:</b> ${paper(change.paper)}: ${change.says}; ${change.reading}</li>`,
  )}${papers.retracted.map((row) => markup`<li><b>Retracted:</b> ${paper(row)}</li>`)}</ul>`;
  const movesLine = movesText(findings);
  if (movesLine !== "")
    yield markup`<p>Findings: ${movesLine}.${isWritten ? "" : " No finding gained or lost a paper."}</p>`;
  const movedFindings = findings.filter(({ move }) => move !== "kept");
  if (movedFindings.length > 0)
    yield markup`<ul>${movedFindings.map(
      ({ move, text, from, to, before }) =>
        markup`<li><b>${moveWords[move]}</b>${from === undefined || to === undefined || from === to ? "" : ` (${from} → ${to} of 5)`}: ${text}${before === undefined ? "" : ` Before: ${before}`}</li>`,
    )}</ul>`;
  if (failed.length > 0) yield markup`<p>Not searched completely for this period: ${failed.join(", ")}.</p>`;
}

export function* question({ model }: PageContext): Iterable<Markup> {
  yield markup`<p class="label">Question</p><p class="asked" dir="auto">${model.question}</p>`;
}

/** The answer, and how sure it is. */
export function* answer(context: PageContext): Iterable<Markup> {
  const { model } = context;
  yield markup`<div class="answer"><p class="label">Answer</p>${
    model.noAnswerReason !== undefined
      ? markup`<p>${model.noAnswerReason}</p>`
      : markup`<p class="said" dir="auto">${model.answer.map((statement, index) => markup`${index === 0 ? "" : " "}${statementLine(context, statement)}`)}</p>${surenessLine(model.sureness)}`
  }${model.meaning === undefined ? "" : meaningLine(model.meaning)}</div>${model.warnings.filter(needsAction).map(({ says }) => markup`<p class="note bad">${says}</p>`)}`;
}

/** Whether a warning asks the reader to act. Such warnings are shown beside the answer, others beside the scores. */
export const needsAction = ({ kind }: ReportModel["warnings"][number]): boolean =>
  kind === "older" ||
  kind === "changed-criteria" ||
  kind === "none-presented" ||
  kind === "waiting" ||
  kind === "not-retrieved" ||
  kind === "refused";

const surenessLine = ({ words, because }: Sureness): Markup =>
  markup`<p class="how"><b>How sure: ${words}</b>${because.length === 0 ? "" : ": "}${because.join("; ")}.</p>`;

export function* figures({ model }: PageContext): Iterable<Markup> {
  yield markup`<dl class="figures">${model.figures.map(({ value, label, isBad }) => markup`<div${isBad ? markup` class="bad"` : ""}><dd>${value}</dd><dt>${label}</dt></div>`)}</dl>`;
}
