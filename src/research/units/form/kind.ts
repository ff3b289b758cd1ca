import { shellWord } from "../../../engine/lib/sanitise.js";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { quantity } from "../../../engine/lib/words.js";
import type { ExtractResult } from "../../generated/result-extract.js";
import { formOf } from "../../project-files/form.js";
import { reportDocuments } from "../../project-files/layout.js";
import { type ExtractMaterial, formOfUnit, openForms, formUnitId } from "./open-forms.js";
import { blockedVerdict } from "../single-unit.js";
import type { UnitKind } from "../unit-kind.js";

/** The role of the agent that fills in forms a second time, without seeing the first agent's answers. */
export const secondReader = "second-reader";

/** Fills in the fields of a form for a paper that was already read, or as a second agent. */
export const extract: UnitKind<ExtractMaterial, ExtractResult> = {
  name: "extract",
  phase: "ANALYSIS",
  part: "EXTRACT",
  schema: "result-extract",
  estimate: { input: 2_000 + 1_500 + 15_000, output: 800, minutes: 1.5 },
  activityText: (name) => `fills in the form for ${name.replace(/^extract-(?:first|second)-/, "")}`,
  timed: "never",
  documents: reportDocuments,
  owns: ({ unit }) => /^extract-(?:first|second)-/.test(unit),
  isWanted: ({ rrd }) => openForms(rrd).length > 0,
  isDone: ({ rrd }) => openForms(rrd).length === 0,
  remainingUnits: ({ rrd }) => openForms(rrd).length,
  next({ rrd }, { unitsInProgress, delayedUnits, folder }) {
    const remaining = openForms(rrd).filter((form) => !unitsInProgress.has(formUnitId(form)));
    const postponed = delayedUnits.filter(({ unit }) => unit.kind === this.name);
    const form = remaining.find((openForm) => !postponed.some(({ unit }) => unit.id === formUnitId(openForm)));
    if (form === undefined)
      return unitsInProgress.size > 0
        ? "wait"
        : blockedVerdict(
            `The text of ${quantity(postponed.length, "paper")} is not available now (${[...new Set(postponed.map(({ reason }) => reason.replace(/\.$/, "")))].slice(0, 3).join("; ")}); 'research-ralph extract ${shellWord(folder)}' goes on later, and 'research-ralph run ${shellWord(folder)} --abstracts' goes on now with what the abstracts say`,
          );
    const unit = { kind: this.name, id: formUnitId(form), phase: this.phase, title: form.paper.title };
    return form.filler === "first" ? unit : { ...unit, role: secondReader, round: 1 };
  },
  basis(rrd, id) {
    const { paper } = formOfUnit(rrd, id) ?? {};
    return [formOf(rrd), paper?.title, paper?.url, paper?.pdf_url, paper?.abstract, paper?.fill_form, paper?.status];
  },
  reset(rrd) {
    const { length } = openForms(rrd);
    if (length === 0)
      throw new ExpectedError("No form waits to be filled in; 'research-ralph extract' asks for fields.", 2);
    return { rrd, message: `${quantity(length, "form")} will be filled in` };
  },
  load: async () => (await import("./work.js")).work,
};
