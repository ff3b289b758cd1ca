import { idsOnLine } from "./printed-ids.js";
import { dateOf } from "../../dates.js";

/** The metadata of a text above its first sentence. */
interface TitleMetadata {
  readonly title?: string | undefined;
  readonly authors?: readonly string[] | undefined;
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date?: string | undefined;
}

/** Maximum number of lines below a title that are searched for authors and date. */
const maxHead = 8;
/** Maximum characters of a title. */
const maxTitleChars = 220;
/** Maximum characters of a line below it. */
const maxLineChars = 160;
/** Minimum characters of a title line that continues on the next line. */
const minFullLine = 48;
/** Maximum lines of a title. */
const maxTitleLines = 3;

/**
 * The title, authors and date of a plain text, if they are clearly above it: the title as the first line or after the
 * word "Title", authors and date on lines of their own below it. Nothing is guessed.
 */
export function titleMetadata(text: string): TitleMetadata {
  const lines = text
    .slice(0, 5000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => idsOnLine(line) === undefined);
  const first = lines.findIndex((line) => line !== "");
  if (first === -1) return {};
  const labelled = labelOf(lines[first] ?? "");
  if (labelled !== undefined) {
    const remaining = lines.slice(first);
    return { title: valueOf("title", remaining), ...authorsAndDate(remaining, text) };
  }
  const end = lines.findIndex((line, index) => index > first && line === "");
  const block = lines.slice(first, end === -1 ? lines.length : end);
  const length = titleLength(block, text);
  if (length === 0) return {};
  return { title: block.slice(0, length).join(" "), ...authorsAndDate(lines.slice(first + length), text) };
}

/**
 * The authors and date of a document, from the lines below its title. `text`: the document's text, in which ordinary
 * words are looked up.
 */
export function authorsAndDate(lines: readonly string[], text: string): Pick<TitleMetadata, "authors" | "date"> {
  const head = headLines(lines);
  const linesWithNames = head.flatMap((line, at) => {
    const names = namesOn(line, text);
    return names.length === 0 ? [] : [{ at, names }];
  });
  const blockEnd = linesWithNames.findIndex(({ at }, index) => at !== (linesWithNames[0]?.at ?? 0) + index);
  // If names are on separate lines, it is not known which are all the authors.
  const isWhole = blockEnd === -1;
  const authors = peopleOf(valueOf("author", head)) ?? (isWhole ? linesWithNames.flatMap(({ names }) => names) : []);
  const stated = valueOf("date", head);
  const date = stated === undefined ? head.map(dateOn).find((each) => each !== undefined) : dateOf([stated]);
  return { ...(authors.length === 0 ? {} : { authors }), ...(date === undefined ? {} : { date }) };
}

/** The short lines before the first sentence, heading or abstract. */
function headLines(lines: readonly string[]): readonly string[] {
  const candidates = lines.filter((line) => line !== "" && !/^[=-]{3,}$/.test(line)).slice(0, maxHead);
  const end = candidates.findIndex(
    (line) =>
      line.length > maxLineChars ||
      /^#|^(?:abstract|summary|introduction)\b/i.test(line) ||
      (/[.!?]$/.test(line) && !/\b\p{Lu}\.$/u.test(line)),
  );
  return end === -1 ? candidates : candidates.slice(0, end);
}

