import type { ReportFile } from "../../generated/report.js";
import type { Checked } from "../../generated/rrd.js";
import { isAdvice, sentences, withSentences } from "./sentences.js";

/**
 * The narrative with the marks of the earlier report. A sentence keeps its mark if its words and its quotes are
 * unchanged.
 */
export function withMarksOf(before: ReportFile | undefined, narrative: ReportFile): ReportFile {
  if (before?.check === undefined) return narrative;
  const keyOf = (text: string, rests_on: readonly string[], quotes: ReportFile["quotes"]) =>
    JSON.stringify([text, rests_on.toSorted().map((handle) => [handle, quotes?.[handle]])]);
  const known = new Map<string, Checked>();
  for (const [, { text, rests_on = [], check }] of sentences(before))
    if (check !== undefined) known.set(keyOf(text, rests_on, before.quotes), check);
  return withSentences(narrative, (where, said) => {
    const check = known.get(keyOf(said.text, said.rests_on ?? [], narrative.quotes));
    return check === undefined || isAdvice(where) ? said : { ...said, check };
  });
}

/** The `check` field of a report in which all sentences keep their earlier marks; empty otherwise. */
export function checkFrom(before: ReportFile | undefined, narrative: ReportFile): Pick<ReportFile, "check"> {
  const checks = sentences(narrative).flatMap(([, { check }]) => check ?? []);
  if (before?.check === undefined || checks.length === 0) return {};
  const { at, unproven, answer_falls } = before.check;
  const isSameAnswer = narrative.answer.every(({ check }) => check !== undefined);
  return {
    check: {
      at,
      by: [...new Set(checks.flatMap(({ by }) => by))],
      ...(unproven === undefined ? {} : { unproven }),
      ...(answer_falls === true && isSameAnswer ? { answer_falls } : {}),
    },
  };
}
