import { type Markup, markup } from "../../engine/lib/markup.js";
import { shortCount, quantity } from "../../engine/lib/words.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { recordsToScreen, type WhichRecords } from "../../research/overview/screen/to-screen.js";
import type { QuestionState } from "../asking.js";
import { differences } from "../../research/overview/screen/settle-field.js";
import { screenAddress } from "./screen.js";
import { settleAddress } from "./settle.js";
import { maxMessageChars } from "../../engine/storage/state/steering-inbox.js";
import { activityText, type Standing, stateText } from "../../engine/ui/state-text.js";
import { shortCost } from "../../engine/ui/terminal/tally.js";
import type { AgentAtWork } from "../agent-stream.js";
import { type Part, part } from "../live-page.js";
import { controls, projectAddress, elapsedTime, stateLine } from "./texts.js";

export interface CurrentWork {
  readonly name: string;
  readonly standing: Standing;
  readonly agents: readonly AgentAtWork[];
  /** The activity of an agent; undefined if only the general text for its unit is shown. */
  activityOf?(unit: string | undefined): Markup | undefined;
  /** The instructions of the person in the next brief. */
  readonly steering: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The current work: the state, the agents with their output, and the buttons for the person. */
export const nowParts = (work: CurrentWork): Part[] => [
  part("now", statePart(work)),
  ...work.agents.map((agent) => part(`agent-${agent.iteration}`, agentPart(agent, work))),
  part("steering", steeringPart(work)),
];

/** Parts for further actions of the user: screen records, ask the papers, add a paper. */
export function personParts(name: string, rrd: Rrd, askedQuestion: QuestionState | undefined): Part[] {
  const countOf = (which: WhichRecords) => recordsToScreen(rrd, which).length;
  const [all, waiting] = [countOf("all"), countOf("waiting")];
  const differingCells = differences(rrd);
  const openCount = differingCells.filter(({ answers }) => answers.settled === undefined).length;
  const links = [
    ...(all === 0
      ? []
      : [
          markup`<a href="${screenAddress(name, waiting === 0 ? "all" : "waiting")}">${waiting === 0 ? "Go through the records" : `Decide on ${quantity(waiting, "record")}`}</a>`,
        ]),
    ...(differingCells.length === 0
      ? []
      : [
          markup`<a href="${settleAddress(name)}">${openCount === 0 ? "Go through the differences of two agents" : `Settle ${quantity(openCount, "difference")} of two agents`}</a>`,
        ]),
  ];
  const screeningLinks = markup`<div id="to-screen"${links.length === 0 ? "" : markup` class="screening"`}>${links.map((link, index) => [index === 0 ? "" : " · ", link])}</div>`;
  const questionText =
    askedQuestion === undefined
      ? ""
      : markup`<p class="meta" dir="auto">“${askedQuestion.question}” ${askedQuestion.result === undefined ? markup`is being answered, for ${elapsedTime(askedQuestion.since)}.` : `– ${askedQuestion.result}`}</p>`;
  return [
    part("to-screen", screeningLinks),
    part(
      "to-ask",
      markup`<details id="to-ask" class="steering"${askedQuestion === undefined ? "" : markup` open`}><summary>Ask the papers</summary>${questionText}<form method="post" action="${projectAddress(name)}ask" data-act><label for="ask-words">An agent answers from these papers; each sentence rests on a quote that was found. It costs what the agent costs.</label><textarea id="ask-words" name="text" rows="2" maxlength="2000" required></textarea><button>Ask</button></form></details>`,
    ),
    part(
      "to-add",
      markup`<details id="to-add" class="steering"><summary>Add a paper</summary><form method="post" action="${projectAddress(name)}add" data-act><label for="add-words">A DOI, an arXiv id, PMID:…, an address, or the path of a file below the folder that this page was started in. It skips screening.</label><input id="add-words" name="text" maxlength="2000" required autocomplete="off"><button>Add</button></form></details>`,
    ),
  ];
}

function statePart({ name, standing, agents, at }: CurrentWork): Markup {
  const words = stateText(standing, at);
  const lines = [
    ...(standing.running && agents.length === 0 ? ["No agent is at work: code searches, fetches or checks."] : []),
    ...(words.lastRun === undefined || standing.isFinished ? [] : [`Last run: ${words.lastRun}`]),
    ...words.openDecisions.map((reason) => `Waits for you: ${reason}`),
    ...(words.next === undefined ? [] : [`Next: ${words.next}`]),
  ];
  return markup`<section id="now" aria-label="Now"><p class="state">${stateLine(standing, words)} <span class="meta">${standing.results ?? ""}</span></p>${lines.map((line) => markup`<p class="meta">${line}</p>`)}<div class="acts">${controls(name, standing)}</div></section>`;
}

function agentPart(agent: AgentAtWork, work: CurrentWork): Markup {
  const { iteration, unit, usage, outputs, earlierCount, model, cost_usd } = agent;
  const activity = work.activityOf?.(unit) ?? markup`${unitWords(agent, work.standing)}`;
  const facts = [
    `iteration ${iteration}`,
    ...(model === undefined ? [] : [model]),
    ...(usage === undefined ? [] : [`${shortCount(usage.input)} tokens in, ${shortCount(usage.output)} out`]),
    ...(cost_usd === undefined ? [] : [shortCost({ cost_usd })]),
  ];
  return markup`<section id="agent-${iteration}" class="agent" aria-label="Agent of iteration ${iteration}"><h3>${activity}</h3><p class="meta">${elapsedTime(agent.since)} · ${facts.join(" · ")}</p>${
    outputs.length === 0
      ? markup`<p class="meta">It has said nothing yet.</p>`
      : markup`<ol class="stream" tabindex="0" aria-label="What it says and does, the newest last">${earlierCount === 0 ? "" : markup`<li class="notice">${earlierCount} earlier</li>`}${outputs.map(({ kind, text }) => markup`<li class="${kind}" dir="auto">${text}</li>`)}</ol>`
  }</section>`;
}

function unitWords({ unit, iteration }: AgentAtWork, standing: Standing): string {
  const work = standing.underWay.find((runningUnit) => runningUnit.iteration === iteration);
  if (unit === undefined && work === undefined) return "Works";
  const name = standing.names?.get(unit ?? "") ?? unit ?? "";
  const doingText = work === undefined ? `works on ${name}` : activityText(work, standing, `works on ${name}`);
  return doingText.replace(/^./u, (letter) => letter.toUpperCase());
}

function steeringPart({ name, standing, steering: instructions }: CurrentWork): Markup {
  if (standing.isFinished && !standing.running && instructions.length === 0) return markup`<div id="steering"></div>`;
  const instructionList =
    instructions.length === 0
      ? ""
      : markup`<p class="label">Every brief says in your name</p><ul>${instructions.map((instruction) => markup`<li dir="auto">${instruction}</li>`)}</ul><form method="post" action="${projectAddress(name)}clear" data-act><button>Remove these</button></form>`;
  return markup`<details id="steering" class="steering"${instructions.length === 0 ? "" : markup` open`}><summary>Tell the agents something</summary>${instructionList}<form method="post" action="${projectAddress(name)}steer" data-act><label for="words">From the next iteration on, every brief says:</label><textarea id="words" name="text" rows="2" maxlength="${maxMessageChars}" required></textarea><button>Send</button></form></details>`;
}
