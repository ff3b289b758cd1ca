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
const maxHeadLines = 8;
/** Maximum length of a title. */
const maxTitleChars = 220;
/** Maximum length of a line with authors or a date. */
const maxLineChars = 160;
/** Minimum length of a line of a title that continues on the next line. */
const minFullLineChars = 48;
/** Maximum number of lines of a title. */
const maxTitleLines = 3;

/**
 * The title, authors and date of a plain text, if they are clearly above it: the title as the first line or after the
 * word "Title", authors and date on separate lines below it. Nothing is guessed.
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
 * The authors and date of a document, from the lines below its title. `text`: the text of the document. Words that are
 * also in it in lower case are not names.
 */
export function authorsAndDate(lines: readonly string[], text: string): Pick<TitleMetadata, "authors" | "date"> {
  const head = headLines(lines);
  const linesWithNames = head.flatMap((line, at) => {
    const names = namesOn(line, text);
    return names.length === 0 ? [] : [{ at, names }];
  });
  const blockEnd = linesWithNames.findIndex(({ at }, index) => at !== (linesWithNames[0]?.at ?? 0) + index);
  // If other lines are between the names, some of the names may not be authors.
  const isOneBlock = blockEnd === -1;
  const authors = peopleOf(valueOf("author", head)) ?? (isOneBlock ? linesWithNames.flatMap(({ names }) => names) : []);
  const statedDate = valueOf("date", head);
  const date = statedDate === undefined ? head.map(dateOn).find((each) => each !== undefined) : dateOf([statedDate]);
  return { ...(authors.length === 0 ? {} : { authors }), ...(date === undefined ? {} : { date }) };
}

/** The short lines before the first sentence, heading or abstract. */
function headLines(lines: readonly string[]): readonly string[] {
  const candidates = lines.filter((line) => line !== "" && !/^[=-]{3,}$/.test(line)).slice(0, maxHeadLines);
  const end = candidates.findIndex(
    (line) =>
      line.length > maxLineChars ||
      /^#|^(?:abstract|summary|introduction)\b/i.test(line) ||
      (/[.!?]$/.test(line) && !/\b\p{Lu}\.$/u.test(line)),
  );
  return end === -1 ? candidates : candidates.slice(0, end);
}

/** The number of lines of the title at the top of a block; 0 if the block begins with a sentence or a list. */
function titleLength(block: readonly string[], text: string): number {
  const authorsAndDate = block.findIndex(
    (line, index) =>
      index > 0 && (/^[=-]{3,}$/.test(line) || namesOn(line, text).length > 0 || dateOn(line) !== undefined),
  );
  const lines = authorsAndDate === -1 ? block : block.slice(0, authorsAndDate);
  const isTitle =
    lines.length <= maxTitleLines &&
    lines.join(" ").length <= maxTitleChars &&
    lines.slice(0, -1).every((line) => line.length >= minFullLineChars) &&
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
  const headLines = lines.filter((line) => line !== "").slice(0, maxHeadLines);
  const at = headLines.findIndex((line) => labels[name].test(line));
  if (at === -1) return undefined;
  const value = (headLines[at] ?? "").replace(labels[name], "").trim();
  const next = headLines[at + 1] ?? "";
  return value || (labelOf(next) === undefined ? next : "") || undefined;
}

/** Marks of footnotes and affiliations after a name. */
const footnoteMarks = /(?<=\p{L}[.,]?)[\d*∗†‡§¶⋆□⋄♯¹²³⁴⁵⁶⁷⁸⁹⁰]+/gu;

/** A year at the end of a line with names. */
const trailingYear = /[(,·|]?\s?(?:19|20)\d\d\)?$/;

/** The people on a line with a label for names. */
function peopleOf(value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  const names = splitNames(value.replace(trailingYear, "")).filter(
    (name) => /\p{L}{2}/u.test(name) && !/\d/.test(name),
  );
  return names.length === 0 ? undefined : names;
}

