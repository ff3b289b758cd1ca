import { type Checkers, isFailing, withRates } from "../../derived/checker-rates.js";
import { type BatchItem, type CheckAnswer, isControl } from "./sentence.js";

/** The rates with what this checker answered to the controls of a batch. `answers`: in the order of the batch. */
export function countControls(
  checkers: Checkers,
  checker: string,
  batch: readonly BatchItem[],
  answers: readonly CheckAnswer[],
): Checkers {
  const counted = (expects: "borne-out" | "not-borne-out") => {
    // Who can't tell has not shown that it can.
    const isRight = (verdict: CheckAnswer["verdict"] | undefined) =>
      verdict !== undefined && (expects === "borne-out" ? verdict === "supported" : isFailing(verdict));
    const asked = batch.flatMap((item, index) =>
      isControl(item) && item.expects === expects ? [isRight(answers[index]?.verdict)] : [],
    );
    return { asked: asked.length, right: asked.filter(Boolean).length };
  };
  return withRates(checkers, {
    [checker]: { borne_out: counted("borne-out"), not_borne_out: counted("not-borne-out") },
  });
}
