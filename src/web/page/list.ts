import { markup } from "../../engine/lib/markup.js";
import { shortCost } from "../../engine/ui/terminal/tally.js";
import { duration, timeText } from "../../engine/lib/words.js";
import type { WatchedResearch } from "../../research/overview/watched-research.js";
import { type Page, part } from "../live-page.js";
import { controls, progressBar, projectAt, stateOf } from "./texts.js";

/** The list of projects: those that run first, then those that something happened to last. */
export function listPage(projects: readonly WatchedResearch[], now: number): Page {
  const sorted = projects.toSorted(
    (a, b) =>
      Number(b.running) - Number(a.running) || lastOf(b).localeCompare(lastOf(a)) || a.name.localeCompare(b.name),
  );
  return {
    title: "Research projects",
    parts: [
      part("top", markup`<header id="top"><p class="kicker">research-ralph</p><h1>Research projects</h1></header>`),
      ...(sorted.length === 0
        ? [
            part(
              "none",
              markup`<p id="none">There is no project yet. Create one: <code>research-ralph new "&lt;topic&gt;"</code></p>`,
            ),
          ]
        : sorted.map((project) => row(project, now))),
    ],
  };
}

const lastOf = ({ ledger, lastRun }: WatchedResearch): string =>
  [ledger.at(-1)?.at ?? "", lastRun?.at ?? ""].toSorted().at(-1) ?? "";

function row(project: WatchedResearch, now: number) {
  const { name, broken, phase, progress, running, ledger, spending, spentMs, lastRun } = project;
  const id = `project-${Buffer.from(name).toString("base64url")}`;
  const shown = project.title === undefined || project.title === "" ? name : project.title;
  const title = markup`<h2><a href="${projectAt(name)}" dir="auto">${shown.length > 160 ? `${shown.slice(0, 159)}…` : shown}</a></h2>`;
  if (broken !== undefined)
    return part(
      id,
      markup`<article id="${id}" class="project">${title}<p class="note bad">It can’t be read: ${broken}</p></article>`,
    );
  const isFinished = phase === "COMPLETE";
  const { kind, words } = stateOf(project, isFinished);
  const last = lastOf(project);
  const facts = [
    shown === name ? "" : name,
    isFinished ? "" : phase.toLowerCase(),
    ledger.length === 0 ? "" : `iteration ${ledger.reduce((most, line) => Math.max(most, line.iteration), 0)}`,
    spentMs === undefined ? "" : `${duration(spentMs)} of work`,
    spending.iterations === 0 ? "" : spending.cost_usd === undefined ? "cost not known" : shortCost(spending),
    last === "" ? "" : timeText(last, now),
  ].filter((fact) => fact !== "");
  return part(
    id,
    markup`<article id="${id}" class="project">${title}<p class="state"><b class="is ${kind}">${words}</b> ${progressBar(progress)}</p><p class="meta">${facts.join(" · ")}</p>${
      lastRun === undefined || running || isFinished
        ? ""
        : markup`<p class="meta">Last run: ${lastRun.verdict}. ${lastRun.reason}</p>`
    }${running || project.held !== undefined ? markup`<div class="acts">${controls(name, project, isFinished)}</div>` : ""}</article>`,
  );
}
