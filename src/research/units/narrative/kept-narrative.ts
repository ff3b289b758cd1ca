import { join } from "node:path";
import { isNewer } from "../../../engine/storage/state/format-version.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { reportDataName } from "../../project-files/layout.js";
import type { ReportFile } from "../../generated/report.js";
import type { Checked } from "../../generated/rrd.js";
import { isAdvice, sentencesOf, mapSentences } from "./sentences.js";

/** The report.json of a project. Undefined if it is missing or invalid; then the report must be written again. */
export async function readNarrative(folder: string): Promise<ReportFile | undefined> {
  try {
    const value: unknown = JSON.parse(await readRegularText(join(folder, reportDataName)));
    return isNewer(value) || problemsOf("report", value).length > 0 ? undefined : (value as ReportFile);
  } catch {
    return undefined;
  }
}

/**
 * Copies the verdicts of the former report to a new narrative. A sentence keeps its verdict if its words and its quotes
 * are unchanged.
 */
export function keepVerdicts(formerReport: ReportFile | undefined, narrative: ReportFile): ReportFile {
  if (formerReport?.check === undefined) return narrative;
  const keyOf = (text: string, rests_on: readonly string[], quotes: ReportFile["quotes"]) =>
    JSON.stringify([text, rests_on.toSorted().map((handle) => [handle, quotes?.[handle]])]);
  const earlierVerdicts = new Map<string, Checked>();
  for (const [, { text, rests_on = [], check }] of sentencesOf(formerReport))
    if (check !== undefined) earlierVerdicts.set(keyOf(text, rests_on, formerReport.quotes), check);
  return mapSentences(narrative, (where, sentence) => {
    const check = earlierVerdicts.get(keyOf(sentence.text, sentence.rests_on ?? [], narrative.quotes));
    return check === undefined || isAdvice(where) ? sentence : { ...sentence, check };
  });
}

/** The `check` field of a report whose sentences keep earlier verdicts; empty if none does. */
export function checkOfKeptVerdicts(
  formerReport: ReportFile | undefined,
  narrative: ReportFile,
): Pick<ReportFile, "check"> {
  const checks = sentencesOf(narrative).flatMap(([, { check }]) => check ?? []);
  if (formerReport?.check === undefined || checks.length === 0) return {};
  const { at, unproven, answer_falls } = formerReport.check;
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
