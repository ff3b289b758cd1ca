import { clippedPassage } from "../../../text/evidence/quoted.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { evidenceOf } from "../narrative/handles.js";
import { notesOf } from "../shared-unit.js";
import type { BriefRequest, UnitBrief } from "../unit-kind.js";
import { type CheckMaterial, nextCheckBatch, itemForChecker } from "./batch.js";
import { passageTokens } from "./sentence.js";
import { papersById, sentencesToMend } from "../narrative/open-check.js";

/** The brief of a checker: numbered sentences with their passages, and nothing else of the papers or the project. */
export function checkBrief({
  state,
  unit,
  agent = "",
  material,
  contextOverflows,
}: BriefRequest<CheckMaterial>): UnitBrief<CheckMaterial> {
  const { rrd } = state;
  const { id } = unit;
  // A second checker gets the same batch as the first.
  const firstChecker = notesOf(state, unit)[0]?.agent ?? agent;
  const batch = nextCheckBatch(rrd, unit, firstChecker, contextOverflows);
  return {
    data: { kind: "check", unit: id, sentences: batch.map((item, index) => itemForChecker(item, index + 1)) },
    isBare: true,
    material: { ...material, batch },
  };
}

/** The brief for the correction of the rejected sentences, each with its checker's verdict. */
export function mendBrief({ state: { rrd } }: BriefRequest<CheckMaterial>): UnitBrief<CheckMaterial> {
  const papers = papersById(rrd);
  const sentences = sentencesToMend(rrd).map(({ text, rests_on, check }, index) => ({
    number: index + 1,
    sentence: text,
    ...withoutUndefined({
      verdict: check?.verdict,
      why: check?.why,
      too_much: check?.too_much,
      proposed: check?.better,
    }),
    passages: evidenceOf(rests_on, papers).map(({ handle, evidence }) => ({
      handle,
      passage: clippedPassage(evidence, passageTokens),
    })),
  }));
  return { data: { kind: "mend", unit: "mend", sentences }, isBare: true };
}
