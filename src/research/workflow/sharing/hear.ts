import { join } from "node:path";
import { thinkingRoles } from "../../../engine/loop/think.js";
import { redactValue } from "../../../engine/lib/redact.js";
import { many } from "../../../engine/ui/terminal/format.js";
import { resultName } from "../../folder/layout.js";
import type { CritiqueResult } from "../../generated/result-critique.js";
import type { ResearchState, ResearchUnit } from "../decisions/status.js";
import { checkedResult, readChecked, readResult, reasonsOf } from "../result/result-file.js";
import { draftOf, type Finding, isJudged, type Sharing } from "./shared-unit.js";

/** What an agent left for one that comes after it. */
interface ToNote {
  readonly note: unknown;
  /** One line for the screen and the commit. */
  readonly summary: string;
}

/**
 * What becomes of a part's result: it is noted for the next agent, refused, or the unit's result is judged; `instead`:
 * that of an earlier agent, which this one has nothing to hold against.
 */
export type Heard = {
  readonly redacted?: boolean;
  readonly dropped?: readonly string[];
  /** What a person has to know of it. */
  readonly warning?: string;
} & (ToNote | { readonly reasons: readonly string[] } | { readonly instead?: { value: unknown; agent: string } });

/** Hears what an agent left in its workspace, where agents share the unit. Changes nothing. */
export async function hear(
  sharing: Sharing,
  state: ResearchState,
  unit: ResearchUnit,
  workspace: string,
  redact: (text: string) => string,
): Promise<Heard> {
  const draft = draftOf(state, unit);
  if (unit.role === thinkingRoles.critic && draft !== undefined) {
    const critique = await readCritique(workspace, unit, redact);
    const findings = "findings" in critique ? critique.findings : [];
    const { redacted } = critique;
    if (findings.length > 0) return { redacted, note: findings, summary: many(findings.length, "finding") };
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
  const read = await readChecked(unit.kind, join(workspace, resultName), redact);
  if ("reasons" in read) return read;
  const { value, redacted, dropped } = read;
  return { redacted, dropped, note: value, summary: "kept for the critic" };
}

/** What a critic left, without secrets, or why it can't be used. */
async function readCritique(
  workspace: string,
  { id }: ResearchUnit,
  redact: (text: string) => string,
): Promise<{ readonly redacted: boolean } & ({ readonly findings: readonly Finding[] } | { readonly reason: string })> {
  const result = await readResult(join(workspace, resultName));
  if ("reason" in result) return { redacted: false, reason: redact(result.reason) };
  const { value: found, found: redacted } = redactValue(result.value, redact);
  const { value, problems } = checkedResult("critique", found);
  if (problems.length > 0) return { redacted, reason: reasonsOf(problems)[0] ?? "" };
  const { unit, findings } = value as CritiqueResult;
  return unit === id ? { redacted, findings } : { redacted, reason: `unit is "${unit}"` };
}
