import { findInstructions } from "../../text/documents/text/find-injections.js";
import { referenceLists } from "../../text/documents/text/reference-lists.js";
import { countEach, groupBy } from "../../engine/lib/group.js";
import { contentWords, phrases } from "../search/topic-words.js";

/** The part of a paper with a sentence, according to its heading. `note`: an editor's note before the text. */
export type Part = "note" | "other" | keyof typeof parts;

export interface Sentence {
  /** The words of the paper, on one line. */
  readonly text: string;
  readonly part: Part;
  /** Its location, such as "p. 4" or "§ 3 Results". */
  readonly locator: string | null;
  /** Whether it goes from a capital letter or a number to a full stop. Page breaks and tables cut sentences. */
  readonly isComplete: boolean;
  /** If true, it gives an instruction to a reviewer of the paper; it is neither quoted nor counted. */
  readonly isAddressedToReviewer: boolean;
}

const parts = {
  references: /^(references|bibliography|acknowledge?ments?|appendix)\b/i,
  abstract: /^abstract\b/i,
  limitations: /\b(limitations?|discussion|threats|failure cases)\b/i,
  conclusion: /\b(conclusions?|outlook|future work)\b/i,
  results: /\b(results?|evaluation|experiments?|findings|ablations?)\b/i,
  method: /\b(methods?|methodology|approach|system|setup|training|model|implementation|design)\b/i,
  introduction: /\b(introduction|motivation|background|related work|preliminaries)\b/i,
};

const locationMark = /^\[(p\. ?\d+|§ ?.+)\]$/;
const markdownHeading = /^#{1,6}\s+(\S.*)$/;
/** A line that looks like a heading in the text of a PDF: "3 Results", "IV. EXPERIMENTS" or a usual title. */
export const plainHeading =
  /^(?:(?:\d+(?:\.\d+)*\.?|[IVX]+\.)\s+\p{Lu}[\p{L}\p{N} ,:&-]{2,60}|(?:Abstract|Introduction|Methods?|Results|Discussion|Limitations|Conclusions?|References|Acknowledge?ments?|ACKNOWLEDGE?MENTS?|ABSTRACT|INTRODUCTION|METHODS?|RESULTS|DISCUSSION|LIMITATIONS|CONCLUSIONS?))$/u;
const abbreviation = /(?:\b(?:e\.g|i\.e|et al|figs?|eqs?|secs?|tab|vs|cf|resp|approx|no|dr|ref)|(?:^|\s)\p{Lu})\.$/iu;

/**
 * Splits a paper's text into sentences with their part and locator. The locator is the page, or the section
 * in a text without pages.
 */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let part: Part = "other";
  let page: string | null = null;
  let section: string | null = null;
  let paragraph: string[] = [];

  const endParagraph = (paragraphPart: Part = part) => {
    const paragraphText = paragraph
      .join("\n")
      .replace(/(\p{Ll})-\n(?=\p{Ll})/gu, "$1")
      .replace(/\s+/g, " ")
      .trim();
    paragraph = [];
    for (const sentence of splitSentences(paragraphText)) {
      const whole = /^[\p{Lu}\p{N}“"(]/u.test(sentence) && /[.!?][)”"]?$/.test(sentence);
      sentences.push({
        text: sentence,
        part: paragraphPart,
        locator: page ?? section,
        isComplete: whole,
        isAddressedToReviewer: findInstructions(sentence).length > 0,
      });
    }
  };
  const startSection = (heading: string) => {
    endParagraph();
    const title = heading.replace(/^(?:§\s*)?(?:(?:[\d.]+|[IVX]+\.)\s+)?/, "");
    // "3.1 Peg insertion" still belongs to the results. Text after the references is never a finding of this paper.
    const keepsPart = /^§?\s*\d+\.\d/.test(heading) || part === "references";
    const namedPart = (Object.keys(parts) as (keyof typeof parts)[]).find((name) => parts[name].test(title));
    part = namedPart ?? (keepsPart ? part : "other");
    section = `§ ${heading.replace(/^§\s*/, "")}`;
  };

  const rawLines = text.split("\n");
  const lines = rawLines.map((line) => line.trim());
  const runningHeaders = findRunningHeaders(lines);
  // Uses the same rule as the check of quotes: a list of references is not evidence.
  const referenceRanges = referenceLists(text);
  let offset = 0;
  for (const [index, line] of lines.entries()) {
    if (part !== "references" && referenceRanges.some(({ start, end }) => offset >= start && offset < end)) {
      endParagraph();
      part = "references";
    }
    offset += (rawLines[index]?.length ?? 0) + 1;
    if (runningHeaders.has(line) || /^\d{1,4}$/.test(line)) continue; // a running header or a page number
    const mark = locationMark.exec(line)?.[1];
    const heading =
      markdownHeading
        .exec(line)?.[1]
        ?.replace(/(?<!#)#+$/, "")
        .trim() ?? (plainHeading.test(line) ? line : undefined);
    if (mark?.startsWith("p.")) {
      endParagraph();
      page = mark;
    } else if (mark ?? heading) {
      startSection(mark ?? heading ?? "");
    } else if (line.startsWith(">")) {
      endParagraph();
      paragraph.push(line.replace(/^>\s*/, ""));
      endParagraph("note");
    } else if (line === "" || /^(?:\||[-*] )/.test(line)) {
      endParagraph();
      if (/^[-*] /.test(line)) paragraph.push(line.slice(2));
    } else {
      paragraph.push(line);
    }
  }
  endParagraph();
  return sentences;
}

/** Lines that start more than one page: running headers. */
function findRunningHeaders(lines: readonly string[]): Set<string> {
  const firstLines = lines.flatMap((line, index) =>
    /^\[p\. ?\d+\]$/.test(line) ? [lines.slice(index + 1).find((next) => next !== "") ?? ""] : [],
  );
  return new Set(firstLines.filter((line, index) => firstLines.indexOf(line) !== index));
}

/** Splits text at the ends of sentences, but not at decimal points, initials or abbreviations. */
export function splitSentences(paragraph: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const end of paragraph.matchAll(/[.!?][)”"]?\s+(?=[\p{Lu}\p{N}“"([])/gu)) {
    const stop = end.index + end[0].trimEnd().length;
    const sentence = paragraph.slice(start, stop).trim();
    if (abbreviation.test(sentence)) continue;
    sentences.push(sentence);
    start = stop;
  }
  return [...sentences, paragraph.slice(start).trim()].filter((sentence) => sentence !== "");
}

