import { type Markup, markup } from "../../engine/lib/markup.js";
import { quantity, shortCount, shortDuration, timeText } from "../../engine/lib/words.js";
import { type Standing, headlineOf } from "../../engine/ui/state-text.js";
import { forecastText, roleWithRound, shortCost, tokensText, type UsageSum } from "../../engine/ui/terminal/tally.js";
import type { Costs, WorkCosts } from "../../research/overview/costs.js";
import { type Part, part } from "../live-page.js";
import { durationText } from "./texts.js";

/** Maximum number of iterations that are shown. */
const maxIterations = 100;

/** The page of a task: its description, its criteria and its iterations. */
export function workParts(where: string, standing: Standing, now: number): Part[] {
  const { noun, title = "", goals = [], ledger } = standing;
  const [shownIterations, omittedCount] = [ledger.slice(-maxIterations).toReversed(), ledger.length - maxIterations];
  return [
    part(
      "masthead",
      markup`<header id="masthead"><p class="kicker">${headlineOf(standing)} · ${noun}${where === "." ? "" : ` · ${where}`}</p><h1 dir="auto">${title.length > 160 ? `${title.slice(0, 159)}…` : title}</h1></header>`,
    ),
    ...(goals.length === 0
      ? []
      : [
          part(
            "goals",
            markup`<section id="goals"><h2>Acceptance criteria</h2><ul class="goals">${goals.map(
              ({ text, met, found }) =>
                markup`<li class="${met === undefined ? "open" : met ? "met" : "unmet"}"><b>${met === undefined ? "Not checked" : met ? "Met" : "Not met"}</b> <code>${text}</code>${found === undefined || found === "" ? "" : markup`<p class="meta">${found}</p>`}</li>`,
            )}</ul></section>`,
          ),
        ]),
    ...(shownIterations.length === 0
      ? []
      : [
          part(
            "iterations",
            markup`<section id="iterations"><h2>Iterations</h2><div class="table"><table><thead><tr><th scope="col" class="n">#</th><th scope="col">When</th><th scope="col">Agent</th><th scope="col">Outcome</th><th scope="col" class="n">Time</th><th scope="col" class="n">Tokens</th><th scope="col" class="n">Cost</th></tr></thead><tbody>${shownIterations.map(
              ({
                iteration,
                at,
                agent = "code alone",
                role,
                round,
                outcome,
                reasons = [],
                duration_seconds: seconds,
                tokens,
                cost_usd,
              }) =>
                markup`<tr><td class="n">${iteration}</td><td>${timeText(at, now)}</td><td>${role === undefined ? "" : `${roleWithRound(role, round)}, `}${agent}</td><td>${outcome}${reasons[0] === undefined || outcome === "accepted" ? "" : `: ${reasons[0]}`}</td><td class="n">${seconds === undefined ? "–" : shortDuration(seconds * 1000)}</td><td class="n">${tokens === undefined ? "–" : shortCount(tokens.input + tokens.output)}</td><td class="n">${cost_usd === undefined ? "–" : shortCost({ cost_usd })}</td></tr>`,
            )}</tbody></table></div>${omittedCount > 0 ? markup`<p class="quiet">The last ${maxIterations} of ${ledger.length}.</p>` : ""}</section>`,
          ),
        ]),
  ];
}

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
