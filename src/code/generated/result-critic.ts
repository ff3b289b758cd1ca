// Generated from schemas/result-critic.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What the critic of a coding run leaves.
 */
export interface CriticResult {
  /**
   * revise: the change must not be tested like this.
   */
  decision: "approve" | "revise";
  /**
   * What must change; empty where it approves.
   *
   * @maxItems 5
   */
  findings: {
    /**
     * Relative to the project.
     */
    file: string;
    /**
     * In the new version.
     */
    line?: number;
    /**
     * What is wrong, and what would be right.
     */
    reason: string;
  }[];
}
