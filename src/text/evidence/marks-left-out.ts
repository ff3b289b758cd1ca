import type { Extras } from "./normalise.js";
import { isPageLine } from "./structure/sentences.js";

/**
 * The words of a text and the pairs of neighbouring words, in lower case, with their frequencies; and the numbers of
 * the points in its lists.
 */
export interface Vocabulary {
  readonly text: string;
  readonly words: ReadonlyMap<string, number>;
  readonly pairs: ReadonlyMap<string, number>;
  readonly points: ReadonlySet<string>;
}

const wordPattern = /\p{L}[\p{L}\p{M}]{0,60}\p{N}{0,3}/gu;

/** The words of a text, counted at the first access. Linear in its length. */
export function vocabularyOf(text: string): Vocabulary {
  let counts: Pick<Vocabulary, "words" | "pairs"> | undefined;
  let points: ReadonlySet<string> | undefined;
  return {
    text,
    get words() {
      return (counts ??= wordsIn(text)).words;
    },
    get pairs() {
      return (counts ??= wordsIn(text)).pairs;
    },
    get points() {
      return (points ??= new Set(enumeratorsIn(text).map(({ piece }) => piece)));
    },
  };
}

function wordsIn(text: string): Pick<Vocabulary, "words" | "pairs"> {
  const words = new Map<string, number>();
  const pairs = new Map<string, number>();
  let last = "";
  // Each word is normalised separately, because a long row of combining marks would take quadratic time.
  for (const [match] of text.matchAll(wordPattern)) {
    const word = match.normalize("NFKC").toLowerCase();
    words.set(word, (words.get(word) ?? 0) + 1);
    pairs.set(`${last} ${word}`, (pairs.get(`${last} ${word}`) ?? 0) + 1);
    last = word;
  }
  return { words, pairs };
}

/**
 * Footnote marks and superscript numbers after a word or its punctuation: "success†", "trials.¹²". Not after a unit or
 * symbol: "cm²", "R²".
 */
