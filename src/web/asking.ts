import { ExpectedError, messageOf } from "../engine/lib/errors.js";

/** The current question, or the last one with its result. */
export interface QuestionState {
  readonly question: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The result; absent while an agent works on it. */
  readonly says?: string;
}

/** The questions that are asked on a project's page, one at a time. */
export interface QuestionQueue {
  /**
   * Starts a question and returns a text for the person. @throws ExpectedError for an empty question, or while another
   * one is running.
   */
  put(question: string): string;
  last(): QuestionState | undefined;
}

/** `ask`: asks the question and returns the result as text. */
export function makeQuestionQueue(ask: (question: string) => Promise<string>, now: () => number): QuestionQueue {
  let last: QuestionState | undefined;
  return {
    last: () => last,
    put(words) {
      const question = words.trim();
      if (question === "") throw new ExpectedError("The question is empty.", 2);
      if (last !== undefined && last.says === undefined)
        throw new ExpectedError("A question is being answered; ask again when its answer is there.", 2);
      const running = { question, since: now() };
      last = running;
      void ask(question)
        .catch(messageOf)
        .then((says) => {
          last = { ...running, says };
        });
      return "Asked. The answer comes onto this page.";
    },
  };
}
