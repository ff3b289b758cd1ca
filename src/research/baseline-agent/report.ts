import type { ReportResult } from "../generated/result-report.js";
import type { BriefUnit, ReportedPaper, ShownQuote } from "./brief.js";
import { clip, phrases, titleCase } from "../search/topic-words.js";
import { stemsOf } from "./text.js";

type SourcedSentence = ReportResult["findings"][number];

const noPaper = "No paper is included, so nothing answers the question.";
const noQuote = "No quote of any paper answers the question.";

/**
 * Makes the narrative of a report from the quotes. Every sentence is a quote or consists of quotes, so it contains no
 * number that is not in them. If no paper is included, the answer says so.
 */
export function writeReport({
  unit,
  asked = "",
  papers = [],
  groups = [],
  former_findings: formerFindings,
}: BriefUnit): ReportResult {
  const points = ({ score }: ReportedPaper) => Number.parseFloat(String(score)) || 0;
  const ranked = papers.toSorted((a, b) => points(b) - points(a));
  const withDecision = (decision: string) => ranked.filter((paper) => paper.decision === decision);
  const [presented, forInsights] = [withDecision("PRESENT"), withDecision("EXTRACT_INSIGHTS")];
  const shownPapers = presented.length > 0 ? presented : ranked;

  const answerQuotes = shownPapers
    .flatMap((paper) => bestQuote(paper, conclusionWorth) ?? bestQuote(paper, () => 0) ?? [])
    .slice(0, 3);
  const usedHandles = new Set(answerQuotes.map(({ handle }) => handle));
  const otherQuotes = shownPapers
    .flatMap(
      (paper) => bestQuote(paper, (quote) => (usedHandles.has(quote.handle) ? -1 : measurementWorth(quote))) ?? [],
    )
    .slice(0, 6);
  // If no other quotes are left, the quotes of the answer are the findings.
  const findings = otherQuotes.length > 0 ? otherQuotes : answerQuotes;
  const sentence = (quote: ShownQuote): SourcedSentence => ({
    text: clip(quotedPart(quote), 800),
    rests_on: [quote.handle],
  });
  return {
    unit,
    question: clip(questionOf(asked), 600),
    answer: answerQuotes.length > 0 ? answerQuotes.map(sentence) : [{ text: papers.length === 0 ? noPaper : noQuote }],
    findings: findings.map(sentence).map((finding) => {
      const formerId = formerFindings?.list.find(({ text }) => finding.text.startsWith(text.replace(/…$/, "")))?.id;
      return formerId === undefined ? finding : { ...finding, was: formerId };
    }),
    agreed: agreements(ranked, asked),
    // Recognising a contradiction between papers needs more than word counts.
    disputed: [],
    gaps: shownPapers
      .flatMap((paper) => bestQuote(paper, (quote) => (limitationWords.test(quote.where ?? "") ? 1 : -1)) ?? [])
      .slice(0, 6)
      .map(sentence),
    themes: groups
      .slice(0, 15)
      .map(({ group, tags = [], insights = [] }) => ({
        name: clip(titleCase([tags.join(", ") || "Further insights"]), 120),
        ...themeSentence(insights, papers),
        groups: [group],
      })),
    comparison: null,
    recommendations: [
      ...presented
        .slice(0, 3)
        .map((paper) => ({
          priority: "high" as const,
          text: clip(`Read "${paper.title}" in full before anything is built on it.`, 600),
          rests_on: handlesOf(paper),
        })),
      ...forInsights
        .slice(0, 2)
        .map((paper) => ({
          priority: "medium" as const,
          text: clip(`Check what "${paper.title}" reports before building on it.`, 600),
          rests_on: handlesOf(paper),
        })),
      {
        priority: "low",
        text: "Run this research with a model as the agent: here no model judged anything; words were counted.",
      },
    ],
  };
}

/** The first insight that a quote contains verbatim, with that quote; otherwise a sentence without numbers. */
function themeSentence(
  insights: readonly string[],
  papers: readonly ReportedPaper[],
): { readonly text: string; readonly rests_on: string[] } {
  const lettersAndDigits = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  for (const insight of insights)
    for (const { quotes = [] } of papers) {
      const matchingQuote = quotes.find((quote) =>
        lettersAndDigits(quotedPart(quote)).startsWith(lettersAndDigits(insight)),
      );
      if (matchingQuote !== undefined)
        return { text: clip(quotedPart(matchingQuote), 500), rests_on: [matchingQuote.handle] };
    }
  return { text: "Insights that share tags.", rests_on: [] };
}

/**
 * The question for the report. "Literature research on: X." becomes "What do the papers show about X?", unless X is
 * already a question.
 */
function questionOf(asked: string): string {
  const [, topicStems] = asked.split(/\bresearch on: /i);
  const [first = ""] = topicStems?.split(/(?<=\?)\.?\s|\.(?:\s|$)/) ?? [];
  if (first.endsWith("?")) return first;
  if (first !== "")
    return `What do the papers show about ${first.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase())}?`;
  return asked.trim() === "" ? "What do the papers show?" : asked;
}

