import { ExpectedError, messageOf } from "../engine/lib/errors.js";

/** A question under way, or the last one and what came of it. */
export interface Asked {
  readonly question: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Absent while an agent is at work. */
  readonly says?: string;
}

/** The questions that are put on a project's page, one at a time. */
export interface Asking {
  /** Begins; what the person is told. @throws ExpectedError for an empty question, or while another is under way. */
  put(question: string): string;
  last(): Asked | undefined;
}

/** `ask`: puts a question and says what came of it. */
export function asking(ask: (question: string) => Promise<string>, now: () => number): Asking {
  let last: Asked | undefined;
  return {
    last: () => last,
    put(words) {
      const question = words.trim();
      if (question === "") throw new ExpectedError("The question is empty.", 2);
      if (last !== undefined && last.says === undefined)
        throw new ExpectedError("A question is being answered; ask again when its answer is there.", 2);
      const begun = { question, since: now() };
      last = begun;
      void ask(question)
        .catch(messageOf)
        .then((says) => {
          last = { ...begun, says };
        });
      return "Asked. The answer comes onto this page.";
    },
  };
}
