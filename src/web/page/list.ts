import { type Markup, markup } from "../../engine/lib/markup.js";
import { timeText } from "../../engine/lib/words.js";
import { type Standing, stateText } from "../../engine/ui/state-text.js";
import { type Page, part } from "../live-page.js";
import { controls, projectAddress, stateLine } from "./texts.js";

/** An entry of the list: its name in addresses, its name for people, and its state. */
export interface ListEntry {
  readonly name: string;
  readonly where: string;
  readonly standing: Standing;
}

/** The list of projects and tasks. Running ones come first, then those with the latest event. */
export function listPage(entries: readonly ListEntry[], now: number): Page {
  const sortedEntries = entries.toSorted(
    (a, b) =>
      Number(b.standing.running) - Number(a.standing.running) ||
      lastTimeOf(b.standing).localeCompare(lastTimeOf(a.standing)) ||
      a.name.localeCompare(b.name),
  );
  const isMixed = entries.some(({ standing }) => standing.noun !== "project");
  const title = isMixed ? "Projects and tasks" : "Research projects";
  return {
    title,
    parts: [
      part("top", markup`<header id="top"><p class="kicker">research-ralph</p><h1>${title}</h1></header>`),
      ...(sortedEntries.length === 0
        ? [
            part(
              "none",
              markup`<p id="none">There is no project and no task yet. Create one: <code>research-ralph new "&lt;topic&gt;"</code></p>`,
            ),
          ]
        : sortedEntries.map((entry) => entryPart(entry, now))),
    ],
  };
}

const lastTimeOf = ({ ledger, lastRun }: Standing): string =>
  [ledger.at(-1)?.at ?? "", lastRun?.at ?? ""].toSorted().at(-1) ?? "";

function entryPart({ name, where, standing }: ListEntry, now: number) {
  const { noun, problem, running, held, isFinished, ledger, title = "" } = standing;
  const id = `project-${Buffer.from(name).toString("base64url")}`;
  const shownTitle = title === "" ? where : title;
  const head = markup`<h2><a href="${projectAddress(name)}" dir="auto">${shownTitle.length > 160 ? `${shownTitle.slice(0, 159)}…` : shownTitle}</a></h2>`;
  const article = (body: Markup) => part(id, markup`<article id="${id}" class="project">${head}${body}</article>`);
  if (problem !== undefined) return article(markup`<p class="note bad">It can’t be read: ${problem}</p>`);
  const words = stateText(standing, now);
  const lastTime = lastTimeOf(standing);
  const facts = [
    noun,
    shownTitle === where || where === "." ? "" : where,
    ledger.length === 0 ? "" : `iteration ${ledger.reduce((max, line) => Math.max(max, line.iteration), 0)}`,
    words.cost ?? "",
    lastTime === "" ? "" : timeText(lastTime, now),
  ].filter((fact) => fact !== "");
  return article(
    markup`<p class="state">${stateLine(standing, words)}</p><p class="meta">${facts.join(" · ")}</p>${
      words.lastRun === undefined || isFinished ? "" : markup`<p class="meta">Last run: ${words.lastRun}</p>`
    }${running || held.length > 0 ? markup`<div class="acts">${controls(name, standing)}</div>` : ""}`,
  );
}
