import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { InsightRow } from "../model.js";
import { evidenceWords } from "../quotes.js";
import { counted } from "../pictures/words.js";
import type { PageContext } from "./context.js";
import { paperLink, statementLine } from "./statements.js";

/** Maximum number of insights of a theme that are shown at once; the others can be expanded. */
const maxShown = 5;
/** Maximum number of insights in this section. Further insights are shown only in the entries of their papers. */
const maxInsights = 200;

export function* themes(context: PageContext): Iterable<Markup> {
  let remaining = maxInsights;
  for (const { name, statement, insights } of context.model.themes()) {
    // An insight with the same words as the theme's sentence is not repeated.
    const themeWords = evidenceWords(statement?.text ?? "");
    const shownInsights = insights.filter(({ text }) => evidenceWords(text) !== themeWords).slice(0, remaining);
    remaining -= shownInsights.length;
    yield markup`<h3 dir="auto">${name}${insights.length === 0 ? "" : markup` <span class="meta">${counted(insights.length, "insight")}</span>`}</h3>${statement === undefined ? "" : markup`<p dir="auto">${statementLine(context, statement)}</p>`}${expandable(shownInsights, maxShown)}`;
  }
  const others = context.model.otherInsights();
  if (others.length === 0) return;
  const shownOthers = others.slice(0, remaining);
  yield markup`<h3>Further insights <span class="meta">${counted(others.length, "insight")}</span></h3>${expandable(shownOthers, 0)}`;
  if (shownOthers.length < others.length)
    yield markup`<p class="quiet">${counted(others.length - shownOthers.length, "more stands", "more stand")} with the papers.</p>`;
}

/** A list of which only the first insights are shown; the others can be expanded. */
function expandable(insights: readonly InsightRow[], shownCount: number): Markup {
  const hidden = insights.slice(shownCount);
  return markup`${list(insights.slice(0, shownCount))}${hidden.length === 0 ? "" : markup`<details class="words"><summary>${shownCount === 0 ? "Show them" : `${hidden.length} more`}</summary>${list(hidden)}</details>`}`;
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
  for (const { name, oneLiner, isRecommended, combinedPoints, papers, nextSteps } of context.model.ideas) {
    const recommendation = isRecommended ? markup` <span class="chip presented">recommended</span>` : "";
    const points = combinedPoints === undefined ? "" : markup` <span class="meta">${combinedPoints} of 50</span>`;
    const links = papers.map((paper, index) => [index === 0 ? "" : "; ", paperLink(paper)]);
    const sources = papers.length === 0 ? "" : markup` <span class="src">(${links})</span>`;
    const steps = nextSteps.map((step) => markup`<li dir="auto">${step}</li>`);
    yield markup`<h3 dir="auto">${name}${recommendation}${points}</h3><p dir="auto">${oneLiner}${sources}</p>${steps.length === 0 ? "" : markup`<ul>${steps}</ul>`}`;
  }
}