/** The names on a line that consists of names and perhaps a year. Empty if any part of it may be something else. */
function namesOn(line: string, text: string): string[] {
  if (line.length > maxLineChars || labelOf(line) !== undefined) return [];
  const names = splitNames(line.replace(trailingYear, ""));
  const withUnusualWords = names.filter((name) => !isOfCommonWords(name, text));
  return names.length > 0 && names.every(isPersonName) && 2 * withUnusualWords.length >= names.length ? names : [];
}

/**
 * Splits a list of names, such as "Lee, Ann; Kim, Bo", "A. Lee and B. Kim", "Lee, A., Kim, B." or "Ann Lee∗ Bo Kim†".
 */
function splitNames(line: string): string[] {
  const plain = line
    .replace(footnoteMarks, line.includes(",") || line.includes(";") ? "" : ";")
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

/**
 * Matches texts that are not a name: parts of an affiliation, account names, addresses, titles, publishers. Only whole
 * beginnings of words count, also after letters such as "ä": "Betthäuser" is a name.
 */
export const notName =
  /\d|@|_|(?<!\p{L})(?:universit|institut|department|dept|school|college|faculty|laborator|centre|center|inc|ltd|gmbh|corp|hospital|academy|society|research|ieee|acm|member|fellow|ph\.?d|msc|user|admin|owner|author|anonymous|unknown|elsevier|springer|wiley|mdpi|dell\b|windows|conference|journal|proceedings|workshop)/iu;

/**
 * The names in metadata, such as "Ann Lee, Bo Kim and Cy Orr", "R. Field, O. Barn" or "Field, R., Barn, O.". "Field,
 * Robert" is one name.
 */
export const namesInField = (value: string): string[] =>
  value
    .split(/;|\band\b|,(?= *\p{Lu}\p{L}+ )|,(?= *(?:\p{Lu}\.[\s-]?){1,3}\p{Lu}\p{L})|(?<=\p{Lu}\.),(?= *\p{Lu}\p{L})/u)
    .map((name) => name.trim())
    .filter((name) => name !== "");

const isCapital = (word: string): boolean => /^(?:[dlO]['’])?\p{Lu}[\p{L}\p{M}.'’-]*$/u.test(word);
const wordsOf = (name: string): string[] => name.replace(/,/g, " ").split(/\s+/);

/**
 * Whether a text is two to five words that begin with a capital, perhaps with short words such as "van" between them.
 */
export function isPersonName(name: string): boolean {
  const words = wordsOf(name);
  const isParticle = (word: string) => /^\p{Ll}{2,3}$/u.test(word);
  return (
    words.length <= 5 &&
    words.filter(isCapital).length > 1 &&
    words.every((word) => isCapital(word) || isParticle(word)) &&
    !notName.test(name)
  );
}

/** Whether all longer words of a name are also in the text in lower case. Then it may be a topic and not a name. */
function isOfCommonWords(name: string, text: string): boolean {
  const longWords = wordsOf(name).filter((word) => /^\p{Lu}\p{Ll}{2}/u.test(word));
  return longWords.length > 0 && longWords.every((word) => hasWord(text, word.toLowerCase()));
}

function hasWord(text: string, word: string): boolean {
  const isLetter = (character = "") => /[\p{L}\p{M}]/u.test(character);
  for (let index = text.indexOf(word); index !== -1; index = text.indexOf(word, index + 1))
    if (!isLetter(text[index - 1]) && !isLetter(text[index + word.length])) return true;
  return false;
}

const year = "(?:19|20)\\d\\d";
const month = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?";
const lineWithDate = new RegExp(
  `^\\(?(?:${year}(?:-\\d\\d){0,2}|(?:\\d{1,2}\\s)?${month},?\\s${year}|${month}\\s\\d{1,2},?\\s${year})\\)?$`,
  "i",
);

/** The date on a line: the date that is the complete line, or the year after names or the name of a journal. */
function dateOn(line: string): string | undefined {
  if (lineWithDate.test(line)) return dateOf([line.replace(/[()]/g, "")]);
  return /^.{3,}(?:,|\s\(|\s[·|])\s?((?:19|20)\d\d)\)?$/.exec(line)?.[1];
}
