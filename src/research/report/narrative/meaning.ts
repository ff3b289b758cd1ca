import { many } from "../../../engine/lib/words.js";
import { isWithoutModel } from "../method.js";
import type { ReportFile } from "../../generated/report.js";
import type { Rrd } from "../../generated/rrd.js";
import { unanswered } from "../../units/narrative/open-check.js";
import { whyUnproven } from "../../derived/checker-rates.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import { sentences } from "../../units/narrative/sentences.js";

/** A sentence that was taken out of the report. */
export interface RemovedSentence {
  readonly text: string;
  readonly rests_on: readonly string[];
  /** Why, a clause. */
  readonly says: string;
}

/** How far the sentences of a report were held against what they cite. */
export interface Meaning {
  /** Sentences that were judged, and those that are borne out; 0 where no checker is proven. */
  readonly judged: number;
  readonly borneOut: number;
  readonly removed: readonly RemovedSentence[];
  /** All of it in one sentence or two. */
  readonly says: string;
  /** No sentence of the answer is borne out by what it cites. */
  readonly answerFalls: boolean;
  /** Who checked them, a clause; empty where nobody did. */
  readonly by: string;
}

/** What is to be said of the check of a report; undefined of one that nobody checked. Pure. */
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
  const checks = sentences(report).flatMap(([, { check }]) => check ?? []);
  const judged = checks.length + removed.length;
  // What a checker says that calls false sentences true, too, does not count as a result.
  const { checkers } = { ...rrd.meaning };
  const counts = report.check?.by?.some((name) => whyUnproven(checkers, name) === undefined) === true;
  const borneOut = counts
    ? checks.filter((check) => meaningMark(check, checkers).kind === "borne-out").length
    : undefined;
  const says = sayingOf(report, rrd, judged, borneOut);
  if (says === undefined) return undefined;
  const answerFalls = report.check?.answer_falls === true;
  return { judged, borneOut: borneOut ?? 0, removed, says, answerFalls, by: checkersText(report) };
}

/** Who checked a report, as a clause that says whether that is who wrote it. */
function checkersText({ check, agent }: Pick<ReportFile, "check" | "agent">): string {
  const { by = [] } = { ...check };
  return by.length === 1 && by[0] === agent ? `${agent}, which wrote them, in a fresh context` : by.join(" and ");
}

function sayingOf(
  report: ReportFile,
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
  judged: number,
  borneOut: number | undefined,
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
  const { by = [], unchecked, unheard } = check;
  const not =
    unchecked === undefined
      ? []
      : [`${judged === 0 ? "Its sentences were not checked" : "The check did not come to its end"}: ${unchecked}.`];
  if (judged === 0) return not[0] ?? "None of its sentences rests on a passage that could be checked.";
  const whose = checkersText(report);
  const mended = sentences(report).filter(([, sentence]) => sentence.check?.was !== undefined).length;
  const counts = [
    borneOut === undefined
      ? `${many(judged, "sentence")} put to ${whose}`
      : `${borneOut} of ${many(judged, "sentence")} borne out by the sentences they cite, checked by ${whose}`,
    ...(mended === 0 ? [] : [`${mended} corrected`]),
    ...(not_borne_out.length === 0 ? [] : [`${not_borne_out.length} removed`]),
  ];
  const unproven = by.flatMap((name) => {
    const because = whyUnproven(checkers, name);
    if (because === undefined) return [];
    // Its rate may have fallen since: what was taken out then stays out.
    const wasProven = not_borne_out.length > 0 && !(check.unproven ?? []).includes(name);
    const follows = wasProven ? "it did when sentences were taken out" : "nothing was taken out by its word";
    return [`What ${name} says does not count, because ${because}; ${follows}.`];
  });
  const alone =
    unheard === undefined
      ? []
      : [`One of the two checkers was not heard${by.length > 1 ? " on all of them" : ""}: ${unheard}.`];
  return [`${counts.join("; ")}.`, ...unproven, ...alone, ...not].join(" ");
}
