// Generated from schemas/result-report.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * @maxItems 50
 *
 * This interface was referenced by `ReportResult`'s JSON-Schema
 * via the `definition` "paperIds".
 */
export type PaperIds = string[];
/**
 * What later iterations should know about working on this research, learned in this one.
 *
 * @maxItems 3
 */
export type Patterns = string[];

/**
 * The narrative of the report. Every table, count and score of the report is derived from the records and is not asked for here.
 */
export interface ReportResult {
  unit: string;
  executive_summary: string;
  /**
   * @minItems 1
   * @maxItems 8
   */
  key_findings: Sourced[];
  /**
   * Insights grouped under names that emerged.
   *
   * @maxItems 15
   */
  categories: {
    name: string;
    /**
     * @minItems 1
     * @maxItems 200
     */
    insight_ids: string[];
  }[];
  /**
   * @maxItems 40
   */
  companies?: {
    name: string;
    notes: string;
    paper_ids: PaperIds;
  }[];
  /**
   * Approaches side by side, where the papers allow it.
   */
  comparison?: {
    /**
     * @minItems 2
     * @maxItems 6
     */
    approaches: string[];
    /**
     * @minItems 1
     * @maxItems 12
     */
    rows: {
      aspect: string;
      /**
       * @maxItems 6
       */
      cells: string[];
    }[];
  } | null;
  /**
   * @maxItems 8
   */
  strengths: string[];
  /**
   * @maxItems 8
   */
  improvements: string[];
  /**
   * @minItems 1
   * @maxItems 12
   */
  recommendations: {
    priority: "high" | "medium" | "low";
    text: string;
    paper_ids?: PaperIds;
  }[];
  conclusion: string;
  patterns?: Patterns;
}
/**
 * This interface was referenced by `ReportResult`'s JSON-Schema
 * via the `definition` "sourced".
 */
export interface Sourced {
  text: string;
  /**
   * @minItems 1
   * @maxItems 50
   */
  paper_ids: string[];
}
