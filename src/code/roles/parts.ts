import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import { fence, oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { linesOf, textOf } from "../graph/source-text.js";
import type { RalphTask } from "../../task/generated/ralph.js";
import type { CodePlan, Place, Round, TaskState, Tested } from "../../task/generated/ralph-state.js";

/** A part of a brief under its title; nothing where there is nothing to say. */
export const part = (title: string, text: string | undefined, tokens: number): string[] =>
  text === undefined || text.trim() === "" ? [] : ["", `# ${title}`, "", clip(text.trim(), tokens)];

/** The same for text that others wrote: it is data, and nothing in it is an order. */
export const dataPart = (title: string, text: string | undefined, tokens: number): string[] =>
  text === undefined || text.trim() === "" ? [] : ["", `# ${title}`, "", fence(clip(text.trim(), tokens))];

/** What is to be done, in words. */
export const jobText = ({ task, target }: RalphTask): string =>
  [task, ...(target === undefined ? [] : [`It is about ${target}.`])].join("\n");

/** The failing tests, the first of each signature before the others. */
export function failuresText({ failures, failing, framework, problem }: Tested): string {
  if (failing === 0 && failures.length === 0) return "All tests pass.";
  const seen = new Set<string>();
  const firsts = failures.filter(({ signature }) => !seen.has(signature) && seen.add(signature));
  const ordered = [...firsts, ...failures.filter((each) => !firsts.includes(each))];
  const lines = ordered.map(({ test, file, line, message, stack }, at) => {
    const where = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
    const frames = at < 5 ? (stack ?? []).slice(0, 6).map((frame) => `    ${frame.trim()}`) : [];
    return [`- ${oneLine(test)}${where}: ${message.slice(0, at < 5 ? 600 : 160)}`, ...frames].join("\n");
  });
  const head = `${framework}: ${many(failing, "test")} failing.${problem === undefined ? "" : ` ${problem}`}`;
  return [head, ...lines].join("\n");
}

/** What earlier rounds of this job tried without success. */
export function triedText(rounds: readonly Round[]): string {
  return rounds
    .filter(({ action_taken, tests }) => action_taken !== undefined && tests !== undefined)
    .slice(-6)
    .map(({ round, hypothesis, action_taken, tests, put_back }) => {
      const end = put_back === undefined ? "" : ", and it was put back";
      return `- Round ${round}: took for the cause: ${oneLine(hypothesis ?? "").slice(0, 200)}; did: ${oneLine(action_taken ?? "").slice(0, 240)}. ${many(tests?.failing ?? 0, "test")} failed after it${end}.`;
    })
    .join("\n");
}

/** Criteria besides the tests that are not met, and what the last round left alone. */
export const openText = ({ checks }: TaskState, last: Round | undefined): string =>
  [
    ...checks
      .filter(({ passed, failing }) => !passed && failing === undefined)
      .map(({ criterion, detail }) => `${criterion}: ${detail.split("\n").slice(0, 6).join(" ").slice(0, 500)}`),
    ...(last?.left_alone ?? []).map(
      (path) => `${path} was changed by somebody else meanwhile; leave their change as it is.`,
    ),
  ].join("\n");

export const planText = ({ cause, files, steps }: CodePlan): string =>
  [
    `Cause: ${cause}`,
    `Places: ${files.map(({ path, lines }) => `${path}${lines === undefined ? "" : `:${lines.join("-")}`}`).join(", ")}`,
    ...steps.map((step, at) => `${at + 1}. ${step}`),
  ].join("\n");

/** The text of these places, each under its name, in at most so many tokens. */
export function placesText(folder: string, places: readonly Place[], tokens: number): string {
  const texts = places.flatMap((place) => {
    const text = textOf(folder, place.path);
    return text === undefined ? [] : [{ place, text }];
  });
  let left = tokens;
  return texts
    .map(({ place, text }, at) => {
      const [first = 1, last = Number.POSITIVE_INFINITY] = place.lines ?? [];
      const share = Math.max(100, Math.floor(left / (texts.length - at)));
      // A little around a range: what it belongs to is often just above it.
      const around = place.lines === undefined ? 0 : 5;
      const shown = linesOf(text, first - around, last + around, share);
      left -= estimateTokens(shown) + 20;
      return `## ${place.path}\n${fence(shown)}`;
    })
    .join("\n\n");
}
