import { join } from "node:path";
import { resultName } from "../../../engine/lib/layout.js";
import { many } from "../../../engine/lib/words.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readChecked } from "../../../engine/storage/result-file.js";
import type { Unit } from "../../../engine/loop/types.js";
import type { CheckResult } from "../../generated/result-check.js";
import type { MendResult } from "../../generated/result-mend.js";
import type { Rrd } from "../../generated/rrd.js";
import type { Acceptance, JudgingContext, Rejection } from "../judged-result.js";
import { timesTooFull } from "../../derived/status.js";
import { readNarrative } from "../narrative/kept-narrative.js";
import { toMend } from "../narrative/open-check.js";
import { notesOf } from "../shared-unit.js";
import type { Disk, PartOutcome, ResearchState, SharedResult, UnitWork } from "../unit-kind.js";
import { type CheckMaterial, nextBatch } from "./batch.js";
import { briefOfCheck, briefOfMend } from "./brief.js";
import { type Checking, clauseOf, ended, foldAnswers, foldClaims, foldUnheard } from "./fold.js";
import { agreedOn, answersIn, byId, checkedBy } from "./judge-answers.js";
import { acceptMended } from "./judge-mended.js";
import type { CheckAnswer } from "./sentence.js";

const materialIn = async ({ folder }: Pick<Disk, "folder">): Promise<CheckMaterial> => {
  const narrative = await readNarrative(folder);
  return narrative === undefined ? {} : { narrative };
};

export const checkWork: UnitWork<CheckMaterial, CheckResult> = {
  prepare: materialIn,
  loadStored: async (disk) => ({ material: await materialIn(disk), missingSteps: [] }),
  brief: briefOfCheck,
  receivePart: hearChecker,
  closeUnfinished: endedWithout,
  continueWithFewer: withOneChecker,
  judge({ rrd }, unit, result, material, { agent, at }) {
    const answers = answersIn(material.batch ?? [], result, unit.id);
    return "reasons" in answers ? answers : folded(rrd, unit, material, [{ by: agent, answers }], at);
  },
};

/** The same for claims of readings, which belong to no report yet. */
export const claimsWork: UnitWork<CheckMaterial, CheckResult> = {
  ...checkWork,
  prepare: async () => ({}),
  loadStored: async () => ({ material: {}, missingSteps: [] }),
  closeUnfinished: async (_folder, rrd, why, { at }) => foldClaims(rrd, [], [], new Map(), at, why),
};

export const mendWork: UnitWork<CheckMaterial, MendResult> = {
  prepare: materialIn,
  loadStored: async (disk) => ({ material: await materialIn(disk), missingSteps: [] }),
  brief: briefOfMend,
  closeUnfinished: endedWithout,
  judge: ({ rrd }, _unit, result, { narrative }, { at }): Acceptance | Rejection =>
    acceptMended(rrd, narrative, result, at),
};

/** Ends a check that can't be had: what is answered counts. */
async function endedWithout(folder: string, rrd: Rrd, why: string, { at }: JudgingContext): Promise<Acceptance> {
  const { checkers = {}, open } = { ...rrd.meaning };
  if (open === undefined) throw new Error("a check is given up that is not open");
  const clause = clauseOf(why);
  const narrative = await readNarrative(folder);
  const summary =
    open.step === "mend" ? `${many(toMend(rrd).length, "sentence")} not mended` : "not checked to the end";
  return ended({ rrd, narrative, checkers, open, changes: [], summary: `${summary}: ${clause}`, at }, clause);
}

/** Goes on with one of two checkers. What that one has said of the batch counts as its own. */
async function withOneChecker(
  folder: string,
  state: ResearchState,
  unit: Unit,
  why: string,
  { at }: JudgingContext,
): Promise<Acceptance | undefined> {
  const { rrd, ledger } = state;
  const [first] = notesOf(state, unit);
  const unheard = unit.kind === "claims" ? undefined : foldUnheard(rrd, clauseOf(why), at);
  if (first === undefined) return unheard;
  const batch = nextBatch(rrd, unit, first.agent, timesTooFull(ledger, unit.id));
  const answers = first.value as readonly CheckAnswer[];
  const { narrative } = await materialIn({ folder });
  const now = unheard?.toRender?.rrd ?? rrd;
  const judged = folded(now, unit, { batch, ...withoutUndefined({ narrative }) }, [{ by: first.agent, answers }], at);
  const was = { meaning: rrd.meaning };
  return { ...judged, changes: judged.changes.map((each) => (each.in === "rrd" ? { ...each, was } : each)) };
}

/** Hears one of two agents that check the same batch: with the second one the batch is answered. */
async function hearChecker({
  state,
  unit,
  material,
  workspace,
  sharing: { checkers },
  judging,
  redact,
}: SharedResult<CheckMaterial>): Promise<PartOutcome | undefined> {
  const [first] = notesOf(state, unit);
  if ((checkers?.length ?? 1) < 2 && first === undefined) return {};
  const read = await readChecked("result-check", join(workspace, resultName), redact);
  if ("reasons" in read) return read;
  const { redacted, dropped } = read;
  const answers = answersIn(material.batch ?? [], read.value as CheckResult, unit.id);
  if ("reasons" in answers) return { redacted, dropped, reasons: answers.reasons };
  if (first === undefined) return { redacted, dropped, note: answers, summary: "kept for the second checker" };
  const both = [
    { by: first.agent, answers: first.value as readonly CheckAnswer[] },
    { by: judging.agent, answers },
  ];
  return { redacted, dropped, judged: folded(state.rrd, unit, material, both, judging.at) };
}

function folded(
  rrd: Rrd,
  { kind }: Pick<Unit, "kind">,
  { narrative, batch = [] }: CheckMaterial,
  checkings: readonly Checking[],
  at: JudgingContext["at"],
): Acceptance {
  const [first, second] = checkings.map(({ by, answers }) => answers.map((answer) => checkedBy(by, answer)));
  const checked = (first ?? []).map((each, index) => agreedOn([each, second?.[index]]));
  const said = byId(batch, checked);
  return kind === "claims"
    ? foldClaims(rrd, batch, checkings, said, at)
    : foldAnswers(rrd, narrative, batch, checkings, said, at);
}
