import { clippedPassage } from "../../../text/evidence/quoted.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { evidenceAt } from "../narrative/handles.js";
import { notesOf } from "../shared-unit.js";
import type { BriefRequest, UnitBrief } from "../unit-kind.js";
import { type CheckMaterial, nextBatch, shownItem } from "./batch.js";
import { passageTokens } from "./sentence.js";
import { papersOf, toMend } from "../narrative/open-check.js";

/** Numbered sentences and their passages: nothing of the papers besides, and nothing of the project. */
export function briefOfCheck({
  state,
  unit,
  agent = "",
  material,
  contextOverflows,
}: BriefRequest<CheckMaterial>): UnitBrief<CheckMaterial> {
  const { rrd } = state;
  const { id } = unit;
  // A second checker judges the batch of the first.
  const checker = notesOf(state, unit)[0]?.agent ?? agent;
  const batch = nextBatch(rrd, unit, checker, contextOverflows);
  return {
    data: { kind: "check", unit: id, sentences: batch.map((item, index) => shownItem(item, index + 1)) },
    isBare: true,
    material: { ...material, batch },
  };
}

/** The sentences that fell, with what their reader says of them. */
export function briefOfMend({ state: { rrd } }: BriefRequest<CheckMaterial>): UnitBrief<CheckMaterial> {
  const papers = papersOf(rrd);
  const sentences = toMend(rrd).map(({ text, rests_on, check }, index) => ({
    number: index + 1,
    sentence: text,
    ...withoutUndefined({
      verdict: check?.verdict,
      why: check?.why,
      too_much: check?.too_much,
      proposed: check?.better,
    }),
    passages: rests_on.flatMap((handle) => {
      const found = evidenceAt(handle, papers);
      return "reason" in found ? [] : [{ handle, passage: clippedPassage(found.evidence, passageTokens) }];
    }),
  }));
  return { data: { kind: "mend", unit: "mend", sentences }, isBare: true };
}
