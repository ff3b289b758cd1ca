import { type Markup, markup } from "../../engine/lib/markup.js";
import { count } from "../../engine/lib/words.js";
import { maxMessage } from "../../engine/storage/state/steering-inbox.js";
import { type Standing, wordsOf } from "../../engine/ui/standing.js";
import { shortCost } from "../../engine/ui/terminal/tally.js";
import type { AgentAtWork } from "../agent-stream.js";
import { type Part, part } from "../live-page.js";
import { controls, projectAt, since, stateLine } from "./texts.js";

export interface Now {
  readonly name: string;
  readonly standing: Standing;
  readonly agents: readonly AgentAtWork[];
  /** What an agent does, where its unit has a place of its own on the page. */
  doing?(unit: string | undefined): Markup | undefined;
  /** What the next brief tells the agents in the person's name. */
  readonly steering: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What goes on now: the state, who works and what they say, and what a person can do. */
export const nowParts = (now: Now): Part[] => [
  part("now", state(now)),
  ...now.agents.map((agent) => part(`agent-${agent.iteration}`, atWork(agent, now))),
  part("steering", steering(now)),
];

function state({ name, standing, agents, at }: Now): Markup {
  const words = wordsOf(standing, at);
  const lines = [
    ...(standing.running && agents.length === 0 ? ["No agent is at work: code searches, fetches or checks."] : []),
    ...(words.lastRun === undefined || standing.finished ? [] : [`Last run: ${words.lastRun}`]),
    ...words.waits.map((each) => `Waits for you: ${each}`),
    ...(words.next === undefined ? [] : [`Next: ${words.next}`]),
  ];
  return markup`<section id="now" aria-label="Now"><p class="state">${stateLine(standing, words)} <span class="meta">${standing.came ?? ""}</span></p>${lines.map((line) => markup`<p class="meta">${line}</p>`)}<div class="acts">${controls(name, standing)}</div></section>`;
}

function atWork(agent: AgentAtWork, now: Now): Markup {
  const { iteration, unit, usage, said, earlier, model, cost_usd } = agent;
  const what = now.doing?.(unit) ?? markup`${unitWords(agent, now.standing)}`;
  const facts = [
    `iteration ${iteration}`,
    ...(model === undefined ? [] : [model]),
    ...(usage === undefined ? [] : [`${count(usage.input)} tokens in, ${count(usage.output)} out`]),
    ...(cost_usd === undefined ? [] : [shortCost({ cost_usd })]),
  ];
  return markup`<section id="agent-${iteration}" class="agent" aria-label="Agent of iteration ${iteration}"><h3>${what}</h3><p class="meta">${since(agent.since)} · ${facts.join(" · ")}</p>${
    said.length === 0
      ? markup`<p class="meta">It has said nothing yet.</p>`
      : markup`<ol class="stream" tabindex="0" aria-label="What it says and does, the newest last">${earlier === 0 ? "" : markup`<li class="notice">${earlier} earlier</li>`}${said.map(({ kind, text }) => markup`<li class="${kind}" dir="auto">${text}</li>`)}</ol>`
  }</section>`;
}

function unitWords({ unit, iteration }: AgentAtWork, { underWay, names, doing }: Standing): string {
  if (unit === undefined) return "Works";
  const work = underWay.find((each) => each.iteration === iteration);
  const name = names?.get(unit) ?? unit;
  const does = (work && doing?.(work, name)) ?? `works on ${name}`;
  return does.replace(/^./u, (letter) => letter.toUpperCase());
}

function steering({ name, standing, steering: words }: Now): Markup {
  if (standing.finished && !standing.running && words.length === 0) return markup`<div id="steering"></div>`;
  const said =
    words.length === 0
      ? ""
      : markup`<p class="label">Every brief says in your name</p><ul>${words.map((each) => markup`<li dir="auto">${each}</li>`)}</ul><form method="post" action="${projectAt(name)}clear" data-act><button>Remove these</button></form>`;
  return markup`<details id="steering" class="steering"${words.length === 0 ? "" : markup` open`}><summary>Tell the agents something</summary>${said}<form method="post" action="${projectAt(name)}steer" data-act><label for="words">From the next iteration on, every brief says:</label><textarea id="words" name="text" rows="2" maxlength="${maxMessage}" required></textarea><button>Send</button></form></details>`;
}
