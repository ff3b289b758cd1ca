import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Checked } from "../generated/rrd.js";
import { type Checkers, isProven } from "./checker-rates.js";

/** What another reader says of a sentence, as it is shown behind it. */
export interface MeaningMark {
  /** `borne-out`: a checker whose answers count found the sentence in what it cites. `doubted`: one did not. */
  readonly kind: "borne-out" | "doubted" | "open";
  /** Such as "meaning checked by codex"; a clause. */
  readonly says: string;
}

const words: Readonly<Record<Checked["verdict"], string>> = {
  supported: "borne out",
  overstated: "overstated",
  "not-supported": "not borne out",
  contradicted: "contradicted",
  "cannot-tell": "can't be told",
};

/** The mark of a sentence. Nothing counts that an unproven checker says, and the mark says so. */
export function meaningMark({ verdict, by, why, said }: Checked, checkers: Checkers | undefined): MeaningMark {
  const names = by.join(" and ");
  const because = why === undefined || verdict === "supported" ? "" : `: ${why}`;
  if (said !== undefined) {
    const each = said.map((one) => `${one.by}: ${words[one.verdict]}`).join(", ");
    return { kind: "open", says: `its checkers disagree (${each})` };
  }
  if (verdict === "cannot-tell") return { kind: "open", says: `${names} could not tell${because}` };
  const unproven = by.filter((name) => !isProven(checkers, name)).join(" and ");
  if (unproven !== "")
    return verdict === "supported"
      ? { kind: "open", says: `meaning not checked: what ${unproven} says does not count` }
      : { kind: "open", says: `${words[verdict]}, says ${names}, which does not count${because}` };
  return verdict === "supported"
    ? { kind: "borne-out", says: `meaning checked by ${names}` }
    : { kind: "doubted", says: `${words[verdict]}, says ${names}${because}` };
}

/** The mark of a sentence where it has one. */
export const markGiven = (check: Checked | undefined, checkers: Checkers | undefined): { meaning?: MeaningMark } =>
  withoutUndefined({ meaning: check && meaningMark(check, checkers) });
