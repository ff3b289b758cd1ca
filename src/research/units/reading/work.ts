import { uncheckedReading } from "../../../text/evidence/check-evidence.js";
import { paperOf } from "../../derived/status.js";
import { searchUntrusted } from "../../full-text/reader-process.js";
import type { AnalysisResult } from "../../generated/result-analysis.js";
import { checkFullText } from "../../screening/eligibility/check-answers.js";
import { criteriaToAnswer } from "../../screening/eligibility/eligibility.js";
import { formOf } from "../../project-files/form.js";
import { checkValues } from "../form/check-values.js";
import type { UnitWork } from "../unit-kind.js";
import { paperBrief } from "./brief.js";
import { acceptPaper } from "./judge-paper.js";
import { loadStoredPaper, preparePaper, type ReadingMaterial } from "./prepare.js";
import { readingRepair } from "./repair.js";
import { needsNoReader, decideUnread } from "./settled-paper.js";

export const work: UnitWork<ReadingMaterial, AnalysisResult> = {
  prepare: preparePaper,
  loadStored: loadStoredPaper,
  needsNoAgent({ rrd }, { id }, material) {
    const paper = paperOf(rrd, id);
    return paper !== undefined && needsNoReader(paper, material);
  },
  completeByCode(rrd, { id }, material, judging) {
    const paper = paperOf(rrd, id);
    if (paper === undefined) throw new Error(`${id} was settled without a paper`);
    return decideUnread(paper, material, judging);
  },
  brief: paperBrief,
  repair: readingRepair,
  async judge({ rrd }, { id }, reading, material, judging) {
    const paper = paperOf(rrd, id);
    if (paper === undefined) return { reasons: [`the paper ${id} is no longer in the pool`] };
    const { evidence, results } = reading;
    const search = await searchUntrusted("checkReading", evidence, results, material.text, paper.abstract);
    const checked = "cut" in search ? uncheckedReading(evidence, search.cut) : search.value;
    const answers = await checkFullText(criteriaToAnswer(rrd, paper), reading.criteria, material.text, paper);
    const form = await checkValues(formOf(rrd), reading.fields, material.text, paper);
    return acceptPaper(rrd, paper, reading, material, judging, checked, answers, form);
  },
};
