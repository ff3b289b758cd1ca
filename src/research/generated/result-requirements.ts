// Generated from schemas/result-requirements.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What an agent makes of a topic; the orchestrator builds rrd.json from it.
 */
export interface RequirementsResult {
  unit: string;
  /**
   * Three to six words; what is too long is cut, and without one the topic's words are taken.
   */
  name?: string;
  description?: string;
  focus_area?: string;
  /**
   * @maxItems 8
   */
  keywords: string[];
  time_window_days?: number;
  historical_lookback_days?: number;
  strategic_focus?: "balanced" | "market_creation" | "defensibility" | "speed";
  terms?: {
    [k: string]: string;
  };
  /**
   * Eligibility criteria that the topic states; none where it states none.
   *
   * @maxItems 10
   */
  criteria?: {
    /**
     * A statement that is true of a paper or not.
     */
    text: string;
    kind: "include" | "exclude";
  }[];
  /**
   * @maxItems 6
   */
  open_questions?: {
    field?: string;
    question: string;
    /**
     * @maxItems 6
     */
    options?: string[];
    current_default: string;
  }[];
}
