import { type Markup, markup } from "../../engine/lib/markup.js";
import { type Standing, type StateText, progressText } from "../../engine/ui/standing.js";
import { duration } from "../../engine/lib/words.js";

/** Where a page shows a project or a task, and where it shows a paper of a project next to the text. */
export const projectAt = (name: string): string => `/p/${encodeURIComponent(name)}/`;
export const readingAt = (name: string, id: string): string => `${projectAt(name)}paper/${encodeURIComponent(id)}`;

/** The state of something in words, and how far it is; the words stand next to the bar. */
export function stateLine(standing: Standing, { tone, headline }: StateText): Markup {
  const { done, total } = standing.progress;
  const most = Math.max(1, total);
  return markup`<b class="is ${tone}">${headline}</b> <span class="progress"><progress max="${most}" value="${Math.min(done, most)}">${done} of ${total}</progress> ${progressText(standing)}</span>`;
}

/** Time since a moment; the script counts on. `now`: milliseconds. */
export const since = (at: number): Markup => markup`<time data-since="${at}"></time>`;

/** Buttons for what `stop`, its `--pause` and `--undo` do, as far as they would do something. */
export function controls(name: string, { running, held, finished }: Standing): Markup {
  const button = (act: string, words: string, about: string) =>
    markup`<form method="post" action="${projectAt(name)}${act}" data-act><button title="${about}">${words}</button></form>`;
  if (held.length > 0) return button("resume", "Resume", "Allow runs again");
  if (finished && !running) return markup``;
  return markup`${button("pause", "Pause", "End the run before its next iteration, as blocked")}${button("stop", "Stop", "End the run before its next iteration, as Ctrl+C does")}`;
}

export const span = (seconds: number): string => duration(seconds * 1000);
