import { normalTitle } from "./normalise-title.js";
import type { PaperFacts } from "./paper-record.js";

/**
 * The surname in a name, in lower case and without accents: "Paré, Guy", "Guy Paré", "G. Paré" and PubMed's "Paré G"
 * all give "pare".
 */
export function surnameOf(name: string): string | undefined {
  const [family, given] = name.split(",");
  const words = normalTitle(given === undefined ? partsOfName(name).rest : (family ?? ""))
    .split(" ")
    .filter((word) => word.length > 1);
  return given === undefined ? words.at(-1) : words[0];
}

/** Separates the initials after a surname, as PubMed writes them ("van Dijk JP"). */
export function partsOfName(name: string): { readonly rest: string; readonly initials?: string } {
  // In a name in capital letters, three letters can be a given name: "LI HUA".
  const longest = /\p{Ll}/u.test(name) ? 3 : 2;
  const match = /^(.{0,200}\p{L}{2}\S{0,100})\s+((?:\p{Lu}[.\s-]*)+)$/u.exec(name.trim());
  const initials = match?.[2]?.replace(/[^\p{Lu}]/gu, "") ?? "";
  return match?.[1] === undefined || initials.length > longest ? { rest: name } : { rest: match[1], initials };
}

/**
 * The authors of a record as a list. Possible formats: "Paré, Guy; Smith, John", "A. Lee and B. Kim", "Lee, A., Kim,
 * B.".
 */
export function authorsOf(authors: PaperFacts["authors"]): readonly string[] {
  if (authors === undefined || authors === null) return [];
  if (typeof authors !== "string") return authors;
  const text = authors.replace(/(?<![\s,])[\s,]+et al\b\.?/i, "");
  if (text.includes(";")) return trimmedNames(text.split(";").map((name) => name.replace(/^\s*and\s/, "")));
  const joined = trimmedNames(text.split(/(?<!\s),?\s+(?:and|&)\s+/));
  // BibTeX's format: every author is "Family, Given".
  if (joined.length > 1 && joined.every((name) => name.split(",").length === 2)) return joined;

  const parts = trimmedNames(joined.flatMap((part) => part.split(",")));
  const initials = /^(?:\p{Lu}\.?[\s-]*){1,4}$/u;
  const isPairs = parts.length % 2 === 0 && parts.every((part, index) => index % 2 === 0 || initials.test(part));
  const [family = "", , end = ""] = parts;
  // A family name with a particle ("van der Berg, Jan", "Lee, Ann, Jr."). If the first part has two capital words, it
  // is a complete name.
  const isFamilyName = !/\s/.test(family.replace(/^(?:\p{Ll}[\p{Ll}'’]*\s)+/u, ""));
  if (joined.length === 1 && parts.length === 3 && isFamilyName && nameSuffix.test(end)) return joined;
  const isSinglePerson = joined.length === 1 && parts.length === 2 && isFamilyName;
  if (!isPairs && !isSinglePerson) return parts;
  return parts.flatMap((part, index) => (index % 2 === 0 ? [`${part}, ${parts[index + 1]}`] : []));
}

/**
 * The names for people: "Ann Lee, Ben Roe and 3 others". Semicolons separate names such as "Lee, Ann". `maxNames`: how
 * many are written if there are more; the others count as one.
 */
export function authorsText(names: readonly string[], maxNames: number): string {
  const separator = names.some((name) => name.includes(",")) ? "; " : ", ";
  return names.length <= maxNames
    ? names.join(separator)
    : `${names.slice(0, maxNames - 1).join(separator)} and ${names.length - maxNames + 1} others`;
}

/** A suffix of a name: "Jr.", "III", PubMed's "3rd". */
export const nameSuffix = /^(?:jr|sr|junior|senior|ii|iii|iv|2nd|3rd|[4-9]th)\.?$/i;

const trimmedNames = (names: readonly string[]): string[] =>
  names.map((name) => name.trim()).filter((name) => name !== "");

/** Words of a title that do not tell its topic. */
export const smallWords = new Set(
  "a an and at by for from in into its of on or the their to towards under using via with".split(" "),
);

/** Number of characters that contain the title, even after a cover page or a journal's header. */
const titleAreaChars = 6000;
/** Number of characters that contain the authors. After these, references may name other authors. */
const authorAreaChars = 3000;
/**
 * Minimum shares of the title's words in the text: without known authors, and with an author in the text, because
 * titles change between versions.
 */
const minTitleShare = 0.7;
const minTitleShareWithAuthor = 0.3;
/** Minimum length of a surname that is searched inside words: a shorter one would occur by chance. */
const minEmbeddedSurname = 5;

/**
 * Whether a fetched text is the expected paper. Its beginning must contain the title; or, because titles change between
 * versions, some words of the title and an author. Papers of one field share most title words, so words alone count
 * only if no author is known. True for a paper without a title.
 */
export function isDocumentOf(text: string, paper: Pick<PaperFacts, "title" | "authors">): boolean {
  const title = normalTitle(paper.title ?? "");
  if (title === "") return true;
  const beginning = beginningOf(text, titleAreaChars);
  if (beginning.replace(/ /g, "").includes(title.replace(/ /g, ""))) return true;

  const words = new Set(beginning.split(" "));
  const titleWords = [...new Set(title.split(" "))].filter((word) => word.length > 2 && !smallWords.has(word));
  const share = titleWords.length === 0 ? 0 : titleWords.filter((word) => words.has(word)).length / titleWords.length;
  const surnames = authorsOf(paper.authors).flatMap((name) => surnameOf(name) ?? []);
  if (surnames.length === 0) return share >= minTitleShare;
  const authorArea = beginningOf(text, authorAreaChars);
  const [areaWords, areaText] = [new Set(authorArea.split(" ")), authorArea.replace(/ /g, "")];
  // PDFs can contain "Müller" as "M", an accent and "uller".
  const isInText = (surname: string) =>
    areaWords.has(surname) || (surname.length >= minEmbeddedSurname && areaText.includes(surname));
  return share >= minTitleShareWithAuthor && surnames.some(isInText);
}

const beginningOf = (text: string, characters: number): string =>
  normalTitle(text.slice(0, characters).replace(/-\n/g, ""));
