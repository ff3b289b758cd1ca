// Generated from schemas/result-answer.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What an agent leaves in result.json when it answers a question about the papers of a project. Code looks for each quote; what rests on none is left out.
 */
export interface AnswerResult {
  /**
   * The unit's id, as the brief gives it.
   */
  unit: string;
  /**
   * Quotes from the passages that no record of the unit has yet.
   *
   * @maxItems 40
   */
  quotes: {
    /**
     * q1, q2, …; a statement rests on it as <paper>#q1.
     */
    id: string;
    /**
     * The id of the paper that it is copied from.
     */
    paper: string;
    /**
     * The paper's own words, copied exactly; … marks what was left out.
     */
    quote: string;
  }[];
  /**
   * The answer, a sentence each, the most direct one first; empty where the papers do not answer.
   *
   * @maxItems 40
   */
  statements: {
    text: string;
    /**
     * Handles of the quotes that bear it out: sample_01#2 of a record, sample_03#q1 of a new quote.
     *
     * @maxItems 12
     */
    rests_on: string[];
  }[];
  /**
   * What the question asks that these papers do not say.
   */
  not_found?: string | null;
  notes?: string | null;
}
