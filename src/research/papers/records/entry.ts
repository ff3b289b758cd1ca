import type { Identifiers, Publication } from "../paper-record.js";

/** One work of a bibliography, with fields in this program's format. Unknown fields are absent. */
export interface Entry {
  /** Its key in the file, or its position: "entry 12". */
  readonly key: string;
  /** Its citation key in the file. */
  readonly ownKey?: string;
  readonly title: string;
  /** "Family, Given", "Family, Given, Jr.", or a group's name. */
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date?: string;
  /** The journal, the proceedings or the book that contains it. */
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
  /** Set if the file or the title says so. */
  readonly retracted?: "retraction" | "withdrawal";
  /** Paths of the work's documents, such as its PDF, as in the file. */
  readonly files?: readonly string[];
  /** The database of the record by the file: "Ovid MEDLINE(R)". */
  readonly database?: string;
}

/** The type of a work, if possible with the name in Crossref. */
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

/** Whether a work is published by itself, and not in a journal or a book. */
export const isStandalone = (type: WorkType | undefined): boolean =>
  ["book", "proceedings", "dissertation", "masters-thesis", "report"].includes(type ?? "");

/** A more precise type by another field of the file: "Master's thesis", BibLaTeX's "mathesis", "Proceedings". */
export function narrowedType(type: WorkType | undefined, typeName = ""): WorkType | undefined {
  if (type === "dissertation" && /\bma(?:ster|thesis)/i.test(typeName)) return "masters-thesis";
  return type === "book" && /^proceedings$/i.test(typeName) ? "proceedings" : type;
}

/** The entries of a file, and the problems in it. */
export interface Bibliography {
  readonly entries: readonly Entry[];
  /** The entries that could not be read. */
  readonly broken: NamedProblems;
  /** The fields that could not be read, in entries that could be read. */
  readonly fields: NamedProblems;
}

/** The number of problems, and the first of them, such as "line 12 (key): why". */
export interface NamedProblems {
  readonly count: number;
  readonly examples: readonly string[];
}

/** A record that was read from a file, or the reason why it could not be read. */
export type ReadEntry = {
  readonly line: number;
  /** Its name in messages. */
  readonly key?: string;
  /** Its citation key. */
  readonly ownKey?: string;
} & ({ readonly entry: RawEntry; readonly lost?: readonly string[] } | { readonly why: string });

/** The name of a group, marked as in RIS: with the comma of a family name, and without a given name. */
export const groupName = (name: string): string => (name.includes(",") ? name : `${name},`);

/** The keywords in a value. If they are separated by semicolons, a keyword may contain commas. */
export const keywordsIn = (value = ""): string[] => value.split(value.includes(";") ? ";" : ",");

/** The fields of a record before normalisation. Lists keep the order of the file. */
export interface RawEntry {
  readonly title?: string;
  /** A comma ends the name of a group, as in RIS; see `groupName`. */
  readonly authors?: readonly string[];
  readonly editors?: readonly string[];
  /** Values that may contain the year, the most reliable first. */
  readonly dates?: readonly string[];
  /** Month and day, if the file has them without the year: "May 12", "Mar", "05". */
  readonly day?: string;
  readonly venue?: string;
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly lastPage?: string;
  readonly abstract?: string;
  /** Values that may be or contain a DOI, the most reliable first. */
  readonly dois?: readonly string[];
  /** Values that may be an arXiv id. */
  readonly arxiv?: readonly string[];
  readonly pmid?: string;
  readonly pmcid?: string;
  readonly urls?: readonly string[];
  readonly type?: WorkType;
  /** Whether a field says that the work is retracted. */
  readonly retracted?: boolean;
  /** Values of ISBN and ISSN fields, which are distinguished by their format. */
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
