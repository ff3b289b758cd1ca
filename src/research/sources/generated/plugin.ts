// Generated from schemas/plugin.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What plugins answer for the research wing.
 */
export interface ResearchPluginAnswer {
  request: SourceRequest;
  page: SourcePage;
  /**
   * The sources that it adds.
   *
   * @maxItems 10
   */
  sources: DescribedSource[];
}
/**
 * What a source asks of its service for one page of results.
 */
export interface SourceRequest {
  /**
   * Path and query, behind the base address.
   */
  path: string;
  /**
   * The media type that is wanted.
   */
  accept?: string;
}
/**
 * What a source read in one answer.
 */
export interface SourcePage {
  /**
   * Works in the order of the answer.
   *
   * @maxItems 1000
   */
  records: SourceRecord[];
  /**
   * Works that the service counts for the query.
   */
  total?: number;
  /**
   * Where the next page begins; absent on the last.
   */
  next?: string | number;
}
/**
 * One work.
 */
export interface SourceRecord {
  /**
   * Its title.
   */
  title: string;
  /**
   * Address of its page.
   */
  url?: string;
  /**
   * Address of a free PDF.
   */
  pdf?: string;
  /**
   * Names in order.
   *
   * @maxItems 200
   */
  authors?: string[];
  /**
   * Day of publication, as far as known.
   */
  date?: string;
  /**
   * Its abstract, as plain text.
   */
  abstract?: string;
  /**
   * Its DOI.
   */
  doi?: string;
  /**
   * Its arXiv id.
   */
  arxiv?: string;
  /**
   * Its PubMed id.
   */
  pmid?: string;
  /**
   * Journal, conference or repository.
   */
  venue?: string;
  /**
   * Volume.
   */
  volume?: string;
  /**
   * Issue.
   */
  issue?: string;
  /**
   * Pages.
   */
  pages?: string;
  /**
   * What it is; notice: a retraction or correction of another work.
   */
  kind?: "preprint" | "published" | "review" | "notice" | "other";
  /**
   * How often it was cited.
   */
  citations?: number;
}
export interface DescribedSource {
  /**
   * Its name, as in --source.
   */
  id: string;
  /**
   * Base address of the service.
   */
  endpoint: string;
}

declare module "../../../engine/generated/plugin.js" {
  interface PluginAnswer {
    request?: ResearchPluginAnswer["request"];
    page?: ResearchPluginAnswer["page"];
  }
  interface Described {
    sources: ResearchPluginAnswer["sources"];
  }
}
