import { quantity } from "../../../engine/lib/words.js";
import { isWithoutModel } from "../../derived/without-model.js";
import type { ReportFile } from "../../generated/report.js";
import type { Rrd } from "../../generated/rrd.js";
import { findUnanswered } from "../../units/narrative/open-check.js";
import { unprovenReason } from "../../derived/checker-rates.js";
import { nameOf } from "../../papers/paper-keys.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import { sentencesOf } from "../../units/narrative/sentences.js";

/** A sentence that was removed from the report. */
export interface RemovedSentence {
  readonly text: string;
  readonly rests_on: readonly string[];
  /** The reason, a clause. */
  readonly says: string;
}

/** The result of checking the sentences of a report against their quotes. */
export interface Meaning {
  /** Number of checked sentences, and of those that their quotes bear out; 0 if no checker is proven. */
  readonly judged: number;
  readonly supported: number;
  readonly removed: readonly RemovedSentence[];
  /** The result in one or two sentences. */
  readonly says: string;
  /** True if the quotes bear out no sentence of the answer. */
  readonly isAnswerRejected: boolean;
  /** The checkers, a clause; empty if there was no check. */
  readonly checkedBy: string;
}

/** The result of the check of a report; undefined if it was not checked. Pure. */
export function meaningOf(
  report: ReportFile | undefined,
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
): Meaning | undefined {
  if (report === undefined || report.taken_from !== undefined) return undefined;
  const removed = (report.not_borne_out ?? []).map(({ text, rests_on = [], check }) => ({
    text,
    rests_on,
    says: meaningMark(check, rrd.meaning?.checkers).says,
  }));
  const checks = sentencesOf(report).flatMap(([, { check }]) => check ?? []);
  const judged = checks.length + removed.length;
  // Verdicts of a checker that accepts false control sentences do not count.
  const { checkers } = { ...rrd.meaning };
  const verdictsCount = report.check?.by?.some((name) => unprovenReason(checkers, name) === undefined) === true;
  const supported = verdictsCount
    ? checks.filter((check) => meaningMark(check, checkers).kind === "supported").length
    : undefined;
  const says = meaningText(report, rrd, judged, supported);
  if (says === undefined) return undefined;
  const isAnswerRejected = report.check?.answer_falls === true;
  return { judged, supported: supported ?? 0, removed, says, isAnswerRejected, checkedBy: checkersText(report) };
}

/** The checkers of a report, as a clause that says if the writer checked its own sentences. */
function checkersText({ check, agent }: Pick<ReportFile, "check" | "agent">): string {
  const { by = [] } = { ...check };
  return by.length === 1 && by[0] === agent ? `${agent}, which wrote them, in a fresh context` : by.join(" and ");
}

/** The sentence about rejected claims, or an empty list. */
function doubtedClaimsText({ papers_pool: papers, meaning }: Pick<Rrd, "meaning" | "papers_pool">): string[] {
  const doubted = papers.flatMap((paper) =>
    (paper.analysis?.evidence ?? [])
      .filter(({ check }) => check !== undefined && meaningMark(check, meaning?.checkers).kind === "doubted")
      .map(() => nameOf(paper)),
  );
  if (doubted.length === 0) return [];
  const names = [...new Set(doubted)];
  const shown = names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
  return [`Not supported: ${quantity(doubted.length, "claim")} of the readings of ${shown}.`];
}

function meaningText(
  report: ReportFile,
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
  judged: number,
  supported: number | undefined,
): string | undefined {
  const { check, agent = "", not_borne_out = [] } = report;
  const { open, checkers } = { ...rrd.meaning };
  if (open !== undefined && check === undefined) {
    const remaining = findUnanswered(rrd).filter(({ id }) => id.startsWith("/")).length;
    return `Its sentences are being checked: ${open.sentences.length - remaining} of ${open.sentences.length} so far.`;
  }
  if (check === undefined)
    return isWithoutModel(agent)
      ? `not for meaning: ${agent} takes its sentences from the papers as they stand.`
      : undefined;
  const { by = [], unchecked, unheard } = check;
  const unfinished =
    unchecked === undefined
      ? []
      : [`${judged === 0 ? "Its sentences were not checked" : "The check did not come to its end"}: ${unchecked}.`];
  if (judged === 0) return unfinished[0] ?? "None of its sentences rests on a passage that could be checked.";
  const checkersClause = checkersText(report);
  const corrected = sentencesOf(report).filter(([, sentence]) => sentence.check?.was !== undefined).length;
  const counts = [
    supported === undefined
      ? `${quantity(judged, "sentence")} put to ${checkersClause}`
      : `${supported} of ${quantity(judged, "sentence")} supported by the sentences they cite, checked by ${checkersClause}`,
    ...(corrected === 0 ? [] : [`${corrected} corrected`]),
    ...(not_borne_out.length === 0 ? [] : [`${not_borne_out.length} removed`]),
  ];
  const unproven = by.flatMap((name) => {
    const because = unprovenReason(checkers, name);
    if (because === undefined) return [];
    // A checker's rate may be lower now, but sentences that it removed earlier stay removed.
    const wasProven = not_borne_out.length > 0 && !(check.unproven ?? []).includes(name);
    const consequence = wasProven ? "it did when sentences were taken out" : "nothing was taken out by its word";
    return [`What ${name} says does not count, because ${because}; ${consequence}.`];
  });
  const onlyOneChecker =
    unheard === undefined
      ? []
      : [`One of the two checkers was not heard${by.length > 1 ? " on all of them" : ""}: ${unheard}.`];
  return [`${counts.join("; ")}.`, ...unproven, ...onlyOneChecker, ...unfinished, ...doubtedClaimsText(rrd)].join(" ");
}
