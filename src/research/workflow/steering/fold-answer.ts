import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { many } from "../../../engine/lib/words.js";
import { ratesSince, withRates } from "../../derived/checker-rates.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { answersName } from "../../project-files/layout.js";
import { answerLine, isAnswerUnit, nextAnswerUnit, readAnswers } from "../../project-files/logs/answers-log.js";
import { progressEntry } from "../../project-files/progress-log.js";
import type { Research } from "../../project-files/research.js";
import type { Answer } from "../../generated/answer.js";
import { flat } from "../../project-files/markdown.js";

/** An iteration that answered a question, or tried to. Its number is given when it is folded. */
export interface AskedIteration {
  readonly line: LedgerLine;
  /** Absent where none was accepted. */
  readonly answer?: Answer;
  /** Of an iteration that checked the sentences of an answer: when that was accepted, as it says itself. */
  readonly checks?: string;
  /** The message it came in, where a run held the project. */
  readonly message?: string;
}

/**
 * Folds an iteration that answered a question, each message once however often it is tried, and says in one sentence
 * what came in; nothing where it is there already.
 */
export async function foldAsked(
  research: Pick<Research, "folder" | "load" | "fold" | "nextIteration">,
  { line, answer, checks, message }: AskedIteration,
): Promise<string | undefined> {
  const { rrd, ledger } = await research.load();
  const { lines: answers } = await readAnswers(research.folder);
  // A message that a kill left there after its fold: its answer names it; of one without, the line's end tells.
  const isKept =
    answer === undefined
      ? ledger.some(({ unit, at, outcome }) => isAnswerUnit(unit) && at === line.at && outcome === line.outcome)
      : answers.some((kept) => kept.message === message);
  if (message !== undefined && isKept) return undefined;
  const isTaken = answers.some(({ id }) => id === line.unit);
  const next = () =>
    nextAnswerUnit(
      answers,
      ledger.map((each) => each.unit),
    );
  // What came in through the inbox may have got another number than its agent was told.
  const ofCheck = checks === undefined ? undefined : (answers.find(({ at }) => at === checks)?.id ?? line.unit);
  const unit = ofCheck ?? (isTaken ? next() : line.unit);
  const iteration = research.nextIteration();
  const kept = answer === undefined ? undefined : { ...answer, id: unit, ...withoutUndefined({ message }) };
  const says = kept === undefined ? line.outcome : checks === undefined ? summaryOf(kept) : checkedSummary(kept);
  // A line of an answer counts all controls of its check so far; the project has those of the lines before it.
  const counted = answers.find(({ id }) => id === unit)?.controls ?? {};
  const checkers = withRates(rrd.meaning?.checkers ?? {}, ratesSince(counted, kept?.controls ?? {}));
  const meaning = { ...rrd.meaning, checkers };
  await research.fold({
    iteration,
    at: line.at,
    message: `${unit}: ${says}`,
    changes: kept?.controls === undefined ? [] : [{ in: "rrd", set: { meaning }, was: { meaning: rrd.meaning } }],
    ledger: { ...line, unit, iteration },
    ...(kept === undefined
      ? {}
      : {
          ...(checks !== undefined && kept.open !== undefined
            ? {}
            : {
                progress: progressEntry(
                  `## ${line.at.slice(0, 10)} - Question ${unit}\n\n${flat(kept.question)}\n\n${says}`,
                  iteration,
                ),
              }),
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

/** The same of an answer whose sentences were checked. */
export const checkedSummary = ({ statements, not_borne_out = [], check, open }: Answer): string => {
  if (open !== undefined) return "its check goes on";
  const judged = [...statements, ...not_borne_out].filter((each) => each.check !== undefined);
  const borneOut = judged.filter((each) => each.check?.verdict === "supported").length;
  if (judged.length === 0 && check?.unchecked !== undefined) return `not checked: ${check.unchecked}`;
  const unfinished = check?.unchecked === undefined ? "" : `; ${check.unchecked}`;
  return `${borneOut} of ${many(judged.length, "sentence")} borne out${unfinished}`;
};

/** What a message holds, where it is such an iteration. */
export function askedIn(beside: Readonly<Record<string, unknown>>): AskedIteration | undefined {
  const { line, answer, checks } = beside as { line?: LedgerLine; answer?: Answer; checks?: unknown };
  if (line === undefined || problemsOf("ledger", line).length > 0 || !isAnswerUnit(line.unit)) return undefined;
  const head = typeof checks === "string" ? { line, checks } : { line };
  if (answer === undefined) return head;
  return problemsOf("answer", answer).length > 0 ? undefined : { ...head, answer };
}
