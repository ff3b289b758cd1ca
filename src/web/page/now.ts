import { type Markup, markup } from "../../engine/lib/markup.js";
import { count, timeText } from "../../engine/lib/words.js";
import { shortCost } from "../../engine/ui/terminal/tally.js";
import { countsOf, countsText } from "../../research/overview/counts.js";
import { maxMessage } from "../../engine/storage/state/steering-inbox.js";
import { shortened } from "../../research/report/papers.js";
import { progressOf } from "../../research/workflow/next-unit/status.js";
import type { AgentAtWork } from "../agent-stream.js";
import { type Part, part } from "../live-page.js";
import type { Records, Work } from "../project-state.js";
import { controls, progressBar, projectAt, readingAt, since, stateOf } from "./texts.js";

export interface Now {
  readonly name: string;
  readonly records: Records;
  readonly work: Work;
  readonly agents: readonly AgentAtWork[];
  /** What the next brief tells the agents in the person's name. */
  readonly steering: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What goes on with a project now: its state, who works and what they say, and what a person can do. */
export function nowParts(now: Now): Part[] {
  const { records, agents } = now;
  return [
    ...(records.broken === undefined
      ? []
      : [
          part(
            "broken",
            markup`<p id="broken" class="note bad">rrd.json can’t be read: ${records.broken} What stands here is its last good version.</p>`,
          ),
        ]),
    ...(records.notices.length === 0
      ? []
      : [
          part(
            "notices",
            markup`<div id="notices" class="note bad">${records.notices.map((each) => markup`<p>${each}</p>`)}</div>`,
          ),
        ]),
    part("now", state(now)),
    ...agents.map((agent) => part(`agent-${agent.iteration}`, atWork(agent, now))),
    part("steering", steering(now)),
  ];
}

function state({ name, records: { rrd }, work, agents, at }: Now): Markup {
  const isFinished = rrd.phase === "COMPLETE";
  const { kind, words } = stateOf(work, isFinished);
  const last = rrd.loop?.last_run;
  return markup`<section id="now" aria-label="Now"><p class="state"><b class="is ${kind}">${words}</b> ${progressBar(progressOf(rrd))} <span class="meta">${countsText(countsOf(rrd))}</span></p>${
    work.running
      ? agents.length === 0
        ? markup`<p class="meta">No agent is at work: code searches, fetches or checks.</p>`
        : ""
      : last == null || isFinished
        ? ""
        : markup`<p class="meta">The last run ended ${timeText(last.at, at)}: ${last.verdict}. ${last.reason}</p>`
  }<div class="acts">${controls(name, work, isFinished)}</div></section>`;
}

function atWork(agent: AgentAtWork, { name, records: { rrd } }: Now): Markup {
  const { iteration, unit, usage, said, earlier, model, cost_usd } = agent;
  const paper = rrd.papers_pool.find(({ id }) => id === unit);
  const what =
    paper === undefined
      ? markup`${unitWords(unit)}`
      : markup`Reads <a href="${readingAt(name, paper.id)}" dir="auto">${shortened(paper.title)}</a>`;
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

function unitWords(unit: string | undefined): string {
  if (unit === undefined) return "Works";
  if (unit === "report") return "Writes the report";
  if (unit === "ideas") return "Writes product ideas";
  return /^(?:discovery|batch)/.test(unit) ? "Screens records" : `Works on ${unit}`;
}

function steering({ name, records: { rrd }, steering: words, work }: Now): Markup {
  if (rrd.phase === "COMPLETE" && !work.running && words.length === 0) return markup`<div id="steering"></div>`;
  const said =
    words.length === 0
      ? ""
      : markup`<p class="label">Every brief says in your name</p><ul>${words.map((each) => markup`<li dir="auto">${each}</li>`)}</ul><form method="post" action="${projectAt(name)}clear" data-act><button>Remove these</button></form>`;
  return markup`<details id="steering" class="steering"${words.length === 0 ? "" : markup` open`}><summary>Tell the agents something</summary>${said}<form method="post" action="${projectAt(name)}steer" data-act><label for="words">From the next iteration on, every brief says:</label><textarea id="words" name="text" rows="2" maxlength="${maxMessage}" required></textarea><button>Send</button></form></details>`;
}
