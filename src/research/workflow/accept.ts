import { join } from "node:path";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { saveNotes } from "../../engine/storage/agent-notes.js";
import type { redactFor } from "../../engine/lib/redact.js";
import { toSeconds } from "../../engine/loop/run-record/ledger-line.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import { saysComplete } from "../../engine/loop/sentinel.js";
import type { AgentRun, Outcome, Tell, Unit } from "../../engine/loop/types.js";
import { resultName } from "../../engine/lib/layout.js";
import type { Change, Research } from "../project-files/research.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { Rrd } from "../generated/rrd.js";
import { progressEntry } from "../project-files/progress-log.js";
import { answerOfRun } from "../derived/observations.js";
import { saveAnswer, type KeptFields, readCheckedResult, replaceResult } from "../../engine/storage/result-file.js";
import { paperOf } from "../derived/status.js";
import type { Acceptance, CheckScope, JudgingContext, Rejection } from "../units/judged-result.js";
import { isLastUnit, kindOf, workBasisHash } from "../units/kinds.js";
import type { PartOutcome, Material, ResearchState, Sharing, UnitWork } from "../units/unit-kind.js";
import { derive } from "./derive.js";
import { type AddPluginFields, withPluginFields } from "./fields-beside.js";
import { judgePart } from "./judge-part.js";
import { requireSpace, type Workspaces } from "./workspace.js";

/** What is needed to accept a result. */
export interface AcceptOptions {
  readonly research: Research;
  readonly workspaces: Workspaces;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Removes the user's secrets from an agent's result. */
  readonly redact: ReturnType<typeof redactFor>;
  readonly memory: HistoryLimits;
  /** Makes the documents of a project for people. */
  readonly render: RenderDocuments;
  /** The units that several agents do. */
  readonly sharing?: Sharing;
  /** The sentences of a model that a checker checks; absent: none. */
  readonly check?: CheckScope;
  /** Called before a valid result is folded. If it returns reasons, the result is refused. */
  readonly veto: (proposal: Proposal) => Promise<readonly string[]>;
  /** Absent: no plugin adds fields to results. */
  readonly addPluginFields?: AddPluginFields;
}

/** The input of the documents of a project; absent values are read from the folder. */
export interface DocumentsInput {
  readonly folder: string;
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly narrative?: ReportFile;
  readonly ideas?: ProductIdeas;
  readonly at: Date;
}

/** Makes the complete files for the folder: research-report.md and the other documents. */
export type RenderDocuments = (
  input: DocumentsInput,
) => Promise<readonly { readonly name: string; readonly text: string }[]>;

/** A result that is about to be accepted. */
export interface Proposal {
  readonly iteration: number;
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  readonly summary: string;
  /** The folder with result.json. */
  readonly workspace: string;
  /** Whether this result completes the project. */
  readonly completes: boolean;
}

/** Folds a unit that code did without an agent. `judge` returns the result; undefined: code can't do this unit. */
export async function acceptSettled(
  options: Pick<AcceptOptions, "research" | "now" | "render" | "memory">,
  { ledger }: Pick<ResearchState, "ledger">,
  unit: Unit,
  judge: (
    work: UnitWork<Material, unknown>,
    judging: JudgingContext,
  ) => Promise<Acceptance | undefined> | Acceptance | undefined,
  prepareMs: number,
  tell: Tell,
): Promise<Outcome | undefined> {
  const { research } = options;
  const time = new Date(options.now());
  const iteration = research.nextIteration();
  const judging = { iteration, agent: "", at: time };
  const judged = await judge(await kindOf(unit).load(), judging);
  if (judged === undefined) return undefined;
  const { id, phase } = unit;
  const line = {
    iteration,
    at: time.toISOString(),
    unit: id,
    phase,
    outcome: "accepted",
    duration_seconds: 0,
  } as const;
  const ledgerLine = { ...line, prepare_seconds: toSeconds(prepareMs) };
  const files = [...(judged.files ?? []), ...(await documentsFor(options, ledger, judged, ledgerLine, time))];
  await research.fold({
    iteration,
    at: line.at,
    changes: [...judged.changes],
    ledger: { ...ledgerLine, ...judged.ledger },
    ...foldTexts(unit, judged, iteration),
    ...(files.length === 0 ? {} : { files }),
  });
  const { summary } = judged;
  await tell({ type: "settled", iteration, unit: id, phase, title: unit.title, summary });
  if (judged.notice !== undefined) await tell({ type: "notice", ...judged.notice });
  return { outcome: "accepted", summary, ...gradeOf(unit, judged) };
}

