// Generated from schemas/result-extraction.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Fields } from "./result-analysis.js";

/**
 * What an agent leaves in result.json after it looked for the fields of a form in one paper.
 */
export interface ExtractionResult {
  /**
   * The paper's id, as the brief gives it.
   */
  unit: string;
  fields: Fields;
}
