// Generated from schemas/plugin.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What one call of a plugin may answer: one of these fields, by what was called.
 */
export interface PluginAnswer {
  /**
   * Why the plugin could not be loaded, or what it threw.
   */
  error?: string;
  /**
   * It has returned nothing.
   */
  nothing?: true;
  described?: Described;
  /**
   * onBeforeGen: what is added to the brief.
   */
  added?: string;
  changed?: Changed;
  /**
   * onBeforeSuccess: why the work is not done; false: it is not done, and the plugin gives no reason.
   */
  vetoed?: boolean | string;
  request?: SourceRequest;
  page?: SourcePage;
}
/**
 * What a plugin exports.
 */
export interface Described {
  /**
   * Its name.
   */
  name: string;
  /**
   * Its version.
   */
  version: string;
  /**
   * Names of its hooks.
   *
   * @maxItems 20
   */
  hooks: string[];
  /**
   * The sources that it adds.
   *
   * @maxItems 10
   */
  sources: DescribedSource[];
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
/**
 * onAfterGen: what an agent made, as the plugin wants it.
 */
export interface Changed {
  /**
   * Files with another text than before.
   *
   * @maxItems 200
   */
  files?: ChangedFile[];
  /**
   * Fields that are kept beside a result.
   */
  fields?: {
    [k: string]: unknown;
  };
}
export interface ChangedFile {
  /**
   * One of those that the plugin was given.
   */
  path: string;
  /**
   * Its whole new text.
   */
  text: string;
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
