// Generated from schemas/result-report.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Patterns } from "./result-analysis.js";

/**
 * The narrative of the report, as statements that rest on quotes. Every table, count and point of the report is derived from the records and is not asked for here.
 */
export interface ReportResult {
  unit: string;
  /**
   * What was asked, as one question.
   */
  question: string;
  /**
   * The answer, a sentence each; at most three.
   *
   * @minItems 1
   * @maxItems 3
   */
  answer: Open[];
  /**
   * What the papers show, the most important first.
   *
   * @maxItems 8
   */
  findings: Finding[];
  /**
   * What papers that don't share authors agree on.
   *
   * @maxItems 8
   */
  agreed: Sourced[];
  /**
   * What papers say different things about.
   *
   * @maxItems 6
   */
  disputed: Dispute[];
  /**
   * What no paper answers. A gap may rest on the quote of a paper that names it, or on none.
   *
   * @maxItems 8
   */
  gaps: Open[];
  /**
   * Groups of insights, with a name and a sentence each.
   *
   * @maxItems 15
   */
  themes: Theme[];
  /**
   * Approaches side by side, where the papers allow it.
   */
  comparison?: Comparison | null;
  /**
   * What to do first, and what later.
   *
   * @maxItems 12
   */
  recommendations: Recommendation[];
  /**
   * What differs between the two papers of a pair of the unit's side_by_side, as far as their quotes tell.
   *
   * @maxItems 12
   */
  side_by_side?: Pair[];
  patterns?: Patterns;
}
/**
 * A sentence that may rest on no quote.
 */
export interface Open {
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   *
   * @maxItems 12
   */
  rests_on?: string[];
}
/**
 * A sentence and the quotes that it rests on, at least one.
 */
export interface Finding {
  /**
   * Id of the former finding that it continues, as former_findings of the unit names it; absent: it is new.
   */
  was?: string;
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   *
   * @minItems 1
   * @maxItems 12
   */
  rests_on: string[];
}
/**
 * A sentence and the quotes that it rests on, at least one.
 */
export interface Sourced {
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   *
   * @minItems 1
   * @maxItems 12
   */
  rests_on: string[];
}
/**
 * What is disputed, and what each side says.
 */
export interface Dispute {
  text: string;
  /**
   * @minItems 2
   * @maxItems 4
   */
  sides: Sourced[];
}
/**
 * A name and a sentence for groups of insights.
 */
export interface Theme {
  name: string;
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   *
   * @maxItems 12
   */
  rests_on?: string[];
  /**
   * Names of the unit's groups, such as 'g1'.
   *
   * @minItems 1
   * @maxItems 20
   */
  groups: string[];
}
/**
 * A table: a column for each approach, a row for each aspect.
 */
export interface Comparison {
  /**
   * @minItems 2
   * @maxItems 6
   */
  approaches: string[];
  /**
   * @minItems 1
   * @maxItems 12
   */
  rows: {
    aspect: string;
    /**
     * @minItems 2
     * @maxItems 6
     */
    cells: Open[];
  }[];
}
/**
 * What to do.
 */
export interface Recommendation {
  /**
   * high: do it first.
   */
  priority: "high" | "medium" | "low";
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   *
   * @maxItems 12
   */
  rests_on?: string[];
}
export interface Pair {
  /**
   * The pair's name in the unit, such as 'p1'.
   */
  pair: string;
  /**
   * One sentence: what differs, such as the object, the dose or the measure.
   */
  text: string;
}
