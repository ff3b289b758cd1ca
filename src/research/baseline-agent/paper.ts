import type { AnalysisResult } from "../generated/result-analysis.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { BriefUnit } from "./brief.js";
import { countBoth, marketOf, total } from "./scores.js";
import { clip } from "../search/topic-words.js";
import {
  codeAddresses,
  type Part,
  retractionOf,
  type Sentence,
  sentencesOf,
  limitation,
  tagsOf,
  themesOf,
} from "./text.js";

type Evidence = AnalysisResult["evidence"];

const maxQuotes = 8;
/** Locator of sentences of the abstract that the paper's record gives. */
const fromRecord = "abstract";
const finding =
  /\b(?:achiev|improv|outperform|reduc|increas|reach|succe|fail|drop|show|found|measured|transfer|cost|took|gain|lost)\w*/i;
const shortcoming =
  /\b(?:limit|fail|only|however|cannot|could not|did not|does not|not (?:yet|tested)|requires?|drop|assum)\w*/i;

/** What stands in the paper, sorted into the fields of an analysis. Nothing is written that the text does not say. */
export function analysePaper(unit: BriefUnit, text: string): AnalysisResult {
  const { title = "", abstract = "", rubrics } = unit;
  const fromText = sentencesOf(text);
  const isAbstractKnown = abstract === "" || fromText.some(({ part }) => part === "abstract");
  const record = isAbstractKnown ? [] : sentencesOf(`[§ Abstract]\n${abstract}`);
  const sentences = [...record.map((sentence) => ({ ...sentence, locator: fromRecord })), ...fromText];
  const usable = sentences.filter(
    ({ whole, addressed, part }) => whole && !addressed && part !== "note" && part !== "references",
  );
  const retraction = retractionOf(sentences) || (/^\W*retracted\b/i.test(title) ? title : "");
  // Nothing in a retracted paper can be built on.
  const counted = countBoth(retraction ? "" : [title, ...usable.map((sentence) => sentence.text)].join(" "));
  const scores = rubrics?.includes("blue_ocean") === true ? counted : { execution: counted.execution };
  const found = from(usable, "results").filter(({ text: said }) => finding.test(said) || /\d ?%/.test(said));
  const limits = from(usable, "limitations");
  const stated = prose(limits.length > 0 ? limits : usable.filter(({ text: said }) => shortcoming.test(said)), 3);
  const noted = notable(usable);
  // Only what is in the text can be found there; the abstract may come from elsewhere.
  const inText = usable.filter(({ locator }) => locator !== fromRecord);
  const evidence = evidenceFrom(inText.length > 0 ? inText : usable, noted);
  const themes = themesOf(
    title,
    usable.map((sentence) => sentence.text),
  );
  const name = title || unit.unit;
  const none = (what: string) => `No ${what} was found in the text that was given.`;
  return {
    unit: unit.unit,
    summary:
      prose(from(usable, "abstract", "introduction"), 3) ??
      (clip(abstract, 2000) || `Only the title was readable: ${clip(name, 500)}`),
    methodology: prose(from(usable, "method"), 3) ?? none("section on the method"),
    results: prose(found.length > 0 ? found : usable.filter(hasNumber), 4) ?? none("sentence with a result"),
    limitations: clip(`${retraction} ${stated ?? ""}`.trim() || none("limitation"), 2000),
    implementations_found: codeAddresses(text),
    commercialized: null,
    ...(rubrics === undefined ? {} : { ...withoutUndefined({ market: marketOf(scores) }), scores }),
    evidence:
      evidence.length > 0
        ? evidence
        : [{ claim: "The paper has this title.", quote: name.slice(0, 1500), locator: null }],
    insights: noted.map(({ text: said, part }) => ({
      insight: claimOf(said),
      tags: [...tagsOf(said, themes), ...(part === "limitations" ? [limitation] : [])],
    })),
    notes: [
      retraction
        ? "The text says that the paper was retracted, so every score is 0."
        : evidence.length === 0
          ? "Nothing but the title could be read."
          : rubrics === undefined
            ? "It was read in full or in part."
            : why(scores),
      `Baseline agent: extractive, no model${rubrics === undefined ? "" : "; scores are keyword counts, not judgement"}.`,
      ...(sentences.some(({ addressed }) => addressed)
        ? ["The text contains sentences addressed to its reviewers; they were not followed, quoted or counted."]
        : []),
    ].join(" "),
  };
}

