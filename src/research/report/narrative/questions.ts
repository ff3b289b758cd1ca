import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { quantity } from "../../../engine/lib/words.js";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { currentAccepted } from "../../../engine/storage/state/ledger.js";
import { questionKey } from "../../project-files/logs/answers-log.js";
import { notesOfOldQuote } from "../../../text/evidence/quoted.js";
import { type PassagePiece, piecesOf } from "../../../text/evidence/quoted.js";
import type { Answer } from "../../generated/answer.js";
import { narrativeOfAnswer } from "../../overview/questions/answer-as-report.js";
import { noAnswerText } from "../../overview/questions/no-answer.js";
import type { Checkers } from "../../derived/checker-rates.js";
import { meaningField, type MeaningMark } from "../../derived/meaning-mark.js";
import { type Meaning, meaningOf } from "./meaning.js";
import type { PaperName } from "../quotes.js";

/** Maximum number of questions in a report; answers.jsonl has all of them. */
const maxQuestions = 50;

/** A question about the project with its latest stored answer. */
export interface AskedQuestion {
  readonly question: string;
  /** The day of the answer, YYYY-MM-DD. */
  readonly day: string;
  /** The number of papers of the project that were read after the question. */
  readonly readSince: number;
  /** The sentence in place of an answer without sentences. */
  readonly noAnswer: string;
  /** Empty if no answer was found. */
  readonly sentences: readonly {
    readonly text: string;
    /** Warnings about the sentence, one sentence each. */
    readonly marks: readonly string[];
    /** Another reader's verdict on the sentence. */
    readonly meaning?: MeaningMark;
    readonly quotes: readonly AskedQuote[];
  }[];
  /** The result of checking the sentences against their quotes; absent if there was no check. */
  readonly meaning?: Meaning;
  /** The reasons why the answer is no longer valid, a clause each: a paper was retracted or removed. */
  readonly invalidReasons: readonly string[];
}

/** A quote that a sentence of an answer cites. */
export interface AskedQuote {
  /** Absent if the paper belongs to another project or was removed. */
  readonly paper?: PaperName;
  /** The name of the paper in the answer. */
  readonly key: string;
  /** The paper's sentence in pieces, with the quoted ones marked. */
  readonly pieces: readonly PassagePiece[];
  /** Such as "p. 4". */
  readonly locator?: string;
  /** Warnings about the quote, a clause each. */
  readonly notes: readonly string[];
}

/** The questions of answers.jsonl, newest first. If a question was asked again, only the last answer. Pure. */
export function askedQuestions(
  answers: readonly Answer[],
  names: ReadonlyMap<string, PaperName>,
  checkers: Checkers,
  ledger: readonly LedgerLine[],
): readonly AskedQuestion[] {
  const newest = new Map<string, Answer>();
  for (const answer of answers) {
    const key = questionKey(answer);
    newest.delete(key);
    newest.set(key, answer);
  }
  return [...newest.values()]
    .slice(-maxQuestions)
    .toReversed()
    .map((answer) => ({ ...askedQuestion(answer, names, checkers), readSince: readSince(answer, names, ledger) }));
}

/** The number of papers that were read after the question, as far as the answer states when it was asked. */
const readSince = ({ seen }: Answer, names: ReadonlyMap<string, PaperName>, ledger: readonly LedgerLine[]): number =>
  seen === undefined
    ? 0
    : [...currentAccepted(ledger)].filter(([unit, iteration]) => names.has(unit) && iteration > seen).length;

/** The day of an answer, and how many papers it could not know. */
export const answeredText = ({ day, readSince }: AskedQuestion): string =>
  `answered on ${day}${readSince === 0 ? "" : `, before ${readSince === 1 ? "1 paper was" : `${readSince} papers were`} read`}`;

/** The result of the check of an answer; undefined if it was not checked. */
export function answerMeaning(answer: Answer, checkers: Checkers): Meaning | undefined {
  const meaning =
    answer.check === undefined
      ? undefined
      : meaningOf(narrativeOfAnswer(answer), { meaning: { checkers }, papers_pool: [] });
  if (answer.open === undefined) return meaning;
  const { sentences } = answer.open.check;
  const judged = sentences.filter(({ check }) => check !== undefined).length;
  const says = `Not to the end: ${judged} of ${quantity(sentences.length, "sentence")} judged so far. 'research-ralph ask ${answer.id} --check' goes on.`;
  return { judged: 0, supported: 0, removed: [], isAnswerRejected: false, checkedBy: "", ...meaning, says };
}

function askedQuestion(
  answer: Answer,
  names: ReadonlyMap<string, PaperName>,
  checkers: Checkers,
): Omit<AskedQuestion, "readSince"> {
  const { question, at, statements, quotes, projects = [] } = answer;
  const byHandle = new Map(quotes.map((quote) => [quote.handle, quote]));
  const nameOf = (key: string) => (projects.length > 1 ? undefined : names.get(key));
  const invalidReasons = [...new Set(quotes.map(({ paper }) => paper))].flatMap((key) => {
    const name = nameOf(key);
    if (name === undefined) return projects.length > 1 ? [] : [`${key} is no longer in the project`];
    return name.isRetracted ? [`${name.label} is retracted`] : [];
  });
  return {
    question,
    noAnswer: noAnswerText(answer),
    day: at.slice(0, 10),
    ...withoutUndefined({ meaning: answerMeaning(answer, checkers) }),
    sentences: statements.map(({ text, marks = [], rests_on, check }) => ({
      text,
      marks,
      ...meaningField(check, checkers),
      quotes: rests_on.flatMap((handle): AskedQuote[] => {
        const quote = byHandle.get(handle);
        if (quote === undefined) return [];
        const paper = nameOf(quote.paper);
        return [
          {
            ...withoutUndefined({ paper }),
            key: quote.paper,
            pieces: piecesOf(quote),
            notes: notesOfOldQuote(quote),
            ...(quote.locator ? { locator: quote.locator } : {}),
          },
        ];
      }),
    })),
    invalidReasons,
  };
}
