// Generated from schemas/result-check.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a second reader leaves in result.json: of each numbered sentence whether it follows from its passages.
 */
export interface CheckResult {
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
  answers: {
    number: number;
    verdict: "supported" | "overstated" | "not-supported" | "contradicted" | "cannot-tell";
    /**
     * In at most 20 words; null where it is supported.
     */
    why?: string | null;
    /**
     * Of an overstated one: what the passages do not carry.
     */
    too_much?: string | null;
    /**
     * Of an overstated one: a sentence that the passages support.
     */
    better?: string | null;
    /**
     * Of a contradicted one: the paper whose passage says otherwise.
     */
    against?: string | null;
  }[];
}
