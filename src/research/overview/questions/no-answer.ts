import { isWithoutModel } from "../../derived/without-model.js";
import type { Answer } from "../../generated/answer.js";

/**
 * The sentence in place of an answer without a statement. An agent that only compares words can't know that the papers
 * do not answer the question.
 */
export const noAnswerText = ({ agent = "" }: Pick<Answer, "agent">): string =>
  isWithoutModel(agent)
    ? `No passage found: ${agent} only compares words, and can't tell whether these papers answer it.`
    : "Not in these papers.";
