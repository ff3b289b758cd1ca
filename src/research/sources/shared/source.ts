import type { Http } from "../../../net/http.js";
import type { ChosenColumns } from "../../papers/records/csv.js";
import type { Identifiers, PaperRecord, TitledPaper } from "../../papers/paper-record.js";

/**
 * The result of a request. Only `empty` says something about the paper or the query; `rate_limited`, `blocked` and
 * `error` mean that it could not be checked.
 */
export type Answer<Value> =
  | {
      readonly status: "ok";
      readonly value: Value;
      /** Number of all results of the query, if the source counts them. */
      readonly total?: number;
      /** Set if records may be missing from `value`: one sentence about the page or batch that failed. */
      readonly incomplete?: string;
      /** Of a lookup: works that the source does not know. */
      readonly unknown?: readonly Identifiers[];
      /** Of a lookup: works that could not be checked. The source may know them. */
      readonly unchecked?: readonly Identifiers[];
    }
  | {
      readonly status: "empty" | "rate_limited" | "blocked" | "error";
      /** One sentence, without keys. */
      readonly reason: string;
      /** Set if the same request may succeed some minutes or hours later. */
      readonly transient?: true;
      /** Set with `transient` if the service could not be reached, so that the failure does not mean a busy service. */
      readonly unreached?: true;
      /** Milliseconds since the epoch. The service gets no request before this time. */
      readonly retryAt?: number;
      /** Set if no request was sent, because the service had asked to wait. */
      readonly unsent?: true;
    };

/** A query for a source. Each client translates it into the query language of its service. */
export type Query = {
  /** Words that should occur together. Each client quotes them as its service requires. */
  readonly terms: string;
  /** First and last day of publication, YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Maximum number of records; a client may return fewer. */
  readonly most: number;
  /** For a list that is a table: the column headers of fields, if they are not the usual ones. */
  readonly columns?: ChosenColumns;
};

/** What a client needs to send requests to its source. */
export interface SourceContext {
  readonly http: Http;
  /** Base address without a trailing slash: of the service, a mirror, or a test server. */
  readonly endpoint: string;
  readonly key?: string;
  /** A mail address that services may write to. Only the user sets it. */
  readonly contact?: string;
  /** For a source that queries others, as a list of ids does. */
  readonly contextFor: ContextFor;
}

/**
 * Makes the context of a source from its configured address and key. Otherwise one sentence why the source can't be
 * queried.
 */
export type ContextFor = (source: Source) => SourceContext | { readonly unavailable: string };

/** The lookup of a source in its context. */
export interface LookupService {
  readonly name: string;
  find(works: readonly Identifiers[]): Promise<Answer<readonly PaperRecord[]>>;
}

/**
 * One scholarly service: a file in clients/ and an entry in the registry. It has only the methods that the service
 * supports.
 */
export interface Source {
  /** The name in a project's `sources` and in reports: "arXiv". */
  readonly name: string;
  /** Other names of the same source, in lower case. */
  readonly aliases: readonly string[];
  /** The service's public address; empty if each user runs their own. */
  readonly endpoint: string;
  /** Environment variable with the key, if the service has keys. */
  readonly keyVariable?: string;
  /**
   * The service answers with a web page and HTTP 404 if it does not know a work. With any other service, a web page
   * means a wrong address.
   */
  readonly pageMeansUnknown?: true;
  /** A program of the user on this machine: its address is private, and there is no rate limit. */
  readonly local?: true;
  /**
   * What the configuration must contain before the source can be queried: a key, a contact address, or the service's
   * address.
   */
  readonly needs?: "key" | "contact" | "endpoint";
  search?(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** Returns records of these works in any order. `value` does not contain works that the service does not know. */
  lookup?(works: readonly Identifiers[], context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** Finds the work with this title; `empty` if the service found only other works. */
  match?(work: TitledPaper, context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** The works that a work cites. `citations`: the works that cite it. Each is one step of snowballing. */
  references?(work: Identifiers, most: number, context: SourceContext): Promise<Answer<readonly PaperRecord[]>>;
  /** `from`: first day of publication, YYYY-MM-DD. A source without such a filter returns all works. */
  citations?(
    work: Identifiers,
    most: number,
    context: SourceContext,
    from?: string,
  ): Promise<Answer<readonly PaperRecord[]>>;
}
