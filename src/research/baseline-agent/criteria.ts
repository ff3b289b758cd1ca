import type { Answers } from "../generated/result-analysis.js";
import type { BriefCriterion } from "./brief.js";
import { type Sentence, sentencesOf, stemsOf } from "./text.js";

/**
 * Answers to eligibility criteria: yes where one sentence that denies nothing has every word of the criterion, with
 * that sentence as its quote. That a text does not say something can't be counted, so everything else is unclear; so is
 * a criterion that says itself what must not be there, such as "simulation only".
 */
export function answerCriteria(criteria: readonly BriefCriterion[], texts: readonly string[]): { criteria?: Answers } {
  if (criteria.length === 0) return {};
  const sentences = texts.flatMap(sentencesOf).filter(isQuotable);
  const stems = sentences.map(({ text }) => stemsOf(text));
  const answers = criteria.map(({ id, text }): [string, Answers[string]] => {
    const wanted = denying.test(text) || restricting.test(text) ? [] : [...stemsOf(text)];
    const index = wanted.length === 0 ? -1 : stems.findIndex((each) => wanted.every((word) => each.has(word)));
    const quote = sentences[index]?.text;
    return [id, quote === undefined ? { answer: "unclear" } : { answer: "yes", quote }];
  });
  return { criteria: Object.fromEntries(answers) };
}

/** Words that may turn what a sentence says; such a sentence answers nothing here. */
const denying = /\b(?:no|not|non|none|never|neither|nor|without|except|excluded?|cannot)\b|n['’]t\b/i;

/** Words that no sentence needs to share: it has the others, and says nothing of what else there is. */
const restricting =
  /\b(?:only|solely|merely|purely|exclusively|alone|entirely|all|every|at (?:least|most)|(?:more|fewer|less) than)\b/i;

const isQuotable = ({ text, addressed, part }: Sentence): boolean =>
  !addressed && part !== "references" && part !== "note" && text.length <= 600 && !denying.test(text);
