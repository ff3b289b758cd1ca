import { type Markup, markup } from "../../engine/lib/markup.js";
import { timeText } from "../../engine/lib/words.js";
import { type Standing, stateText } from "../../engine/ui/standing.js";
import { type Page, part } from "../live-page.js";
import { controls, projectAt, stateLine } from "./texts.js";

/** One that is listed: its name in addresses, as a person knows it, and how it stands. */
export interface Listed {
  readonly name: string;
  readonly where: string;
  readonly standing: Standing;
}

/** The list of projects and tasks: those that run first, then those that something happened to last. */
export function listPage(all: readonly Listed[], now: number): Page {
  const sorted = all.toSorted(
    (a, b) =>
      Number(b.standing.running) - Number(a.standing.running) ||
      lastOf(b.standing).localeCompare(lastOf(a.standing)) ||
      a.name.localeCompare(b.name),
  );
  const isMixed = all.some(({ standing }) => standing.noun !== "project");
  const title = isMixed ? "Projects and tasks" : "Research projects";
  return {
    title,
    parts: [
      part("top", markup`<header id="top"><p class="kicker">research-ralph</p><h1>${title}</h1></header>`),
      ...(sorted.length === 0
        ? [
            part(
              "none",
              markup`<p id="none">There is no project and no task yet. Create one: <code>research-ralph new "&lt;topic&gt;"</code></p>`,
            ),
          ]
        : sorted.map((each) => row(each, now))),
    ],
  };
}

const lastOf = ({ ledger, lastRun }: Standing): string =>
  [ledger.at(-1)?.at ?? "", lastRun?.at ?? ""].toSorted().at(-1) ?? "";

function row({ name, where, standing }: Listed, now: number) {
  const { noun, broken, running, held, finished, ledger, title = "" } = standing;
  const id = `project-${Buffer.from(name).toString("base64url")}`;
  const shown = title === "" ? where : title;
  const head = markup`<h2><a href="${projectAt(name)}" dir="auto">${shown.length > 160 ? `${shown.slice(0, 159)}…` : shown}</a></h2>`;
  const article = (body: Markup) => part(id, markup`<article id="${id}" class="project">${head}${body}</article>`);
  if (broken !== undefined) return article(markup`<p class="note bad">It can’t be read: ${broken}</p>`);
  const words = stateText(standing, now);
  const last = lastOf(standing);
  const facts = [
    noun,
    shown === where || where === "." ? "" : where,
    ledger.length === 0 ? "" : `iteration ${ledger.reduce((most, line) => Math.max(most, line.iteration), 0)}`,
    words.cost ?? "",
    last === "" ? "" : timeText(last, now),
  ].filter((fact) => fact !== "");
  return article(
    markup`<p class="state">${stateLine(standing, words)}</p><p class="meta">${facts.join(" · ")}</p>${
      words.lastRun === undefined || finished ? "" : markup`<p class="meta">Last run: ${words.lastRun}</p>`
    }${running || held.length > 0 ? markup`<div class="acts">${controls(name, standing)}</div>` : ""}`,
  );
}
