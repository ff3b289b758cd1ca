// Generated from schemas/result-discovery.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Answers, Patterns } from "./result-analysis.js";

/**
 * What an agent leaves in result.json after a discovery batch.
 */
export interface DiscoveryResult {
  /**
   * The unit's id, as the brief gives it.
   */
  unit: string;
  /**
   * Candidates of the brief that fit.
   *
   * @maxItems 200
   */
  kept?: {
    id: string;
    /**
     * Where it is another than the candidate's own.
     */
    priority?: number;
    /**
     * Why it fits.
     */
    reason?: string;
    criteria?: Answers;
  }[];
  /**
   * Papers that the agent found itself.
   *
   * @maxItems 200
   */
  papers: {
    /**
     * Id of the candidate in the brief, or of the paper at its source, such as arxiv_2401.12345.
     */
    id?: string;
    title: string;
    /**
     * Its address on the web; only a candidate of the brief, named by its id, needs none.
     */
    url?: string;
    pdf_url?: string | null;
    /**
     * @maxItems 300
     */
    authors?: string[];
    date?: string | null;
    source?: string;
    abstract?: string | null;
    doi?: string | null;
    priority: number;
    /**
     * Why it fits, and why this priority.
     */
    reason: string;
    criteria?: Answers;
  }[];
  /**
   * Candidates of the brief that do not fit.
   *
   * @maxItems 200
   */
  dropped?: {
    id: string;
    reason: string;
    criteria?: Answers;
  }[];
  /**
   * Every source that was tried, and what came of it.
   *
   * @maxItems 50
   */
  sources: {
    name: string;
    /**
     * skipped: the agent has no means to search it.
     */
    status: "ok" | "empty" | "rate_limited" | "blocked" | "error" | "skipped";
    reason?: string | null;
    /**
     * @maxItems 50
     */
    queries?: string[];
  }[];
  /**
   * @maxItems 300
   */
  visited_urls?: string[];
  patterns?: Patterns;
}
