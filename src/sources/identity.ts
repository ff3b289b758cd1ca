import { parseReference } from "./reference.js";

/** As much of a paper's record as tells whether two records are the same work. */
export interface PaperIdentity {
  readonly id?: string | null;
  readonly title: string;
  readonly url?: string | null;
  readonly pdf_url?: string | null;
  readonly authors?: readonly string[] | string | null;
  readonly date?: string | null;
  readonly identifiers?: { readonly doi?: string; readonly arxiv?: string } | null;
}

/**
 * Whether two records are the same work, preprint and published version included: the same DOI, the same arXiv id whatever the version,
 * or the same title with the same first author (or none known) and years at most one apart.
 */
export function samePaper(a: PaperIdentity, b: PaperIdentity): boolean {
  const [titleA, titleB] = [normalTitle(a.title), normalTitle(b.title)];
  const sameTitle = titleA === titleB;
  const [keysA, keysB] = [keysOf(a), keysOf(b)];
  // Publishers give whole issues one DOI by mistake; two titles without a word in common are two works.
  if (keysA.some((key) => keysB.includes(key))) return sameTitle || shareWord(titleA, titleB);
  if (!sameTitle || titleA.split(" ").length < 3) return false;
  const [authorA, authorB] = [firstSurname(a.authors), firstSurname(b.authors)];
  if (authorA !== undefined && authorB !== undefined && authorA !== authorB) return false;
  const [yearA, yearB] = [yearOf(a.date), yearOf(b.date)];
  return yearA === undefined || yearB === undefined || Math.abs(yearA - yearB) <= 1;
}

/** A title in one form: no case, accents, punctuation or mark-up. */
export const normalTitle = (title: string): string =>
  title
    .replace(/<[^>]+>/g, " ")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** The words of a name that may be its surname, lower-case and without accents; "Paré, Guy", "Guy Paré" and "G. Paré" all give "pare". */
export function surnameOf(name: string): string | undefined {
  const [family, given] = name.split(",");
  const words = normalTitle(family ?? "")
    .split(" ")
    .filter((word) => word.length > 1);
  return given === undefined ? words.at(-1) : words[0];
}

/** The authors of a record as a list, whichever way they are written: "Paré, Guy; Smith, John", "A. Lee and B. Kim", "Lee, A., Kim, B.". */
export function authorsOf(authors: PaperIdentity["authors"]): readonly string[] {
  if (authors === undefined || authors === null) return [];
  if (typeof authors !== "string") return authors;
  const plain = authors.replace(/[\s,]+et al\b\.?/i, "");
  if (plain.includes(";")) return named(plain.split(";").map((name) => name.replace(/^\s*and\s/, "")));
  const joined = named(plain.split(/,?\s+(?:and|&)\s+/));
  // BibTeX's way: every author is "Family, Given".
  if (joined.length > 1 && joined.every((name) => name.split(",").length === 2)) return joined;

  const parts = named(joined.flatMap((each) => each.split(",")));
  const initials = /^(?:\p{Lu}\.?[\s-]*){1,4}$/u;
  const isPairs = parts.length % 2 === 0 && parts.every((part, index) => index % 2 === 0 || initials.test(part));
  const isOne = joined.length === 1 && parts.length === 2 && !/\s/.test(parts[0] ?? "");
  if (!isPairs && !isOne) return parts;
  return parts.flatMap((part, index) => (index % 2 === 0 ? [`${part}, ${parts[index + 1]}`] : []));
}

const named = (names: readonly string[]): string[] => names.map((name) => name.trim()).filter((name) => name !== "");

function firstSurname(authors: PaperIdentity["authors"]): string | undefined {
  const first = authorsOf(authors)[0];
  return first === undefined || /^unknown$/i.test(first) ? undefined : surnameOf(first);
}

function keysOf(paper: PaperIdentity): string[] {
  const named = [paper.identifiers?.doi, paper.identifiers?.arxiv, paper.url, paper.pdf_url].filter(
    (name) => typeof name === "string" && name !== "",
  );
  const keys = named.map((name) => {
    const reference = parseReference(String(name));
    if (reference.kind === "arxiv") return `arxiv ${reference.id}`;
    return reference.kind === "doi" ? `doi ${reference.doi}` : undefined;
  });
  return [...keys, /^(?:arxiv|doi)_/.test(paper.id ?? "") ? `id ${paper.id}` : undefined].filter((key) => key !== undefined);
}

const smallWords = new Set("a an and at by for from in into its of on or the their to towards under using via with".split(" "));
const shareWord = (a: string, b: string): boolean => {
  const words = new Set(a.split(" ").filter((word) => !smallWords.has(word)));
  return b.split(" ").some((word) => words.has(word));
};

function yearOf(date: string | null | undefined): number | undefined {
  const year = /\b(1[89]|20)\d\d\b/.exec(date ?? "")?.[0];
  return year === undefined ? undefined : Number(year);
}

/** So much of a document holds its title, also behind a cover page or a journal's head. */
const firstPart = 6000;
/** So much holds its authors; further on, references begin to name others. */
const authorsPart = 3000;
/** Shares of a title's words: of one that stands there, and of one that was changed between versions. */
const mostOfTitle = 0.7;
const someOfTitle = 0.3;

/**
 * Whether a fetched text is the paper it was fetched as: most words of the title stand near its beginning, or, as titles change between
 * versions, some of them and an author. Without a title there is nothing to compare and the answer is yes.
 */
export function isDocumentOf(text: string, paper: { readonly title?: string | null; readonly authors?: PaperIdentity["authors"] }): boolean {
  const wanted = normalTitle(paper.title ?? "");
  if (wanted === "") return true;
  const beginning = beginningOf(text, firstPart);
  if (beginning.replace(/ /g, "").includes(wanted.replace(/ /g, ""))) return true;

  const words = new Set(beginning.split(" "));
  const telling = [...new Set(wanted.split(" "))].filter((word) => word.length > 2 && !smallWords.has(word));
  const share = telling.length === 0 ? 0 : telling.filter((word) => words.has(word)).length / telling.length;
  if (share >= mostOfTitle) return true;
  const top = new Set(beginningOf(text, authorsPart).split(" "));
  return share >= someOfTitle && authorsOf(paper.authors).some((name) => top.has(surnameOf(name) ?? ""));
}

const beginningOf = (text: string, characters: number): string => normalTitle(text.slice(0, characters).replace(/-\n/g, ""));
