import type { ReportResult } from "../generated/result-report.js";
import type { BriefUnit, ReportedPaper, ShownQuote } from "./brief.js";
import { clip, phrases, titleCase } from "../search/topic-words.js";
import { stemsOf } from "./text.js";

type Sourced = ReportResult["findings"][number];

const noPaper = "No paper is included, so nothing answers the question.";
const noQuote = "No quote of any paper answers the question.";

/**
 * The narrative of the report, put together from the quotes of the unit: every sentence is a quote's own or is made of
 * quotes, and rests on them, so no number stands in it that its quotes don't hold. Where no paper is included, because
 * all wait for a person or are excluded, it says so.
 */
export function writeReport({
  unit,
  asked = "",
  papers = [],
  groups = [],
  former_findings: former,
}: BriefUnit): ReportResult {
  const points = ({ score }: ReportedPaper) => Number.parseFloat(String(score)) || 0;
  const ranked = papers.toSorted((a, b) => points(b) - points(a));
  const decided = (decision: string) => ranked.filter((paper) => paper.decision === decision);
  const [presented, mined] = [decided("PRESENT"), decided("EXTRACT_INSIGHTS")];
  const shown = presented.length > 0 ? presented : ranked;

  const answer = shown.flatMap((paper) => pick(paper, conclusive) ?? pick(paper, () => 0) ?? []).slice(0, 3);
  const used = new Set(answer.map(({ handle }) => handle));
  const further = shown
    .flatMap((paper) => pick(paper, (quote) => (used.has(quote.handle) ? -1 : measured(quote))) ?? [])
    .slice(0, 6);
  // Where all that was quoted stands in the answer, that is what was found.
  const findings = further.length > 0 ? further : answer;
  const sentence = (quote: ShownQuote): Sourced => ({ text: clip(quoted(quote), 800), rests_on: [quote.handle] });
  return {
    unit,
    question: clip(questionOf(asked), 600),
    answer: answer.length > 0 ? answer.map(sentence) : [{ text: papers.length === 0 ? noPaper : noQuote }],
    findings: findings.map(sentence).map((finding) => {
      const was = former?.list.find(({ text }) => finding.text.startsWith(text.replace(/…$/, "")))?.id;
      return was === undefined ? finding : { ...finding, was };
    }),
    agreed: agreements(ranked, asked),
    // To see that two papers contradict each other takes more than their words.
    disputed: [],
    gaps: shown
      .flatMap((paper) => pick(paper, (quote) => (limiting.test(quote.where ?? "") ? 1 : -1)) ?? [])
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
      ...mined
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

/** The first insight of a group that a quote says in the same words, with that quote; else a sentence of no numbers. */
function themeSentence(
  insights: readonly string[],
  papers: readonly ReportedPaper[],
): { readonly text: string; readonly rests_on: string[] } {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  for (const insight of insights)
    for (const { quotes = [] } of papers) {
      const said = quotes.find((quote) => plain(quoted(quote)).startsWith(plain(insight)));
      if (said !== undefined) return { text: clip(quoted(said), 500), rests_on: [said.handle] };
    }
  return { text: "Insights that share tags.", rests_on: [] };
}

/** "Literature research on: X." asks what papers show about X, unless X is a question itself. */
function questionOf(asked: string): string {
  const [, topic] = asked.split(/\bresearch on: /i);
  const [first = ""] = topic?.split(/(?<=\?)\.?\s|\.(?:\s|$)/) ?? [];
  if (first.endsWith("?")) return first;
  if (first !== "")
    return `What do the papers show about ${first.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase())}?`;
  return asked.trim() === "" ? "What do the papers show?" : asked;
}

/** The quote of a paper that is worth most, the first of several; undefined where all are worth less than nothing. */
function pick({ quotes = [] }: ReportedPaper, worth: (quote: ShownQuote) => number): ShownQuote | undefined {
  const [best] = quotes
    .map((quote, index) => ({ quote, index, worth: quote.status === undefined ? worth(quote) : worth(quote) - 5 }))
    .filter((each) => each.worth >= 0)
    .toSorted((a, b) => b.worth - a.worth || a.index - b.index);
  return best?.quote;
}

/** The quoted words of a passage, which stand between “ and ”; a brief may have cut the end. */
function quoted({ passage }: ShownQuote): string {
  const from = passage.indexOf("“") + 1;
  const to = passage.lastIndexOf("”");
  return passage.slice(from, to > from ? to : undefined).trim();
}

const limiting = /limitation|threat|failure/i;
const handlesOf = ({ quotes = [] }: ReportedPaper): string[] => quotes.slice(0, 2).map(({ handle }) => handle);

/** Sentences of conclusions first; a PDF without headings has them on its last page. */
const conclusive = (shown: ShownQuote): number => {
  const { where = "" } = shown;
  if (/conclusion|outlook/i.test(where)) return 3;
  if (/\b(?:enough|brings|makes|recovers|shows that|we conclude|in summary)\b/i.test(quoted(shown))) return 2;
  return /abstract/i.test(where) ? 1 : -1;
};

const gain = /\b(?:outperforms?|rose|improves?|increased|faster than|gains? of|better than|recovers?)\b/i;
/** What takes a gain back. */
const denial = /\b(?:not|no|never|nor|without|fails?|failed)\b/i;
const outcome = /%|percentage|\btrials?\b|\bsuccess\b/i;
function measured(shown: ShownQuote): number {
  const words = quoted(shown);
  if (limiting.test(shown.where ?? "")) return -1;
  return (gain.test(words) ? 2 : 0) + (/\d/.test(words) ? 1 : 0) + (outcome.test(words) ? 1 : 0);
}

/** Gains of two papers over the same thing, in their own words: what both compare with is a phrase that they share. */
function agreements(papers: readonly ReportedPaper[], asked: string): Sourced[] {
  const gains = papers.flatMap(({ id, title, quotes = [] }) =>
    quotes
      .filter(
        (shown) =>
          shown.status === undefined &&
          gain.test(quoted(shown)) &&
          // Its whole sentence is shown: a denial before the quoted words counts.
          !denial.test(shown.passage) &&
          !limiting.test(shown.where ?? ""),
      )
      .map((quote) => ({
        id,
        title,
        quote,
        phrases: pairsOf(quoted(quote)).filter((phrase) => isCompared(quoted(quote), phrase)),
      })),
  );
  const found = new Map<string, typeof gains>();
  for (const each of gains)
    for (const phrase of each.phrases) {
      const before = found.get(phrase) ?? [];
      if (!before.some(({ id }) => id === each.id)) found.set(phrase, [...before, each]);
    }
  // What was asked, or stands in most titles, is what all of them are about.
  const topic = stemsOf(asked);
  const isTopic = (phrase: string) => {
    const words = [...stemsOf(phrase)];
    const naming = papers.filter(({ title }) => words.every((word) => stemsOf(title).has(word))).length;
    return words.every((word) => topic.has(word)) || (papers.length > 2 && naming * 2 > papers.length);
  };
  return [...found]
    .filter(([phrase, list]) => list.length > 1 && !isTopic(phrase) && !gain.test(phrase))
    .toSorted((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))
    .slice(0, 2)
    .map(([phrase, list]) => ({
      text: clip(
        `Papers that measure against ${phrase} report a gain: ${list
          .slice(0, 3)
          .map(({ quote }) => `“${quoted(quote).replace(/\.$/, "")}”`)
          .join("; ")}.`,
        800,
      ),
      rests_on: list.slice(0, 3).map(({ quote }) => quote.handle),
    }));
}

/** Whether a sentence compares with it: "outperforms domain randomisation", "41 % with domain randomisation". */
const isCompared = (sentence: string, phrase: string): boolean =>
  ["outperforms", "than", "against", "versus", "with", "over"].some((word) =>
    sentence.toLowerCase().includes(`${word} ${phrase}`),
  );

/** Pairs of words of a sentence that stand side by side and say something. */
const pairsOf = (text: string): string[] => [
  ...new Set(
    phrases(text).flatMap((run) =>
      run.slice(1).flatMap((word, index) => (/\d/.test(word) ? [] : `${run[index]} ${word}`)),
    ),
  ),
];
