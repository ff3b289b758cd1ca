import { join } from "node:path";
import { resultName } from "../../../engine/lib/layout.js";
import { quantity } from "../../../engine/lib/words.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { readCheckedResult } from "../../../engine/storage/result-file.js";
import type { Unit } from "../../../engine/loop/types.js";
import type { CheckResult } from "../../generated/result-check.js";
import type { MendResult } from "../../generated/result-mend.js";
import type { Rrd } from "../../generated/rrd.js";
import type { Acceptance, JudgingContext, Rejection } from "../judged-result.js";
import { countContextOverflows } from "../../derived/status.js";
import { readNarrative } from "../narrative/kept-narrative.js";
import { papersById, sentencesToMend } from "../narrative/open-check.js";
import { notesOf } from "../shared-unit.js";
import type { Disk, PartOutcome, ResearchState, SharedResult, UnitWork } from "../unit-kind.js";
import { type CheckMaterial, nextCheckBatch } from "./batch.js";
import { checkBrief, mendBrief } from "./brief.js";
import {
  type CheckerAnswers,
  clauseOf,
  endCheck,
  acceptAnswers,
  acceptClaims,
  continueWithoutChecker,
} from "./fold.js";
import { mergeVerdicts, orderAnswers, verdictsById, toChecked } from "./judge-answers.js";
import { acceptCorrections } from "./judge-mended.js";
import type { CheckAnswer } from "./sentence.js";

const loadMaterial = async ({ folder }: Pick<Disk, "folder">): Promise<CheckMaterial> => {
  const narrative = await readNarrative(folder);
  return narrative === undefined ? {} : { narrative };
};

export const checkWork: UnitWork<CheckMaterial, CheckResult> = {
  prepare: loadMaterial,
  loadStored: async (disk) => ({ material: await loadMaterial(disk), missingSteps: [] }),
  brief: checkBrief,
  receivePart: receiveAnswers,
  closeUnfinished: closeCheck,
  continueWithFewer: continueWithOneChecker,
  judge({ rrd }, unit, result, material, { agent, at }) {
    const answers = orderAnswers(material.batch ?? [], result, unit.id, papersById(rrd));
    return "reasons" in answers ? answers : acceptBatch(rrd, unit, material, [{ by: agent, answers }], at);
  },
};

/** The same for claims of readings, which are not part of a report. */
export const claimsWork: UnitWork<CheckMaterial, CheckResult> = {
  ...checkWork,
  prepare: async () => ({}),
  loadStored: async () => ({ material: {}, missingSteps: [] }),
  closeUnfinished: async (_folder, rrd, why, { at }) => acceptClaims(rrd, [], [], new Map(), at, why),
};

export const mendWork: UnitWork<CheckMaterial, MendResult> = {
  prepare: loadMaterial,
  loadStored: async (disk) => ({ material: await loadMaterial(disk), missingSteps: [] }),
  brief: mendBrief,
  closeUnfinished: closeCheck,
  judge: ({ rrd }, _unit, result, { narrative }, { at }): Acceptance | Rejection =>
    acceptCorrections(rrd, narrative, result, at),
};

/** Closes a check that can't be continued. Existing answers count. */
async function closeCheck(folder: string, rrd: Rrd, why: string, { at }: JudgingContext): Promise<Acceptance> {
  const { checkers = {}, open } = { ...rrd.meaning };
  if (open === undefined) throw new Error("a check is given up that is not open");
  const clause = clauseOf(why);
  const narrative = await readNarrative(folder);
  const summary =
    open.step === "mend" ? `${quantity(sentencesToMend(rrd).length, "sentence")} not mended` : "not checked to the end";
  return endCheck({ rrd, narrative, checkers, open, changes: [], summary: `${summary}: ${clause}`, at }, clause);
}

/** Continues with one of two checkers. Its answers to the batch count alone. */
async function continueWithOneChecker(
  folder: string,
  state: ResearchState,
  unit: Unit,
  why: string,
  { at }: JudgingContext,
): Promise<Acceptance | undefined> {
  const { rrd, ledger } = state;
  const [first] = notesOf(state, unit);
  const continued = unit.kind === "claims" ? undefined : continueWithoutChecker(rrd, clauseOf(why), at);
  if (first === undefined) return continued;
  const batch = nextCheckBatch(rrd, unit, first.agent, countContextOverflows(ledger, unit.id));
  const answers = first.value as readonly CheckAnswer[];
  const { narrative } = await loadMaterial({ folder });
  const current = continued?.toRender?.rrd ?? rrd;
  const accepted = acceptBatch(
    current,
    unit,
    { batch, ...withoutUndefined({ narrative }) },
    [{ by: first.agent, answers }],
    at,
  );
  const was = { meaning: rrd.meaning };
  return { ...accepted, changes: accepted.changes.map((each) => (each.in === "rrd" ? { ...each, was } : each)) };
}

/** Handles the answers of one of two agents that check the same batch. The batch is accepted with the second one. */
async function receiveAnswers({
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
  const result = await readCheckedResult("result-check", join(workspace, resultName), redact);
  if ("reasons" in result) return result;
  const { redacted, dropped } = result;
  const answers = orderAnswers(material.batch ?? [], result.value as CheckResult, unit.id, papersById(state.rrd));
  if ("reasons" in answers) return { redacted, dropped, reasons: answers.reasons };
  if (first === undefined) return { redacted, dropped, note: answers, summary: "kept for the second checker" };
  const allAnswers = [
    { by: first.agent, answers: first.value as readonly CheckAnswer[] },
    { by: judging.agent, answers },
  ];
  return { redacted, dropped, judged: acceptBatch(state.rrd, unit, material, allAnswers, judging.at) };
}

function acceptBatch(
  rrd: Rrd,
  { kind }: Pick<Unit, "kind">,
  { narrative, batch = [] }: CheckMaterial,
  allAnswers: readonly CheckerAnswers[],
  at: JudgingContext["at"],
): Acceptance {
  const [first, second] = allAnswers.map(({ by, answers }) => answers.map((answer) => toChecked(by, answer)));
  const verdicts = (first ?? []).map((verdict, index) => mergeVerdicts([verdict, second?.[index]]));
  const verdictById = verdictsById(batch, verdicts);
  return kind === "claims"
    ? acceptClaims(rrd, batch, allAnswers, verdictById, at)
    : acceptAnswers(rrd, narrative, batch, allAnswers, verdictById, at);
}
