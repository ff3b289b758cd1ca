import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Checked } from "../generated/rrd.js";
import { type Checkers, isProven } from "./checker-rates.js";

/** The mark behind a sentence: what another reader says about its meaning. */
export interface MeaningMark {
  /**
   * `supported`: a proven checker confirmed that the cited papers say this. `doubted`: a proven checker denied it.
   * `open`: neither.
   */
  readonly kind: "supported" | "doubted" | "open";
  /** A clause such as "meaning checked by codex". */
  readonly says: string;
}

const verdictWords: Readonly<Record<Checked["verdict"], string>> = {
  supported: "supported",
  overstated: "overstated",
  "not-supported": "not supported",
  contradicted: "contradicted",
  "cannot-tell": "can't be told",
};

/** The mark of a sentence. The verdict of an unproven checker does not count, and the mark says so. */
export function meaningMark({ verdict, by, why, said }: Checked, checkers: Checkers | undefined): MeaningMark {
  const names = by.join(" and ");
  const cause = why === undefined || verdict === "supported" ? "" : `: ${why}`;
  if (said !== undefined) {
    const verdicts = said
      .map(({ by: checker, verdict: checkerVerdict }) => `${checker}: ${verdictWords[checkerVerdict]}`)
      .join(", ");
    return { kind: "open", says: `its checkers disagree (${verdicts})` };
  }
  if (verdict === "cannot-tell") return { kind: "open", says: `${names} could not tell${cause}` };
  const unproven = by.filter((name) => !isProven(checkers, name)).join(" and ");
  if (unproven !== "")
    return verdict === "supported"
      ? { kind: "open", says: "meaning not checked" }
      : { kind: "open", says: `${verdictWords[verdict]}, says ${names}, which does not count${cause}` };
  return verdict === "supported"
    ? { kind: "supported", says: `meaning checked by ${names}` }
    : { kind: "doubted", says: `${verdictWords[verdict]}, says ${names}${cause}` };
}

/** The mark of a sentence as a field, if the sentence was checked. */
export const meaningField = (check: Checked | undefined, checkers: Checkers | undefined): { meaning?: MeaningMark } =>
  withoutUndefined({ meaning: check && meaningMark(check, checkers) });
