// Generated from schemas/result-ideation.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Patterns } from "./result-analysis.js";

export type Text = string;
/**
 * @maxItems 12
 */
export type Texts = Text[];
/**
 * Product ideas that follow from the papers. Ids, totals and the time are added by the orchestrator.
 */
export interface IdeationResult {
  unit: string;
  /**
   * @minItems 1
   * @maxItems 30
   */
  ideas: Idea[];
  patterns?: Patterns;
}
export interface Idea {
  name: string;
  one_liner: string;
  problem: {
    who: Text;
    pain: Text;
    why_now: Text;
  };
  solution: {
    what: Text;
    key_features: Texts;
    mvp_scope: Texts;
    out_of_scope: Texts;
    integration_points: Texts;
  };
  market: {
    segment: Text;
    buyer: Text;
    users: Texts;
    alternatives: Texts;
    differentiators: Texts;
  };
  evidence: {
    /**
     * @minItems 1
     * @maxItems 50
     */
    paper_ids: string[];
    /**
     * Empty only where no paper gave an insight.
     *
     * @maxItems 100
     */
    insight_ids: string[];
    notes: Text;
  };
  /**
   * @maxItems 10
   */
  risks: {
    type: string;
    risk: Text;
    mitigation: Text;
  }[];
  open_questions: Texts;
  scores: {
    execution: Execution;
    blue_ocean: Strategic;
    confidence: number;
  };
  recommended_next_steps: Texts;
  recommended_for_prd: boolean;
}
export interface Execution {
  novelty: number;
  feasibility: number;
  time_to_poc: number;
  value_market: number;
  defensibility: number;
  adoption: number;
}
export interface Strategic {
  market_creation: number;
  first_mover_window: number;
  network_effects: number;
  strategic_clarity: number;
}
