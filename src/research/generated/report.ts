// Generated from schemas/report.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { Checked } from "./rrd.js";

/**
 * report.json: the narrative of the report as it was accepted. Everything else that a report shows is derived from the records.
 */
export interface ReportFile {
  /**
   * Address of this schema, by which an editor checks the file and completes what you type. It has no effect otherwise.
   */
  $schema?: string;
  /**
   * How the file is written; absent: 1. A file of a later format than the program knows is only read. Written by the program.
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
   * The words come from under the headings of a report that was written before this file was: they name papers at most, and no quotes.
   */
  taken_from?: "research-report.md";
  /**
   * What was asked, as one question.
   */
  question: string;
  /**
   * The answer, a sentence each; at most three.
   */
  answer: Statement[];
  /**
   * What the papers show, the most important first.
   */
  findings: Statement[];
  /**
   * What papers that don't share authors agree on.
   */
  agreed: Statement[];
  /**
   * What papers say different things about.
   */
  disputed: Dispute[];
  /**
   * What no paper answers. A gap may rest on the quote of a paper that names it, or on none.
   */
  gaps: Statement[];
  /**
   * Groups of insights, with a name and a sentence each.
   */
  themes: Theme[];
  /**
   * Approaches side by side, where the papers allow it.
   */
  comparison?: Comparison | null;
  /**
   * What to do first, and what later.
   */
  recommendations: Recommendation[];
  /**
   * Of two quotes of different papers on one outcome: what differs between them. Each rests on these two.
   */
  side_by_side?: Statement[];
  check?: MeaningCheck;
  /**
   * Sentences that were taken out, because another reader did not find them in what they cite.
   */
  not_borne_out?: RemovedStatement[];
  /**
   * The words of each quote that a statement rests on, by its handle, as they stood when the narrative was accepted. 'report --check' names those that have changed since.
   */
  quotes?: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * A sentence and what it rests on.
 */
export interface Statement {
  check?: Checked;
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   */
  rests_on?: string[];
  /**
   * Of a finding: id of the finding before the last update that it continues.
   */
  was?: string;
  /**
   * Ids of papers, where an older report names papers and no quotes.
   */
  papers?: string[];
  [k: string]: unknown;
}
/**
 * What is disputed, and what each side says.
 */
export interface Dispute {
  /**
   * What the papers differ on.
   */
  text: string;
  /**
   * @minItems 2
   */
  sides: Statement[];
  [k: string]: unknown;
}
/**
 * A group of insights, with what they say together.
 */
export interface Theme {
  check?: Checked;
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   */
  rests_on?: string[];
  /**
   * Ids of papers, where an older report names papers and no quotes.
   */
  papers?: string[];
  name: string;
  /**
   * Ids of its insights.
   */
  insight_ids: string[];
  [k: string]: unknown;
}
/**
 * A table: a column for each approach, a row for each aspect.
 */
export interface Comparison {
  /**
   * @minItems 2
   */
  approaches: string[];
  rows: {
    aspect: string;
    cells: Statement[];
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * What to do.
 */
export interface Recommendation {
  check?: Checked;
  text: string;
  /**
   * The quotes that it rests on, each by its handle: the paper's id, '#', and the number of the quote in the paper's evidence, from 1; such as 'sample_01#2'.
   */
  rests_on?: string[];
  /**
   * Ids of papers, where an older report names papers and no quotes.
   */
  papers?: string[];
  /**
   * high: do it first.
   */
  priority: "high" | "medium" | "low";
  [k: string]: unknown;
}
/**
 * How far another reader has held the sentences against the passages that they rest on. Absent: nobody was asked.
 */
export interface MeaningCheck {
  /**
   * When the check ended, ISO 8601 in UTC.
   */
  at: string;
  /**
   * The agents that judged.
   */
  by?: string[];
  /**
   * Why it could not be had, or not to its end; a clause.
   */
  unchecked?: string;
  /**
   * Why one of its two checkers could not be had; a clause. What the other one said counts as that of one.
   */
  unheard?: string;
  /**
   * Of those agents the ones whose answers to controls do not prove yet that they can judge: nothing is taken out by their word.
   */
  unproven?: string[];
  /**
   * No sentence of the answer is supported by what it cites. It is kept whole, and says so.
   */
  answer_falls?: boolean;
  [k: string]: unknown;
}
/**
 * A sentence that was taken out.
 */
export interface RemovedStatement {
  text: string;
  /**
   * JSON pointer to where it stood in the narrative as it was written.
   */
  where: string;
  /**
   * Handles of quotes.
   */
  rests_on?: string[];
  check: Checked;
  [k: string]: unknown;
}
