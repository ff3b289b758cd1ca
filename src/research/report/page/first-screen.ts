import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { ReportModel } from "../model.js";
import { movesText, moveWords } from "../narrative/what-changed.js";
import { type PaperRow, statusWords } from "../papers.js";
import { anchorOf } from "../pictures/picture.js";
import { counted, thousands } from "../pictures/words.js";
import type { PageContext } from "./context.js";
import { dots, statementLine } from "./statements.js";

/** Above the question: whether it is finished, and who read. */
export function masthead({ model, notices = [] }: PageContext): Markup {
  const state = model.isFinished ? "Finished" : `In progress: ${model.phase.toLowerCase()}`;
  const agents = model.agents.length === 0 ? "" : ` · read by ${model.agents.join(", ")}`;
  return markup`<header><p class="kicker">${state}${model.day === "" ? "" : ` · ${model.day}`}${agents}</p><h1 dir="auto">${titleOf(model)}</h1>${notices.map((notice) => markup`<p class="note bad">${notice}</p>`)}</header>
`;
}

/** A project has a name of a few words; what is far longer would be all that a reader sees. */
export const titleOf = ({ title }: ReportModel): string => (title.length > 240 ? `${title.slice(0, 239)}…` : title);

/** What the last update changed: papers, then findings. */
export function* changes({ model }: PageContext): Iterable<Markup> {
  if (model.changes === undefined) return;
  const { since, until, findings, failed, isWritten, ...papers } = model.changes;
  const paper = (row: PaperRow) => markup`<a href="#${anchorOf(row.id)}">${row.title}</a>`;
  yield markup`<p>What came from ${since} to ${until}:</p><ul>${papers.new.map((row) => markup`<li><b>New:</b> ${paper(row)}, ${statusWords[row.status].toLowerCase()}</li>`)}${papers.changed.map(
    (each) => markup`<li><b>Changed:</b> ${paper(each.paper)}: ${each.says}; ${each.reading}</li>`,
  )}${papers.retracted.map((row) => markup`<li><b>Retracted:</b> ${paper(row)}</li>`)}</ul>`;
  const said = movesText(findings);
  if (said !== "") yield markup`<p>Findings: ${said}.${isWritten ? "" : " None lost or won a paper."}</p>`;
  const moved = findings.filter(({ move }) => move !== "kept");
  if (moved.length > 0)
    yield markup`<ul>${moved.map(
      ({ move, text, from, to, before }) =>
        markup`<li><b>${moveWords[move]}</b>${from === undefined || to === undefined || from === to ? "" : ` (${from} → ${to} of 5)`}: ${text}${before === undefined ? "" : ` Before: ${before}`}</li>`,
    )}</ul>`;
  if (failed.length > 0) yield markup`<p>Not asked in full for this time: ${failed.join(", ")}.</p>`;
}

export function* question({ model }: PageContext): Iterable<Markup> {
  if (model.question !== "")
    yield markup`<p class="label">Question</p><p class="asked" dir="auto">${model.question}</p>`;
}

/** The answer, and how sure it is. */
export function* answer(context: PageContext): Iterable<Markup> {
  const { model } = context;
  if (model.answer.length > 0)
    yield markup`<div class="answer"><p class="label">Answer</p><p class="said" dir="auto">${model.answer.map((statement, index) => markup`${index === 0 ? "" : " "}${statementLine(context, statement)}`)}</p>${sureness(model)}</div>`;
  else {
    const unread = model.rows.filter(({ status }) => status === "unread" || status === "waiting").length;
    yield markup`<div class="answer"><p class="label">Answer</p><p>${
      model.rows.length === 0
        ? "There is none yet: no paper has been found."
        : `There is none yet: ${unread === 0 ? "all papers are read, and the report is not written" : `${counted(unread, "paper")} of ${thousands(model.rows.length)} ${unread === 1 ? "is" : "are"} still to be read`}.`
    }</p></div>`;
  }
}

/** How sure it is, from what carries the findings; the same for a reader who sees no dots. */
function sureness({ findings, rows, figures }: ReportModel): Markup {
  const quotes = figures.find(({ name }) => name === "quotes");
  const retracted = rows.filter(({ isRetracted }) => isRetracted).length;
  const parts = [
    quotes === undefined
      ? ""
      : quotes.value === "0"
        ? "no quotes were kept, so no claim was checked"
        : `${quotes.value} ${quotes.label}`,
    retracted === 0
      ? ""
      : `${counted(retracted, "paper is", "papers are")} retracted and ${retracted === 1 ? "carries" : "carry"} nothing`,
    "each paper was judged once",
  ].filter((part) => part !== "");
  const carried = findings.filter(({ strength }) => strength.papers > 0);
  if (carried.length === 0)
    return markup`<p class="how"><b>How sure: not known</b>: ${[...(findings.length === 0 ? [] : ["the findings name no papers"]), ...parts].join("; ")}.</p>`;
  const levels = findings.map(({ strength }) => strength.level).toSorted((a, b) => a - b);
  const middle = levels[Math.floor((levels.length - 1) / 2)] ?? 0;
  const several = findings.filter(({ strength }) => strength.independent > 1).length;
  const by = `${several} of ${counted(findings.length, "finding")} ${several === 1 ? "rests" : "rest"} on two or more papers by different authors`;
  const alone = "no finding rests on two papers by different authors";
  // An answer that nobody has found twice is limited, whatever each of its findings is.
  const level = several === 0 ? Math.min(middle, 2) : middle;
  return markup`<p class="how"><b>How sure:</b> ${dots(level)} <b>${sureWords[level] ?? ""}</b>: ${[several === 0 ? alone : by, ...parts].join("; ")}.</p>`;
}

/** The middle strength of the findings in a word or two. */
const sureWords = ["not supported", "weak", "limited", "moderate", "good", "strong"];

export function* figures({ model }: PageContext): Iterable<Markup> {
  yield markup`<dl class="figures">${model.figures.map(({ value, label, isBad }) => markup`<div${isBad ? markup` class="bad"` : ""}><dd>${value}</dd><dt>${label}</dt></div>`)}</dl>`;
}
