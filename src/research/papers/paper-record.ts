import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/**
 * Names under which services know one work. All lower case but for PMC ids; DOIs without the resolver, arXiv ids with
 * the version known.
 */
export type Identifiers = {
  readonly doi?: string;
  readonly arxiv?: string;
  readonly pmid?: string;
  readonly pmcid?: string;
  /** Such as W2741809807. */
  readonly openalex?: string;
  /** Semantic Scholar's paperId. */
  readonly s2?: string;
};

/**
 * Something that happened to a work after it was published. Only `retraction` and `withdrawal` take it out of the
 * running.
 */
export interface Update {
  readonly type: "retraction" | "withdrawal" | "concern" | "correction" | "addendum" | "version";
  /** YYYY-MM-DD, where the notice is dated. */
  readonly date?: string;
  /** Who says so: "Crossref (retraction-watch)", "OpenAlex", "Europe PMC", "arXiv". */
  readonly source: string;
  /** DOI or address of the notice. */
  readonly notice?: string;
}

/** What citing a work may need besides, kept as its source writes it. */
export type Publication = {
  /** Of a thesis its school, of a report its institution. */
  readonly publisher?: string;
  readonly place?: string;
  readonly editors?: readonly string[];
  readonly edition?: string;
  readonly series?: string;
  readonly isbn?: string;
  readonly issn?: string;
  readonly language?: string;
  readonly keywords?: readonly string[];
  readonly note?: string;
  /** Its number in the database that it came from. */
  readonly accession?: string;
};

/**
 * One work as a source describes it. Every client answers in this form; what a source does not say is left out, never
 * guessed.
 */
export interface PaperRecord {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly pdf_url: string | null;
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date: string | null;
  /** Who describes it so. */
  readonly source: string;
  /** The database that it was exported from, of a record that a person brought. */
  readonly database?: string;
  readonly abstract: string | null;
  readonly identifiers: Identifiers;
  readonly retracted?: boolean;
  /** By what a document of this machine is known again: its path from the project's folder, and its first pages. */
  readonly document?: { readonly path: string; readonly sha256?: string };
  /** What the source says it is. `notice`: a retraction, correction or editorial about another work. */
  readonly kind?: "preprint" | "published" | "review" | "notice" | "other";
  /** What the source itself calls it, such as "journal-article". */
  readonly publicationType?: string;
  /** Of arXiv, such as "cs.RO", the primary one first. */
  readonly categories?: readonly string[];
  /** What the authors remark on arXiv, such as "12 pages, accepted at a workshop". */
  readonly comment?: string;
  /** The licence of its text: an address, or a short name such as "cc-by". */
  readonly license?: string;
  /** Journal, conference or repository. */
  readonly venue?: string;
  /** Where in a journal it stands, as the source writes it; they tell two works of one title apart. */
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly publication?: Publication;
  /** Its key in the file that it came from. */
  readonly ownKey?: string;
  /** How often it was cited, and who counted. */
  readonly citations?: { readonly count: number; readonly source: string };
  /** Free copies that may be read, best first. Never from a pirate source. */
  readonly copies?: readonly {
    readonly url: string;
    readonly kind: "html" | "pdf" | "xml" | "landing";
    readonly license?: string;
  }[];
  readonly updates?: readonly Update[];
  /** What a web search showed of the page. No abstract: nothing may be judged or quoted from it. */
  readonly snippet?: string;
  /** The same work under another DOI: its preprint or its published version. */
  readonly otherVersions?: readonly { readonly relation: "preprint" | "published"; readonly doi: string }[];
}

/** Where a record was found, and what it was put together from. */
export interface Provenance {
  /** The records of one work as their sources gave them; the one that it takes its id and address from comes first. */
  readonly mergedFrom: readonly PaperRecord[];
  /** Those of them that are companion reports, such as a correction: a decision on one decides nothing on the work. */
  readonly companions?: readonly CompanionReport[];
  /** Every place at which a source listed it. */
  readonly places: readonly ListPlace[];
}

