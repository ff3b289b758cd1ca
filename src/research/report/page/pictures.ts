import { type Markup, markup } from "../../../engine/lib/markup.js";
import { costPicture } from "../pictures/cost.js";
import { datesPicture } from "../pictures/dates.js";
import { flowPicture } from "../pictures/flow.js";
import { mapPicture } from "../pictures/map.js";
import { scoresPicture } from "../pictures/scores.js";
import { saturationPicture, yieldPicture } from "../pictures/search.js";
import type { PageContext } from "./context.js";
import { needsAction } from "./first-screen.js";

/** The scores of the papers, with warnings about them, and their dates of publication. */
export function* scores({ model }: PageContext): Iterable<Markup> {
  yield markup`${model.warnings.filter((warning) => !needsAction(warning)).map(({ says }) => markup`<p class="note bad">${says}</p>`)}`;
  const { usesBothRubrics } = model.scores;
  const scoredPapers = model.scores.rows.flatMap(({ id, title, status, execution, strategic }) =>
    execution === undefined
      ? []
      : usesBothRubrics && strategic !== undefined
        ? { id, title, status, execution, strategic }
        : { id, title, status, execution },
  );
  yield markup`${scoresPicture(scoredPapers, model.scores)}${datesPicture(model.rows, model.day === "" ? model.renderedAt.slice(0, 10) : model.day)}`;
}

export function* map({ model }: PageContext): Iterable<Markup> {
  const { papers, links, linkCount } = model.map();
  yield markup`${mapPicture(papers, links, model.scores.maxScore, linkCount)}`;
}

/** How papers were found by each source, and whether more searching would find more. */
export function* flow({ model }: PageContext): Iterable<Markup> {
  const { search } = model;
  const { steps, other: otherSteps, says } = model.flow;
  yield flowPicture(steps, `From records to included papers, after PRISMA 2020. ${says}`);
  if (otherSteps.length > 0) yield flowPicture(otherSteps, "The same for records from other sources than the search.");
  yield markup`${yieldPicture(search.sources)}${saturationPicture(search.saturation, search.recall?.target)}`;
}

/** The cost of reading each paper. */
export const costs = ({ model }: PageContext): Markup =>
  markup`${costPicture(
    model.costByPaper().map(({ paper: { id, title }, cost }) => ({ id, title, usd: cost.cost_usd ?? 0 })),
  )}`;