/** Addresses of code in a text. */
export function codeAddresses(text: string): string[] {
  const addresses = (text.match(/https?:\/\/[^\s<>()[\]"'`]+/g) ?? []).map((address) =>
    address.replace(/(?<![.,;:])[.,;:]+$/, ""),
  );
  return [
    ...new Set(
      addresses.filter((address) =>
        /github|gitlab|bitbucket|codeberg|huggingface|zenodo|\.git$|\/(?:code|repo|src)\b/i.test(address),
      ),
    ),
  ].slice(0, 30);
}

const retractionSentence = /^\W*retracted\b|\bthis (?:\w+ )?(?:paper|article|preprint) (?:has been|was) retracted\b/i;

/**
 * The sentences at the start of a paper that say that it was retracted: an editor's note, or the first lines. Sentences
 * about other papers' retractions do not count.
 */
export const retractionOf = (sentences: readonly Sentence[]): string =>
  sentences
    .filter(({ text, part }, index) =>
      part === "note"
        ? /\bretracted\b/i.test(text)
        : index < 4 && part !== "references" && retractionSentence.test(text),
    )
    .map(({ text }) => text)
    .join(" ");

/** A simple stem, so that "manipulating" and "manipulation" count as the same word. */
export const stem = (word: string): string =>
  word.length > 5
    ? word.replace(/(?:ations?|ating|ated|ings?|ion|ions|ers?|ies|ed|es|s|y)$/u, "")
    : word.replace(/s$/u, "");

export const stemsOf = (text: string): Set<string> => new Set(contentWords(text).map(stem));

/** A tag for the kind of a sentence, not for its topic. Insights are not grouped by it. */
export const limitationTag = "limitation";

/** Words that occur in papers of every field and do not distinguish them. */
const genericWords = new Set(
  "approach because data error every first experiment method model number object policy problem real reference result sample success system test time trial value work".split(
    " ",
  ),
);

/** The themes of a paper in its words: pairs of words from the title, words from the title, then frequent words. */
export function themesOf(title: string, sentences: readonly string[]): string[] {
  const isDistinctive = (word: string) => !/^\d/.test(word) && word.length > 3 && !genericWords.has(word);
  const count = countEach(
    sentences.flatMap((sentence) => [...new Set(contentWords(sentence).map(singularOf))].filter(isDistinctive)),
  );
  const pairs = phrases(title).flatMap((run) => run.slice(1).map((word, index) => `${run[index]} ${singularOf(word)}`));
  const titleStems = stemsOf(title);
  const rank = ([word, times]: [string, number]) => times + (titleStems.has(stem(word)) ? 1000 : 0);
  const words = [...count].toSorted((a, b) => rank(b) - rank(a) || a[0].localeCompare(b[0])).map(([word]) => word);
  return [...pairs, ...words.slice(0, 20)];
}

/** Up to three themes that occur in a sentence; if none occurs, themes of the paper. */
export function tagsOf(sentence: string, themes: readonly string[]): string[] {
  const words = stemsOf(sentence);
  const matchingThemes = themes.filter((theme) => theme.split(" ").every((word) => words.has(stem(word))));
  // A theme is left out if an earlier one contains its word, alone or in another form.
  const distinctThemes = matchingThemes.filter(
    (theme, index) => !stemsOf(matchingThemes.slice(0, index).join(" ")).has(stem(theme)),
  );
  return (distinctThemes.length > 0 ? distinctThemes : themes).slice(0, 3).map((tag) => tag.slice(0, 60));
}

/**
 * Insights by tag, largest group first. Each insight is only in the group of its most frequent tag, or in "untagged".
 */
export function groupByTag<Insight extends { readonly tags?: readonly string[] }>(
  insights: readonly Insight[],
): ReadonlyMap<string, readonly Insight[]> {
  const themesIn = ({ tags = [] }: Insight) => tags.filter((tag) => tag !== limitationTag);
  const count = countEach(insights.flatMap(themesIn));
  const byFrequency = (a: string, b: string) => (count.get(b) ?? 0) - (count.get(a) ?? 0) || a.localeCompare(b);
  const groups = groupBy(insights, (insight) => themesIn(insight).toSorted(byFrequency)[0] ?? "untagged");
  return new Map([...groups].toSorted((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0])));
}

const singularOf = (word: string): string => (/[^su]s$/.test(word) && word.length > 4 ? word.slice(0, -1) : word);
