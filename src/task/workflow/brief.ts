import { fence } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { Notes } from "../../engine/loop/types.js";
import type { Attempt, Check, TaskState } from "../generated/ralph-state.js";
import { defaultIterations } from "../plan/plan.js";
import { stateName } from "../project-files/layout.js";
import type { ViewNames } from "../plan/views.js";
import { spentBy } from "../plan/used.js";

/** Maximum estimated tokens of a brief. */
const maxBriefTokens = 2_000;

/** Maximum estimated tokens of each part of a brief. Tokens that a part does not use are used for the failures. */
const maxPartTokens = { task: 600, context: 120, said: 250, history: 250, remediation: 160, steering: 160 };

/** The abilities of the agent, which the brief mentions. */
interface AgentAbilities {
  /** Whether the agent has a shell, so that it can run the checks itself. */
  readonly shell: boolean;
  readonly views: ViewNames;
}

/** Factors for the token limits. They are tried in this order until the text is short enough. */
const scales = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2];

/** The text for the agent of one attempt, of at most 2,000 tokens. Pure. */
export function briefText(state: TaskState, notes: Notes, abilities: AgentAbilities): string {
  for (const scale of scales) {
    const text = textWithin(state, notes, abilities, scale);
    if (maxTokensOf(text) <= maxBriefTokens) return text;
  }
  return textWithin(state, notes, abilities, 0.1);
}

/**
 * A high estimate of the tokens in a text. Prose has a token for four letters; hashes, base64 and other scripts have a
 * token for each one or two characters.
 */
function maxTokensOf(text: string): number {
  let count = 0;
  for (const [piece] of text.matchAll(/[A-Za-z]+|\d+|[ \t]+|\s|[^\sA-Za-z\d]/gu)) {
    if (/^[A-Za-z]/.test(piece)) count += tokensOfLetters(piece);
    else if (/^\d/.test(piece)) count += Math.ceil(piece.length / 3);
    else if (/^[ \t]/.test(piece)) count += piece.length > 1 ? 1 : 0.05;
    else count += piece.charCodeAt(0) < 128 ? 0.8 : Math.max(1, Buffer.byteLength(piece) / 2.2);
  }
  return Math.ceil(count);
}

/**
 * A high estimate of the tokens in a sequence of letters. Ordinary words have few tokens; long or unusual sequences are
 * split into more tokens.
 */
function tokensOfLetters(letters: string): number {
  const isWord = letters.length <= 14 && /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(letters) && /[aeiouy]/i.test(letters);
  return isWord ? Math.max(1, letters.length / 2.2) : letters.length / 1.4;
}

function textWithin(state: TaskState, notes: Notes, { shell, views }: AgentAbilities, scale: number): string {
  const { task, checks, attempts } = state;
  const attemptsWithSentence = attempts.flatMap((attempt) =>
    attempt.said === undefined || attempt.undone === true ? [] : [attempt],
  );
  const file = state.source ?? stateName;
  const remainingIterations = (task.max_iterations ?? defaultIterations) - spentBy(state).iterations;
  const failedChecks = checks.filter(({ passed }) => !passed);
  const firstLines = [
    "# Task",
    "",
    clip(task.task, maxPartTokens.task * scale),
    ...(estimateTokens(task.task) > maxPartTokens.task * scale ? [`The whole text is in ${file}, under "task".`] : []),
    ...contextLines(task.context ?? [], scale),
  ];
  const lastLines = [
    "",
    "# Rules",
    "",
    `Work in the current folder until every criterion is met. It is checked after you end${shell ? "; run the checks yourself before" : ""}. ` +
      `This is one of at most ${quantity(Math.max(1, remainingIterations), "further attempt")}; the agent after you sees the files and your last sentence, nothing else that you say.`,
    `Do not weaken the checks: no test is deleted or skipped, and ${[...new Set([file, stateName])].join(", ")}, .ralph and .git are put back.`,
    `Your own steps may stand under "## Steps" in ${views.plan}, as "- [ ] step".`,
    "End with one sentence that says what you did and what you learned.",
    ...dataSection(
      "What the agents before you said at their end",
      closingSentences(attemptsWithSentence),
      maxPartTokens.said * scale,
    ),
    ...section("Earlier attempts", notes.history, maxPartTokens.history * scale),
    ...section("What went wrong", notes.remediation, maxPartTokens.remediation * scale),
    ...section("From the user", notes.steering, maxPartTokens.steering * scale),
  ];
  const title = `# Acceptance criteria (${checks.length - failedChecks.length} of ${checks.length} met)`;
  const usedTokens = estimateTokens([...firstLines, "", title, "", ...lastLines].join("\n")) + 20;
  const maxCriteriaTokens = Math.max(0, maxBriefTokens * scale - usedTokens);
  return [...firstLines, "", title, "", ...criteriaLines(checks, maxCriteriaTokens), ...lastLines, ""].join("\n");
}

