import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { InsightRow } from "../model.js";
import { evidenceWords } from "../quotes.js";
import { counted } from "../pictures/words.js";
import type { PageContext } from "./context.js";
import { paperLink, statementLine } from "./statements.js";

/** So many insights of a theme are shown at once; the rest unfold. */
const mostShown = 5;
/** So many insights stand here; with many papers the others stand with their papers. */
const mostInsights = 200;

export function* themes(context: PageContext): Iterable<Markup> {
  let left = mostInsights;
  for (const { name, statement, insights } of context.model.themes()) {
    // What the theme's sentence says already need not stand below it again.
    const said = evidenceWords(statement?.text ?? "");
    const these = insights.filter(({ text }) => evidenceWords(text) !== said).slice(0, left);
    left -= these.length;
    yield markup`<h3 dir="auto">${name}${insights.length === 0 ? "" : markup` <span class="meta">${counted(insights.length, "insight")}</span>`}</h3>${statement === undefined ? "" : markup`<p dir="auto">${statementLine(context, statement)}</p>`}${unfolding(these, mostShown)}`;
  }
  const others = context.model.otherInsights();
  if (others.length === 0) return;
  const these = others.slice(0, left);
  yield markup`<h3>Further insights <span class="meta">${counted(others.length, "insight")}</span></h3>${unfolding(these, 0)}`;
  if (these.length < others.length)
    yield markup`<p class="quiet">${counted(others.length - these.length, "more stands", "more stand")} with the papers.</p>`;
}

function unfolding(insights: readonly InsightRow[], shown: number): Markup {
  const rest = insights.slice(shown);
  return markup`${list(insights.slice(0, shown))}${rest.length === 0 ? "" : markup`<details class="words"><summary>${shown === 0 ? "Show them" : `${rest.length} more`}</summary>${list(rest)}</details>`}`;
}

const list = (insights: readonly InsightRow[]): Markup =>
  insights.length === 0
    ? markup``
    : markup`<ul>${insights.map(
        ({ text, paper, refersTo }) =>
          markup`<li dir="auto">${text}${paper === undefined ? "" : markup` <span class="src">(${paperLink(paper)}${refersTo.length === 0 ? "" : markup`; see ${refersTo.map((other, index) => [index === 0 ? "" : ", ", paperLink(other)])}`})</span>`}</li>`,
      )}</ul>
`;

export function* ideas(context: PageContext): Iterable<Markup> {
  for (const { name, oneLiner, isRecommended, combined, papers, nextSteps } of context.model.ideas)
    yield markup`<h3 dir="auto">${name}${isRecommended ? markup` <span class="chip presented">recommended</span>` : ""}${combined === undefined ? "" : markup` <span class="meta">${combined} of 50</span>`}</h3><p dir="auto">${oneLiner}${papers.length === 0 ? "" : markup` <span class="src">(${papers.map((paper, index) => [index === 0 ? "" : "; ", paperLink(paper)])})</span>`}</p>${nextSteps.length === 0 ? "" : markup`<ul>${nextSteps.map((step) => markup`<li dir="auto">${step}</li>`)}</ul>`}`;
}