/** The best quote of a paper by `worth`, the first of equal ones; undefined if all values are negative. */
function bestQuote({ quotes = [] }: ReportedPaper, worth: (quote: ShownQuote) => number): ShownQuote | undefined {
  const [best] = quotes
    .map((quote, index) => ({ quote, index, worth: quote.status === undefined ? worth(quote) : worth(quote) - 5 }))
    .filter((entry) => entry.worth >= 0)
    .toSorted((a, b) => b.worth - a.worth || a.index - b.index);
  return best?.quote;
}

/** The quoted words of a passage, between “ and ”. The brief may have cut the end. */
function quotedPart({ passage }: ShownQuote): string {
  const start = passage.indexOf("“") + 1;
  const end = passage.lastIndexOf("”");
  return passage.slice(start, end > start ? end : undefined).trim();
}

const limitationWords = /limitation|threat|failure/i;
const handlesOf = ({ quotes = [] }: ReportedPaper): string[] => quotes.slice(0, 2).map(({ handle }) => handle);

/** Ranks quotes from conclusions highest. A PDF without headings has its conclusions on the last page. */
const conclusionWorth = (quote: ShownQuote): number => {
  const { where = "" } = quote;
  if (/conclusion|outlook/i.test(where)) return 3;
  if (/\b(?:enough|brings|makes|recovers|shows that|we conclude|in summary)\b/i.test(quotedPart(quote))) return 2;
  return /abstract/i.test(where) ? 1 : -1;
};

const gainWords = /\b(?:outperforms?|rose|improves?|increased|faster than|gains? of|better than|recovers?)\b/i;
/** Negations of a gain. */
const negationWords = /\b(?:not|no|never|nor|without|fails?|failed)\b/i;
const outcomeWords = /%|percentage|\btrials?\b|\bsuccess\b/i;
function measurementWorth(quote: ShownQuote): number {
  const words = quotedPart(quote);
  if (limitationWords.test(quote.where ?? "")) return -1;
  return (gainWords.test(words) ? 2 : 0) + (/\d/.test(words) ? 1 : 0) + (outcomeWords.test(words) ? 1 : 0);
}

/**
 * Pairs of papers that report a gain over the same thing, in their words: their quotes share a phrase with which both
 * compare.
 */
function agreements(papers: readonly ReportedPaper[], asked: string): SourcedSentence[] {
  const gains = papers.flatMap(({ id, title, quotes = [] }) =>
    quotes
      .filter(
        (quote) =>
          quote.status === undefined &&
          gainWords.test(quotedPart(quote)) &&
          // The passage has the complete sentence: a negation before the quoted words counts too.
          !negationWords.test(quote.passage) &&
          !limitationWords.test(quote.where ?? ""),
      )
      .map((quote) => ({
        id,
        title,
        quote,
        phrases: wordPairs(quotedPart(quote)).filter((phrase) => isCompared(quotedPart(quote), phrase)),
      })),
  );
  const gainsByPhrase = new Map<string, typeof gains>();
  for (const gainQuote of gains)
    for (const phrase of gainQuote.phrases) {
      const earlier = gainsByPhrase.get(phrase) ?? [];
      if (!earlier.some(({ id }) => id === gainQuote.id)) gainsByPhrase.set(phrase, [...earlier, gainQuote]);
    }
  // A phrase from the question or from most titles is the common topic of all papers.
  const topicStems = stemsOf(asked);
  const isTopic = (phrase: string) => {
    const words = [...stemsOf(phrase)];
    const titleCount = papers.filter(({ title }) => words.every((word) => stemsOf(title).has(word))).length;
    return words.every((word) => topicStems.has(word)) || (papers.length > 2 && titleCount * 2 > papers.length);
  };
  return [...gainsByPhrase]
    .filter(([phrase, gainList]) => gainList.length > 1 && !isTopic(phrase) && !gainWords.test(phrase))
    .toSorted((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))
    .slice(0, 2)
    .map(([phrase, gainList]) => ({
      text: clip(
        `Papers that measure against ${phrase} report a gain: ${gainList
          .slice(0, 3)
          .map(({ quote }) => `“${quotedPart(quote).replace(/\.$/, "")}”`)
          .join("; ")}.`,
        800,
      ),
      rests_on: gainList.slice(0, 3).map(({ quote }) => quote.handle),
    }));
}

/**
 * Whether a sentence compares with the phrase: "outperforms domain randomisation", "41 % with domain randomisation".
 */
const isCompared = (sentence: string, phrase: string): boolean =>
  ["outperforms", "than", "against", "versus", "with", "over"].some((word) =>
    sentence.toLowerCase().includes(`${word} ${phrase}`),
  );

/** Pairs of adjacent content words. */
const wordPairs = (text: string): string[] => [
  ...new Set(
    phrases(text).flatMap((run) =>
      run.slice(1).flatMap((word, index) => (/\d/.test(word) ? [] : `${run[index]} ${word}`)),
    ),
  ),
];
