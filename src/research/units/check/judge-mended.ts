import { many } from "../../../engine/lib/words.js";
import { numbersWithoutQuote } from "../../../text/evidence/numbers/check-numbers.js";
import type { ReportFile } from "../../generated/report.js";
import type { MendResult } from "../../generated/result-mend.js";
import type { OpenCheck, Rrd } from "../../generated/rrd.js";
import type { Acceptance, Rejection } from "../judged-result.js";
import { evidenceAt } from "../narrative/handles.js";
import { advanced } from "./fold.js";
import { papersOf, toMend } from "../narrative/open-check.js";

/**
 * Checks that every sentence was mended or given up, once, with handles of its own passages and no number that they
 * lack. The mended ones are then checked again.
 */
export function acceptMended(
  rrd: Rrd,
  narrative: ReportFile | undefined,
  { unit, sentences }: MendResult,
  at: Date,
): Acceptance | Rejection {
  const papers = papersOf(rrd);
  const asked = toMend(rrd);
  const reasons = [
    ...(unit === "mend" ? [] : [`unit is "${unit}"; this unit is "mend"`]),
    ...asked.flatMap(({ rests_on }, index) => {
      const number = index + 1;
      const own = sentences.filter((each) => each.number === number);
      const [mended] = own;
      if (mended === undefined || own.length > 1) return [`number ${number} is given ${own.length} times`];
      const handles = mended.rests_on ?? rests_on;
      const foreign = handles.filter((handle) => !rests_on.includes(handle));
      const quotes = handles.flatMap((handle) => {
        const found = evidenceAt(handle, papers);
        return "reason" in found ? [] : [found.evidence];
      });
      const { missing } = numbersWithoutQuote(mended.text ?? "", quotes);
      return [
        ...foreign.map((handle) => `number ${number} rests on "${handle}", which is none of its passages`),
        ...(missing.length === 0 ? [] : [`number ${number} has numbers that its passages lack: ${missing.join(", ")}`]),
      ];
    }),
    ...sentences.flatMap(({ number }) => (number > asked.length ? [`the unit has no number ${number}`] : [])),
  ];
  if (reasons.length > 0) return { reasons };

  const byPlace = new Map(
    asked.map(({ where }, index) => [where, sentences.find((each) => each.number === index + 1)]),
  );
  const { meaning } = rrd;
  const open = meaning?.open as OpenCheck;
  const mended = open.sentences.map((each) => {
    const anew = byPlace.get(each.where);
    if (anew?.text == null) return each;
    const { check: _, ...rest } = each;
    return { ...rest, text: anew.text, rests_on: anew.rests_on ?? each.rests_on, was: each.text };
  });
  const count = [...byPlace.values()].filter((each) => each?.text != null).length;
  const summary = `${many(count, "sentence")} mended, ${asked.length - count} given up`;
  const contradicted = asked.flatMap(({ text, rests_on, check }) =>
    check?.verdict === "contradicted" && check.against !== undefined
      ? [{ text, rests_on, against: check.against }]
      : [],
  );
  const again = {
    ...open,
    step: "again" as const,
    sentences: mended,
    ...(contradicted.length === 0 ? {} : { contradicted }),
  };
  return advanced({ rrd, narrative, checkers: meaning?.checkers ?? {}, open: again, changes: [], summary, at });
}
