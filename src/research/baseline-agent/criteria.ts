import type { Answers } from "../generated/result-analysis.js";
import type { BriefCriterion } from "./brief.js";
import { type Sentence, sentencesOf, stemsOf } from "./text.js";

/**
 * Answers eligibility criteria. The answer is yes, with a quote, if one sentence without a negation contains every word
 * of the criterion. Otherwise it is unclear, because counting words can't prove that a text does not say something.
 * Criteria with a negation or restriction, such as "simulation only", are always unclear.
 */
export function answerCriteria(criteria: readonly BriefCriterion[], texts: readonly string[]): { criteria?: Answers } {
  if (criteria.length === 0) return {};
  const sentences = texts.flatMap(sentencesOf).filter(isQuotable);
  const stems = sentences.map(({ text }) => stemsOf(text));
  const answers = criteria.map(({ id, text }): [string, Answers[string]] => {
    const criterionWords = negation.test(text) || restriction.test(text) ? [] : [...stemsOf(text)];
    const index =
      criterionWords.length === 0
        ? -1
        : stems.findIndex((stemSet) => criterionWords.every((word) => stemSet.has(word)));
    const quote = sentences[index]?.text;
    return [id, quote === undefined ? { answer: "unclear" } : { answer: "yes", quote }];
  });
  return { criteria: Object.fromEntries(answers) };
}

/** Negations. A sentence with one may mean the opposite, so it answers nothing. */
const negation = /\b(?:no|not|non|none|never|neither|nor|without|except|excluded?|cannot)\b|n['’]t\b/i;

/** Restrictions. A sentence can contain all other words of a criterion without fulfilling the restriction. */
const restriction =
  /\b(?:only|solely|merely|purely|exclusively|alone|entirely|all|every|at (?:least|most)|(?:more|fewer|less) than)\b/i;

const isQuotable = ({ text, isAddressedToReviewer, part }: Sentence): boolean =>
  !isAddressedToReviewer && part !== "references" && part !== "note" && text.length <= 600 && !negation.test(text);
