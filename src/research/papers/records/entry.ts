import type { Identifiers, Publication } from "../paper-record.js";

/** What a bibliography tells of one work, each field in the one form of this house; what it does not tell is absent. */
export interface Entry {
  /** Its key in the file, or where it stands: "entry 12". */
  readonly key: string;
  /** The key that its author or a program gave it there, by which people cite it. */
  readonly ownKey?: string;
  readonly title: string;
  /** "Family, Given", "Family, Given, Jr.", or a group's name. */
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date?: string;
  /** The journal, the proceedings or the book that it is part of. */
  readonly venue?: string;
  readonly volume?: string;
  readonly issue?: string;
  /** "12-34", "e0123". */
  readonly pages?: string;
  readonly abstract?: string;
  readonly identifiers: Identifiers;
  readonly url?: string;
  readonly type?: WorkType;
  readonly publication?: Publication;
  /** Documents that the file names beside the work, such as its PDF: paths as they are written there. */
  readonly files?: readonly string[];
  /** The database that the record came from, as the file names it: "Ovid MEDLINE(R)". */
  readonly database?: string;
}

/** What a work is, by the names of Crossref where it has one. */
export type WorkType =
  | "journal-article"
  | "proceedings-article"
  | "book-chapter"
  | "book"
  | "proceedings"
  | "dissertation"
  | "masters-thesis"
  | "report"
  | "preprint"
  | "dataset"
  | "software"
  | "patent"
  | "web-page";

/** Whether a work stands for itself, and not in a journal or a book. */
export const isWhole = (type: WorkType | undefined): boolean =>
  ["book", "proceedings", "dissertation", "masters-thesis", "report"].includes(type ?? "");

/** The kind within a kind that a file names beside it: "Master's thesis", BibLaTeX's "mathesis", "Proceedings". */
export function narrowed(type: WorkType | undefined, named = ""): WorkType | undefined {
  if (type === "dissertation" && /\bma(?:ster|thesis)/i.test(named)) return "masters-thesis";
  return type === "book" && /^proceedings$/i.test(named) ? "proceedings" : type;
}

/** What a reader found in a file, entry by entry. */
export interface Bibliography {
  readonly entries: readonly Entry[];
  /** How many entries could not be read, and the first of them with where and why. */
  readonly broken: Named;
  /** Fields that could not be read in entries that were. */
  readonly fields: Named;
}

/** How many there are, and the first of them, each "line 12 (key): why". */
export interface Named {
  readonly count: number;
  readonly named: readonly string[];
}

/** A record as a reader takes it out of a file, or why that was not possible. */
export type ReadEntry = {
  readonly line: number;
  /** How messages name it. */
  readonly key?: string;
  /** The key by which people cite it. */
  readonly ownKey?: string;
} & ({ readonly entry: RawEntry; readonly lost?: readonly string[] } | { readonly why: string });

/** The fields of a record before they are brought into the form of this house. Lists keep the order of the file. */
export interface RawEntry {
  readonly title?: string;
  readonly authors?: readonly string[];
  readonly editors?: readonly string[];
  /** Values that may hold the year, the surest first. */
  readonly dates?: readonly string[];
  /** A month and a day that stand apart from the year: "May 12", "Mar", "05". */
  readonly day?: string;
  readonly venue?: string;
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly lastPage?: string;
  readonly abstract?: string;
  /** Values that may be or name a DOI, the surest first. */
  readonly dois?: readonly string[];
  /** Values that may be an arXiv id. */
  readonly arxiv?: readonly string[];
  readonly pmid?: string;
  readonly pmcid?: string;
  readonly urls?: readonly string[];
  readonly type?: WorkType;
  /** Values of ISBN and ISSN fields, told apart by their form. */
  readonly numbers?: readonly string[];
  readonly keywords?: readonly string[];
  readonly note?: string;
  readonly publisher?: string;
  readonly place?: string;
  readonly edition?: string;
  readonly series?: string;
  readonly language?: string;
  readonly accession?: string;
  readonly database?: string;
  readonly files?: readonly string[];
}
