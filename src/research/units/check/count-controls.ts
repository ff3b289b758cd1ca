import { type Checkers, isBad, noneAnswered } from "../narrative/rates.js";
import { type BatchItem, type CheckAnswer, isControl } from "./sentence.js";

/** The rates with what this checker answered to the controls of a batch. `answers`: in the order of the batch. */
export function countControls(
  checkers: Checkers,
  checker: string,
  batch: readonly BatchItem[],
  answers: readonly CheckAnswer[],
): Checkers {
  const before = checkers[checker] ?? noneAnswered;
  const counted = (kind: "borne_out" | "not_borne_out", expects: "borne-out" | "not-borne-out") => {
    // Who can't tell has not shown that it can.
    const isRight = (verdict: CheckAnswer["verdict"] | undefined) =>
      verdict !== undefined && (expects === "borne-out" ? verdict === "supported" : isBad(verdict));
    const asked = batch.flatMap((item, index) =>
      isControl(item) && item.expects === expects ? [isRight(answers[index]?.verdict)] : [],
    );
    const { asked: had, right } = before[kind];
    return { asked: had + asked.length, right: right + asked.filter(Boolean).length };
  };
  const after = {
    borne_out: counted("borne_out", "borne-out"),
    not_borne_out: counted("not_borne_out", "not-borne-out"),
  };
  return { ...checkers, [checker]: after };
}
