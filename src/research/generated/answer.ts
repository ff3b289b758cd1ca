// Generated from schemas/answer.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

import type { MeaningCheck, RemovedStatement } from "./report.js";
import type { CheckerRate } from "./rrd.js";

/**
 * One line of answers.jsonl: a question put to a project, and what its papers answer. A statement stands only on a quote that was found and that holds its numbers. While its sentences are checked by a second reader, and once they are, the line stands there again under the same id; the last one counts. Whether the answer still stands is derived when it is read.
 */
export interface Answer {
  /**
   * How the line is written; absent: 1.
   */
  format?: number;
  /**
   * Its unit in the ledger.
   */
  id: string;
  /**
   * When it was accepted, ISO 8601 in UTC.
   */
  at: string;
  /**
   * The message through which it came in while a run held the project.
   */
  message?: string;
  question: string;
  /**
   * The last iteration of the project when the question was put: papers read later are newer than the answer.
   */
  seen: number;
  /**
   * Of a question to several projects, the last iteration of each, in the order of projects; absent in older answers, of which only the first project is known.
   */
  seen_in?: number[];
  /**
   * Absent where code alone answered: no paper shared a word with the question.
   */
  agent?: string;
  model?: string;
  /**
   * Of a question to several projects, their folders in the order of the handles, as paths from the folder in which the first one lies: 2:sample_01#2 names the second.
   */
  projects?: string[];
  /**
   * Empty: not in these papers.
   */
  statements: {
    text: string;
    /**
     * Handles of quotes.
     *
     * @minItems 1
     */
    rests_on: string[];
    check?: Checked;
    /**
     * What a reader should know of it, a sentence each: a number outside the quoted words, a retracted paper, a quote that shares too few words.
     */
    marks?: string[];
    [k: string]: unknown;
  }[];
  quotes: {
    handle: string;
    /**
     * Id of the paper, with its project's number before it where several were asked.
     */
    paper: string;
    /**
     * The paper's own sentence or sentences around the quoted words; of a table the row, below its caption and head.
     */
    passage?: string;
    /**
     * Where the quoted words stand in the passage: from and to, in UTF-16 units.
     */
    quoted?: string;
    /**
     * In answers of earlier versions the quote as the agent gave it, without its passage.
     */
    quote?: string;
    /**
     * Where it was found.
     */
    locator?: string | null;
    /**
     * Hash of the text that it was found in.
     */
    text_sha256?: string | null;
    [k: string]: unknown;
  }[];
  check?: MeaningCheck;
  /**
   * A check of its sentences that is not at its end. What is answered stays answered when it is stopped; 'ask --check' with the answer's id goes on.
   */
  open?: {
    check: OpenCheck;
    /**
     * What the first of two checkers said of the batch that the second one is still to judge.
     */
    heard?: {
      by: string;
      /**
       * Of the batch that it was shown: of another one its answers say nothing.
       */
      batch_sha256: string;
      /**
       * As in result.json of a check.
       */
      answers: {
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  /**
   * Sentences that were taken out, because another reader did not find them in what they cite.
   */
  not_borne_out?: RemovedStatement[];
  /**
   * By agent: how its answers to the controls among these sentences came out. The rates of the project count them.
   */
  controls?: {
    [k: string]: CheckerRate;
  };
  /**
   * Statements that are not part of the answer: none of their quotes was found, or none of their passages holds a number that they name.
   */
  left_out?: {
    text: string;
    /**
     * One sentence.
     */
    why: string;
    [k: string]: unknown;
  }[];
  /**
   * Quotes that were not found, at most ten.
   */
  missing?: string[];
  /**
   * What the papers do not say, in the agent's words.
   */
  not_found?: string | null;
  /**
   * Where nothing is left: the passages nearest to the question.
   */
  nearest?: {
    paper: string;
    locator?: string | null;
    text: string;
    [k: string]: unknown;
  }[];
  /**
   * Papers of which no text was there, so that only their records and quotes were looked at.
   */
  without_text?: string[];
  tokens?: {
    input: number;
    output: number;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What another reader says of a sentence, held against the passages that it rests on and nothing else.
 */
export interface Checked {
  /**
   * How a sentence stands to its passages.
   */
  verdict: "supported" | "overstated" | "not-supported" | "contradicted" | "cannot-tell";
  /**
   * The agents that judged it.
   *
   * @minItems 1
   */
  by: string[];
  /**
   * In at most 20 words.
   */
  why?: string;
  /**
   * Of an overstated one: what the passages do not carry.
   */
  too_much?: string;
  /**
   * Of an overstated one: a sentence that its reader would call supported.
   */
  better?: string;
  /**
   * Of a contradicted one: id of the paper whose passage says otherwise.
   */
  against?: string;
  /**
   * The sentence as it stood before it was mended.
   */
  was?: string;
  /**
   * What each of two readers said, where they disagree.
   */
  said?: {
    /**
     * The agent.
     */
    by: string;
    /**
     * How a sentence stands to its passages.
     */
    verdict: "supported" | "overstated" | "not-supported" | "contradicted" | "cannot-tell";
    /**
     * In at most 20 words.
     */
    why?: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * By the handles of this answer; a place such as /answer/0 is that of a statement.
 */
export interface OpenCheck {
  /**
   * The iteration that wrote the report.
   */
  report: number;
  /**
   * What is done now: all sentences are checked, those that are not supported are mended, the mended ones are checked again.
   */
  step: "check" | "mend" | "again";
  /**
   * The sentences of the report that rest on passages.
   */
  sentences: {
    /**
     * JSON pointer into report.json.
     */
    where: string;
    /**
     * The sentence as it stands now.
     */
    text: string;
    /**
     * Handles of quotes.
     */
    rests_on: string[];
    /**
     * The sentence as it stood before it was mended.
     */
    was?: string;
    check?: Checked;
    [k: string]: unknown;
  }[];
  /**
   * Handles of the claims of readings that are checked with it.
   */
  claims: string[];
  /**
   * Why one of its two checkers can't be had; a clause.
   */
  unheard?: string;
  /**
   * Sentences that were mended because one of their papers says otherwise, as they stood: the two go to what is disputed.
   */
  contradicted?: {
    /**
     * The sentence.
     */
    text: string;
    /**
     * Handles of quotes.
     */
    rests_on: string[];
    /**
     * Id of the paper whose passage says otherwise.
     */
    against: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
