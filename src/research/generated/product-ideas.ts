// Generated from schemas/product-ideas.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * product-ideas.json: ideas that follow from the papers, each traceable to papers and insights.
 */
export interface ProductIdeas {
  /**
   * Address of this schema, by which an editor checks the file and completes what you type. It has no effect otherwise.
   */
  $schema?: string;
  schema_version: string;
  project: string;
  /**
   * ISO 8601 time in UTC.
   */
  generated_at?: string;
  source_artifacts?: {
    [k: string]: unknown;
  };
  selection_rubric?: {
    [k: string]: unknown;
  };
  ideas: {
    /**
     * idea_001 and on: those recommended first, then by combined points.
     */
    id: string;
    name: string;
    one_liner?: string;
    problem?: {
      [k: string]: unknown;
    };
    solution?: {
      [k: string]: unknown;
    };
    market?: {
      [k: string]: unknown;
    };
    evidence: {
      paper_ids: string[];
      insight_ids: string[];
      notes?: string;
      [k: string]: unknown;
    };
    risks?: unknown[];
    open_questions?: string[];
    scores: {
      execution_0_30?: number;
      blue_ocean_0_20?: number;
      combined_0_50?: number;
      /**
       * The points for market value, time to a proof of concept, defensibility, adoption and strategic clarity by the weights of selection_rubric.
       */
      weighted_0_5?: number;
      confidence_0_1?: number;
      [k: string]: unknown;
    };
    recommended_next_steps?: string[];
    recommended_for_prd: boolean;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
