import type { Checkers } from "../narrative/rates.js";
import type { BatchItem, CheckAnswer } from "./sentence.js";

/** The rates with what this checker answered to the controls of a batch. `answers`: in the order of the batch. */
export const countControls = (
  checkers: Checkers,
  _checker: string,
  _batch: readonly BatchItem[],
  _answers: readonly CheckAnswer[],
): Checkers => checkers;
