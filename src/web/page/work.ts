import { markup } from "../../engine/lib/markup.js";
import { shortCount, shortDuration, timeText } from "../../engine/lib/words.js";
import { type Standing, headlineOf } from "../../engine/ui/state-text.js";
import { roleWithRound, shortCost } from "../../engine/ui/terminal/tally.js";
import { type Part, part } from "../live-page.js";

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
