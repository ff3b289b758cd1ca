import { quantity } from "../../engine/lib/words.js";
import type { AnsweredControls, Checked, CheckerRate, Meaning } from "../generated/rrd.js";

/** The rates of all checkers, by the checker's name. */
export type Checkers = NonNullable<Meaning["checkers"]>;

export const emptyRate: CheckerRate = { borne_out: { asked: 0, right: 0 }, not_borne_out: { asked: 0, right: 0 } };

/** The rates of `earlier` plus the counts in `added`. */
export const withRates = (earlier: Checkers, added: Checkers): Checkers => ({
  ...earlier,
  ...addCounts(earlier, added, 1),
});

/** The counts that were added between two states of the rates. */
export const ratesSince = (before: Checkers, after: Checkers): Checkers =>
  Object.fromEntries(Object.entries(addCounts(before, after, -1)).filter(([, rate]) => answerCount(rate) > 0));

/** For each checker in `changes`: its counts plus `sign` times its earlier counts. */
function addCounts(earlier: Checkers, changes: Checkers, sign: 1 | -1): Checkers {
  const sum = (first: AnsweredControls, second: AnsweredControls): AnsweredControls => ({
    asked: first.asked + sign * second.asked,
    right: first.right + sign * second.right,
  });
  const rates = Object.entries(changes).map(([name, { borne_out, not_borne_out }]) => {
    const earlierRate = earlier[name] ?? emptyRate;
    return [
      name,
      {
        borne_out: sum(borne_out, earlierRate.borne_out),
        not_borne_out: sum(not_borne_out, earlierRate.not_borne_out),
      },
    ] as const;
  });
  return Object.fromEntries(rates);
}

/** Minimum number of answers to control sentences before a checker's verdicts count. */
export const minControlAnswers = 8;
/** Minimum share of correct answers to true and to false control sentences. */
const minCorrectShare = 0.9;

export const answerCount = ({ borne_out, not_borne_out }: CheckerRate): number => borne_out.asked + not_borne_out.asked;

/**
 * The reason why a checker's verdicts do not count, as a clause; undefined if they count. A verdict that does not count
 * never removes a sentence.
 */
export function unprovenReason(checkers: Checkers | undefined, checker: string): string | undefined {
  const rate = checkers?.[checker] ?? emptyRate;
  const answered = answerCount(rate);
  if (answered < minControlAnswers)
    return `it has answered ${quantity(answered, "control sentence")}, and at least ${minControlAnswers} are needed`;
  const { borne_out: trueControls, not_borne_out: falseControls } = rate;
  const isReliable = ({ asked, right }: AnsweredControls) => asked > 0 && right >= asked * minCorrectShare;
  return isReliable(trueControls) && isReliable(falseControls)
    ? undefined
    : `it recognised ${trueControls.right} of ${trueControls.asked} true control sentences and ${falseControls.right} of ${falseControls.asked} false ones`;
}

/** Whether a checker's verdicts count: it recognised both kinds of control sentences often enough. */
export const isProven = (checkers: Checkers | undefined, checker: string): boolean =>
  unprovenReason(checkers, checker) === undefined;

/** Whether a sentence with this verdict of a proven checker can't stay. */
export const isFailing = (verdict: Checked["verdict"]): boolean =>
  verdict === "overstated" || verdict === "not-supported" || verdict === "contradicted";
