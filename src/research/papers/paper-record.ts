import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Paper } from "../generated/rrd.js";

/**
 * Identifiers of one work. In lower case, except PMC ids; DOIs without resolver; arXiv ids with their version, if
 * known.
 */
export type Identifiers = {
  readonly doi?: string;
  readonly arxiv?: string;
  readonly pmid?: string;
  readonly pmcid?: string;
  /** For example W2741809807. */
  readonly openalex?: string;
  /** The paperId of Semantic Scholar. */
  readonly s2?: string;
};

/** An event after the publication of a work. Only `retraction` and `withdrawal` exclude it. */
export interface Update {
  readonly type: "retraction" | "withdrawal" | "concern" | "correction" | "addendum" | "version";
  /** Date of the notice, YYYY-MM-DD. */
  readonly date?: string;
  /** The service that reports it: "Crossref (retraction-watch)", "OpenAlex", "Europe PMC", "arXiv". */
  readonly source: string;
  /** DOI or address of the notice. */
  readonly notice?: string;
}

/** More fields for citing a work, in the source's format. */
export type Publication = {
  /** For a thesis the school, for a report the institution. */
  readonly publisher?: string;
  readonly place?: string;
  readonly editors?: readonly string[];
  /** Authors and editors that are groups by their source, although they look like persons: "World Bank". */
  readonly groups?: readonly string[];
  readonly edition?: string;
  readonly series?: string;
  readonly isbn?: string;
  readonly issn?: string;
  readonly language?: string;
  readonly keywords?: readonly string[];
  readonly note?: string;
  /** The record's number in its database. */
  readonly accession?: string;
};

/** One work as a source describes it. All clients return this form; fields that a source does not have are left out. */
export interface PaperRecord {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly pdf_url: string | null;
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date: string | null;
  /** Name of the source. */
  readonly source: string;
  /** For a record in the user's file: the database that it was exported from. */
  readonly database?: string;
  readonly abstract: string | null;
  readonly identifiers: Identifiers;
  readonly retracted?: boolean;
  /** Identifies a local document: its path from the project's folder and the hash of its first pages. */
  readonly document?: { readonly path: string; readonly sha256?: string };
  /** Type of the work. `notice`: a retraction, correction or editorial about another work. */
  readonly kind?: "preprint" | "published" | "review" | "notice" | "other";
  /** The source's name for the type, such as "journal-article". */
  readonly publicationType?: string;
  /** arXiv categories such as "cs.RO", primary category first. */
  readonly categories?: readonly string[];
  /** The authors' comment on arXiv, such as "12 pages, accepted at a workshop". */
  readonly comment?: string;
  /** The licence of the text: an address or a short name such as "cc-by". */
  readonly license?: string;
  /** Journal, conference or repository. */
  readonly venue?: string;
  /** Position in a journal, in the source's format. These fields distinguish works with equal titles. */
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly publication?: Publication;
  /** Citation key in the file with this record. */
  readonly ownKey?: string;
  /** Citation count, and the service that counted. */
  readonly citations?: { readonly count: number; readonly source: string };
  /** Free copies, best first, never from a shadow library. */
  readonly copies?: readonly {
    readonly url: string;
    readonly kind: "html" | "pdf" | "xml" | "landing";
    readonly license?: string;
  }[];
  readonly updates?: readonly Update[];
  /** Text about the page from a web search. It is not an abstract: it is never judged or quoted. */
  readonly snippet?: string;
  /** The same work with another DOI: its preprint or its published version. */
  readonly otherVersions?: readonly { readonly relation: "preprint" | "published"; readonly doi: string }[];
}

/** The sources of a merged record. */
export interface Provenance {
  /** The source records of the work. The first one gives the id and the address. */
  readonly mergedFrom: readonly PaperRecord[];
  /**
   * Companion reports among these records, such as a correction. A decision on a companion report does not decide on
   * the work.
   */
  readonly companions?: readonly CompanionReport[];
  /** The work's places in the sources' lists. */
  readonly places: readonly ListPlace[];
}

/** A record that belongs to the main report of a work: a correction, an abstract, or a letter. */
export interface CompanionReport {
  readonly record: PaperRecord;
  readonly kind: "correction" | "abstract" | "letter";
}

/** The records of a work without its companion reports. */
export const versionsOf = ({ mergedFrom, companions }: Pick<Provenance, "mergedFrom" | "companions">) =>
  companions === undefined
    ? mergedFrom
    : mergedFrom.filter((member) => !companions.some(({ record }) => record === member));

/** The sources of a work without those of its companion reports, in the order of its records. */
export const sourcesOf = (provenance: Pick<Provenance, "mergedFrom" | "companions">): string[] => [
  ...new Set(versionsOf(provenance).map(({ source }) => source)),
];

/** A place in a source's list; the first rank is 0. */
export interface ListPlace {
  readonly source: string;
  readonly asked: string;
  readonly rank: number;
  /** In a snowball step: the paper that cites this work or is cited by it. */
  readonly seed?: string;
}

/**
 * A paper in a project or a record of a source: all fields are optional. Used for comparing records, fetching texts and
 * lookups.
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
  /** For example "566-582" or "e0123". */
  readonly pages?: string | null;
  readonly updates?: readonly { readonly type: string; readonly notice?: string }[];
  readonly otherVersions?: readonly { readonly doi: string }[];
  /** Like `otherVersions`, in the format of rrd.json. */
  readonly other_versions?: readonly { readonly doi: string }[];
}

/** A paper with its id and any other fields. */
export type NamedPaper = PaperFacts & { readonly id: string };
/** A paper with its title and any other fields. */
export type TitledPaper = PaperFacts & { readonly title: string };

/**
 * The fields of a record that are stored in rrd.json: without free copies, which become outdated, and without fields
 * that only the matching needs.
 */
export function storedFields(record: PaperRecord) {
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
    ...(publication === undefined ? {} : { publication: storedPublication(publication) }),
    ...(citations === undefined ? {} : { citations: { ...citations } }),
    ...(document === undefined ? {} : { document: { ...document } }),
    ...(retracted === true ? { retracted } : {}),
    ...(updates === undefined ? {} : { updates: updates.map((update) => ({ ...update })) }),
  };
}

function storedPublication({ editors, groups, keywords, ...texts }: Publication) {
  return {
    ...texts,
    ...(editors === undefined ? {} : { editors: [...editors] }),
    ...(groups === undefined ? {} : { groups: [...groups] }),
    ...(keywords === undefined ? {} : { keywords: [...keywords] }),
  };
}

/** Whether at least one service has checked if a paper of the pool was retracted. */
export const isCheckedForRetraction = ({ updates_check: check }: Pick<Paper, "updates_check">): boolean =>
  (check?.checked_by.length ?? 0) > 0;

/** Whether a text is a valid key: short, and safe in BibTeX and in shells. */
export const isKey = (text: string): boolean => /^[A-Za-z][A-Za-z0-9_:.-]{1,39}$/.test(text);

/** The citation key of an entry in its file, in the format of rrd.json: as `key` if valid, else as `source_key`. */
export const ownKey = (name: string | undefined): { readonly key?: string; readonly source_key?: string } =>
  name === undefined ? {} : isKey(name) ? { key: name } : { source_key: name };
