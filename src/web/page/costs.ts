import { type Markup, markup } from "../../engine/lib/markup.js";
import { shortCount, quantity } from "../../engine/lib/words.js";
import { forecastText, shortCost, tokensText, type UsageSum } from "../../engine/ui/terminal/tally.js";
import type { Costs, WorkCosts } from "../../research/overview/costs.js";
import { type Part, part } from "../live-page.js";
import { durationText } from "./texts.js";

/** The cost of the work and its parts, as `status --cost` shows it; empty before the first iteration. */
export function costPart(costs: WorkCosts & Partial<Costs>): Part[] {
  if (costs.total.iterations === 0) return [];
  const { phases, agents, models, parts, total, refused, failed, forecast } = costs;
  const groups: readonly (readonly [string, Readonly<Record<string, UsageSum>>])[] = [
    ...(phases === undefined ? [] : [["Phase", phases] as const]),
    ["Agent", agents],
    ["Model", models],
    ...(parts === undefined ? [] : [[phases === undefined ? "Role" : "Part of shared units", parts] as const]),
  ];
  const failedIterations = [refused, failed].reduce((sum, { iterations }) => sum + iterations, 0);
  return [
    part(
      "cost",
      markup`<section id="cost"><h2>Cost so far</h2><div class="table"><table><thead><tr><th scope="col">For</th><th scope="col" class="n">Iterations</th><th scope="col" class="n">Time</th><th scope="col" class="n">Tokens in</th><th scope="col" class="n">Out</th><th scope="col" class="n">Cost</th></tr></thead>${groups.map(
        ([head, sums]) =>
          markup`<tbody><tr><th scope="rowgroup" colspan="6">${head}</th></tr>${Object.entries(sums).map(([name, sum]) => row(name, sum))}</tbody>`,
      )}<tbody class="all">${row("All", total)}</tbody></table></div>${
        failedIterations === 0
          ? ""
          : markup`<p class="quiet">${failedIterations} of ${quantity(total.iterations, "iteration")} ${failedIterations === 1 ? "was" : "were"} refused or failed.</p>`
      }${forecast === undefined || forecast.iterations === 0 ? "" : markup`<p class="quiet">Forecast: ${forecastText(forecast)}; estimated from ${forecast.from}.</p>`}</section>`,
    ),
  ];
}

const row = (name: string, sum: UsageSum): Markup =>
  markup`<tr><td>${name}</td><td class="n">${sum.iterations}</td><td class="n">${durationText(sum.seconds)}</td><td class="n">${tokensText(sum, sum.input, shortCount)}</td><td class="n">${tokensText(sum, sum.output, shortCount)}</td><td class="n">${shortCost(sum)}</td></tr>`;
