import type { AnalysisResult } from "../generated/result-analysis.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { BriefUnit } from "./brief.js";
import { countBothRubrics, marketOf, scoreTotal } from "./scores.js";
import { clip } from "../search/topic-words.js";
import {
  codeAddresses,
  type Part,
  retractionOf,
  type Sentence,
  sentencesOf,
  limitationTag,
  tagsOf,
  themesOf,
} from "./text.js";

type Evidence = AnalysisResult["evidence"];

const maxQuotes = 8;
/** Locator of sentences from the abstract in the paper's record. */
const recordLocator = "abstract";
const findingPattern =
  /\b(?:achiev|improv|outperform|reduc|increas|reach|succe|fail|drop|show|found|measured|transfer|cost|took|gain|lost)\w*/i;
const shortcomingPattern =
  /\b(?:limit|fail|only|however|cannot|could not|did not|does not|not (?:yet|tested)|requires?|drop|assum)\w*/i;

/** Sorts the sentences of a paper into the fields of an analysis. Every text in the result is from the paper. */
export function analysePaper(unit: BriefUnit, text: string): AnalysisResult {
  const { title = "", abstract = "", rubrics } = unit;
  const textSentences = sentencesOf(text);
  const isAbstractKnown = abstract === "" || textSentences.some(({ part }) => part === "abstract");
  const recordSentences = isAbstractKnown ? [] : sentencesOf(`[§ Abstract]\n${abstract}`);
  const sentences = [...recordSentences.map((sentence) => ({ ...sentence, locator: recordLocator })), ...textSentences];
  const usableSentences = sentences.filter(
    ({ isComplete, isAddressedToReviewer, part }) =>
      isComplete && !isAddressedToReviewer && part !== "note" && part !== "references",
  );
  const retraction = retractionOf(sentences) || (/^\W*retracted\b/i.test(title) ? title : "");
  // A retracted paper gets no points, because nothing can be built on it.
  const allScores = countBothRubrics(
    retraction ? "" : [title, ...usableSentences.map((sentence) => sentence.text)].join(" "),
  );
  const scores = rubrics?.includes("blue_ocean") === true ? allScores : { execution: allScores.execution };
  const resultSentences = inParts(usableSentences, "results").filter(
    ({ text: sentenceText }) => findingPattern.test(sentenceText) || /\d ?%/.test(sentenceText),
  );
  const limitationSentences = inParts(usableSentences, "limitations");
  const limitationText = joinSentences(
    limitationSentences.length > 0
      ? limitationSentences
      : usableSentences.filter(({ text: sentenceText }) => shortcomingPattern.test(sentenceText)),
    3,
  );
  const notableSentences = notableOf(usableSentences);
  // Quotes must be in the text, if there is one; the abstract may come from another source.
  const sentencesInText = usableSentences.filter(({ locator }) => locator !== recordLocator);
  const evidence = chooseEvidence(sentencesInText.length > 0 ? sentencesInText : usableSentences, notableSentences);
  const themes = themesOf(
    title,
    usableSentences.map((sentence) => sentence.text),
  );
  const name = title || unit.unit;
  const notFoundText = (noun: string) => `No ${noun} was found in the text that was given.`;
  return {
    unit: unit.unit,
    summary:
      joinSentences(inParts(usableSentences, "abstract", "introduction"), 3) ??
      (clip(abstract, 2000) || `Only the title was readable: ${clip(name, 500)}`),
    methodology: joinSentences(inParts(usableSentences, "method"), 3) ?? notFoundText("section on the method"),
    results:
      joinSentences(resultSentences.length > 0 ? resultSentences : usableSentences.filter(hasNumber), 4) ??
      notFoundText("sentence with a result"),
    limitations: clip(`${retraction} ${limitationText ?? ""}`.trim() || notFoundText("limitation"), 2000),
    implementations_found: codeAddresses(text),
    commercialized: null,
    ...(rubrics === undefined ? {} : { ...withoutUndefined({ market: marketOf(scores) }), scores }),
    evidence:
      evidence.length > 0
        ? evidence
        : [{ claim: "The paper has this title.", quote: name.slice(0, 1500), locator: null }],
    insights: notableSentences.map(({ text: sentenceText, part }) => ({
      insight: claimOf(sentenceText),
      tags: [...tagsOf(sentenceText, themes), ...(part === "limitations" ? [limitationTag] : [])],
    })),
    notes: [
      retraction
        ? "The text says that the paper was retracted, so every dimension has 0 points."
        : evidence.length === 0
          ? "Nothing but the title could be read."
          : rubrics === undefined
            ? []
            : scoreReason(scores),
      `Baseline agent: extractive, no model${rubrics === undefined ? "" : "; points are keyword counts, not judgement"}.`,
      ...(sentences.some(({ isAddressedToReviewer }) => isAddressedToReviewer)
        ? ["The text contains sentences addressed to its reviewers; they were not followed, quoted or counted."]
        : []),
    ]
      .flat()
      .join(" "),
  };
}

