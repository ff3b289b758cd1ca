// Generated from schemas/result-mend.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What the agent of a report leaves in result.json for sentences that its second reader did not find in their passages.
 */
export interface MendResult {
  /**
   * The unit's id, as the brief gives it.
   */
  unit: string;
  /**
   * One for each number.
   *
   * @minItems 1
   * @maxItems 100
   */
  sentences: {
    number: number;
    /**
     * The sentence anew; null: it is given up.
     */
    text: string | null;
    /**
     * Handles of passages of the unit; absent: as before.
     *
     * @minItems 1
     * @maxItems 12
     */
    rests_on?: string[];
  }[];
}
