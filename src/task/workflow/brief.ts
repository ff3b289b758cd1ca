import { fence } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { clip, estimateTokens } from "../../engine/lib/tokens.js";
import type { Notes } from "../../engine/loop/types.js";
import type { Attempt, Check, TaskState } from "../generated/ralph-state.js";
import { usualIterations } from "../plan/plan.js";
import { stateName } from "../project-files/layout.js";
import type { ViewNames } from "../plan/views.js";
import { spentIn } from "../plan/used.js";

/** Most estimated tokens of a brief, whatever commands have printed. */
export const maxBriefTokens = 2_000;

/** Tokens that parts may take at most; what one leaves over goes to the failures. */
const share = { task: 600, context: 120, said: 250, history: 250, remediation: 160, steering: 160 };

/** What an agent can do there, for it to know. */
interface Means {
  /** It has a shell, so it can run the checks itself. */
  readonly shell: boolean;
  readonly views: ViewNames;
}

/** Parts of the room that is there by the usual estimate, tried one after the other until the text surely fits. */
const tries = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2];

/** The text for the agent of one attempt: at most 2,000 tokens, whatever stands in it. Pure. */
export function briefText(state: TaskState, notes: Notes, means: Means): string {
  const texts = tries.map((part) => () => textWithin(state, notes, means, part));
  for (const make of texts) {
    const text = make();
    if (mostTokens(text) <= maxBriefTokens) return text;
  }
  return textWithin(state, notes, means, 0.1);
}

/**
 * About the most tokens that a text can be: prose is a token for four letters, but hashes, base64 and other scripts are
 * a token for each one or two.
 */
export function mostTokens(text: string): number {
  let count = 0;
  for (const [piece] of text.matchAll(/[A-Za-z]+|\d+|[ \t]+|\s|[^\sA-Za-z\d]/gu)) {
    if (/^[A-Za-z]/.test(piece)) count += ofLetters(piece);
    else if (/^\d/.test(piece)) count += Math.ceil(piece.length / 3);
    else if (/^[ \t]/.test(piece)) count += piece.length > 1 ? 1 : 0.05;
    else count += piece.charCodeAt(0) < 128 ? 0.8 : Math.max(1, Buffer.byteLength(piece) / 2.2);
  }
  return Math.ceil(count);
}

/** Words of usual length and make are in every vocabulary; long or strange runs of letters are cut up. */
function ofLetters(run: string): number {
  const isWord = run.length <= 14 && /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(run) && /[aeiouy]/i.test(run);
  return isWord ? Math.max(1, run.length / 2.2) : run.length / 1.4;
}

function textWithin(state: TaskState, notes: Notes, { shell, views }: Means, scale: number): string {
  const { task, checks, attempts } = state;
  const said = attempts.flatMap((each) => (each.said === undefined || each.undone === true ? [] : [each]));
  const file = state.source ?? stateName;
  const left = (task.max_iterations ?? usualIterations) - spentIn(state).iterations;
  const open = checks.filter(({ passed }) => !passed);
  const head = [
    "# Task",
    "",
    clip(task.task, share.task * scale),
    ...(estimateTokens(task.task) > share.task * scale ? [`The whole text is in ${file}, under "task".`] : []),
    ...contextLines(task.context ?? [], scale),
  ];
  const tail = [
    "",
    "# Rules",
    "",
    `Work in the current folder until every criterion is met. It is checked after you end${shell ? "; run the checks yourself before" : ""}. ` +
      `This is one of at most ${many(Math.max(1, left), "further attempt")}; the agent after you sees the files and your last sentence, nothing else that you say.`,
    `Do not weaken the checks: no test is deleted or skipped, and ${[...new Set([file, stateName])].join(", ")}, .ralph and .git are put back.`,
    `Your own steps may stand under "## Steps" in ${views.plan}, as "- [ ] step".`,
    "End with one sentence that says what you did and what you learned.",
    ...dataPart("# What the agents before you said at their end", saidText(said), share.said * scale),
    ...part("# Earlier attempts", notes.history, share.history * scale),
    ...part("# What went wrong", notes.remediation, share.remediation * scale),
    ...part("# From the user", notes.steering, share.steering * scale),
  ];
  const title = `# Acceptance criteria (${checks.length - open.length} of ${checks.length} met)`;
  const taken = estimateTokens([...head, "", title, "", ...tail].join("\n")) + 20;
  const room = Math.max(0, maxBriefTokens * scale - taken);
  return [...head, "", title, "", ...criteriaLines(checks, room), ...tail, ""].join("\n");
}

const part = (title: string, text: string | undefined, tokens: number): string[] =>
  text === undefined || text.trim() === "" ? [] : ["", title, "", clip(text, tokens)];

/** The same for what agents wrote: it is data. */
const dataPart = (title: string, text: string, tokens: number): string[] =>
  text === "" ? [] : ["", title, "", fence(clip(text, tokens))];

/** The closing sentences of the last attempts, the newest first. */
const saidText = (attempts: readonly Attempt[]): string =>
  attempts
    .slice(-maxSaid)
    .toReversed()
    .map(({ iteration, said = "" }) => `- #${iteration}: ${said}`)
    .join("\n");

/** Most attempts whose closing sentences a brief repeats. */
const maxSaid = 5;

function contextLines(context: readonly string[], scale: number): string[] {
  if (context.length === 0) return [];
  return ["", clip(`Read first: ${context.join(", ")}`, share.context * scale)];
}

/** A line for each criterion; of those that failed, what was found, as far as there is room. */
function criteriaLines(checks: readonly Check[], room: number): string[] {
  const lines = checks.map(({ criterion, passed }) => `${passed ? "✓" : "✗"} ${criterion}`);
  // A hundred criteria of two hundred characters each: the open ones count.
  const short = estimateTokens(lines.join("\n")) <= room * 0.6 ? lines : shortened(checks, room * 0.6);
  let rest = room - estimateTokens(short.join("\n"));
  const failed = checks.filter(({ passed, detail }) => !passed && detail !== "");
  const out: string[] = [];
  let open = failed.length;
  for (const [index, line] of short.entries()) {
    out.push(line);
    const check = checks[index];
    if (check === undefined || check.passed || check.detail === "" || line.startsWith("…")) continue;
    const found = indented(clip(check.detail, Math.max(0, Math.floor(rest / open) - 8)));
    open -= 1;
    if (found.trim().length < 2) continue;
    out.push(found);
    rest -= estimateTokens(found) + 1;
  }
  return out;
}

function shortened(checks: readonly Check[], room: number): string[] {
  const lines: string[] = [];
  let used = 0;
  for (const [index, { criterion, passed }] of checks.entries()) {
    const line = `${passed ? "✓" : "✗"} ${criterion.slice(0, 60)}`;
    used += estimateTokens(line) + 1;
    if (used > room) return [...lines, `… and ${checks.length - index} more`];
    lines.push(line);
  }
  return lines;
}

const indented = (text: string): string =>
  text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
