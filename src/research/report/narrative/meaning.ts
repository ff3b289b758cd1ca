import { many } from "../../../engine/lib/words.js";
import { given } from "../../../engine/lib/given.js";
import { isWithoutModel } from "../method.js";
import type { ReportFile } from "../../generated/report.js";
import type { Checked, Rrd } from "../../generated/rrd.js";
import { unanswered } from "../../units/narrative/open-check.js";
import { type Checkers, whyUnproven } from "../../units/narrative/rates.js";
import { sentences } from "../../units/narrative/sentences.js";

/** What another reader says of a sentence, as it is shown behind it. */
export interface MeaningMark {
  /** `borne-out`: a checker whose answers count found the sentence in what it cites. `doubted`: one did not. */
  readonly kind: "borne-out" | "doubted" | "open";
  /** Such as "meaning checked by codex"; a clause. */
  readonly says: string;
}

/** A sentence that was taken out of the report. */
export interface RemovedSentence {
  readonly text: string;
  readonly rests_on: readonly string[];
  /** Why, a clause. */
  readonly says: string;
}

/** How far the sentences of a report were held against what they cite. */
export interface Meaning {
  /** Sentences that were judged, and those that are borne out. */
  readonly judged: number;
  readonly borneOut: number;
  readonly removed: readonly RemovedSentence[];
  /** All of it in one sentence or two. */
  readonly says: string;
  /** No sentence of the answer is borne out by what it cites. */
  readonly answerFalls: boolean;
}

const words: Readonly<Record<Checked["verdict"], string>> = {
  supported: "borne out",
  overstated: "overstated",
  "not-supported": "not borne out",
  contradicted: "contradicted",
  "cannot-tell": "can't be told",
};

const unprovenOf = (checkers: Checkers | undefined, by: readonly string[]): string[] =>
  by.filter((name) => whyUnproven(checkers, name) !== undefined);

/** The mark of a sentence. Nothing counts that an unproven checker says, and the mark says so. */
export function meaningMark({ verdict, by, why, said }: Checked, checkers: Checkers | undefined): MeaningMark {
  const names = by.join(" and ");
  const because = why === undefined || verdict === "supported" ? "" : `: ${why}`;
  if (said !== undefined) {
    const each = said.map((one) => `${one.by}: ${words[one.verdict]}`).join(", ");
    return { kind: "open", says: `its checkers disagree (${each})` };
  }
  if (verdict === "cannot-tell") return { kind: "open", says: `${names} could not tell${because}` };
  const unproven = unprovenOf(checkers, by);
  if (unproven.length > 0)
    return { kind: "open", says: `${words[verdict]}, says ${names}, an unproven checker${because}` };
  return verdict === "supported"
    ? { kind: "borne-out", says: `meaning checked by ${names}` }
    : { kind: "doubted", says: `${words[verdict]}, says ${names}${because}` };
}

/** What is to be said of the check of a report; undefined of one that nobody checked. Pure. */
export function meaningOf(
  report: ReportFile | undefined,
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
): Meaning | undefined {
  if (report === undefined || report.taken_from !== undefined) return undefined;
  const removed = (report.not_borne_out ?? []).map(({ text, rests_on = [], check }) => ({
    ...{ text, rests_on },
    says: meaningMark(check, rrd.meaning?.checkers).says,
  }));
  const checks = sentences(report).flatMap(([, { check }]) => check ?? []);
  const judged = checks.length + removed.length;
  const borneOut = checks.filter(({ verdict }) => verdict === "supported").length;
  const says = sayingOf(report, rrd, judged, borneOut);
  if (says === undefined) return undefined;
  return { judged, borneOut, removed, says, answerFalls: report.check?.answer_falls === true };
}

function sayingOf(
  report: ReportFile,
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
  judged: number,
  borneOut: number,
): string | undefined {
  const { check, agent = "", not_borne_out = [] } = report;
  const { open, checkers } = { ...rrd.meaning };
  if (open !== undefined && check === undefined) {
    const left = unanswered(rrd).filter(({ id }) => id.startsWith("/")).length;
    return `Its sentences are being checked: ${open.sentences.length - left} of ${open.sentences.length} so far.`;
  }
  if (check === undefined)
    return isWithoutModel(agent)
      ? `not for meaning: ${agent} takes its sentences from the papers as they stand.`
      : undefined;
  const { by = [], unchecked } = check;
  const not =
    unchecked === undefined
      ? []
      : [`Its sentences were not checked${judged === 0 ? "" : " to the end"}: ${unchecked}.`];
  if (judged === 0) return not[0] ?? "None of its sentences rests on a passage that could be checked.";
  const whose =
    by.length === 1 && by[0] === agent ? `${agent}, which wrote them, in a fresh context` : by.join(" and ");
  const mended = sentences(report).filter(([, sentence]) => sentence.check?.was !== undefined).length;
  const counts = [
    `${borneOut} of ${many(judged, "sentence")} borne out by the sentences they cite, checked by ${whose}`,
    ...(mended === 0 ? [] : [`${mended} corrected`]),
    ...(not_borne_out.length === 0 ? [] : [`${not_borne_out.length} removed`]),
  ];
  const unproven = by.flatMap((name) => {
    const because = whyUnproven(checkers, name);
    if (because === undefined) return [];
    // Its rate may have fallen since: what was taken out then stays out.
    const wasProven = not_borne_out.length > 0 && !(check.unproven ?? []).includes(name);
    const follows = wasProven
      ? "which it was not when sentences were taken out"
      : "so nothing was taken out by its word";
    return [`${name} is an unproven checker (${because}), ${follows}.`];
  });
  return [`${counts.join("; ")}.`, ...unproven, ...not].join(" ");
}

/** The mark of a sentence where it has one. */
export const markGiven = (check: Checked | undefined, checkers: Checkers | undefined): { meaning?: MeaningMark } =>
  given({ meaning: check && meaningMark(check, checkers) });
