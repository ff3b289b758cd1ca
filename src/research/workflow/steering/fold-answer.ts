import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { given } from "../../../engine/lib/given.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { answersName } from "../../project-files/layout.js";
import { answerLine, isAnswerUnit, nextAnswerUnit, readAnswers } from "../../project-files/logs/answers-log.js";
import { progressEntry } from "../../project-files/progress-text.js";
import type { Research } from "../../project-files/research.js";
import type { Answer } from "../../generated/answer.js";
import { flat } from "../../project-files/markdown.js";

/** An iteration that answered a question, or tried to. Its number is given when it is folded. */
export interface AskedIteration {
  readonly line: LedgerLine;
  /** Absent where none was accepted. */
  readonly answer?: Answer;
  /** The message it came in, where a run held the project. */
  readonly message?: string;
}

/**
 * Folds an iteration that answered a question, each message once however often it is tried, and says in one sentence
 * what came in; nothing where it is there already.
 */
export async function foldAsked(
  research: Pick<Research, "folder" | "load" | "fold" | "nextIteration">,
  { line, answer, message }: AskedIteration,
): Promise<string | undefined> {
  const { ledger } = await research.load();
  const { lines: answers } = await readAnswers(research.folder);
  // A message that a kill left there after its fold: its answer names it; of one without, the line's end tells.
  const isKept =
    answer === undefined
      ? ledger.some(({ unit, at, outcome }) => isAnswerUnit(unit) && at === line.at && outcome === line.outcome)
      : answers.some((kept) => kept.message === message);
  if (message !== undefined && isKept) return undefined;
  const isTaken = answers.some(({ id }) => id === line.unit);
  const unit = isTaken
    ? nextAnswerUnit(
        answers,
        ledger.map((each) => each.unit),
      )
    : line.unit;
  const iteration = research.nextIteration();
  const kept = answer === undefined ? undefined : { ...answer, id: unit, ...given({ message }) };
  const says = kept === undefined ? line.outcome : summaryOf(kept);
  await research.fold({
    iteration,
    at: line.at,
    message: `${unit}: ${says}`,
    changes: [],
    ledger: { ...line, unit, iteration },
    ...(kept === undefined
      ? {}
      : {
          progress: progressEntry(
            `## ${line.at.slice(0, 10)} - Question ${unit}\n\n${flat(kept.question)}\n\n${says}`,
            iteration,
          ),
          appends: [{ name: answersName, text: answerLine(kept) }],
        }),
  });
  return `${unit}: ${says}`;
}

/** One line for the screen and the commit. */
export const summaryOf = ({ statements, quotes }: Pick<Answer, "statements" | "quotes">): string =>
  statements.length === 0
    ? "not in these papers"
    : `${statements.length} ${statements.length === 1 ? "statement" : "statements"} on ${quotes.length} ${quotes.length === 1 ? "quote" : "quotes"}`;

/** What a message holds, where it is such an iteration. */
export function askedIn(beside: Readonly<Record<string, unknown>>): AskedIteration | undefined {
  const { line, answer } = beside as { line?: LedgerLine; answer?: Answer };
  if (line === undefined || problemsOf("ledger", line).length > 0 || !isAnswerUnit(line.unit)) return undefined;
  if (answer === undefined) return { line };
  return problemsOf("answer", answer).length > 0 ? undefined : { line, answer };
}
