import type { Fields } from "../generated/result-analysis.js";
import type { BriefField } from "./brief.js";
import { claimOf } from "./paper.js";
import { type Sentence, sentencesOf, stemsOf } from "./text.js";

/**
 * Fills the fields of a form. Of the sentences that share most words with a field's name, the first that contains a
 * value of the right type gives the value and the quote. Other fields are not reported.
 */
export function answerFields(fields: readonly BriefField[], texts: readonly string[]): { fields?: Fields } {
  if (fields.length === 0) return {};
  const sentences = texts.flatMap(sentencesOf).filter(isQuotable);
  const stems = sentences.map(({ text }) => stemsOf(text));
  const answers = fields.map((field): [string, Fields[string]] => {
    const nameWords = [...stemsOf(field.name)];
    const sharedCounts = stems.map((stemSet) => nameWords.filter((word) => stemSet.has(word)).length);
    const maxShared = Math.max(0, ...sharedCounts);
    if (maxShared === 0 || maxShared * 2 < nameWords.length) return [field.id, { not_reported: true }];
    for (const [index, { text }] of sentences.entries()) {
      const value = sharedCounts[index] === maxShared ? valueIn(text, field) : undefined;
      if (value !== undefined) return [field.id, { value, quotes: [text] }];
    }
    return [field.id, { not_reported: true }];
  });
  return { fields: Object.fromEntries(answers) };
}

function valueIn(sentence: string, { kind }: BriefField): string | string[] | undefined {
  if (kind.startsWith("number")) return /(?<![\p{L}\d.[])\d+(?:\.\d+)?(?![\d\]])/u.exec(sentence)?.[0];
  if (kind.startsWith("date")) return /\b(?:19|20)\d{2}\b/.exec(sentence)?.[0];
  if (kind.startsWith("one of")) {
    const choices = [...kind.matchAll(/"([^"]+)"/g)].map(([, choice = ""]) => choice);
    return choices.find((choice) => sentence.toLowerCase().includes(choice.toLowerCase()));
  }
  return kind.startsWith("a list") ? [claimOf(sentence)] : claimOf(sentence);
}

const isQuotable = ({ text, isAddressedToReviewer, part }: Sentence): boolean =>
  !isAddressedToReviewer && part !== "references" && part !== "note" && text.length >= 20 && text.length <= 400;
