import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { isObject } from "../../../engine/lib/json-fields.js";
import { quantity } from "../../../engine/lib/words.js";
import { readEntry } from "../../../engine/storage/state/journal.js";
import type { ReportFile } from "../../generated/report.js";
import type { Checked, Paper, Rrd } from "../../generated/rrd.js";
import { reportDataName } from "../../project-files/layout.js";
import { researchFormat } from "../../project-files/rrd-file.js";
import { readNarrative } from "../narrative/kept-narrative.js";
import { openCheck, sentencesToMend, waitingClaims } from "../narrative/open-check.js";
import type { KindReset } from "../unit-kind.js";

/**
 * Resets the check: every sentence will be checked again, and the report is again as its writer wrote it, as far as the
 * journal still contains it. The checkers' rates stay.
 * @throws ExpectedError (exit code 2) if there is nothing to check.
 */
export async function resetChecks(rrd: Rrd, folder: string): Promise<KindReset> {
  const current = await readNarrative(folder);
  const narrative = current && removeVerdicts((await readOriginalReport(folder, current)) ?? current);
  const { open: _, ...meaning } = rrd.meaning ?? {};
  const withoutVerdicts: Rrd = { ...rrd, meaning, papers_pool: rrd.papers_pool.map(removeClaimVerdicts) };
  const after = narrative === undefined ? withoutVerdicts : openCheck(withoutVerdicts, narrative).rrd;
  if (narrative === undefined || after.meaning?.open === undefined)
    throw new ExpectedError(
      narrative === undefined
        ? `There is no report in ${folder} whose sentences could be checked; 'research-ralph run' writes it.`
        : `No sentence of the report in ${folder} rests on quotes, so there is nothing to check.`,
      2,
    );
  const file = { name: reportDataName, text: `${JSON.stringify(narrative, null, 2)}\n` };
  return { rrd: after, message: "The sentences of the report will be checked again", files: [file] };
}

/** Allows new attempts to correct the rejected sentences. @throws like `resetChecks`. */
export function resetMending(rrd: Rrd): KindReset {
  const { length } = sentencesToMend(rrd);
  if (length === 0)
    throw new ExpectedError("No sentence waits to be mended; 'reset --unit check' checks all of them again.", 2);
  return { rrd, message: `${quantity(length, "sentence")} will be mended` };
}

/** Allows new attempts to check the waiting claims. @throws like `resetChecks`. */
export function resetClaims(rrd: Rrd): KindReset {
  const { length } = waitingClaims(rrd);
  if (length === 0) throw new ExpectedError("No claim of a reading waits to be checked.", 2);
  return { rrd, message: `${quantity(length, "claim")} will be checked` };
}

/** The report as the agent wrote it; undefined if the journal does not contain it any more. */
async function readOriginalReport(folder: string, { iteration = 0 }: ReportFile): Promise<ReportFile | undefined> {
  const entry = await readEntry(folder, researchFormat, iteration);
  const text = entry?.files?.find(({ name }) => name === reportDataName)?.text ?? undefined;
  return text === undefined ? undefined : (JSON.parse(text) as ReportFile);
}

/** The report without verdicts. A corrected sentence gets its original text back. */
const removeVerdicts = ({ not_borne_out: _, ...narrative }: ReportFile): ReportFile =>
  JSON.parse(
    JSON.stringify(narrative, (_key, value: unknown) => {
      if (!isObject(value) || !isObject(value["check"])) return value;
      const { check, ...sentence } = value;
      return { ...sentence, ...withoutUndefined({ text: (check as Checked).was ?? sentence["text"] }) };
    }),
  ) as ReportFile;

function removeClaimVerdicts(paper: Paper): Paper {
  if (paper.analysis?.evidence?.some(({ check }) => check !== undefined) !== true) return paper;
  const evidence = paper.analysis.evidence.map(({ check: _, ...claim }) => claim);
  return { ...paper, analysis: { ...paper.analysis, evidence } };
}
