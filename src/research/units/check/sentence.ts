import type { CheckResult } from "../../generated/result-check.js";

/** A sentence that a checker judges. It stands in a brief under its place in the batch, from 1. */
export interface Sentence {
  /** The JSON pointer of a sentence of the report, such as "/findings/0"; the handle of a reading's claim. */
  readonly id: string;
  readonly text: string;
  /** What it is said to follow from. */
  readonly passages: readonly SentencePassage[];
}

export interface SentencePassage {
  /** Id of the paper. */
  readonly paper: string;
  /** The paper's own words, the quoted ones between “ and ”. */
  readonly passage: string;
}

/** A sentence whose answer is known, among the others of its batch; its checker can't tell it from them. */
export interface Control extends Sentence {
  readonly expects: "borne-out" | "not-borne-out";
}

export type BatchItem = Sentence | Control;

export const isControl = (item: BatchItem): item is Control => "expects" in item;

/** What a checker says of the sentence of this number. */
export type CheckAnswer = CheckResult["answers"][number];

/** Tokens of one passage in a brief. */
export const passageTokens = 120;