/** The reason for the scores. It contains the scores, so that it differs between papers: tables show only this text. */
function scoreReason(scores: NonNullable<AnalysisResult["scores"]>): string {
  const { points, of } = scoreTotal(scores);
  if (points === 0) return "None of the counted keywords is in the text that could be read.";
  const dimensions = Object.entries({ ...scores.execution, ...scores.blue_ocean }).toSorted((a, b) => b[1] - a[1]);
  const listOf = (entries: typeof dimensions) =>
    entries.map(([dimension, count]) => `${dimension} ${count}`).join(", ");
  return `The keyword counts add up to ${points} of ${of}, highest ${listOf(dimensions.slice(0, 2))}, lowest ${listOf(dimensions.slice(-2))}.`;
}

/**
 * Three to eight verbatim sentences, in the order of the text. Sentences that insights are based on come first, because
 * each insight needs its quote; then sentences with numbers or results.
 */
function chooseEvidence(usableSentences: readonly Sentence[], notableSentences: readonly Sentence[]): Evidence {
  const quotable = usableSentences.filter(({ text }) => text.length >= 30 && text.length <= 400);
  const rank = (sentence: Sentence) => weight(sentence) + (notableSentences.includes(sentence) ? 100 : 0);
  const ranked = quotable.toSorted((a, b) => rank(b) - rank(a)).slice(0, maxQuotes);
  return quotable
    .filter((sentence) => ranked.includes(sentence) && (rank(sentence) >= 3 || ranked.indexOf(sentence) < 3))
    .map(({ text, locator }) => ({ claim: claimOf(text), quote: text, locator }));
}

function weight(sentence: Sentence): number {
  const byPart: Partial<Record<Part, number>> = { results: 3, conclusion: 1, limitations: 1, method: 1 };
  return (byPart[sentence.part] ?? 0) + (hasNumber(sentence) ? 2 : 0) + (findingPattern.test(sentence.text) ? 2 : 0);
}

const hasNumber = ({ text }: Sentence): boolean => /(?<![\p{L}\d[])\d+(?:\.\d+)?(?!\])/u.test(text);

/**
 * The main part of a sentence: without citations and brackets, without an adverbial at the start, and without the part
 * after a semicolon or relative pronoun.
 */
export function claimOf(sentence: string): string {
  const simplified = sentence
    .replace(/(?<!\s)\s*\[[\d,–\s-]+\]/g, "")
    .replace(/(?<!\s)\s*\([^()]*\)/g, "")
    .replace(/^(?:However|Moreover|Furthermore|In addition|Overall|Finally|Therefore|Thus|Notably), */, "");
  const main = /^.{40,}?(?=;|, which\b|, where\b|, whose\b)/.exec(simplified)?.[0] ?? simplified;
  const claim = clip(main.replace(/[.!?]$/, ""), 300);
  return `${claim.charAt(0).toUpperCase()}${claim.slice(1)}.`;
}

/** Up to four sentences with useful results or limitations. */
function notableOf(usableSentences: readonly Sentence[]): Sentence[] {
  const best = (part: Part, count: number) =>
    inParts(usableSentences, part)
      .toSorted((a, b) => weight(b) - weight(a))
      .slice(0, count);
  const chosen = [...best("results", 2), ...best("limitations", 1), ...best("conclusion", 1)];
  return chosen.length > 0 ? chosen : inParts(usableSentences, "abstract").slice(-1);
}

const inParts = (sentences: readonly Sentence[], ...parts: Part[]): Sentence[] =>
  sentences.filter(({ part }) => parts.includes(part));

function joinSentences(sentences: readonly Sentence[], count: number): string | undefined {
  const text = sentences
    .slice(0, count)
    .map((sentence) => sentence.text)
    .join(" ");
  return clip(text, 2000) || undefined;
}

/**
 * Repairs a refused analysis without the paper's text. A quote that was not found is replaced by the nearest passage,
 * or removed without one. The other fields are made from the title and the abstract; research-ralph keeps the accepted
 * parts of the previous result.
 */
export function repairPaper(
  unit: BriefUnit,
  { previous, passages = [] }: NonNullable<BriefUnit["repair"]>,
): AnalysisResult {
  const newResult = analysePaper(unit, "");
  const refusedResult = (
    typeof previous === "string" ? JSON.parse(previous) : previous
  ) as Partial<AnalysisResult> | null;
  // The brief may have shortened long quotes and passages; then they end with "…".
  const withoutEllipsis = (text: string) => text.replace(/(?<!\s)\s*…$/, "");
  const evidence = (Array.isArray(refusedResult?.evidence) ? refusedResult.evidence : []).flatMap((item): Evidence => {
    const { quote } = item;
    const replacement = passages.find(
      (candidate) =>
        candidate.quote === quote ||
        (candidate.quote.endsWith("…") && quote.startsWith(withoutEllipsis(candidate.quote))),
    );
    if (replacement === undefined) return [item];
    const passage = withoutEllipsis(replacement.nearest);
    // The old claim was based on words that are not in the paper, so the claim is made from the passage.
    return passage.trim() === "" ? [] : [{ claim: claimOf(passage), quote: passage.slice(0, 1500), locator: null }];
  });
  return { ...newResult, evidence: evidence.length > 0 ? evidence : newResult.evidence };
}
