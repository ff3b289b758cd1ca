import { isAbsolute } from "node:path";
import { estimateTokens } from "../lib/tokens.js";
import { type LoopMemory, observationsSinceSummary, recentTitle } from "./run-record/loop-memory.js";
import {
  type Brief,
  type BriefText,
  type Notes,
  type Delay,
  type StopCondition,
  isVerdict,
  type RunSoFar,
  type Unit,
  type Verdict,
} from "./types.js";
import { iterationsIn, type LoopKind, longestRepetition } from "./stop-conditions/stuck.js";

/** Maximum number of iterations since the last summary in a brief; each has one line. */
const maxHistoryLines = 5;
const maxLineChars = 200;
/** Maximum number of characters of the user's instructions in a brief; the newest ones are kept. */
const maxSteeringChars = 1_600;

/** The notes about earlier iterations for the next brief. Their size is bounded. */
export function memoryNotes(memory: LoopMemory | undefined): Pick<Notes, "history" | "remediation" | "steering"> {
  if (memory === undefined) return {};
  return {
    history: historyNote(memory) || undefined,
    remediation: remediationFor(memory),
    steering: steeringNote(memory) || undefined,
  };
}

function historyNote({ historySummary = "", metrics, observations, limits }: LoopMemory): string {
  const recentObservations = observationsSinceSummary({ observations, metrics }).slice(-maxHistoryLines);
  const lines = recentObservations.map(({ iteration, unit, outcome, said = "" }) =>
    `- #${iteration} ${unit} ${outcome}: ${said}`.slice(0, maxLineChars),
  );
  const summary = oldestFirst(historySummary.slice(0, limits.summaryChars));
  return [summary, ...lines].filter((part) => part !== "").join("\n");
}

/**
 * A summary with its latest iterations in their order, because the iterations since then follow it. It is stored with
 * the newest first, so that the oldest is left out where there is no room.
 */
function oldestFirst(summary: string): string {
  const [head = "", recent] = summary.split(`\n${recentTitle}\n`);
  if (recent === undefined) return summary;
  const iterationOf = (line: string) => Number(/^- #(\d+) /.exec(line)?.[1]);
  const lines = recent.split("\n").toSorted((a, b) => iterationOf(a) - iterationOf(b));
  return [head, recentTitle, ...lines].join("\n");
}

function steeringNote({ steering }: LoopMemory): string {
  const newestLines: string[] = [];
  let usedChars = 0;
  for (const { text } of steering.toReversed()) {
    usedChars += text.length + 3;
    if (usedChars > maxSteeringChars) break;
    newestLines.unshift(`- ${text}`);
  }
  return newestLines.join("\n");
}

/** Advice for each kind of loop, for the agent of the next iteration, which knows nothing about earlier iterations. */
const remedies: Readonly<Record<LoopKind, string>> = {
  "identical-answers":
    "Every one of them left the same answer, and it was not accepted. Do not write that answer again. Start from the unit below, not from memory: go through each of the reasons, change exactly the fields they name, and check that your result differs there before you give it.",
  oscillation:
    "They went back and forth between two answers: each corrected the errors of the other and repeated the errors that the other had corrected. Write down for yourself why each of the two answers was refused, then leave one result that satisfies both lists of reasons at once; if that is impossible, keep the fields the schema requires and leave out the optional ones.",
  "redundant-writes":
    "They wrote the same file over and over. Write no file: put the whole result together, give its JSON as your final message, the object alone, and end. A result with gaps that says so in `notes` serves better than another version of it.",
  "read-loop":
    "They kept reading and left no result. Open each file at most once, note what you need as you go, and when the last one is read give the JSON as your final message at once with what you have. If a file can't be read, say so in the result and go on without it.",
  "planning-loop":
    "They announced what they would do and ended before doing it. Make no plan and ask nothing: nobody answers. Your next message is the JSON object in the form the brief asks for, and nothing else; any other message counts for nothing.",
  "command-loop":
    "They ran the same command again and again and left no result. The same command gives the same output again: do not repeat a command that failed or brought nothing new. Use another way, or do without it, and give the JSON as your final message.",
};

/**
 * The advice for the next brief if at least the last two iterations show a loop; otherwise undefined. At most 600
 * characters.
 */
export function remediationFor({
  observations,
  limits,
  remedies: workflowRemedies,
}: Pick<LoopMemory, "observations" | "limits" | "remedies">): string | undefined {
  const repetition = longestRepetition(observations, limits);
  if (repetition === undefined) return undefined;
  return `The last ${iterationsIn(repetition)} iterations made no progress (${repetition.kind}). ${workflowRemedies?.[repetition.kind] ?? remedies[repetition.kind]}`;
}

/** The first verdict of the stop conditions; without a verdict, the first delay. */
export function firstObjection(stopConditions: readonly StopCondition[], soFar: RunSoFar): Verdict | Delay | undefined {
  const answers = stopConditions.map((stopCondition) => stopCondition(soFar)).filter((answer) => answer !== undefined);
  return answers.find(isVerdict) ?? answers[0];
}

/** The notes that the loop adds to the brief of a unit. */
export function notesFor(unit: Unit, { iterations, memory }: RunSoFar): Notes {
  const attempts = iterations.filter((past) => past.unit.id === unit.id);
  const lastOutcome = attempts.at(-1)?.outcome;
  return { ...memoryNotes(memory), ...(lastOutcome?.outcome === "refused" ? { refusal: lastOutcome.reasons } : {}) };
}

/** Completes a workflow's brief with default values. Throws if the workspace is not an absolute path. */
export function completeBrief(brief: BriefText, { iterations, inFlight = [] }: RunSoFar, workflow: string): Brief {
  if (!isAbsolute(brief.workspace))
    throw new Error(`${workflow} names the workspace '${brief.workspace}', which has to be an absolute path`);
  const lastIteration = Math.max(
    0,
    ...[...iterations, ...inFlight.map(({ run }) => run)].map(({ iteration }) => iteration),
  );
  return {
    iteration: lastIteration + 1,
    tokens: brief.tokens ?? estimateTokens(brief.text),
    ...brief,
    access: { web: false, read: false, everything: false, ...brief.access },
  };
}
