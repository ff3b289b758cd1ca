import type { AnalysisResult } from "../generated/result-analysis.js";
import type { PaperUnit } from "./brief.js";
import { countScores, marketOf, type Scores, total, zeroScores } from "./scores.js";
import { LIMITATION, tagsOf, themesOf } from "./tags.js";
import { codeAddresses, type Part, retractionOf, type Sentence, sentencesOf, splitSentences } from "./text.js";
import { clip } from "./words.js";
import { given } from "../../engine/lib/given.js";

type Evidence = AnalysisResult["evidence"][number];
type Insight = AnalysisResult["insights"][number];

const MOST_QUOTES = 8;
/** Locator of sentences of the abstract that the paper's record gives. */
const FROM_RECORD = "abstract";
const FINDING =
  /\b(?:achiev|improv|outperform|reduc|increas|reach|succe|fail|drop|show|found|measured|transfer|cost|took|gain|lost)\w*/i;
const SHORTCOMING =
  /\b(?:limit|fail|only|however|cannot|could not|did not|does not|not (?:yet|tested)|requires?|drop|assum)\w*/i;

/** What stands in the paper, sorted into the fields of an analysis. Nothing is written that the text does not say. */
export function analysePaper(unit: PaperUnit, text: string): AnalysisResult {
  const sentences = readable(unit, text);
  const usable = sentences.filter(
    (sentence) => sentence.whole && !sentence.addressed && !["note", "references"].includes(sentence.part),
  );
  const retraction = retractionOf(sentences) || (/^\W*retracted\b/i.test(unit.title) ? unit.title : "");
  const counted = [unit.title, ...usable.map((sentence) => sentence.text)].join(" ");
  const scores = retraction ? zeroScores(unit.strategic) : countScores(counted, unit.strategic);
  const found = usable.filter(
    (sentence) => sentence.part === "results" && (FINDING.test(sentence.text) || /\d ?%/.test(sentence.text)),
  );
  // Only what is in the text can be found there; the abstract may come from elsewhere.
  const inText = usable.filter((sentence) => sentence.locator !== FROM_RECORD);
  const market = marketOf(scores);
  const noted = notable(usable);
  const evidence = evidenceFrom(inText.length > 0 ? inText : usable, noted);
  return {
    unit: unit.unit,
    summary: prose(from(usable, "abstract", "introduction"), 3) ?? titleOnly(unit),
    methodology: prose(from(usable, "method"), 3) ?? "No section on the method was found in the text that was given.",
    results:
      prose(found.length > 0 ? found : usable.filter(hasNumber), 4) ??
      "No sentence with a result was found in the text that was given.",
    limitations: limitations(usable, retraction),
    implementations_found: codeAddresses(text),
    commercialized: null,
    ...given({ market }),
    scores,
    evidence:
      evidence.length > 0
        ? evidence
        : [{ claim: "The paper has this title.", quote: (unit.title || unit.unit).slice(0, 1500), locator: null }],
    insights: insightsFrom(unit, usable, noted),
    notes: notes(
      scores,
      retraction !== "",
      sentences.some((sentence) => sentence.addressed),
      evidence.length > 0,
    ),
  };
}

/** The sentences of the text; without a text those of the abstract. */
function readable(unit: PaperUnit, text: string): Sentence[] {
  const fromText = sentencesOf(text);
  if (fromText.some((sentence) => sentence.part === "abstract") || unit.abstract === "") return fromText;
  const abstract = sentencesOf(`[§ Abstract]\n${unit.abstract}`).map((sentence) => ({
    ...sentence,
    locator: FROM_RECORD,
  }));
  return [...abstract, ...fromText];
}

/**
 * Three to eight sentences in the order of the text, each found in it word by word: those that insights are made of, so that each has
 * its quote, then those with numbers or results.
 */
function evidenceFrom(usable: readonly Sentence[], noted: readonly Sentence[]): Evidence[] {
  const quotable = usable.filter((sentence) => sentence.text.length >= 30 && sentence.text.length <= 400);
  const rank = (sentence: Sentence) => weight(sentence) + (noted.includes(sentence) ? 100 : 0);
  const ranked = quotable.toSorted((a, b) => rank(b) - rank(a)).slice(0, MOST_QUOTES);
  const chosen = quotable.filter(
    (sentence) => ranked.includes(sentence) && (rank(sentence) >= 3 || ranked.indexOf(sentence) < 3),
  );
  return chosen.map((sentence) => ({ claim: claimOf(sentence.text), quote: sentence.text, locator: sentence.locator }));
}

