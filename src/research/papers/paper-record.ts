/** Names under which services know one work. All lower case but for PMC ids; DOIs without the resolver, arXiv ids with the version known. */
export interface Identifiers {
  readonly doi?: string;
  readonly arxiv?: string;
  readonly pmid?: string;
  readonly pmcid?: string;
  /** Such as W2741809807. */
  readonly openalex?: string;
  /** Semantic Scholar's paperId. */
  readonly s2?: string;
}

/** Something that happened to a work after it was published. Only `retraction` and `withdrawal` take it out of the running. */
export interface Update {
  readonly type: "retraction" | "withdrawal" | "concern" | "correction" | "addendum" | "version";
  /** YYYY-MM-DD, where the notice is dated. */
  readonly date?: string;
  /** Who says so: "Crossref (retraction-watch)", "OpenAlex", "Europe PMC", "arXiv". */
  readonly source: string;
  /** DOI or address of the notice. */
  readonly notice?: string;
}

/** One work as a source describes it. Every client answers in this form; what a source does not say is left out, never guessed. */
export interface PaperRecord extends Candidate {
  readonly identifiers: Identifiers;
  /** What the source says it is. `notice`: a retraction, correction or editorial about another work. */
  readonly kind?: "preprint" | "published" | "review" | "notice" | "other";
  /** Journal, conference or repository. */
  readonly venue?: string;
  /** Where in a journal it stands, as the source writes it; they tell two works of one title apart. */
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
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

/** A paper that a source offers; screening decides whether it enters the pool. */
export interface Candidate {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly pdf_url: string | null;
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date: string | null;
  readonly source: string;
  readonly abstract: string | null;
  readonly identifiers?: { readonly doi?: string; readonly arxiv?: string };
  readonly retracted?: boolean;
}

/** What is known of one paper. `empty`: the source answered and does not know it. The failures say nothing about the paper. */
export type Described =
  | { readonly status: "ok"; readonly paper: Candidate }
  | { readonly status: "empty" | "rate_limited" | "blocked" | "error"; readonly reason: string };
