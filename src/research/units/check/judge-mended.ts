import { quantity } from "../../../engine/lib/words.js";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import type { ReportFile } from "../../generated/report.js";
import type { MendResult } from "../../generated/result-mend.js";
import type { OpenCheck, Rrd } from "../../generated/rrd.js";
import type { Acceptance, Rejection } from "../judged-result.js";
import { evidenceOf } from "../narrative/handles.js";
import { continueOrEndCheck } from "./fold.js";
import { papersById, sentencesToMend } from "../narrative/open-check.js";

/**
 * Checks the corrections: each sentence is corrected or given up exactly once, cites only its own passages, and has
 * only numbers of these passages. Corrected sentences are then checked again.
 */
export function acceptCorrections(
  rrd: Rrd,
  narrative: ReportFile | undefined,
  { unit, sentences }: MendResult,
  now: Date,
): Acceptance | Rejection {
  const papers = papersById(rrd);
  const rejected = sentencesToMend(rrd);
  const reasons = [
    ...(unit === "mend" ? [] : [`unit is "${unit}"; this unit is "mend"`]),
    ...rejected.flatMap(({ rests_on }, index) => {
      const number = index + 1;
      const corrections = sentences.filter((each) => each.number === number);
      const [correction] = corrections;
      if (correction === undefined || corrections.length > 1)
        return [`number ${number} is given ${corrections.length} times`];
      const handles = correction.rests_on ?? rests_on;
      const foreign = handles.filter((handle) => !rests_on.includes(handle));
      const cited = evidenceOf(handles, papers);
      const { missing } = numbersWithoutQuote(
        correction.text ?? "",
        cited.map(({ evidence }) => evidence),
        cited.map(({ paper }) => paper),
      );
      return [
        ...foreign.map((handle) => `number ${number} rests on "${handle}", which is none of its passages`),
        ...(missing.length === 0 ? [] : [`number ${number} has numbers that its passages lack: ${missing.join(", ")}`]),
      ];
    }),
    ...sentences.flatMap(({ number }) => (number > rejected.length ? [`the unit has no number ${number}`] : [])),
  ];
  if (reasons.length > 0) return { reasons };

  const correctionByPointer = new Map(
    rejected.map(({ where }, index) => [where, sentences.find((each) => each.number === index + 1)]),
  );
  const { meaning } = rrd;
  const open = meaning?.open as OpenCheck;
  const corrected = open.sentences.map((each) => {
    const correction = correctionByPointer.get(each.where);
    if (correction?.text == null) return each;
    const { check: _, ...rest } = each;
    return { ...rest, text: correction.text, rests_on: correction.rests_on ?? each.rests_on, was: each.text };
  });
  const count = [...correctionByPointer.values()].filter((each) => each?.text != null).length;
  const summary = `${quantity(count, "sentence")} mended, ${rejected.length - count} given up`;
  const contradicted = rejected.flatMap(({ text, rests_on, check }) =>
    check?.verdict === "contradicted" && check.against !== undefined
      ? [{ text, rests_on, against: check.against }]
      : [],
  );
  const updated = {
    ...open,
    step: "again" as const,
    sentences: corrected,
    ...(contradicted.length === 0 ? {} : { contradicted }),
  };
  return continueOrEndCheck({
    rrd,
    narrative,
    checkers: meaning?.checkers ?? {},
    open: updated,
    changes: [],
    summary,
    at: now,
  });
}
