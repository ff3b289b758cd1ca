// Generated from schemas/report.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * The quotes that the text rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
 *
 * @maxItems 12
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "handles".
 */
export type Handles = string[];

/**
 * report.json: the narrative of the report as it was accepted. Everything else that a report shows is derived from the records.
 */
export interface ReportFile {
  /**
   * How the file is written; absent: 1. A file of a later format than the program knows is only read.
   */
  format?: number;
  /**
   * When the narrative was accepted, ISO 8601 in UTC.
   */
  written_at: string;
  /**
   * The iteration that was accepted.
   */
  iteration?: number;
  /**
   * The agent that wrote it.
   */
  agent?: string;
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
  answer: OpenStatement[];
  /**
   * What the papers show, the most important first.
   *
   * @maxItems 8
   */
  findings: Statement[];
  /**
   * What papers that don't share authors agree on.
   *
   * @maxItems 8
   */
  agreed: Statement[];
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
  gaps: OpenStatement[];
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
   * The words of each quote that a statement rests on, by its handle, as they stood when the narrative was accepted. 'report --check' names those that have changed since.
   */
  quotes?: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * A sentence that may rest on no quote.
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "openStatement".
 */
export interface OpenStatement {
  text: string;
  rests_on?: Handles;
}
/**
 * A sentence and the quotes that it rests on, at least one.
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "statement".
 */
export interface Statement {
  text: string;
  /**
   * The quotes that it rests on, by their handles.
   *
   * @minItems 1
   * @maxItems 12
   */
  rests_on: string[];
}
/**
 * What is disputed, and what each side says.
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "dispute".
 */
export interface Dispute {
  /**
   * What the papers differ on.
   */
  text: string;
  /**
   * @minItems 2
   * @maxItems 4
   */
  sides: Statement[];
}
/**
 * A group of insights.
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "theme".
 */
export interface Theme {
  name: string;
  /**
   * What the insights say together, in a sentence.
   */
  text: string;
  rests_on?: Handles;
  /**
   * @minItems 1
   * @maxItems 200
   */
  insight_ids: string[];
}
/**
 * A table: a column for each approach, a row for each aspect.
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "comparison".
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
    cells: OpenStatement[];
  }[];
}
/**
 * What to do.
 *
 * This interface was referenced by `ReportFile`'s JSON-Schema
 * via the `definition` "recommendation".
 */
export interface Recommendation {
  priority: "high" | "medium" | "low";
  text: string;
  rests_on?: Handles;
}
