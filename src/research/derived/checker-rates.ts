import { many } from "../../engine/lib/words.js";
import type { AnsweredControls, Checked, CheckerRate, Meaning } from "../generated/rrd.js";

/** The rates of each checker, by its name. */
export type Checkers = NonNullable<Meaning["checkers"]>;

export const noneAnswered: CheckerRate = { borne_out: { asked: 0, right: 0 }, not_borne_out: { asked: 0, right: 0 } };

/** The rates with what these checkers answered besides. */
export const withRates = (before: Checkers, more: Checkers): Checkers => ({ ...before, ...added(before, more, 1) });

/** What checkers answered between the one count and the other. */
export const ratesSince = (before: Checkers, after: Checkers): Checkers =>
  Object.fromEntries(Object.entries(added(before, after, -1)).filter(([, rate]) => answeredOf(rate) > 0));

/** The rates of `many`, each with `times` what is known of it before. */
function added(known: Checkers, many: Checkers, times: 1 | -1): Checkers {
  const sum = (one: AnsweredControls, other: AnsweredControls): AnsweredControls => ({
    asked: one.asked + times * other.asked,
    right: one.right + times * other.right,
  });
  const rates = Object.entries(many).map(([name, { borne_out, not_borne_out }]) => {
    const before = known[name] ?? noneAnswered;
    return [
      name,
      { borne_out: sum(borne_out, before.borne_out), not_borne_out: sum(not_borne_out, before.not_borne_out) },
    ] as const;
  });
  return Object.fromEntries(rates);
}

/** Controls that a checker has answered before its marks count. */
export const minAnswered = 8;
/** The share of each kind that it has to answer rightly. */
const minRight = 0.9;

export const answeredOf = ({ borne_out, not_borne_out }: CheckerRate): number => borne_out.asked + not_borne_out.asked;

/**
 * Why the answers of a checker do not count, as a clause about it; undefined where they do. Nothing is taken out by the
 * word of a checker whose answers do not count.
 */
export function whyUnproven(checkers: Checkers | undefined, checker: string): string | undefined {
  const rate = checkers?.[checker] ?? noneAnswered;
  const answered = answeredOf(rate);
  if (answered < minAnswered)
    return `it has answered ${many(answered, "control sentence")}, and at least ${minAnswered} are needed`;
  const { borne_out: held, not_borne_out: fell } = rate;
  const isGood = ({ asked, right }: AnsweredControls) => asked > 0 && right >= asked * minRight;
  return isGood(held) && isGood(fell)
    ? undefined
    : `it recognised ${held.right} of ${held.asked} true control sentences and ${fell.right} of ${fell.asked} false ones`;
}

/** Whether the answers of a checker count: it told controls of both kinds apart often enough. */
export const isProven = (checkers: Checkers | undefined, checker: string): boolean =>
  whyUnproven(checkers, checker) === undefined;

/** What a sentence can't stand with, if a proven checker says it. */
export const isBad = (verdict: Checked["verdict"]): boolean =>
  verdict === "overstated" || verdict === "not-supported" || verdict === "contradicted";
