import type { AnswerResult } from "../generated/result-answer.js";
import type { BriefUnit } from "./brief.js";
import { clip, contentWords } from "../search/topic-words.js";
import { plainHeading, splitSentences, stem } from "./text.js";

/** Minimum share of the question's weight in a passage that is quoted. */
const minCoverage = 0.6;
/** Maximum number of passages that are searched. */
const maxPassages = 15;
const maxSentences = 5;

/** Words with which a sentence reports results of its study. */
const reportWords =
  /\d|\b(?:found|showed?|shows|results?|significant|increased|decreased|reduced|improved|outperforms?)\b/i;

/**
 * Answers with sentences of the passages that contain 60 % of the question's weight, best first. The answer is empty if
 * there is no such passage. Each statement is a sentence of a paper.
 */
export function answerQuestion({ unit, weights = {}, papers = [] }: BriefUnit, text: string): AnswerResult {
  const words = weightsByStem(weights);
  const total = [...words.values()].reduce((sum, weight) => sum + weight, 0);
  const shareOf = (passageText: string): number => {
    const passageStems = new Set(stems(passageText));
    return total === 0
      ? 0
      : [...words].reduce((sum, [word, weight]) => sum + (passageStems.has(word) ? weight : 0), 0) / total;
  };
  const titles = new Map(papers.map(({ id, title }) => [id, title]));
  const passages = passagesIn(text)
    .map(({ paper, where, passageText }) => ({
      paper,
      passageText,
      coverage: shareOf([titles.get(paper) ?? "", where, passageText].join("\n")),
    }))
    .filter(({ coverage }) => coverage >= minCoverage)
    .toSorted((a, b) => b.coverage - a.coverage)
    .slice(0, maxPassages);
  const sentences = passages
    .flatMap(({ paper, passageText, coverage }) =>
      sentencesIn(passageText).map((sentence) => ({
        paper,
        sentence,
        worth: shareOf(sentence) + coverage / 2 + (reportWords.test(sentence) ? 0.1 : 0),
        own: shareOf(sentence),
      })),
    )
    .filter(({ own }) => own > 0)
    .toSorted((a, b) => b.worth - a.worth);
  const chosenSentences = sentences
    .filter(({ sentence }, index) => sentences.findIndex((candidate) => candidate.sentence === sentence) === index)
    .slice(0, maxSentences);
  return {
    unit,
    quotes: chosenSentences.map(({ paper, sentence }, index) => ({ id: `q${index + 1}`, paper, quote: sentence })),
    statements: chosenSentences.map(({ paper, sentence }, index) => ({
      text: clip(sentence, 1000),
      rests_on: [`${paper}#q${index + 1}`],
    })),
    not_found: chosenSentences.length === 0 ? "No passage contains most of the question's words." : null,
  };
}

/** The stems of the words in a text. British and American endings give the same stem. */
const stems = (text: string): string[] => contentWords(text).map(stemOf);
const stemOf = (word: string): string => stem(word).replace(/([iy])s$/, "$1z");

function weightsByStem(weights: Readonly<Record<string, number>>): Map<string, number> {
  const words = new Map<string, number>();
  for (const [word, weight] of Object.entries(weights))
    if (typeof weight === "number") words.set(stemOf(word), Math.max(words.get(stemOf(word)) ?? 0, weight));
  return words;
}

interface Passage {
  readonly paper: string;
  readonly where: string;
  readonly passageText: string;
}

/** The passages in a brief. Each starts with a line "@@ paper | where". */
function passagesIn(text: string): Passage[] {
  return text.split(/^(?=@@ )/m).flatMap((part) => {
    const [, paper, where = "", passageText = ""] = /^@@ (.+?) \| ([^\n]*)\n([\s\S]*)$/.exec(part) ?? [];
    return paper === undefined ? [] : [{ paper, where, passageText }];
  });
}

/** Complete sentences that can be quoted, without headings, tables and page marks. */
function sentencesIn(passageText: string): string[] {
  const prose = passageText
    .split("\n")
    .map((line) => (/^(?:#{1,6} |\[p\. ?\d+\]|\||@)/.test(line) || plainHeading.test(line.trim()) ? "" : line))
    .join("\n");
  return prose
    .split(/\n\s*\n/)
    .flatMap((paragraph) => splitSentences(paragraph.replace(/\s+/g, " ").trim()))
    .filter((sentence) => /^[\p{Lu}\p{N}“"(]/u.test(sentence) && /[.!?][)”"]?$/.test(sentence))
    .filter((sentence) => sentence.length >= 40 && sentence.length <= 900);
}