/** Why these scores. It differs from paper to paper, because tables show it alone. */
function why(scores: NonNullable<AnalysisResult["scores"]>): string {
  const { points, of } = total(scores);
  if (points === 0) return "None of the counted keywords is in the text that could be read.";
  const dimensions = Object.entries({ ...scores.execution, ...scores.blue_ocean }).toSorted((a, b) => b[1] - a[1]);
  const named = (entries: typeof dimensions) => entries.map(([dimension, count]) => `${dimension} ${count}`).join(", ");
  return `The keyword counts add up to ${points} of ${of}, highest ${named(dimensions.slice(0, 2))}, lowest ${named(dimensions.slice(-2))}.`;
}

/**
 * Three to eight sentences in the order of the text, each found in it word by word: those that insights are made of, so
 * that each has its quote, then those with numbers or results.
 */
function evidenceFrom(usable: readonly Sentence[], noted: readonly Sentence[]): Evidence {
  const quotable = usable.filter(({ text }) => text.length >= 30 && text.length <= 400);
  const rank = (sentence: Sentence) => weight(sentence) + (noted.includes(sentence) ? 100 : 0);
  const ranked = quotable.toSorted((a, b) => rank(b) - rank(a)).slice(0, maxQuotes);
  return quotable
    .filter((sentence) => ranked.includes(sentence) && (rank(sentence) >= 3 || ranked.indexOf(sentence) < 3))
    .map(({ text, locator }) => ({ claim: claimOf(text), quote: text, locator }));
}

function weight(sentence: Sentence): number {
  const byPart: Partial<Record<Part, number>> = { results: 3, conclusion: 1, limitations: 1, method: 1 };
  return (byPart[sentence.part] ?? 0) + (hasNumber(sentence) ? 2 : 0) + (finding.test(sentence.text) ? 2 : 0);
}

const hasNumber = ({ text }: Sentence): boolean => /(?<![\p{L}\d[])\d+(?:\.\d+)?(?!\])/u.test(text);

/**
 * The main part of a sentence: without citations, brackets, an opening adverbial and what follows a semicolon or a
 * relative clause.
 */
export function claimOf(sentence: string): string {
  const bare = sentence
    .replace(/(?<!\s)\s*\[[\d,–\s-]+\]/g, "")
    .replace(/(?<!\s)\s*\([^()]*\)/g, "")
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

const from = (sentences: readonly Sentence[], ...parts: Part[]): Sentence[] =>
  sentences.filter(({ part }) => parts.includes(part));

function prose(sentences: readonly Sentence[], count: number): string | undefined {
  const text = sentences
    .slice(0, count)
    .map((sentence) => sentence.text)
    .join(" ");
  return clip(text, 2000) || undefined;
}

/**
 * Mends a refused analysis without the paper's text: a quote that was not found gives way to the nearest passage of the
 * text, or goes where it is missing. The rest is made from the title and the abstract; research-ralph keeps what nobody
 * found fault with.
 */
export function repairPaper(
  unit: BriefUnit,
  { previous, passages = [] }: NonNullable<BriefUnit["repair"]>,
): AnalysisResult {
  const fresh = analysePaper(unit, "");
  const refused = (typeof previous === "string" ? JSON.parse(previous) : previous) as Partial<AnalysisResult> | null;
  // A brief may cut long quotes and passages, and marks the cut.
  const uncut = (text: string) => text.replace(/(?<!\s)\s*…$/, "");
  const evidence = (Array.isArray(refused?.evidence) ? refused.evidence : []).flatMap((item): Evidence => {
    const { quote } = item;
    const missing = passages.find(
      (each) => each.quote === quote || (each.quote.endsWith("…") && quote.startsWith(uncut(each.quote))),
    );
    if (missing === undefined) return [item];
    const passage = uncut(missing.nearest);
    // The old claim rested on words that are not there, so the passage makes its own.
    return passage.trim() === "" ? [] : [{ claim: claimOf(passage), quote: passage.slice(0, 1500), locator: null }];
  });
  return { ...fresh, evidence: evidence.length > 0 ? evidence : fresh.evidence };
}
