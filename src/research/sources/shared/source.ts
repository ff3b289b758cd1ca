import type { Http } from "../../../net/http.js";
import type { ChosenColumns } from "../../papers/records/csv.js";
import type { Identifiers, PaperRecord, TitledPaper } from "../../papers/paper-record.js";

/**
 * The envelope. Only `empty` says something about the paper or query; the last three say nothing but that it could not
 * be checked.
 */
export type Answer<Value> =
  | {
      readonly status: "ok";
      readonly value: Value;
      /** Of the query, where the source counts them. */
      readonly total?: number;
      /** Set where `value` may lack something: one sentence on the page or batch that could not be had. */
      readonly incomplete?: string;
      /** Of a lookup: works that the source answered it does not know. */
      readonly unknown?: readonly Identifiers[];
      /** Of a lookup: works that could not be asked about. Nothing is said of them. */
      readonly unchecked?: readonly Identifiers[];
    }
  | {
      readonly status: "empty" | "rate_limited" | "blocked" | "error";
      /** One sentence, without keys. */
      readonly reason: string;
      /** Set where the same request may be answered in some minutes or hours. */
      readonly transient?: true;
      /** Set beside it where nobody was there to answer: it says nothing of how busy the service is. */
      readonly unreached?: true;
      /** Milliseconds since the epoch: the service is not asked before. */
      readonly retryAt?: number;
      /** Set where nothing was sent, because the service had asked to wait before. */
      readonly unsent?: true;
    };

/** What is asked of a source. A client turns it into the source's own language. */
export type Query = {
  /** Words that should occur together; a client does its own quoting. */
  readonly terms: string;
  /** First and last day of publication, YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Most records wanted; a client may answer with fewer. */
  readonly most: number;
  /** Of a list that is a table: the headers of fields whose columns have names of their own. */
  readonly columns?: ChosenColumns;
};

/** Where a client asks, and with what. */
export interface SourceContext {
  readonly http: Http;
  /** Base address without a trailing slash: the service's own, a mirror's, or a test server's. */
  readonly endpoint: string;
  readonly key?: string;
  /** A mail address that services may write to. Never invented. */
  readonly contact?: string;
  /** For a source that asks others in turn, as a list of ids does. */
  readonly contextFor: ContextFor;
}

/**
 * The context that a source is asked with: its configured address, its key; or one sentence on why it can't be asked.
 */
export type ContextFor = (source: Source) => SourceContext | { readonly unavailable: string };

/** One scholarly service: a file and a line in the registry. What it can't do it leaves out. */
export interface Source {
  /** As a project's `sources` and reports name it: "arXiv". */
  readonly name: string;
  /** Lower-case names that mean it too. */
  readonly aliases: readonly string[];
  /** The service's own address; empty where each user runs their own. */
  readonly endpoint: string;
  /** Environment variable that holds its key, where it takes one. */
  readonly keyVariable?: string;
  /** Its 404 for a work that it does not know is a web page; any other service's is the sign of a wrong address. */
  readonly pageMeansUnknown?: true;
  /** It is a program of the person's on this machine: its address is private, and it may be asked at any pace. */
  readonly local?: true;
  /** It can't be asked without a key, a contact address, or an address of the service in the configuration. */
  readonly needs?: "key" | "contact" | "endpoint";
  search?(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** Records of the works named, in any order; a work the service does not know is left out of the value. */
  lookup?(works: readonly Identifiers[], context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** The one work of this title; `empty` where what the service found is another work. */
  match?(work: TitledPaper, context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** What a work cites, or what cites it: one step of snowballing. */
  references?(work: Identifiers, most: number, context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** `from`: first day of publication that is wanted, YYYY-MM-DD; a source without such a filter answers with all. */
  citations?(
    work: Identifiers,
    most: number,
    context: SourceContext,
    from?: string,
  ): Promise<Answer<readonly PaperRecord[]>>;
}
