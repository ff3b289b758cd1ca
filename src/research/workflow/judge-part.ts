import { join } from "node:path";
import { resultName } from "../../engine/lib/layout.js";
import { redactValue } from "../../engine/lib/redact.js";
import { quantity } from "../../engine/lib/words.js";
import { thinkingRoles } from "../../engine/loop/think.js";
import type { Unit } from "../../engine/loop/types.js";
import { checkResult, readCheckedResult, readResult, reasonsOf } from "../../engine/storage/result-file.js";
import type { CritiqueResult } from "../generated/result-critique.js";
import { kindOf } from "../units/kinds.js";
import { draftOf, type Finding, isJudged } from "../units/shared-unit.js";
import type { PartOutcome, Material, SharedResult } from "../units/unit-kind.js";

/** Reads the result of one agent of a unit that several agents do. Changes nothing. */
export async function judgePart(part: SharedResult<Material>): Promise<PartOutcome> {
  const { state, unit, workspace, sharing, redact } = part;
  const kind = kindOf(unit);
  const outcome = await (await kind.load()).receivePart?.(part);
  if (outcome !== undefined) return outcome;
  const draft = draftOf(state, unit);
  if (unit.role === thinkingRoles.critic && draft !== undefined) {
    const critique = await readCritique(workspace, unit, redact);
    const findings = "findings" in critique ? critique.findings : [];
    const { redacted } = critique;
    if (findings.length > 0) return { redacted, note: findings, summary: quantity(findings.length, "finding") };
    const { value, agent } = draft;
    const warning =
      "findings" in critique
        ? {}
        : {
            warning: `The critique of ${unit.id} can't be used (${critique.reason}), so the draft is judged as it is.`,
          };
    return { redacted, instead: { value, agent }, ...warning };
  }
  if (isJudged(unit, sharing)) return {};
  const checked = await readCheckedResult(kind.schema, join(workspace, resultName), redact);
  if ("reasons" in checked) return checked;
  const { value, redacted, dropped } = checked;
  return { redacted, dropped, note: value, summary: "kept for the critic" };
}

/** The findings of a critic, without secrets, or the reason why they can't be used. */
async function readCritique(
  workspace: string,
  { id }: Unit,
  redact: (text: string) => string,
): Promise<{ readonly redacted: boolean } & ({ readonly findings: readonly Finding[] } | { readonly reason: string })> {
  const result = await readResult(join(workspace, resultName));
  if ("reason" in result) return { redacted: false, reason: redact(result.reason) };
  const { value: redactedValue, found: redacted } = redactValue(result.value, redact);
  const { value, problems } = checkResult("result-critique", redactedValue);
  if (problems.length > 0) return { redacted, reason: reasonsOf(problems)[0] ?? "" };
  const { unit, findings } = value as CritiqueResult;
  return unit === id ? { redacted, findings } : { redacted, reason: `unit is "${unit}"` };
}
