import type { Extras } from "./normalise.js";
import { isPageLine } from "./structure/sentences.js";

/**
 * How often each word stands in a text, and each pair of words in a row, in lower case; and the numbers of the points
 * in its lists, by which one of them is known in a quote.
 */
export interface Vocabulary {
  readonly text: string;
  readonly words: ReadonlyMap<string, number>;
  readonly pairs: ReadonlyMap<string, number>;
  readonly points: ReadonlySet<string>;
}

const wordPattern = /\p{L}[\p{L}\p{M}]{0,60}\p{N}{0,3}/gu;

/** The words of a text, counted when they are first asked for. Linear in its length. */
export function vocabularyOf(text: string): Vocabulary {
  let counted: Pick<Vocabulary, "words" | "pairs"> | undefined;
  let points: ReadonlySet<string> | undefined;
  return {
    text,
    get words() {
      return (counted ??= wordsIn(text)).words;
    },
    get pairs() {
      return (counted ??= wordsIn(text)).pairs;
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
  // Word by word: normalising a long run of combining marks takes the square of its length.
  for (const [match] of text.matchAll(wordPattern)) {
    const word = match.normalize("NFKC").toLowerCase();
    words.set(word, (words.get(word) ?? 0) + 1);
    pairs.set(`${last} ${word}`, (pairs.get(`${last} ${word}`) ?? 0) + 1);
    last = word;
  }
  return { words, pairs };
}

/**
 * Marks of footnotes behind a word or its stop, and numbers raised there: "success†", "trials.¹²". Not behind a unit or
 * symbol: "cm²", "R²".
 */
const footnote =
  // What it begins with comes first: most characters are passed without a look behind.
  /(?=[ †‡§¶‖#*⁽¹²³⁰⁴-⁹^ᵃ-ᶿ])(?<=\p{Ll}{3}|\p{Ll}{2}[.,;:)”"’]|(?<!\p{L})(?:it|is|of|or|by|us|so|to|be|on|do|we|me|up|as|he|if|an))(?: ?[†‡§¶‖#]{1,3}(?:, ?[†‡§¶‖]{1,3}){0,4}|[*]{1,3}[†‡]?| ?[⁽]?[¹²³⁰⁴-⁹]{1,3}(?:[,;·⁻–-]? ?[¹²³⁰⁴-⁹]{1,3}){0,9}[⁾)]?|\^(?:\[\d{1,3}\]|\{?(?:\d{1,3}(?:[,–-]\d{1,3}){0,9}|[a-z*†‡])\}?)|[ᵃ-ᶿ])(?![\p{L}\p{N}])/gu;
const name = "\\p{Lu}[\\p{L}’'-]{1,30}";
const work = `${name}(?:,? (?:and|&|et al\\.?|${name})){0,6},? ?(?:19|20)\\d\\d[a-z]?(?:, ?[a-z](?!\\p{L})){0,4}`;
/** Authors with their year, as "(Lee et al., 2019; Roe 2020)". */
const authors = new RegExp(
  `(?= [([])(?<=\\p{L}[,.]?) [(\\[](?:see |e\\.g\\.,? |cf\\. )?${work}(?:[;,] (?:${work}|(?:19|20)\\d\\d[a-z]?)){0,9}[)\\]]`,
  "gu",
);
/** Works by the beginnings of their authors' names and their year, as "[Roe19, LRW+20]". */
const abridged = "\\p{Lu}\\p{L}{2,4}\\+?\\d\\d[a-z]?";
const keys = new RegExp(`(?= ?\\[)(?<=\\p{L}[,.]?) ?\\[${abridged}(?:[;,] ?${abridged}){0,9}\\]`, "gu");
/** The numbers of several citations run together, as publishers' files have them: "problems.[78910]". */
const runTogether = /(?=\[)(?<=\p{L}{2}[,.;]?)\[\d{4,15}\]/gu;
/** What joins citations that are left out together: "[8]–[10]". */
const betweenCitations = /(?<=\[\d{1,3}\])\s?[,;–-]\s?(?=\[\d{1,3}\])/g;
/** A citation's number that a reader set on the line: "trials.12 In", "success3 in". */
const onLine = /(?=\d)(?<=(\p{Ll}{4,40})([.,;]?))(\d{1,3}(?:[,–-]\d{1,3}){0,9})(?=\s|[.,;)]\s)/gu;
/** The number of a point in a list at the end of a text: "1.", "(b)", "ii)". */
const enumerator = /(?<=^|[\s([])\(?(?:\d{1,2}|[a-z]|i{1,3}|iv|vi{0,3}|ix)[.)]$/u;
/** Units of the longest of them, with the one before it. */
const maxEnumerator = 8;

/**
 * The numbers of points, as in "1. A hand", "(b) a hand". They are looked for at what ends one: there are a thousand
 * times as many places where one could begin.
 */
function enumeratorsIn(text: string): { readonly index: number; readonly piece: string }[] {
  return [...text.matchAll(/[.)](?=\s{1,4}\p{L})/gu)].flatMap(({ index }) => {
    const end = index + 1;
    const [piece] = enumerator.exec(text.slice(Math.max(0, end - maxEnumerator), end)) ?? [];
    return piece === undefined ? [] : [{ index: end - piece.length, piece }];
  });
}

/**
 * What stands in a text but may be missing in a quote of it: footnote marks, citation numbers, the numbers of a list's
 * points, running heads at a page's end. They are found in a quote by the same rules; `vocabulary` is that of the text
 * in both cases.
 */
export function extrasOf(text: string, vocabulary: Vocabulary): Extras {
  const extras = new Map<number, { says: string; end: number }>();
  const add = (at: number, piece: string) => {
    if (piece !== "") extras.set(at, { says: piece.normalize("NFKC").replace(/\s/g, ""), end: at + piece.length });
  };
  for (const pattern of [footnote, authors, keys, runTogether, betweenCitations])
    for (const match of text.matchAll(pattern)) add(match.index, match[0]);
  for (const [at, mark] of pointsInLine(text)) add(at, mark);
  for (const match of text.matchAll(onLine)) {
    const [, word = "", stop, number = ""] = match;
    // "model1" that stands twice is a name; "success3" has a footnote.
    const name = `${word}${number}`;
    const isName = vocabulary.text.indexOf(name) !== vocabulary.text.lastIndexOf(name);
    if (stop !== "" || !isName) add(match.index, number);
  }
  for (const { index, piece } of enumeratorsIn(text))
    if (isPoint(text, index, piece, vocabulary.points)) add(index, piece);
  for (const [at, end] of runningHeads(text)) extras.set(at, { says: "", end });
  return extras;
}

/** Whether a number is a list's: one before or after it stands there too, and it begins a line or follows a stop. */
function isPoint(text: string, at: number, piece: string, names: ReadonlySet<string>): boolean {
  const before = text.slice(Math.max(0, at - 6), at).trimEnd();
  const opens = before === "" || /[.:;,!?]$/.test(before) || /(?:and|or)$/.test(before);
  return (opens || piece.startsWith("(")) && neighbours(piece).some((each) => names.has(each));
}

/** The marks of a list within a line that are signs or letters elsewhere: "three things: * a hand * a simulator". */
function* pointsInLine(text: string): Generator<[number, string]> {
  let done = 0;
  for (const { index, 0: mark } of text.matchAll(/(?<=:\s)[*+o→»](?=\s\p{L})/gu)) {
    if (index < done) continue;
    const line = text.slice(index - 1, index + 2000).split("\n\n", 1)[0] as string;
    done = index + line.length;
    const places = [...line.matchAll(/(?<=\s)[*+o→»](?=\s\p{L})/gu)].filter((each) => each[0] === mark);
    if (places.length > 1) for (const place of places) yield [index - 1 + place.index, mark];
  }
}

const romans = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];

function neighbours(piece: string): string[] {
  const core = piece.replace(/[().]/g, "");
  const dress = (value: string) => piece.replace(core, value);
  if (/^\d/.test(core)) return [Number(core) - 1, Number(core) + 1].map((number) => dress(String(number)));
  const roman = romans.indexOf(core);
  const letters = core.length === 1 ? [-1, 1].map((step) => String.fromCharCode(core.charCodeAt(0) + step)) : [];
  return [...letters, ...(roman === -1 ? [] : [romans[roman - 1], romans[roman + 1]])].flatMap((each) =>
    each === undefined ? [] : [dress(each)],
  );
}

/** Longer lines are not running heads. */
const maxHead = 120;
/** Lines of a head and foot together, at one page's end. */
const maxHeadLines = 4;
const skeleton = (line: string): string => line.toLowerCase().replace(/\d{1,9}/g, "#");

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
  const often = new Map<string, number>();
  for (const { text: line } of lines)
    if (line.length <= maxHead) often.set(skeleton(line.trim()), (often.get(skeleton(line.trim())) ?? 0) + 1);
  const repeats = (line: string) => (often.get(skeleton(line.trim())) ?? 0) > 1;
  const isNumber = (line: string) => /^\W{0,3}(?:page )?\d{1,5}(?: (?:of|\/) \d{1,5})?\W{0,3}$/i.test(line.trim());

  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as Line;
    const isBroken = /\p{L}[-\u2010\u00ad]$/u.test(line.text);
    const run: Line[] = [];
    let next = index + 1;
    while (next < lines.length && run.length <= maxHeadLines && !goesOn(lines[next] as Line, isBroken)) {
      run.push(lines[next] as Line);
      next += 1;
    }
    const follows = lines[next];
    if (run.length === 0 || run.length > maxHeadLines || follows === undefined) continue;
    const heads = run.filter(({ text: each }) => !isPageLine(each));
    const turns = heads.length < run.length;
    const isHead = ({ text: each }: Line) =>
      isNumber(each) || (repeats(each) && (turns || isBroken)) || (isBroken && (turns || /\d/.test(each)));
    if (heads.length === 0 || !(turns || isBroken) || !goesOn(follows, isBroken)) continue;
    if (!heads.every((each) => each.text.length <= maxHead && isHead(each))) continue;
    for (const { at: start, text: each } of heads) yield [start, start + each.length];
    index = next - 1;
  }

  /** A word goes on in small letters; a sentence with any line that is not a head. */
  function goesOn({ text: line }: Line, isBroken: boolean): boolean {
    if (isPageLine(line)) return false;
    return isBroken ? /^\s{0,8}\p{Ll}/u.test(line) && !repeats(line) : !isNumber(line) && !repeats(line);
  }
}
