// Generated from schemas/result-adversary.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What the adversary of a coding run leaves: tests that try to break the change.
 */
export interface AdversaryResult {
  /**
   * Test files in the project's framework.
   *
   * @maxItems 4
   */
  tests: {
    /**
     * A plain file name.
     */
    file: string;
    /**
     * The whole file.
     */
    content: string;
  }[];
  /**
   * What it found by reading.
   *
   * @maxItems 8
   */
  findings: {
    /**
     * What is wrong, in one sentence.
     */
    title: string;
    /**
     * How it shows.
     */
    detail?: string;
    /**
     * Relative to the project.
     */
    file?: string;
  }[];
}
