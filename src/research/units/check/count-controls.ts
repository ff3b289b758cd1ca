import { type Checkers, isFailing, withRates } from "../../derived/checker-rates.js";
import { type BatchItem, type CheckAnswer, isControl } from "./sentence.js";

/**
 * The rates of all checkers after this checker's answers to the controls of a batch. `answers`: in the order of the
 * batch.
 */
export function countControls(
  checkers: Checkers,
  checker: string,
  batch: readonly BatchItem[],
  answers: readonly CheckAnswer[],
): Checkers {
  const countFor = (expects: "borne-out" | "not-borne-out") => {
    // The answer "cannot tell" counts as wrong.
    const isRight = (verdict: CheckAnswer["verdict"] | undefined) =>
      verdict !== undefined && (expects === "borne-out" ? verdict === "supported" : isFailing(verdict));
    const results = batch.flatMap((item, index) =>
      isControl(item) && item.expects === expects ? [isRight(answers[index]?.verdict)] : [],
    );
    return { asked: results.length, right: results.filter(Boolean).length };
  };
  return withRates(checkers, {
    [checker]: { borne_out: countFor("borne-out"), not_borne_out: countFor("not-borne-out") },
  });
}
