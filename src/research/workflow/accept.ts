import { join } from "node:path";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { saveNotes } from "../../engine/storage/agent-notes.js";
import type { redactFor } from "../../engine/lib/redact.js";
import { inSeconds } from "../../engine/loop/run-record/ledger-line.js";
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
import { keepAnswer, type Kept, readChecked, replaceResult } from "../../engine/storage/result-file.js";
import { paperOf, refusalsOf } from "../derived/status.js";
import type { Acceptance, CheckWish, JudgingContext, Rejection } from "../units/judged-result.js";
import { isLastUnit, kindOf, workBasis } from "../units/kinds.js";
import type { PartOutcome, Material, ResearchState, Sharing, UnitWork } from "../units/unit-kind.js";
import { derive } from "./derive.js";
import { type Remake, withFieldsBeside } from "./fields-beside.js";
import { judgePart } from "./judge-part.js";
import { requireSpace, type Workspaces } from "./workspace.js";

/** What results are folded into, and who is asked before. */
export interface Accepting {
  readonly research: Research;
  readonly workspaces: Workspaces;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Takes the user's secrets out of what an agent left. */
  readonly redact: ReturnType<typeof redactFor>;
  readonly memory: HistoryLimits;
  /** Makes the documents that people read of a project. */
  readonly render: RenderDocuments;
  /** Which units several agents share. */
  readonly sharing?: Sharing;
  /** What a second reader checks of what a model writes; absent: nothing. */
  readonly check?: CheckWish;
  /** Asked before an acceptable result is folded in; every reason it gives refuses the result. */
  readonly veto: (proposal: Proposal) => Promise<readonly string[]>;
  /** Absent: nobody puts anything beside what an agent has made. */
  readonly remake?: Remake;
}

/** What the documents of a project are made of; what is absent stands in the folder. */
export interface Shown {
  readonly folder: string;
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
  readonly narrative?: ReportFile;
  readonly ideas?: ProductIdeas;
  readonly at: Date;
}

/** Makes whole files of the folder from it: research-report.md and what stands next to it. */
export type RenderDocuments = (shown: Shown) => Promise<readonly { readonly name: string; readonly text: string }[]>;

/** A result that is about to be accepted. */
export interface Proposal {
  readonly iteration: number;
  readonly unit: string;
  readonly phase: string;
  readonly title: string;
  readonly summary: string;
  /** Holds result.json. */
  readonly workspace: string;
  /** Whether the project is complete with it. */
  readonly completes: boolean;
}

/** Folds what code alone has done for a unit, as an iteration without an agent. `judge`: what of it is written. */
export async function acceptSettled(
  accepting: Pick<Accepting, "research" | "now" | "render" | "memory">,
  { ledger }: Pick<ResearchState, "ledger">,
  unit: Unit,
  judge: (
    work: UnitWork<Material, unknown>,
    judging: JudgingContext,
  ) => Promise<Acceptance | undefined> | Acceptance | undefined,
  prepareMs: number,
  tell: Tell,
): Promise<Outcome | undefined> {
  const { research } = accepting;
  const at = new Date(accepting.now());
  const iteration = research.nextIteration();
  const judging = { iteration, agent: "", at };
  const judged = await judge(await kindOf(unit).load(), judging);
  if (judged === undefined) return undefined;
  const { id, phase } = unit;
  const line = { iteration, at: at.toISOString(), unit: id, phase, outcome: "accepted", duration_seconds: 0 } as const;
  const whole = { ...line, prepare_seconds: inSeconds(prepareMs) };
  const files = [...(judged.files ?? []), ...(await documentsFor(accepting, ledger, judged, whole, at))];
  await research.fold({
    iteration,
    at: line.at,
    changes: [...judged.changes],
    ledger: { ...whole, ...judged.ledger },
    ...inWords(unit, judged, iteration),
    ...(files.length === 0 ? {} : { files }),
  });
  const { summary } = judged;
  await tell({ type: "settled", iteration, unit: id, phase, title: unit.title, summary });
  if (judged.notice !== undefined) await tell({ type: "notice", ...judged.notice });
  return { outcome: "accepted", summary, ...gradeOf(unit, judged) };
}

