import { join } from "node:path";
import { thinkingRoles } from "../../engine/loop/think.js";
import { redactValue } from "../../engine/lib/redact.js";
import { many } from "../../engine/lib/words.js";
import { resultName } from "../../engine/lib/layout.js";
import type { CritiqueResult } from "../generated/result-critique.js";
import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { ResearchState, ResearchUnit } from "../derived/status.js";
import { acceptDiscovery } from "../units/screening/judge-batch.js";
import { type Combined, combined, conflictsBetween, type Screened } from "../units/screening/readers.js";
import { checkedAnswers } from "../units/screening/screen-by-criteria.js";
import type { Batch } from "../units/screening/screening-batch.js";
import { type Judging, schemaOf } from "../units/judged-result.js";
import { checkedResult, readChecked, readResult, reasonsOf } from "../../engine/storage/result-file.js";
import { draftOf, type Finding, isJudged, isReader, screeningsOf, type Sharing } from "../units/shared-unit.js";

/** What an agent left for one that comes after it. */
interface ToNote {
  readonly note: unknown;
  /** One line for the screen and the commit. */
  readonly summary: string;
}

/**
 * What becomes of a part's result: it is noted for the next agent, refused, or the unit's result is judged; `instead`:
 * that of an earlier agent, which this one has nothing to hold against; `combined`: that of several agents as one.
 */
export type Heard = {
  readonly redacted?: boolean;
  readonly dropped?: readonly string[];
  /** What a person has to know of it. */
  readonly warning?: string;
} & (
  | ToNote
  | { readonly reasons: readonly string[] }
  | { readonly instead?: { readonly value: unknown; readonly agent: string }; readonly combined?: Combined }
);

/** Hears what an agent left in its workspace, where agents share the unit. Changes nothing. */
export async function judgePart(
  sharing: Sharing,
  state: ResearchState,
  unit: ResearchUnit,
  workspace: string,
  { material, judging }: { readonly material: { readonly batch?: Batch }; readonly judging: Judging },
  redact: (text: string) => string,
): Promise<Heard> {
  if (isReader(unit) && material.batch !== undefined)
    return await hearReader(sharing, state, unit, workspace, material.batch, judging, redact);
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
  const read = await readChecked(schemaOf[unit.kind], join(workspace, resultName), redact);
  if ("reasons" in read) return read;
  const { value, redacted, dropped } = read;
  return { redacted, dropped, note: value, summary: "kept for the critic" };
}

/** Hears one of the agents that screen the same batch: the last of them has the batch accepted. */
async function hearReader(
  { readers: { conflicts: rule } = { conflicts: "include" } }: Sharing,
  state: ResearchState,
  unit: ResearchUnit,
  workspace: string,
  batch: Batch,
  judging: Judging,
  redact: (text: string) => string,
): Promise<Heard> {
  const { rrd } = state;
  const read = await readChecked("result-discovery", join(workspace, resultName), redact);
  if ("reasons" in read) return read;
  const { value, redacted, dropped } = read;
  const said = { redacted, dropped };
  const result = value as DiscoveryResult;
  const wrong = acceptDiscovery(rrd, unit.id, result, batch, judging);
  if ("reasons" in wrong) return { ...said, reasons: wrong.reasons };
  const before = screeningsOf(state, unit);
  const candidates = before[0]?.value.candidates ?? batch.candidates;
  // Where there is nothing to judge, nobody can judge it again.
  if (unit.role === "reader-1" && candidates.length === 0) return said;
  const screened = async ({
    role,
    agent,
    iteration,
    value: { result: its },
  }: (typeof before)[number]): Promise<Screened> => ({
    role: role as Screened["role"],
    by: agent,
    iteration,
    result: its,
    answers: await checkedAnswers(rrd, its, { ...batch, candidates }),
  });
  const { agent, iteration } = judging;
  const own = { iteration, role: unit.role ?? "", round: 1, agent, basis: "", value: { result, candidates } };
  const [first, second, ...others] = await Promise.all([...before, own].map(screened));
  const counts = `${result.kept?.length ?? 0} of ${batch.candidates.length} records kept`;
  if (first === undefined || second === undefined) return { ...said, note: own.value, summary: counts };
  const conflicts = conflictsBetween(rrd, candidates, [first, second]);
  if (rule === "third" && conflicts.length > 0 && others.length === 0)
    return {
      ...said,
      note: { ...own.value, conflicts: conflicts.map(({ id }) => id) },
      summary: `${counts}, ${many(conflicts.length, "conflict")} for a third reader`,
    };
  return { ...said, combined: combined(rrd, unit.id, candidates, [first, second, ...others], rule) };
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
  const { value, problems } = checkedResult("result-critique", found);
  if (problems.length > 0) return { redacted, reason: reasonsOf(problems)[0] ?? "" };
  const { unit, findings } = value as CritiqueResult;
  return unit === id ? { redacted, findings } : { redacted, reason: `unit is "${unit}"` };
}
