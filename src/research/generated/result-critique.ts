// Generated from schemas/result-critique.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a critic leaves in result.json: what is wrong with another agent's draft of a unit's result.
 */
export interface CritiqueResult {
  /**
   * The unit's id, as the brief gives it.
   */
  unit: string;
  /**
   * The most serious first; empty where nothing is wrong.
   *
   * @maxItems 12
   */
  findings: {
    /**
     * The field of the draft, such as results or evidence[2].
     */
    where: string;
    /**
     * What is wrong with it, against the material.
     */
    problem: string;
    /**
     * The material's words that show it, copied exactly; null where something is absent from it.
     */
    quote?: string | null;
  }[];
}
