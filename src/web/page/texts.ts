import { type Markup, markup } from "../../engine/lib/markup.js";
import type { Progress } from "../../engine/loop/types.js";
import { duration } from "../../engine/lib/words.js";
import type { Work } from "../project-state.js";

/** Where a page shows a project, and where it shows one of its papers next to the text. */
export const projectAt = (name: string): string => `/p/${encodeURIComponent(name)}/`;
export const readingAt = (name: string, id: string): string => `${projectAt(name)}paper/${encodeURIComponent(id)}`;

/** Words for what goes on with a project, and the kind of it. */
export function stateOf(
  { running, abandoned, held }: Work,
  isFinished: boolean,
): { readonly kind: "running" | "held" | "finished" | "bad" | "waiting"; readonly words: string } {
  if (running && held !== undefined) return { kind: "held", words: "Ends before the next iteration" };
  if (running) return { kind: "running", words: "Running" };
  if (held !== undefined) return { kind: "held", words: held === "paused" ? "Paused" : "Stopped" };
  if (isFinished) return { kind: "finished", words: "Finished" };
  if (abandoned) return { kind: "bad", words: "The process that worked on it is gone" };
  return { kind: "waiting", words: "Not running" };
}

/** How far it is; the words stand next to the bar. */
export const progressBar = ({ done, total }: Progress): Markup =>
  markup`<span class="progress"><progress max="${Math.max(1, total)}" value="${Math.min(done, Math.max(1, total))}">${done} of ${total}</progress> ${done.toLocaleString("en")} of ${total.toLocaleString("en")}</span>`;

/** Time since a moment; the script counts on. `now`: milliseconds. */
export const since = (at: number): Markup => markup`<time data-since="${at}"></time>`;

/** Buttons for what `pause`, `stop` and `resume` do, as far as they would do something. */
export function controls(name: string, { running, held }: Work, isFinished: boolean): Markup {
  const button = (act: string, words: string, about: string) =>
    markup`<form method="post" action="${projectAt(name)}${act}" data-act><button title="${about}">${words}</button></form>`;
  if (held !== undefined) return button("resume", "Resume", "Allow runs again");
  if (isFinished && !running) return markup``;
  return markup`${button("pause", "Pause", "End the run before its next iteration, as blocked")}${button("stop", "Stop", "End the run before its next iteration, as Ctrl+C does")}`;
}

export const span = (seconds: number): string => duration(seconds * 1000);