const footnote =
  // The first character is checked first, so that most characters need no lookbehind.
  /(?=[ †‡§¶‖#*⁽¹²³⁰⁴-⁹^ᵃ-ᶿ])(?<=\p{Ll}{3}|\p{Ll}{2}[.,;:)”"’]|(?<!\p{L})(?:it|is|of|or|by|us|so|to|be|on|do|we|me|up|as|he|if|an))(?: ?[†‡§¶‖#]{1,3}(?:, ?[†‡§¶‖]{1,3}){0,4}|[*]{1,3}[†‡]?| ?[⁽]?[¹²³⁰⁴-⁹]{1,3}(?:[,;·⁻–-]? ?[¹²³⁰⁴-⁹]{1,3}){0,9}[⁾)]?|\^(?:\[\d{1,3}\]|\{?(?:\d{1,3}(?:[,–-]\d{1,3}){0,9}|[a-z*†‡])\}?)|[ᵃ-ᶿ])(?![\p{L}\p{N}])/gu;
/** The last name of an author. */
const authorName = "\\p{Lu}[\\p{L}’'-]{1,30}";
/** The authors and the year of a cited work. */
const work = `${authorName}(?:,? (?:and|&|et al\\.?|${authorName})){0,6},? ?(?:19|20)\\d\\d[a-z]?(?:, ?[a-z](?!\\p{L})){0,4}`;
/** Citations by authors and year, as in "(Lee et al., 2019; Roe 2020)". */
const authorCitations = new RegExp(
  `(?= [([])(?<=\\p{L}[,.]?) [(\\[](?:see |e\\.g\\.,? |cf\\. )?${work}(?:[;,] (?:${work}|(?:19|20)\\d\\d[a-z]?)){0,9}[)\\]]`,
  "gu",
);
/** Citation keys of authors' initials and a year, as in "[Roe19, LRW+20]". */
const citationKey = "\\p{Lu}\\p{L}{2,4}\\+?\\d\\d[a-z]?";
const keyCitations = new RegExp(`(?= ?\\[)(?<=\\p{L}[,.]?) ?\\[${citationKey}(?:[;,] ?${citationKey}){0,9}\\]`, "gu");
/** Numbers of several citations without separators, as in publishers' files: "problems.[78910]". */
const joinedCitations = /(?=\[)(?<=\p{L}{2}[,.;]?)\[\d{4,15}\]/gu;
/** The separator between omitted citations: "[8]–[10]". */
const betweenCitations = /(?<=\[\d{1,3}\])\s?[,;–-]\s?(?=\[\d{1,3}\])/g;
/** The number of a citation that is not a superscript: "trials.12 In", "success3 in". */
const plainCitation = /(?=\d)(?<=(\p{Ll}{4,40})([.,;]?))(\d{1,3}(?:[,–-]\d{1,3}){0,9})(?=\s|[.,;)]\s)/gu;
/** The number of a list point at the end of a text: "1.", "(b)", "ii)". */
const enumerator = /(?<=^|[\s([])\(?(?:\d{1,2}|[a-z]|i{1,3}|iv|vi{0,3}|ix)[.)]$/u;
/** Maximum length of such a number, with the character before it. */
const maxEnumeratorChars = 8;

/**
 * The numbers of list points, as in "1. A hand", "(b) a hand". The search starts from their last character, because
 * there are a thousand times more possible first ones.
 */
function enumeratorsIn(text: string): { readonly index: number; readonly piece: string }[] {
  return [...text.matchAll(/[.)](?=\s{1,4}\p{L})/gu)].flatMap(({ index }) => {
    const end = index + 1;
    const [piece] = enumerator.exec(text.slice(Math.max(0, end - maxEnumeratorChars), end)) ?? [];
    return piece === undefined ? [] : [{ index: end - piece.length, piece }];
  });
}

/**
 * The parts of a text or a quote that are not compared, because a quote may omit them: footnote marks, citations,
 * numbers of list points, and running heads at page ends. `vocabulary`: the words of the text, also if `text` is a
 * quote.
 */
export function omittableParts(text: string, vocabulary: Vocabulary): Extras {
  const extras = new Map<number, { text: string; end: number }>();
  const add = (at: number, piece: string) => {
    if (piece !== "") extras.set(at, { text: piece.normalize("NFKC").replace(/\s/g, ""), end: at + piece.length });
  };
  for (const pattern of [footnote, authorCitations, keyCitations, joinedCitations, betweenCitations])
    for (const match of text.matchAll(pattern)) add(match.index, match[0]);
  for (const [at, mark] of pointsInLine(text)) add(at, mark);
  for (const match of text.matchAll(plainCitation)) {
    const [, word = "", stop, number = ""] = match;
    // "model1" is a name if it occurs twice; "success3" has a footnote.
    const wordWithNumber = `${word}${number}`;
    const isName = vocabulary.text.indexOf(wordWithNumber) !== vocabulary.text.lastIndexOf(wordWithNumber);
    if (stop !== "" || !isName) add(match.index, number);
  }
  for (const { index, piece } of enumeratorsIn(text))
    if (isPoint(text, index, piece, vocabulary.points)) add(index, piece);
  for (const [start, end] of runningHeads(text)) extras.set(start, { text: "", end });
  return extras;
}

/**
 * Whether a number belongs to a list: the list also has the previous or the next number, and it is at the beginning of
 * a line or after punctuation. `numbers` are the numbers of all points in the text.
 */
function isPoint(text: string, at: number, piece: string, numbers: ReadonlySet<string>): boolean {
  const before = text.slice(Math.max(0, at - 6), at).trimEnd();
  const isAtStart = before === "" || /[.:;,!?]$/.test(before) || /(?:and|or)$/.test(before);
  return (isAtStart || piece.startsWith("(")) && neighbours(piece).some((number) => numbers.has(number));
}

/** List marks within a line, as in "three things: * a hand * a simulator": a sign that occurs several times. */
function* pointsInLine(text: string): Generator<[number, string]> {
  let searchedUntil = 0;
  for (const { index, 0: mark } of text.matchAll(/(?<=:\s)[*+o→»](?=\s\p{L})/gu)) {
    if (index < searchedUntil) continue;
    const line = text.slice(index - 1, index + 2000).split("\n\n", 1)[0] as string;
    searchedUntil = index + line.length;
    const places = [...line.matchAll(/(?<=\s)[*+o→»](?=\s\p{L})/gu)].filter((each) => each[0] === mark);
    if (places.length > 1) for (const place of places) yield [index - 1 + place.index, mark];
  }
}

const romans = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];

/** The previous and the next number in the same form: "(a)" and "(c)" for "(b)". */
function neighbours(piece: string): string[] {
  const core = piece.replace(/[().]/g, "");
  const inSameForm = (value: string) => piece.replace(core, value);
  if (/^\d/.test(core)) return [Number(core) - 1, Number(core) + 1].map((number) => inSameForm(String(number)));
  const roman = romans.indexOf(core);
  const letters = core.length === 1 ? [-1, 1].map((step) => String.fromCharCode(core.charCodeAt(0) + step)) : [];
  return [...letters, ...(roman === -1 ? [] : [romans[roman - 1], romans[roman + 1]])].flatMap((each) =>
    each === undefined ? [] : [inSameForm(each)],
  );
}

/** Maximum length of a running head. */
const maxHeadChars = 120;
/** Maximum number of lines of head and foot at a page end. */
const maxHeadLines = 4;
/** The line in lower case, with "#" for each number. Equal for the running heads of all pages. */
const headKey = (line: string): string => line.toLowerCase().replace(/\d{1,9}/g, "#");

interface Line {
  readonly at: number;
  readonly text: string;
}

/** Running heads and page numbers where a page ends within a sentence or a word. */
function* runningHeads(text: string): Generator<[number, number]> {
  if (!text.includes("\n")) return;
  const lines: Line[] = [];
  let at = 0;
  for (const line of text.split("\n")) {
    if (line.trim() !== "") lines.push({ at, text: line.trimEnd() });
    at += line.length + 1;
  }
  const frequency = new Map<string, number>();
  for (const { text: line } of lines)
    if (line.length <= maxHeadChars)
      frequency.set(headKey(line.trim()), (frequency.get(headKey(line.trim())) ?? 0) + 1);
  const repeats = (line: string) => (frequency.get(headKey(line.trim())) ?? 0) > 1;
  const isNumber = (line: string) => /^\W{0,3}(?:page )?\d{1,5}(?: (?:of|\/) \d{1,5})?\W{0,3}$/i.test(line.trim());

  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as Line;
    const isBroken = /\p{L}[-\u2010\u00ad]$/u.test(line.text);
    const betweenLines: Line[] = [];
    let next = index + 1;
    while (
      next < lines.length &&
      betweenLines.length <= maxHeadLines &&
      !continuesText(lines[next] as Line, isBroken)
    ) {
      betweenLines.push(lines[next] as Line);
      next += 1;
    }
    const nextTextLine = lines[next];
    if (betweenLines.length === 0 || betweenLines.length > maxHeadLines || nextTextLine === undefined) continue;
    const heads = betweenLines.filter(({ text: each }) => !isPageLine(each));
    const hasPageMark = heads.length < betweenLines.length;
    const isHead = ({ text: each }: Line) =>
      isNumber(each) || (repeats(each) && (hasPageMark || isBroken)) || (isBroken && (hasPageMark || /\d/.test(each)));
    if (heads.length === 0 || !(hasPageMark || isBroken) || !continuesText(nextTextLine, isBroken)) continue;
    if (!heads.every((each) => each.text.length <= maxHeadChars && isHead(each))) continue;
    for (const { at: start, text: each } of heads) yield [start, start + each.length];
    index = next - 1;
  }

  /**
   * Whether a line continues the text: a broken word continues with a small letter, a sentence with any line that is
   * not a head.
   */
  function continuesText({ text: line }: Line, isBroken: boolean): boolean {
    if (isPageLine(line)) return false;
    return isBroken ? /^\s{0,8}\p{Ll}/u.test(line) && !repeats(line) : !isNumber(line) && !repeats(line);
  }
}
