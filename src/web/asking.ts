import { ExpectedError, messageOf } from "../engine/lib/errors.js";

/** The current question, or the last one with its result. */
export interface QuestionState {
  readonly question: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** The result; absent while an agent works on it. */
  readonly result?: string;
}

/** The questions that are asked on a project's page, one at a time. */
export interface QuestionQueue {
  /**
   * Starts to answer a question, and returns a message for the user. @throws ExpectedError if the question is empty, or
   * while another question is being answered.
   */
  start(question: string): string;
  lastQuestion(): QuestionState | undefined;
}

/** `ask`: asks the question and returns the result as text. */
export function createQuestionQueue(ask: (question: string) => Promise<string>, now: () => number): QuestionQueue {
  let last: QuestionState | undefined;
  return {
    lastQuestion: () => last,
    start(text) {
      const question = text.trim();
      if (question === "") throw new ExpectedError("The question is empty.", 2);
      if (last !== undefined && last.result === undefined)
        throw new ExpectedError("A question is being answered; ask again when its answer is there.", 2);
      const running = { question, since: now() };
      last = running;
      void ask(question)
        .catch(messageOf)
        .then((result) => {
          last = { ...running, result };
        });
      return "Asked. The answer comes onto this page.";
    },
  };
}