/** Judges what an agent left, and folds or refuses it. */
export async function acceptRun(
  accepting: Accepting,
  state: ResearchState,
  unit: Unit,
  run: AgentRun,
  briefed: Briefed,
  prepareMs: number | undefined,
  tell: Tell,
): Promise<Outcome> {
  const { research, workspaces, redact } = accepting;
  const at = new Date(accepting.now());
  const { iteration } = run;
  const { workspace } = run.brief;
  const { material } = briefed;
  const head = { iteration, at: at.toISOString() };
  const warn = (message: string) => tell({ type: "notice", level: "warning", message });
  const recordOf = async (outcome: Outcome, ledger: Partial<LedgerLine> = {}, changes: readonly Change[] = []) => {
    const left = await answerOfRun(run, outcome);
    return outcomeRecord(unit, run, outcome, { ...accepting, at, prepareMs, left, ledger, changes });
  };

  if (run.failure !== undefined) {
    const outcome: Outcome = { outcome: "failed", failure: run.failure };
    await research.fold({ ...(await recordOf(outcome)), message: `${unit.id}: ${run.failure.kind}`, later: true });
    await workspaces.remove(iteration);
    return outcome;
  }

  await keepAnswer(workspace, run.message);
  const check = run.free === true ? undefined : accepting.check;
  const judging = {
    iteration,
    agent: run.agent,
    at,
    redact,
    ...withoutUndefined({ check, second: accepting.sharing?.second }),
  };
  const heard = await judgePart({
    state,
    unit,
    material,
    workspace,
    judging,
    sharing: accepting.sharing ?? {},
    redact: (text) => redact(text, material.text?.text),
  });
  const instead = "instead" in heard ? heard.instead : undefined;
  if (heard.warning !== undefined) await warn(heard.warning);
  // A refused one is mended from what lies there.
  if (instead !== undefined) await replaceResult(workspace, instead.value);
  const judged =
    "reasons" in heard || "note" in heard
      ? { redacted: false, dropped: [], ...heard }
      : heard.judged === undefined
        ? await judge(state, unit, workspace, briefed, { ...judging, ...withoutUndefined({ agent: instead?.agent }) })
        : { ...heard.judged, ...told(heard) };
  const { redacted, dropped } = { ...judged, redacted: judged.redacted || heard.redacted === true };
  if (redacted)
    await warn(
      `The result of ${run.agent} for ${unit.id} contained what looks like a secret of yours. It was removed, but change that secret: the agent may have sent it elsewhere.`,
    );
  if ("note" in judged) {
    const { note: value, summary } = judged;
    const { role = "", round = 1 } = unit;
    const basis = workBasis(state.rrd, kindOf(unit), unit.id);
    const kept_sha256 = await saveNotes(research.folder, { iteration, role, round, agent: run.agent, basis, value });
    const outcome: Outcome = { outcome: "noted", summary };
    const record = await recordOf(outcome, { ...sentinelOf(false, saysComplete(run.message)), kept_sha256 });
    await research.fold({ ...record, message: `${unit.id}, ${role}: ${summary}` });
    await workspaces.remove(iteration);
    return outcome;
  }
  const reasons = "reasons" in judged ? judged.reasons : await vetoes(accepting, state, unit, run, judged);
  const sentinel = sentinelOf(isLastUnit(state, unit) && reasons.length === 0, saysComplete(run.message));
  if ("reasons" in judged || reasons.length > 0) {
    const outcome: Outcome = { outcome: "refused", reasons: [...reasons] };
    const refusal = refusalOf(state, unit, { ...head, reasons: [...reasons] }, material);
    const record = await recordOf(outcome, sentinel, [refusal]);
    requireSpace(workspace);
    // A repair would send a kept one to the model again.
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
  const without = dropped.length === 0 ? {} : { dropped: dropped.slice(0, maxDropped) };
  const { changes, ...beside } = await withFieldsBeside(judged, state, unit, iteration, accepting.remake);
  for (const each of beside.told) await tell(each);
  const record = await recordOf(outcome, { ...sentinel, ...without }, changes);
  await research.fold({
    ...record,
    ...inWords(unit, judged, iteration),
    ledger: { ...record.ledger, ...judged.ledger, ...beside.ledger },
    files: [...(judged.files ?? []), ...(await documentsFor(accepting, state.ledger, judged, record.ledger, at))],
  });
  if (judged.notice !== undefined) await tell({ type: "notice", ...judged.notice });
  if (sentinel.sentinel === "false-claim")
    await warn(`${run.agent} said that all is done while work is left; the run goes on.`);
  for (const past of [...refusalsOf(state, unit), run]) await workspaces.remove(past.iteration);
  return outcome;
}

/** What people read of a result, made of the state as it will be. */
async function documentsFor(
  { research, memory, render }: Pick<Accepting, "research" | "memory" | "render">,
  before: readonly LedgerLine[],
  { toRender }: Acceptance,
  line: LedgerLine,
  at: Date,
): ReturnType<RenderDocuments> {
  if (toRender === undefined) return [];
  const ledger = [...before, line];
  return render({ folder: research.folder, ...toRender, rrd: derive(toRender.rrd, ledger, memory), ledger, at });
}

const grades = { presented: "high", insights_extracted: "middle", rejected: "low" } as const;

/** What the decision on a paper says of it; nothing of any other unit. */
function gradeOf({ id }: Unit, { changes }: Acceptance): Pick<Extract<Outcome, { outcome: "accepted" }>, "grade"> {
  const status = changes.find((change) => change.in === "papers_pool" && change.id === id)?.set["status"];
  const grade = Object.entries(grades).find(([name]) => name === status)?.[1];
  return withoutUndefined({ grade });
}

/** Dropped fields that a ledger line names. */
const maxDropped = 20;

/** What the ledger says of an agent's claim that all is done. */
export function sentinelOf(isComplete: boolean, said: boolean): Pick<LedgerLine, "sentinel"> {
  if (isComplete) return { sentinel: said ? "seen" : "absent" };
  return said ? { sentinel: "false-claim" } : {};
}

/** Why the user's own hooks refuse what would be accepted. */
async function vetoes(
  { veto }: Accepting,
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

/** What the commit and progress.txt say of what was accepted. */
const inWords = ({ id }: Unit, { summary, progress }: Acceptance, iteration: number) => ({
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
 * What came of judging a result. `redacted`: something that looks like a secret of the user's was taken out before
 * anything else. `dropped`: JSON pointers of fields that the schema does not know.
 */
type Judged = (Acceptance | Rejection) & { readonly redacted: boolean; readonly dropped: readonly string[] };

const told = ({ redacted = false, dropped = [] }: PartOutcome) => ({ redacted, dropped });

/** What a brief was made from, wanted again when its result is judged. */
export interface Briefed {
  readonly material: Material;
  /** Of a repair: fields of the refused result that stay as they are. */
  readonly kept?: Kept;
}

/** Judges what an agent left in its workspace: first the schema, then the rules of the unit. Changes nothing. */
export async function judge(
  state: ResearchState,
  unit: Unit,
  workspace: string,
  { material, kept }: Briefed,
  { redact: takeOut, ...judging }: JudgingContext & Pick<Accepting, "redact">,
): Promise<Judged> {
  const redact = (text: string): string => takeOut(text, material.text?.text);
  const kind = kindOf(unit);
  // The agent of a repair has not seen the paper: what nobody found fault with stays as it was read.
  const read = await readChecked(kind.schema, join(workspace, resultName), redact, kept);
  if ("reasons" in read) return read;
  const { redacted, dropped, value } = read;
  const work = await kind.load();
  return { redacted, dropped, ...(await work.judge(state, unit, value, material, { ...judging, redacted })) };
}
