// Generated from schemas/result-analysis.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Point } from "./rrd.js";

/**
 * What later iterations should know about working on this research, learned in this one.
 *
 * @maxItems 3
 */
export type Patterns = string[];

/**
 * What an agent leaves in result.json after reading one paper. Totals and the decision are derived from it.
 */
export interface AnalysisResult {
  /**
   * The paper's id, as the brief gives it.
   */
  unit: string;
  /**
   * What the paper claims, in two or three sentences.
   */
  summary: string;
  methodology: string;
  results: string;
  limitations: string;
  /**
   * Addresses of code; empty when none was found.
   *
   * @maxItems 30
   */
  implementations_found: string[];
  /**
   * null when it could not be looked up.
   */
  commercialized: boolean | null;
  commercialized_by?: string | null;
  market?: "blue" | "purple" | "red";
  /**
   * By the id of the dimension. Only where the brief has a section Rubric.
   */
  points?: {
    [k: string]: Point;
  };
  /**
   * By the original's rubrics. Only where the unit names rubrics.
   */
  scores?: {
    execution: Execution;
    blue_ocean?: Strategic;
  };
  /**
   * @minItems 1
   * @maxItems 40
   */
  evidence: {
    /**
     * One claim in your words.
     */
    claim: string;
    /**
     * The paper's own words, copied exactly; … marks what was left out.
     */
    quote: string;
    locator?: string | null;
    about?: Outcome | null;
  }[];
  /**
   * @maxItems 12
   */
  insights: {
    insight: string;
    /**
     * @maxItems 10
     */
    tags?: string[];
    /**
     * @maxItems 20
     */
    cross_refs?: string[];
  }[];
  /**
   * Why these points, in a sentence or two.
   */
  notes: string;
  criteria?: Answers;
  fields?: Fields;
  /**
   * @maxItems 300
   */
  visited_urls?: string[];
  patterns?: Patterns;
}
export interface Execution {
  novelty: Point;
  feasibility: Point;
  time_to_poc: Point;
  value_market: Point;
  defensibility: Point;
  adoption: Point;
}
export interface Strategic {
  market_creation: Point;
  first_mover_window: Point;
  network_effects: Point;
  strategic_clarity: Point;
}
/**
 * What the quote reports, where it compares two things on one outcome.
 */
export interface Outcome {
  /**
   * What was measured, in the field's usual words, such as 'success rate'.
   */
  outcome: string;
  /**
   * What with what: 'A against B'.
   */
  compared: string;
  /**
   * What the outcome does under A: up, down, or none for no significant difference.
   */
  direction: "up" | "down" | "none";
}
/**
 * The answer to each eligibility criterion, by its id. Only where the brief lists criteria.
 */
export interface Answers {
  [k: string]: {
    /**
     * Whether the criterion is true of the paper.
     */
    answer: "yes" | "no" | "unclear";
    /**
     * The words that settle it, copied exactly; none where it is unclear.
     */
    quote?: string | null;
  };
}
/**
 * What the paper says for each field to extract, by its id. Only where the brief lists fields.
 */
export interface Fields {
  [k: string]: {
    /**
     * The value; of a list its items.
     */
    value?: string | number | string[] | null;
    /**
     * The paper's words that show it, copied exactly.
     *
     * @maxItems 6
     */
    quotes?: string[];
    /**
     * true where the paper does not say it; then without value and quotes.
     */
    not_reported?: boolean;
  };
}