/** Judges the result of an agent, and folds or refuses it. */
export async function acceptRun(
  options: AcceptOptions,
  state: ResearchState,
  unit: Unit,
  run: AgentRun,
  briefBasis: BriefBasis,
  prepareMs: number | undefined,
  tell: Tell,
): Promise<Outcome> {
  const { research, workspaces, redact } = options;
  const time = new Date(options.now());
  const { iteration } = run;
  const { workspace } = run.brief;
  const { material } = briefBasis;
  const head = { iteration, at: time.toISOString() };
  const warn = (message: string) => tell({ type: "notice", level: "warning", message });
  const makeRecord = async (outcome: Outcome, ledger: Partial<LedgerLine> = {}, changes: readonly Change[] = []) => {
    const answer = await answerOfRun(run, outcome);
    return outcomeRecord(unit, run, outcome, { ...options, at: time, prepareMs, answer, ledger, changes });
  };

  if (run.failure !== undefined) {
    const outcome: Outcome = { outcome: "failed", failure: run.failure };
    await research.fold({
      ...(await makeRecord(outcome)),
      message: `${unit.id}: ${run.failure.kind}`,
      commitsLater: true,
    });
    await workspaces.remove(iteration);
    return outcome;
  }

  await saveAnswer(workspace, run.message);
  const check = run.free === true ? undefined : options.check;
  const judging = {
    iteration,
    agent: run.agent,
    at: time,
    redact,
    ...withoutUndefined({ check, second: options.sharing?.second }),
  };
  const partOutcome = await judgePart({
    state,
    unit,
    material,
    workspace,
    judging,
    sharing: options.sharing ?? {},
    redact: (text) => redact(text, material.text?.text),
  });
  const replacement = "instead" in partOutcome ? partOutcome.instead : undefined;
  if (partOutcome.warning !== undefined) await warn(partOutcome.warning);
  // If this result is refused, it is repaired from the file in the workspace.
  if (replacement !== undefined) await replaceResult(workspace, replacement.value);
  const judged =
    "reasons" in partOutcome || "note" in partOutcome
      ? { redacted: false, dropped: [], ...partOutcome }
      : partOutcome.judged === undefined
        ? await judge(state, unit, workspace, briefBasis, {
            ...judging,
            ...withoutUndefined({ agent: replacement?.agent }),
          })
        : { ...partOutcome.judged, ...partFlags(partOutcome) };
  const { redacted, dropped } = { ...judged, redacted: judged.redacted || partOutcome.redacted === true };
  if (redacted)
    await warn(
      `The result of ${run.agent} for ${unit.id} contained what looks like a secret of yours. It was removed, but change that secret: the agent may have sent it elsewhere.`,
    );
  if ("note" in judged) {
    const { note: value, summary } = judged;
    const { role = "", round = 1 } = unit;
    const basis = workBasisHash(state.rrd, kindOf(unit), unit.id);
    const kept_sha256 = await saveNotes(research.folder, { iteration, role, round, agent: run.agent, basis, value });
    const outcome: Outcome = { outcome: "noted", summary };
    const record = await makeRecord(outcome, { ...sentinelOf(false, saysComplete(run.message)), kept_sha256 });
    await research.fold({ ...record, message: `${unit.id}, ${role}: ${summary}` });
    await workspaces.remove(iteration);
    return outcome;
  }
  const reasons = "reasons" in judged ? judged.reasons : await vetoReasons(options, state, unit, run, judged);
  const sentinel = sentinelOf(isLastUnit(state, unit) && reasons.length === 0, saysComplete(run.message));
  if ("reasons" in judged || reasons.length > 0) {
    const outcome: Outcome = { outcome: "refused", reasons: [...reasons] };
    const refusal = refusalOf(state, unit, { ...head, reasons: [...reasons] }, material);
    const record = await makeRecord(outcome, sentinel, [refusal]);
    requireSpace(workspace);
    // A kept result would be sent to the model again for a repair, with the secret.
    if (redacted) await workspaces.remove(iteration);
    else {
      const place = await workspaces.keep(iteration);
      const message = `The refused result of iteration ${iteration} is kept in ${place}.`;
      if (place !== undefined) await tell({ type: "notice", level: "info", message });
    }
    await research.fold({ ...record, message: `${unit.id}: refused` });
    return outcome;
  }

  if (dropped.length > 0)
    await warn(
      `The result of ${run.agent} for ${unit.id} has fields that nobody asked for (${dropped.slice(0, 5).join(", ")}${dropped.length > 5 ? ", …" : ""}); they were dropped.`,
    );
  const outcome: Outcome = { outcome: "accepted", summary: judged.summary, ...gradeOf(unit, judged) };
  const droppedField = dropped.length === 0 ? {} : { dropped: dropped.slice(0, maxDropped) };
  const { changes, ...withPlugins } = await withPluginFields(judged, state, unit, iteration, options.addPluginFields);
  for (const notice of withPlugins.notices) await tell(notice);
  const record = await makeRecord(outcome, { ...sentinel, ...droppedField }, changes);
  await research.fold({
    ...record,
    ...foldTexts(unit, judged, iteration),
    ledger: { ...record.ledger, ...judged.ledger, ...withPlugins.ledger },
    files: [...(judged.files ?? []), ...(await documentsFor(options, state.ledger, judged, record.ledger, time))],
  });
  if (judged.notice !== undefined) await tell({ type: "notice", ...judged.notice });
  if (sentinel.sentinel === "false-claim")
    await warn(`${run.agent} said that all is done while work is left; the run goes on.`);
  // The ledger, as rrd.json may have lost refusals: somebody may have saved an older copy of it.
  const refused = state.ledger.filter((line) => line.unit === unit.id && line.outcome === "refused");
  for (const earlier of [...refused, run]) await workspaces.remove(earlier.iteration);
  return outcome;
}

