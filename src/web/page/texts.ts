import { type Markup, markup } from "../../engine/lib/markup.js";
import { type Standing, type StateText, progressText } from "../../engine/ui/state-text.js";
import { shortDuration } from "../../engine/lib/words.js";

/** The address of a project or task. */
export const projectAddress = (name: string): string => `/p/${encodeURIComponent(name)}/`;
/** The address of a paper of a project beside its text. */
export const readingAddress = (name: string, id: string): string =>
  `${projectAddress(name)}paper/${encodeURIComponent(id)}`;

/** The state as text with a progress bar. The text is beside the bar. */
export function stateLine(standing: Standing, { tone, headline }: StateText): Markup {
  const { done, total } = standing.progress;
  const maxValue = Math.max(1, total);
  return markup`<b class="is ${tone}">${headline}</b> <span class="progress"><progress max="${maxValue}" value="${Math.min(done, maxValue)}">${done} of ${total}</progress> ${progressText(standing)}</span>`;
}

/** An element with the time since `at` (milliseconds since the epoch). The script updates it. */
export const elapsedTime = (at: number): Markup => markup`<time data-since="${at}"></time>`;

/** Buttons for pause, stop and resume, if they have an effect. */
export function controls(name: string, { running, held, isFinished }: Standing): Markup {
  const button = (act: string, words: string, hint: string) =>
    markup`<form method="post" action="${projectAddress(name)}${act}" data-act><button title="${hint}">${words}</button></form>`;
  if (held.length > 0) return button("resume", "Resume", "Allow runs again");
  if (isFinished && !running) return markup``;
  return markup`${button("pause", "Pause", "End the run before its next iteration, as blocked")}${button("stop", "Stop", "End the run before its next iteration, as Ctrl+C does")}`;
}

export const durationText = (seconds: number): string => shortDuration(seconds * 1000);
