// Generated from schemas/result-librarian.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What the librarian of a coding run leaves: the cause, the places that matter, a plan.
 */
export interface LibrarianResult {
  /**
   * What is probably wrong, and why.
   */
  cause: string;
  /**
   * The places that the artisan needs, the most important first.
   *
   * @minItems 1
   * @maxItems 12
   */
  files: {
    /**
     * As the brief names it, relative to the project.
     */
    path: string;
    /**
     * First and last line, from 1; absent: the whole file.
     *
     * @minItems 2
     * @maxItems 2
     */
    lines?: number[];
    /**
     * In a few words.
     */
    why?: string;
  }[];
  /**
   * What to change, in order.
   *
   * @minItems 1
   * @maxItems 5
   *
   * Items: One step.
   */
  plan: string[];
}