function weight(sentence: Sentence): number {
  const byPart: Partial<Record<Part, number>> = { results: 3, conclusion: 1, limitations: 1, method: 1 };
  return (byPart[sentence.part] ?? 0) + (hasNumber(sentence) ? 2 : 0) + (FINDING.test(sentence.text) ? 2 : 0);
}

const hasNumber = (sentence: Sentence): boolean => /(?<![\p{L}\d[])\d+(?:\.\d+)?(?!\])/u.test(sentence.text);

/** The main part of a sentence: without citations, brackets, an opening adverbial and what follows a semicolon or a relative clause. */
export function claimOf(sentence: string): string {
  const bare = sentence
    .replace(/\s*\[[\d,–\s-]+\]/g, "")
    .replace(/\s*\([^()]*\)/g, "")
    .replace(/^(?:However|Moreover|Furthermore|In addition|Overall|Finally|Therefore|Thus|Notably), */, "");
  const main = /^.{40,}?(?=;|, which\b|, where\b|, whose\b)/.exec(bare)?.[0] ?? bare;
  const claim = clip(main.replace(/[.!?]$/, ""), 300);
  return `${claim.charAt(0).toUpperCase()}${claim.slice(1)}.`;
}

/** Up to four sentences of results and limitations that somebody could build on. */
function notable(usable: readonly Sentence[]): Sentence[] {
  const best = (part: Part, count: number) =>
    from(usable, part)
      .toSorted((a, b) => weight(b) - weight(a))
      .slice(0, count);
  const chosen = [...best("results", 2), ...best("limitations", 1), ...best("conclusion", 1)];
  return chosen.length > 0 ? chosen : from(usable, "abstract").slice(-1);
}

/** The sentences as insights, tagged with the paper's own words. */
function insightsFrom(unit: PaperUnit, usable: readonly Sentence[], noted: readonly Sentence[]): Insight[] {
  const themes = themesOf(
    unit.title,
    usable.map((sentence) => sentence.text),
  );
  return noted.map(({ text, part }) => ({
    insight: claimOf(text),
    tags: [...tagsOf(text, themes), ...(part === "limitations" ? [LIMITATION] : [])],
  }));
}

function limitations(usable: readonly Sentence[], retraction: string): string {
  const stated = from(usable, "limitations");
  const own = prose(stated.length > 0 ? stated : usable.filter((sentence) => SHORTCOMING.test(sentence.text)), 3);
  return clip([retraction, own ?? ""].join(" ").trim() || "No limitation is stated in the text that was given.", 2000);
}

/** Why these scores. The first sentence differs from paper to paper, because tables show it alone. */
function notes(scores: Scores, retracted: boolean, addressed: boolean, readable: boolean): string {
  const { points, of } = total(scores);
  const dimensions = Object.entries({ ...scores.execution, ...scores.blue_ocean }).toSorted((a, b) => b[1] - a[1]);
  const named = (entries: typeof dimensions) => entries.map(([dimension, count]) => `${dimension} ${count}`).join(", ");
  const counted = !readable
    ? "Nothing but the title could be read."
    : points === 0
      ? "None of the counted keywords stands in what could be read."
      : `The keyword counts add up to ${points} of ${of}, highest ${named(dimensions.slice(0, 2))}, lowest ${named(dimensions.slice(-2))}.`;
  return [
    retracted ? "The text says that the paper was retracted, so every score is 0." : counted,
    "Baseline agent: extractive, no model; scores are keyword counts, not judgement.",
    ...(addressed
      ? ["The text contains sentences addressed to its reviewers; they were not followed, quoted or counted."]
      : []),
  ].join(" ");
}

const titleOnly = (unit: PaperUnit): string =>
  splitSentences(unit.abstract).length > 0
    ? clip(unit.abstract, 2000)
    : `Only the title was readable: ${clip(unit.title || unit.unit, 500)}`;

const from = (sentences: readonly Sentence[], ...parts: Part[]): Sentence[] =>
  sentences.filter((sentence) => parts.includes(sentence.part));

const prose = (sentences: readonly Sentence[], count: number): string | undefined =>
  clip(
    sentences
      .slice(0, count)
      .map((sentence) => sentence.text)
      .join(" "),
    2000,
  ) || undefined;