/** A record that goes with the main report of a work: its correction, an abstract of it, or a letter of an exchange. */
export interface CompanionReport {
  readonly record: PaperRecord;
  readonly kind: "correction" | "abstract" | "letter";
}

/** The records of a work itself, without its companion reports. */
export const versionsOf = ({ mergedFrom, companions }: Pick<Provenance, "mergedFrom" | "companions">) =>
  companions === undefined
    ? mergedFrom
    : mergedFrom.filter((each) => !companions.some(({ record }) => record === each));

/** The sources that list a work itself, in the order of its records. */
export const sourcesOf = (provenance: Pick<Provenance, "mergedFrom" | "companions">): string[] => [
  ...new Set(versionsOf(provenance).map(({ source }) => source)),
];

/** One place at which a source listed a work; the first is 0. */
export interface ListPlace {
  readonly source: string;
  readonly asked: string;
  readonly rank: number;
  /** Of a snowball: the paper that cites it or is cited by it. */
  readonly seed?: string;
}

/**
 * What two records are compared by, a text is fetched by and a service is asked by: a project's paper or a source's
 * record, as much of it as is known.
 */
export interface PaperFacts {
  readonly id?: string | null;
  readonly title?: string | null;
  readonly url?: string | null;
  readonly pdf_url?: string | null;
  readonly authors?: readonly string[] | string | null;
  readonly date?: string | null;
  readonly abstract?: string | null;
  readonly identifiers?: Identifiers | null;
  readonly kind?: string;
  readonly venue?: string | null;
  readonly volume?: string | null;
  readonly issue?: string | null;
  /** "566-582", "e0123". */
  readonly pages?: string | null;
  readonly updates?: readonly { readonly type: string; readonly notice?: string }[];
  readonly otherVersions?: readonly { readonly doi: string }[];
  /** The same, as rrd.json writes it. */
  readonly other_versions?: readonly { readonly doi: string }[];
}

/** As much of a paper as is known, with its id. */
export type NamedPaper = PaperFacts & { readonly id: string };
/** As much of a paper as is known, with its title. */
export type TitledPaper = PaperFacts & { readonly title: string };

/**
 * The facts of a record that rrd.json keeps of a paper: no free copies, which go out of date, and nothing that only
 * matching needs.
 */
export function keptFacts(record: PaperRecord) {
  const { id, title, url, pdf_url, date, source, abstract, identifiers, venue, volume, issue, pages } = record;
  const {
    authors,
    citations,
    retracted,
    updates,
    categories,
    comment,
    license,
    publicationType,
    publication,
    document,
  } = record;
  return {
    ...ownKey(record.ownKey),
    id,
    title,
    url,
    pdf_url,
    authors: [...authors],
    date,
    source,
    abstract,
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers }),
    ...withoutUndefined({ venue, volume, issue, pages, publication_type: publicationType, comment, license }),
    ...(categories === undefined ? {} : { categories: [...categories] }),
    ...(publication === undefined ? {} : { publication: keptPublication(publication) }),
    ...(citations === undefined ? {} : { citations: { ...citations } }),
    ...(document === undefined ? {} : { document: { ...document } }),
    ...(retracted === true ? { retracted } : {}),
    ...(updates === undefined ? {} : { updates: updates.map((update) => ({ ...update })) }),
  };
}

function keptPublication({ editors, keywords, ...texts }: Publication) {
  return {
    ...texts,
    ...(editors === undefined ? {} : { editors: [...editors] }),
    ...(keywords === undefined ? {} : { keywords: [...keywords] }),
  };
}

/** What a key looks like: short enough to be typed, and taken by BibTeX and by every shell as it stands. */
export const isKey = (text: string): boolean => /^[A-Za-z][A-Za-z0-9_:.-]{1,39}$/.test(text);

/** The name of an entry in its own file, as rrd.json keeps it: as a key where it can be one, else beside it. */
export const ownKey = (name: string | undefined): { readonly key?: string; readonly source_key?: string } =>
  name === undefined ? {} : isKey(name) ? { key: name } : { source_key: name };