/** The documents that change with a result, made from the state after it. */
async function documentsFor(
  { research, memory, render }: Pick<AcceptOptions, "research" | "memory" | "render">,
  earlierLines: readonly LedgerLine[],
  { toRender }: Acceptance,
  line: LedgerLine,
  at: Date,
): ReturnType<RenderDocuments> {
  if (toRender === undefined) return [];
  const ledger = [...earlierLines, line];
  return render({ folder: research.folder, ...toRender, rrd: derive(toRender.rrd, ledger, memory), ledger, at });
}

const grades = { presented: "high", insights_extracted: "middle", rejected: "low" } as const;

/** The grade of a paper by its decision; empty for other units. */
function gradeOf({ id }: Unit, { changes }: Acceptance): Pick<Extract<Outcome, { outcome: "accepted" }>, "grade"> {
  const status = changes.find((change) => change.in === "papers_pool" && change.id === id)?.set["status"];
  const grade = Object.entries(grades).find(([name]) => name === status)?.[1];
  return withoutUndefined({ grade });
}

/** Maximum number of dropped fields in a ledger line. */
const maxDropped = 20;

/** The ledger's field about an agent's claim that all work is done. */
export function sentinelOf(isComplete: boolean, claimsCompletion: boolean): Pick<LedgerLine, "sentinel"> {
  if (isComplete) return { sentinel: claimsCompletion ? "seen" : "absent" };
  return claimsCompletion ? { sentinel: "false-claim" } : {};
}

/** The reasons of hooks that veto a valid result. */
async function vetoReasons(
  { veto }: AcceptOptions,
  state: ResearchState,
  unit: Unit,
  { iteration, brief: { workspace } }: AgentRun,
  { summary }: Acceptance,
): Promise<string[]> {
  const { id, phase, title } = unit;
  const completes = isLastUnit(state, unit);
  const reasons = await veto({ iteration, unit: id, phase, title, summary, workspace, completes });
  return reasons.map((reason) => `a hook vetoed it: ${reason}`);
}

/** The texts about an accepted result for the commit and for progress.txt. */
const foldTexts = ({ id }: Unit, { summary, progress }: Acceptance, iteration: number) => ({
  message: `${id}: ${summary}`,
  progress: progressEntry(progress, iteration),
});

function refusalOf(
  { rrd }: ResearchState,
  { id }: Unit,
  refusal: { readonly iteration: number; readonly at: string; readonly reasons: string[] },
  { text }: Material,
): Change {
  if (paperOf(rrd, id) === undefined)
    return { in: "rrd", set: {}, was: {}, add: { refusals: [{ unit: id, ...refusal }] } };
  const read_depth = text?.depth ?? "abstract";
  return { in: "papers_pool", id, set: {}, was: {}, add: { refusals: [{ ...refusal, read_depth }] } };
}

/**
 * A judged result. `redacted`: something that looks like a secret of the user was removed. `dropped`: JSON pointers of
 * fields that the schema does not know.
 */
type Judged = (Acceptance | Rejection) & { readonly redacted: boolean; readonly dropped: readonly string[] };

const partFlags = ({ redacted = false, dropped = [] }: PartOutcome) => ({ redacted, dropped });

/** The input of a brief that is needed again to judge the result. */
export interface BriefBasis {
  readonly material: Material;
  /** Only for a repair: fields of the refused result that are kept. */
  readonly kept?: KeptFields;
}

/** Judges the result in a workspace: first by the schema, then by the rules of the unit. Changes nothing. */
export async function judge(
  state: ResearchState,
  unit: Unit,
  workspace: string,
  { material, kept }: BriefBasis,
  { redact: redactText, ...judging }: JudgingContext & Pick<AcceptOptions, "redact">,
): Promise<Judged> {
  const redact = (text: string): string => redactText(text, material.text?.text);
  const kind = kindOf(unit);
  // The agent of a repair has not seen the paper, so fields without a fault stay as they were.
  const checked = await readCheckedResult(kind.schema, join(workspace, resultName), redact, kept);
  if ("reasons" in checked) return checked;
  const { redacted, dropped, value } = checked;
  const work = await kind.load();
  return { redacted, dropped, ...(await work.judge(state, unit, value, material, { ...judging, redacted })) };
}
