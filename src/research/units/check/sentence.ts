import type { CheckResult } from "../../generated/result-check.js";

/** A sentence that a checker judges. Its number in a brief is its place in the batch, starting at 1. */
export interface Sentence {
  /** For a sentence of the report its JSON pointer, such as "/findings/0"; for a claim of a reading its handle. */
  readonly id: string;
  readonly text: string;
  /** The passages that the sentence cites. */
  readonly passages: readonly SentencePassage[];
}

export interface SentencePassage {
  /** Id of the paper. */
  readonly paper: string;
  /** The paper's text, with the quoted words between “ and ”. */
  readonly passage: string;
}

/** A sentence with a known answer in a batch. Its checker cannot distinguish it from the others. */
export interface Control extends Sentence {
  readonly expects: "supported" | "not-supported";
}

export type BatchItem = Sentence | Control;

export const isControl = (item: BatchItem): item is Control => "expects" in item;

/** A checker's answer for one number. */
export type CheckAnswer = CheckResult["answers"][number];

/** Maximum tokens of one passage in a brief. */
export const passageTokens = 120;
