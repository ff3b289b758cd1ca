// Generated from schemas/result-artisan.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What the artisan of a coding run says of its change; the change itself is in the tree.
 */
export interface ArtisanResult {
  /**
   * What it takes for the cause.
   */
  hypothesis: string;
  /**
   * What it changed.
   */
  action_taken: string;
}
