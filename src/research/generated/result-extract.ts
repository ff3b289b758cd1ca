// Generated from schemas/result-extract.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Fields } from "./result-analysis.js";

/**
 * What an agent leaves in result.json for the fields of a form that it looked for in one paper.
 */
export interface ExtractResult {
  /**
   * The unit's id, as the brief gives it.
   */
  unit: string;
  fields: Fields;
}
