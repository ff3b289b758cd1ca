import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { quantity } from "../../../engine/lib/words.js";
import { ratesSince, withRates } from "../../derived/checker-rates.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { answersName } from "../../project-files/layout.js";
import { formatAnswer, isAnswerUnit, nextAnswerUnit, readAnswers } from "../../project-files/logs/answers-log.js";
import { progressEntry } from "../../project-files/progress-log.js";
import type { Research } from "../../project-files/research.js";
import type { Answer } from "../../generated/answer.js";
import { onOneLine } from "../../project-files/markdown.js";

/** An iteration that answered a question, or tried to. It gets its number when it is folded. */
export interface AnswerIteration {
  readonly line: LedgerLine;
  /** Absent if no answer was accepted. */
  readonly answer?: Answer;
  /** Only for an iteration that checked the sentences of an answer: the time (`at`) of that answer. */
  readonly checks?: string;
  /** The id of the message with this iteration, if it was sent to a running project. */
  readonly message?: string;
}

/**
 * Folds an iteration that answered a question, and returns a sentence about it. A message is folded only once;
 * undefined if that was done before.
 */
export async function foldAnswer(
  research: Pick<Research, "folder" | "load" | "fold" | "nextIteration">,
  { line, answer, checks, message }: AnswerIteration,
): Promise<string | undefined> {
  const { rrd, ledger } = await research.load();
  const { lines: answers } = await readAnswers(research.folder);
  // After a kill, a folded message can still be in the inbox. The stored answer has its id; a failed iteration is
  // recognised by its ledger line.
  const isFolded =
    answer === undefined
      ? ledger.some(({ unit, at, outcome }) => isAnswerUnit(unit) && at === line.at && outcome === line.outcome)
      : answers.some((earlier) => earlier.message === message);
  if (message !== undefined && isFolded) return undefined;
  const isTaken = answers.some(({ id }) => id === line.unit);
  const nextUnitId = () =>
    nextAnswerUnit(
      answers,
      ledger.map((entry) => entry.unit),
    );
  // An answer from the inbox may have another id than the one that its agent got.
  const checkedUnit = checks === undefined ? undefined : (answers.find(({ at }) => at === checks)?.id ?? line.unit);
  const unit = checkedUnit ?? (isTaken ? nextUnitId() : line.unit);
  const iteration = research.nextIteration();
  const storedAnswer = answer === undefined ? undefined : { ...answer, id: unit, ...withoutUndefined({ message }) };
  const summary =
    storedAnswer === undefined
      ? line.outcome
      : checks === undefined
        ? summaryOf(storedAnswer)
        : checkedSummary(storedAnswer);
  // A line of an answer counts all controls of its check so far. The project has already counted those of earlier
  // lines.
  const earlierControls = answers.find(({ id }) => id === unit)?.controls ?? {};
  const checkers = withRates(rrd.meaning?.checkers ?? {}, ratesSince(earlierControls, storedAnswer?.controls ?? {}));
  const meaning = { ...rrd.meaning, checkers };
  await research.fold({
    iteration,
    at: line.at,
    message: `${unit}: ${summary}`,
    changes:
      storedAnswer?.controls === undefined ? [] : [{ in: "rrd", set: { meaning }, was: { meaning: rrd.meaning } }],
    ledger: { ...line, unit, iteration },
    ...(storedAnswer === undefined
      ? {}
      : {
          ...(checks !== undefined && storedAnswer.open !== undefined
            ? {}
            : {
                progress: progressEntry(
                  `## ${line.at.slice(0, 10)} - Question ${unit}\n\n${onOneLine(storedAnswer.question)}\n\n${summary}`,
                  iteration,
                ),
              }),
          appends: [{ name: answersName, text: formatAnswer(storedAnswer) }],
        }),
  });
  return `${unit}: ${summary}`;
}

/** A summary of an answer for the screen and the commit message. */
export const summaryOf = ({ statements, quotes }: Pick<Answer, "statements" | "quotes">): string =>
  statements.length === 0
    ? "no answer found"
    : `${statements.length} ${statements.length === 1 ? "statement" : "statements"} on ${quotes.length} ${quotes.length === 1 ? "quote" : "quotes"}`;

/** A summary of an answer after the check of its sentences. */
const checkedSummary = ({ statements, not_borne_out = [], check, open }: Answer): string => {
  if (open !== undefined) return "its check goes on";
  const judged = [...statements, ...not_borne_out].filter((entry) => entry.check !== undefined);
  const supported = judged.filter((entry) => entry.check?.verdict === "supported").length;
  if (judged.length === 0 && check?.unchecked !== undefined) return `not checked: ${check.unchecked}`;
  const unfinished = check?.unchecked === undefined ? "" : `; ${check.unchecked}`;
  return `${supported} of ${quantity(judged.length, "sentence")} supported${unfinished}`;
};

/** The iteration in a message; undefined if the message contains none. */
export function answerIterationIn(beside: Readonly<Record<string, unknown>>): AnswerIteration | undefined {
  const { line, answer, checks } = beside as { line?: LedgerLine; answer?: Answer; checks?: unknown };
  if (line === undefined || problemsOf("ledger", line).length > 0 || !isAnswerUnit(line.unit)) return undefined;
  const iteration = typeof checks === "string" ? { line, checks } : { line };
  if (answer === undefined) return iteration;
  return problemsOf("answer", answer).length > 0 ? undefined : { ...iteration, answer };
}