/** A section of a brief under its title; empty if there is no text. */
export const section = (title: string, text: string | undefined, tokens: number): string[] =>
  text === undefined || text.trim() === "" ? [] : ["", `# ${title}`, "", clip(text.trim(), tokens)];

/** Like `section`, for text that others wrote: it is marked as data. */
export const dataSection = (title: string, text: string | undefined, tokens: number): string[] =>
  text === undefined || text.trim() === "" ? [] : ["", `# ${title}`, "", fence(clip(text.trim(), tokens))];

/** The closing sentences of the last attempts, the newest first. */
const closingSentences = (attempts: readonly Attempt[]): string =>
  attempts
    .slice(-maxRepeatedSentences)
    .toReversed()
    .map(({ iteration, said = "" }) => `- #${iteration}: ${said}`)
    .join("\n");

/** Maximum number of attempts whose closing sentences a brief repeats. */
const maxRepeatedSentences = 5;

function contextLines(context: readonly string[], scale: number): string[] {
  if (context.length === 0) return [];
  return ["", clip(`Read first: ${context.join(", ")}`, maxPartTokens.context * scale)];
}

/** A line for each criterion. A failed criterion also gets the detail of its check, if there is room. */
function criteriaLines(checks: readonly Check[], maxTokens: number): string[] {
  const lines = checks.map(({ criterion, passed }) => `${passed ? "✓" : "✗"} ${criterion}`);
  // If there are many long criteria, their lines are shortened, so that the details of failed ones have room.
  const fittingLines =
    estimateTokens(lines.join("\n")) <= maxTokens * 0.6 ? lines : shortenedLines(checks, maxTokens * 0.6);
  let remainingTokens = maxTokens - estimateTokens(fittingLines.join("\n"));
  const failedChecks = checks.filter(({ passed, detail }) => !passed && detail !== "");
  const outputLines: string[] = [];
  let remainingFailures = failedChecks.length;
  for (const [index, line] of fittingLines.entries()) {
    outputLines.push(line);
    const check = checks[index];
    if (check === undefined || check.passed || check.detail === "" || line.startsWith("…")) continue;
    const shownDetail = indent(clip(check.detail, Math.max(0, Math.floor(remainingTokens / remainingFailures) - 8)));
    remainingFailures -= 1;
    if (shownDetail.trim().length < 2) continue;
    outputLines.push(shownDetail);
    remainingTokens -= estimateTokens(shownDetail) + 1;
  }
  return outputLines;
}

function shortenedLines(checks: readonly Check[], maxTokens: number): string[] {
  const lines: string[] = [];
  let usedTokens = 0;
  for (const [index, { criterion, passed }] of checks.entries()) {
    const line = `${passed ? "✓" : "✗"} ${criterion.slice(0, 60)}`;
    usedTokens += estimateTokens(line) + 1;
    if (usedTokens > maxTokens) return [...lines, `… and ${checks.length - index} more`];
    lines.push(line);
  }
  return lines;
}

const indent = (text: string): string =>
  text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
