import { type Markup, markup } from "../../../engine/lib/markup.js";
import type { Finding, Recommendation } from "../model.js";
import type { PageContext } from "./context.js";
import { type ShownPair, relationWords } from "../narrative/side-by-side.js";
import { strengthExplanation } from "../strength.js";
import { paperLink, quotePassage, removedList, statementLine, statementParts } from "./statements.js";

export function* findings(context: PageContext): Iterable<Markup> {
  const { findings: all } = context.model;
  yield markup`<ol class="list numbered">${all.map((finding) => findingItem(context, finding))}</ol>${all.some(({ strength }) => strength.papers > 0) ? markup`<p class="quiet">${strengthExplanation}</p>` : ""}`;
}

export function* agreed(context: PageContext): Iterable<Markup> {
  const { agreed: all } = context.model;
  if (all.length > 0) yield markup`<ul class="list">${all.map((finding) => findingItem(context, finding))}</ul>`;
  yield* pairs(context, ({ stand }) => stand === "agreed");
}

const findingItem = (context: PageContext, finding: Finding): Markup =>
  markup`<li dir="auto">${statementParts(context, finding, finding.strength)}</li>`;

export function* disputed(context: PageContext): Iterable<Markup> {
  for (const { text, sides } of context.model.disputed)
    yield markup`<h3 dir="auto">${context.render(text)}</h3><ul class="sides">${sides.map((side) => findingItem(context, side))}</ul>`;
  yield* pairs(context, ({ stand }) => stand !== "agreed");
}

/** Pairs of quotes of different papers on the same outcome, both in full. `stand`: whether they agree. */
function* pairs(context: PageContext, isWanted: (pair: ShownPair) => boolean): Iterable<Markup> {
  const { model } = context;
  for (const { outcome, stand, sides, differs } of model.pairs.filter(isWanted))
    yield markup`<h3 dir="auto">${outcome}: ${relationWords[stand]}</h3><ul class="sides">${sides.map(
      ({ quote, compared, says }) =>
        markup`<li dir="auto"><p>${compared}: ${says}</p><div class="q">${paperLink(quote.paper)}${quotePassage(context, quote)}</div></li>`,
    )}</ul>${differs === undefined ? "" : markup`<p dir="auto">${statementLine(context, differs)}</p>`}`;
}

export function* gaps(context: PageContext): Iterable<Markup> {
  yield markup`<ul class="list">${context.model.gaps.map((gap) => markup`<li dir="auto">${statementParts(context, gap)}</li>`)}</ul>`;
}

/** Sentences that were removed, with the reasons. */
export function* removedSentences({ model: { meaning }, render }: PageContext): Iterable<Markup> {
  if (meaning === undefined) return;
  yield markup`<p class="quiet">These were taken out, because they do not follow from the passages that they cite, as checked by ${meaning.checkedBy}.</p>${removedList(meaning, render)}`;
}

const priorities = [
  ["high", "First"],
  ["medium", "Then"],
  ["low", "Later"],
] as const satisfies readonly (readonly [Recommendation["priority"], string])[];

export function* recommendations(context: PageContext): Iterable<Markup> {
  const { recommendations: all } = context.model;
  for (const [priority, title] of priorities) {
    const chosen = all.filter((recommendation) => recommendation.priority === priority);
    if (chosen.length === 0) continue;
    yield markup`<h3>${title}</h3><ol class="list numbered">${chosen.map((recommendation) => markup`<li dir="auto">${statementParts(context, recommendation)}</li>`)}</ol>`;
  }
}

export function* comparison(context: PageContext): Iterable<Markup> {
  const compared = context.model.comparison;
  if (compared === undefined) return;
  const head = markup`<tr><td></td>${compared.approaches.map((approach) => markup`<th scope="col">${approach}</th>`)}</tr>`;
  yield table(
    "Comparison of approaches",
    markup`${head}${compared.rows.map(({ aspect, cells }) => markup`<tr><th scope="row">${aspect}</th>${cells.map((cell) => markup`<td>${statementLine(context, cell)}</td>`)}</tr>`)}`,
  );
}

/**
 * A table that can be scrolled sideways in a narrow window, also with the keyboard. `label`: its name for screen
 * readers.
 */
export const table = (label: string, rows: Markup): Markup =>
  markup`<div class="table" tabindex="0" role="region" aria-label="${label}"><table>${rows}</table></div>
`;
