import { normalTitle } from "./normalise-title.js";
import type { PaperFacts } from "./paper-record.js";

/**
 * The word of a name that may be its surname, lower-case and without accents; "Paré, Guy", "Guy Paré", "G. Paré" and
 * PubMed's "Paré G" all give "pare".
 */
export function surnameOf(name: string): string | undefined {
  const [family, given] = name.split(",");
  const words = normalTitle(given === undefined ? partsOfName(name).rest : (family ?? ""))
    .split(" ")
    .filter((word) => word.length > 1);
  return given === undefined ? words.at(-1) : words[0];
}

/** Initials behind a surname, as PubMed writes them ("van Dijk JP"), apart from what stands before them. */
export function partsOfName(name: string): { readonly rest: string; readonly initials?: string } {
  // In a name all in capitals three letters may be a name: "LI HUA".
  const longest = /\p{Ll}/u.test(name) ? 3 : 2;
  const match = /^(.{0,200}\p{L}{2}\S{0,100})\s+((?:\p{Lu}[.\s-]*)+)$/u.exec(name.trim());
  const initials = match?.[2]?.replace(/[^\p{Lu}]/gu, "") ?? "";
  return match?.[1] === undefined || initials.length > longest ? { rest: name } : { rest: match[1], initials };
}

/**
 * The authors of a record as a list, whichever way they are written: "Paré, Guy; Smith, John", "A. Lee and B. Kim",
 * "Lee, A., Kim, B.".
 */
export function authorsOf(authors: PaperFacts["authors"]): readonly string[] {
  if (authors === undefined || authors === null) return [];
  if (typeof authors !== "string") return authors;
  const plain = authors.replace(/(?<![\s,])[\s,]+et al\b\.?/i, "");
  if (plain.includes(";")) return named(plain.split(";").map((name) => name.replace(/^\s*and\s/, "")));
  const joined = named(plain.split(/(?<!\s),?\s+(?:and|&)\s+/));
  // BibTeX's way: every author is "Family, Given".
  if (joined.length > 1 && joined.every((name) => name.split(",").length === 2)) return joined;

  const parts = named(joined.flatMap((each) => each.split(",")));
  const initials = /^(?:\p{Lu}\.?[\s-]*){1,4}$/u;
  const isPairs = parts.length % 2 === 0 && parts.every((part, index) => index % 2 === 0 || initials.test(part));
  const [family = "", , end = ""] = parts;
  // "van der Berg, Jan", "Lee, Ann, Jr.": of two names the first has two words with capitals.
  const isFamily = !/\s/.test(family.replace(/^(?:\p{Ll}[\p{Ll}'’]*\s)+/u, ""));
  if (joined.length === 1 && parts.length === 3 && isFamily && nameSuffix.test(end)) return joined;
  const isOne = joined.length === 1 && parts.length === 2 && isFamily;
  if (!isPairs && !isOne) return parts;
  return parts.flatMap((part, index) => (index % 2 === 0 ? [`${part}, ${parts[index + 1]}`] : []));
}

/** "Jr.", "III": what stands behind a name. */
export const nameSuffix = /^(?:jr|sr|junior|senior|ii|iii|iv)\.?$/i;

const named = (names: readonly string[]): string[] => names.map((name) => name.trim()).filter((name) => name !== "");

/** Words of a title that tell nothing of what it is about. */
export const smallWords = new Set(
  "a an and at by for from in into its of on or the their to towards under using via with".split(" "),
);

/** So much of a document holds its title, also behind a cover page or a journal's head. */
const firstPart = 6000;
/** So much holds its authors; further on, references begin to name others. */
const authorsPart = 3000;
/**
 * Shares of a title's words: where nobody knows the authors, and where one of them stands there and the title was
 * changed between versions.
 */
const minTitleShare = 0.7;
const someOfTitle = 0.3;
/** A shorter surname stands within other words by chance. */
const tellingSurname = 5;

/**
 * Whether a fetched text is the paper it was fetched as: the title stands near its beginning, or, as titles change
 * between versions, some words of it and an author. Papers of one field share most words of their titles, so these do
 * alone only where no author is known. Without a title there is nothing to compare and the answer is yes.
 */
export function isDocumentOf(text: string, paper: Pick<PaperFacts, "title" | "authors">): boolean {
  const wanted = normalTitle(paper.title ?? "");
  if (wanted === "") return true;
  const beginning = beginningOf(text, firstPart);
  if (beginning.replace(/ /g, "").includes(wanted.replace(/ /g, ""))) return true;

  const words = new Set(beginning.split(" "));
  const telling = [...new Set(wanted.split(" "))].filter((word) => word.length > 2 && !smallWords.has(word));
  const share = telling.length === 0 ? 0 : telling.filter((word) => words.has(word)).length / telling.length;
  const surnames = authorsOf(paper.authors).flatMap((name) => surnameOf(name) ?? []);
  if (surnames.length === 0) return share >= minTitleShare;
  const top = beginningOf(text, authorsPart);
  const [names, joined] = [new Set(top.split(" ")), top.replace(/ /g, "")];
  // PDFs may hold "Müller" as "M", an accent and "uller".
  const stands = (surname: string) =>
    names.has(surname) || (surname.length >= tellingSurname && joined.includes(surname));
  return share >= someOfTitle && surnames.some(stands);
}

const beginningOf = (text: string, characters: number): string =>
  normalTitle(text.slice(0, characters).replace(/-\n/g, ""));