/** The number of lines at the top of a block that are its title; 0 if it begins with a sentence or a list. */
function titleLength(block: readonly string[], text: string): number {
  const authorsAndDate = block.findIndex(
    (line, index) =>
      index > 0 && (/^[=-]{3,}$/.test(line) || namesOn(line, text).length > 0 || dateOn(line) !== undefined),
  );
  const lines = authorsAndDate === -1 ? block : block.slice(0, authorsAndDate);
  const isTitle =
    lines.length <= maxTitleLines &&
    lines.join(" ").length <= maxTitleChars &&
    lines.slice(0, -1).every((line) => line.length >= minFullLine) &&
    !lines.some((line) => /[.:;,]$/.test(line)) &&
    lines
      .join(" ")
      .split(/\s/)
      .filter((word) => /\p{L}{2}/u.test(word)).length > 1 &&
    /^["'“‘«([]?[\p{L}\p{N}]/u.test(lines[0] ?? "");
  // A text of one line has no title.
  return isTitle && text.trim() !== block.join("\n").trim() ? lines.length : 0;
}

const labels = {
  title: /^title\s*:\s*/i,
  author: /^authors?\s*:\s*|^by\s+(?=\p{Lu})/iu,
  date: /^(?:date|year|published)\s*:\s*/i,
} as const;

const labelOf = (line: string): RegExp | undefined => Object.values(labels).find((label) => label.test(line));

/** The text after a label, or on the next line if the label is alone. */
function valueOf(name: keyof typeof labels, lines: readonly string[]): string | undefined {
  const headLines = lines.filter((line) => line !== "").slice(0, maxHead);
  const at = headLines.findIndex((line) => labels[name].test(line));
  if (at === -1) return undefined;
  const value = (headLines[at] ?? "").replace(labels[name], "").trim();
  const next = headLines[at + 1] ?? "";
  return value || (labelOf(next) === undefined ? next : "") || undefined;
}

/** Marks of footnotes and affiliations after a name. */
const marks = /(?<=\p{L}[.,]?)[\d*∗†‡§¶⋆□⋄♯¹²³⁴⁵⁶⁷⁸⁹⁰]+/gu;

/** The people on a line with a label for names. */
function peopleOf(value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  const names = splitNames(value).filter((name) => /\p{L}{2}/u.test(name) && !/\d/.test(name));
  return names.length === 0 ? undefined : names;
}

/** The names on a line with only names and a year; empty if a word of it may be something else. */
function namesOn(line: string, text: string): string[] {
  if (line.length > maxLineChars || labelOf(line) !== undefined) return [];
  const names = splitNames(line.replace(/[(,·|]?\s?(?:19|20)\d\d\)?$/, ""));
  const known = names.filter((name) => !isOfWords(name, text));
  return names.length > 0 && names.every(isName) && 2 * known.length >= names.length ? names : [];
}

/** "Lee, Ann; Kim, Bo", "A. Lee and B. Kim", "Lee, A., Kim, B.", "Ann Lee∗ Bo Kim†". */
function splitNames(line: string): string[] {
  const plain = line
    .replace(marks, line.includes(",") || line.includes(";") ? "" : ";")
    .replace(/\bet al\.?$/i, "")
    .trim();
  const pieces = (plain.includes(";") ? plain.split(";") : plain.split(/,|·|\||&|\band\b/))
    .map((piece) => piece.replace(/^\s*(?:and|&)\s|,\s*$/g, "").trim())
    .filter((piece) => /\p{L}/u.test(piece));
  const initials = /^(?:\p{Lu}\.?[\s-]?){1,3}$/u;
  return pieces.flatMap((piece, index) => {
    if (initials.test(piece)) return [];
    const next = pieces[index + 1] ?? "";
    return [initials.test(next) ? `${piece}, ${next}` : piece];
  });
}

/** Parts of an affiliation, account names, addresses, titles. */
export const noName =
  /\d|@|_|\b(?:universit|institut|department|dept|school|college|faculty|laborator|centre|center|inc|ltd|gmbh|corp|hospital|academy|society|research|ieee|acm|member|fellow|ph\.?d|msc|user|admin|owner|author|anonymous|unknown|elsevier|springer|wiley|mdpi|dell\b|windows|conference|journal|proceedings|workshop)/i;

const isCapital = (word: string): boolean => /^(?:[dlO]['’])?\p{Lu}[\p{L}\p{M}.'’-]*$/u.test(word);
const wordsOf = (name: string): string[] => name.replace(/,/g, " ").split(/\s+/);

/** Two to five words with capitals, particles between them. */
function isName(name: string): boolean {
  const words = wordsOf(name);
  const isParticle = (word: string) => /^\p{Ll}{2,3}$/u.test(word);
  return (
    words.length <= 5 &&
    words.filter(isCapital).length > 1 &&
    words.every((word) => isCapital(word) || isParticle(word)) &&
    !noName.test(name)
  );
}

/** Whether the long words of a name all occur in the text in lower case, like those of a topic. */
function isOfWords(name: string, text: string): boolean {
  const long = wordsOf(name).filter((word) => /^\p{Lu}\p{Ll}{2}/u.test(word));
  return long.length > 0 && long.every((word) => isWordOf(text, word.toLowerCase()));
}

/** Whether a word in lower case occurs in a text. */
function isWordOf(text: string, word: string): boolean {
  const isLetter = (sign = "") => /[\p{L}\p{M}]/u.test(sign);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true;
  return false;
}

const year = "(?:19|20)\\d\\d";
const month = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?";
const wholeDate = new RegExp(
  `^\\(?(?:${year}(?:-\\d\\d){0,2}|(?:\\d{1,2}\\s)?${month},?\\s${year}|${month}\\s\\d{1,2},?\\s${year})\\)?$`,
  "i",
);

/** The date that is the complete line, or the year after names or the name of a journal. */
function dateOn(line: string): string | undefined {
  if (wholeDate.test(line)) return dateOf([line.replace(/[()]/g, "")]);
  return /^.{3,}(?:,|\s\(|\s[·|])\s?((?:19|20)\d\d)\)?$/.exec(line)?.[1];
}
