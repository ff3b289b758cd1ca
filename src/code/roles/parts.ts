import { estimateTokens } from "../../engine/lib/tokens.js";
import { fence, oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { linesOf, textOf } from "../graph/source-text.js";
import type { RalphTask } from "../../task/generated/ralph.js";
import type { CodePlan, Place, Round, TaskState, Tested } from "../../task/generated/ralph-state.js";

/** The task as text. */
export const jobText = ({ task, target }: RalphTask): string =>
  [task, ...(target === undefined ? [] : [`It is about ${target}.`])].join("\n");

/** The failing tests: first one of each error signature, then the others. */
export function failuresText({ failures, failing, framework, problem }: Tested): string {
  if (failing === 0 && failures.length === 0) return "All tests pass.";
  const seenSignatures = new Set<string>();
  const firstOfEachSignature = failures.filter(
    ({ signature }) => !seenSignatures.has(signature) && seenSignatures.add(signature),
  );
  const orderedFailures = [
    ...firstOfEachSignature,
    ...failures.filter((failure) => !firstOfEachSignature.includes(failure)),
  ];
  const lines = orderedFailures.map(({ test, file, line, message, stack }, index) => {
    const location = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
    const frames = index < 5 ? (stack ?? []).slice(0, 6).map((frame) => `    ${frame.trim()}`) : [];
    return [`- ${oneLine(test)}${location}: ${message.slice(0, index < 5 ? 600 : 160)}`, ...frames].join("\n");
  });
  const firstLine = `${framework}: ${quantity(failing, "test")} failing.${problem === undefined ? "" : ` ${problem}`}`;
  return [firstLine, ...lines].join("\n");
}

/** What earlier rounds of this task tried without success. */
export function triedText(rounds: readonly Round[]): string {
  return rounds
    .filter(({ action_taken, tests }) => action_taken !== undefined && tests !== undefined)
    .slice(-6)
    .map(({ round, hypothesis, action_taken, tests, put_back }) => {
      const putBackText = put_back === undefined ? "" : ", and it was put back";
      return `- Round ${round}: took for the cause: ${oneLine(hypothesis ?? "").slice(0, 200)}; did: ${oneLine(action_taken ?? "").slice(0, 240)}. ${quantity(tests?.failing ?? 0, "test")} failed after it${putBackText}.`;
    })
    .join("\n");
}

/** Criteria that are not met, without those about tests, and files that the last round did not restore. */
export const unmetText = ({ checks }: TaskState, lastRound: Round | undefined): string =>
  [
    ...checks
      .filter(({ passed, failing }) => !passed && failing === undefined)
      .map(({ criterion, detail }) => `${criterion}: ${detail.split("\n").slice(0, 6).join(" ").slice(0, 500)}`),
    ...(lastRound?.left_alone ?? []).map(
      (path) => `${path} was changed by somebody else meanwhile; leave their change as it is.`,
    ),
  ].join("\n");

export const planText = ({ cause, files, steps }: CodePlan): string =>
  [
    `Cause: ${cause}`,
    `Places: ${files.map(({ path, lines }) => `${path}${lines === undefined ? "" : `:${lines.join("-")}`}`).join(", ")}`,
    ...steps.map((step, index) => `${index + 1}. ${step}`),
  ].join("\n");

/** The text of these places, each under its path, in at most `tokens` tokens. */
export function placesText(folder: string, places: readonly Place[], tokens: number): string {
  const texts = places.flatMap((place) => {
    const text = textOf(folder, place.path);
    return text === undefined ? [] : [{ place, text }];
  });
  let remainingTokens = tokens;
  return texts
    .map(({ place, text }, index) => {
      const [firstLine = 1, lastLine = Number.POSITIVE_INFINITY] = place.lines ?? [];
      const maxTokens = Math.max(100, Math.floor(remainingTokens / (texts.length - index)));
      // Some lines around a range are shown too: its context is often just above it.
      const extraLines = place.lines === undefined ? 0 : 5;
      const shownText = linesOf(text, firstLine - extraLines, lastLine + extraLines, maxTokens);
      remainingTokens -= estimateTokens(shownText) + 20;
      return `## ${place.path}\n${fence(shownText)}`;
    })
    .join("\n\n");
}
