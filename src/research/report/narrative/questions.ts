import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { many } from "../../../engine/lib/words.js";
import { questionKey } from "../../project-files/logs/answers-log.js";
import { notesOfOldQuote } from "../../../text/evidence/quoted.js";
import { type PassagePiece, piecesOf } from "../../../text/evidence/quoted.js";
import type { Answer } from "../../generated/answer.js";
import { narrativeOfAnswer } from "../../overview/questions/answer-as-report.js";
import type { Checkers } from "../../derived/checker-rates.js";
import { meaningField, type MeaningMark } from "../../derived/meaning-mark.js";
import { type Meaning, meaningOf } from "./meaning.js";
import type { PaperName } from "../quotes.js";

/** The most that a report lists; answers.jsonl has them all. */
const maxQuestions = 50;

/** A question that somebody put to the project, with its newest answer as it was kept. */
export interface AskedQuestion {
  readonly question: string;
  /** The day of the answer, YYYY-MM-DD. */
  readonly day: string;
  /** Empty: not in these papers. */
  readonly sentences: readonly {
    readonly text: string;
    /** What a reader should know of it, a sentence each. */
    readonly marks: readonly string[];
    /** What another reader says of whether it follows from its quotes. */
    readonly meaning?: MeaningMark;
    readonly quotes: readonly AskedQuote[];
  }[];
  /** How far its sentences were held against what they cite; absent: nobody was asked. */
  readonly meaning?: Meaning;
  /** Why it no longer stands, as far as the records tell, a clause each: a paper was retracted, or is gone. */
  readonly fallen: readonly string[];
}

/** The words that a sentence of an answer rests on. */
export interface AskedQuote {
  /** Absent where the paper is of another project, or gone. */
  readonly paper?: PaperName;
  /** How the answer names the paper. */
  readonly key: string;
  /** The paper's own sentence in pieces, the quoted ones marked. */
  readonly pieces: readonly PassagePiece[];
  /** Such as "p. 4". */
  readonly locator?: string;
  /** What a reader should know of the words, a clause each. */
  readonly notes: readonly string[];
}

/** The questions of answers.jsonl, the newest first; of those asked again the last answer. Pure. */
export function askedQuestions(
  answers: readonly Answer[],
  names: ReadonlyMap<string, PaperName>,
  checkers: Checkers,
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
    .map((answer) => asked(answer, names, checkers));
}

/** What is to be said of the check of an answer; undefined of one that nobody checked. */
export function answerMeaning(answer: Answer, checkers: Checkers): Meaning | undefined {
  const meaning =
    answer.check === undefined
      ? undefined
      : meaningOf(narrativeOfAnswer(answer), { meaning: { checkers }, papers_pool: [] });
  if (answer.open === undefined) return meaning;
  const { sentences } = answer.open.check;
  const judged = sentences.filter(({ check }) => check !== undefined).length;
  const says = `Not to the end: ${judged} of ${many(sentences.length, "sentence")} judged so far. 'research-ralph ask ${answer.id} --check' goes on.`;
  return { judged: 0, borneOut: 0, removed: [], answerFalls: false, by: "", ...meaning, says };
}

function asked(answer: Answer, names: ReadonlyMap<string, PaperName>, checkers: Checkers): AskedQuestion {
  const { question, at, statements, quotes, projects = [] } = answer;
  const byHandle = new Map(quotes.map((quote) => [quote.handle, quote]));
  const nameOf = (key: string) => (projects.length > 1 ? undefined : names.get(key));
  const fallen = [...new Set(quotes.map(({ paper }) => paper))].flatMap((key) => {
    const name = nameOf(key);
    if (name === undefined) return projects.length > 1 ? [] : [`${key} is no longer in the project`];
    return name.isRetracted ? [`${name.label} is retracted`] : [];
  });
  return {
    question,
    day: at.slice(0, 10),
    ...withoutUndefined({ meaning: answerMeaning(answer, checkers) }),
    sentences: statements.map(({ text, marks = [], rests_on, check }) => ({
      text,
      marks,
      ...meaningField(check, checkers),
      quotes: rests_on.flatMap((handle): AskedQuote[] => {
        const found = byHandle.get(handle);
        if (found === undefined) return [];
        const paper = nameOf(found.paper);
        return [
          {
            ...withoutUndefined({ paper }),
            key: found.paper,
            pieces: piecesOf(found),
            notes: notesOfOldQuote(found),
            ...(found.locator ? { locator: found.locator } : {}),
          },
        ];
      }),
    })),
    fallen,
  };
}
