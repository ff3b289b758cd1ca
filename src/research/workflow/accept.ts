import { join } from "node:path";
import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import { keepNoted } from "../../engine/storage/noted.js";
import type { redactFor } from "../../engine/lib/redact.js";
import { inSeconds, ledgerLine } from "../../engine/loop/run-record/ledger-line.js";
import { saysComplete } from "../../engine/loop/sentinel.js";
import type { AgentRun, Outcome, Tell, Unit } from "../../engine/loop/types.js";
import { resultName } from "../../engine/lib/layout.js";
import type { Change, Fold, Research } from "../project-files/research.js";
import type { AnalysisResult } from "../generated/result-analysis.js";
import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { IdeationResult } from "../generated/result-ideation.js";
import type { ProductIdeas } from "../generated/product-ideas.js";
import type { ReportFile } from "../generated/report.js";
import type { ReportResult } from "../generated/result-report.js";
import type { Rrd } from "../generated/rrd.js";
import { uncheckedReading } from "../../text/evidence/check-evidence.js";
import { searchUntrusted } from "../full-text/reader-process.js";
import { acceptPaper, acceptRetractedPaper } from "../units/reading/judge-paper.js";
import type { Material } from "./brief/write-brief.js";
import { workBasis } from "./work-basis.js";
import { isLastUnit, paperOf, refusalsOf, type ResearchState, type ResearchUnit } from "../derived/status.js";
import { observed } from "../derived/observations.js";
import { derive } from "../derived/statistics.js";
import { checkFullText } from "../screening/eligibility/check-answers.js";
import { askedCriteria } from "../screening/eligibility/eligibility.js";
import { acceptDiscovery, acceptEmptyBatch } from "../units/screening/judge-batch.js";
import { checkedAnswers } from "../units/screening/screen-by-criteria.js";
import { acceptIdeas } from "../units/ideas/judge-ideas.js";
import { acceptSameReport } from "../units/report/close-update.js";
import { acceptReport } from "../units/report/judge-report.js";
import { type Acceptable, type Judging, type Unacceptable, schemaOf } from "../units/judged-result.js";
import { keepAnswer, readChecked, replaceResult } from "../../engine/storage/result-file.js";
import type { Combined } from "../units/screening/readers.js";
import { type Heard, judgePart } from "./judge-part.js";
import type { Sharing } from "../units/shared-unit.js";
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
  /** Asked before an acceptable result is folded in; every reason it gives refuses the result. */
  readonly veto: (proposal: Proposal) => Promise<readonly string[]>;
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

/**
 * What code alone does for a unit: it notes a batch that holds nothing for an agent, rejects a retracted paper, or
 * renders the report of an update in which no finding moved.
 */
export function judgeSettled(
  rrd: Rrd,
  unit: ResearchUnit,
  { batch, check, sameReport, retraction }: Material,
  judging: Judging,
): Acceptable {
  if (sameReport !== undefined) return acceptSameReport(rrd, sameReport, judging, retraction);
  const paper = paperOf(rrd, unit.id);
  if (paper !== undefined) return acceptRetractedPaper(paper, check, judging);
  if (batch === undefined) throw new Error(`${unit.id} was settled without a batch or a paper`);
  return acceptEmptyBatch(rrd, unit.id, batch, judging);
}

/** Folds what code alone has done for a unit, as an iteration without an agent. */
export async function acceptSettled(
  accepting: Pick<Accepting, "research" | "now" | "render" | "memory">,
  { rrd, ledger }: ResearchState,
  unit: ResearchUnit,
  material: Material,
  prepareMs: number,
  tell: Tell,
): Promise<Outcome> {
  const { research } = accepting;
  const at = new Date(accepting.now());
  const iteration = research.nextIteration();
  const judged = judgeSettled(rrd, unit, material, { iteration, agent: "", at });
  const { id, phase } = unit;
  const line = { iteration, at: at.toISOString(), unit: id, phase, outcome: "accepted", duration_seconds: 0 } as const;
  const whole = { ...line, prepare_seconds: inSeconds(prepareMs) };
  const files = [...(judged.files ?? []), ...(await documentsFor(accepting, ledger, judged, whole, at))];
  await research.fold(foldOf(unit, { ...judged, ...(files.length === 0 ? {} : { files }) }, whole));
  if (judged.notice !== undefined) await tell({ type: "notice", ...judged.notice });
  return { outcome: "accepted", summary: judged.summary, ...gradeOf(unit, judged) };
}

/** Judges what an agent left, and folds or refuses it. */
export async function acceptRun(
  accepting: Accepting,
  state: ResearchState,
  unit: ResearchUnit,
  run: AgentRun,
  material: Material,
  prepareMs: number | undefined,
  tell: Tell,
): Promise<Outcome> {
  const { research, workspaces, redact } = accepting;
  const at = new Date(accepting.now());
  const { iteration } = run;
  const { workspace } = run.brief;
  const head = { iteration, at: at.toISOString() };
  const warn = (message: string) => tell({ type: "notice", level: "warning", message });

  if (run.failure !== undefined) {
    const { kind, message } = run.failure;
    const outcome: Outcome = { outcome: "failed", failure: run.failure };
    await research.fold({
      ...head,
      message: `${unit.id}: ${kind}`,
      later: true,
      changes: await observed(unit, run, outcome, accepting),
      ledger: { ...ledgerLine(unit, run, at, "failed", prepareMs), failure: kind, reasons: [message] },
    });
    await workspaces.remove(iteration);
    return outcome;
  }

  await keepAnswer(workspace, run.message);
  const judging = { iteration, agent: run.agent, at, redact };
  const heard = await judgePart(accepting.sharing ?? {}, state, unit, workspace, { material, judging }, (text) =>
    redact(text, material.text?.text),
  );
  const instead = "instead" in heard ? heard.instead : undefined;
  if (heard.warning !== undefined) await warn(heard.warning);
  // A refused one is mended from what lies there.
  if (instead !== undefined) await replaceResult(workspace, instead.value);
  const judged =
    "reasons" in heard || "note" in heard
      ? { redacted: false, dropped: [], ...heard }
      : heard.combined === undefined
        ? await judge(state, unit, workspace, material, { ...judging, ...given({ agent: instead?.agent }) })
        : { ...acceptReaders(state, unit, material, heard.combined, judging), ...told(heard) };
  const { redacted, dropped } = { ...judged, redacted: judged.redacted || heard.redacted === true };
  if (redacted)
    await warn(
      `The result of ${run.agent} for ${unit.id} contained what looks like a secret of yours. It was removed, but change that secret: the agent may have sent it elsewhere.`,
    );
  if ("note" in judged) {
    const { note: value, summary } = judged;
    const { role = "", round = 1 } = unit;
    const basis = workBasis(state.rrd, unit);
    const kept_sha256 = await keepNoted(research.folder, { iteration, role, round, agent: run.agent, basis, value });
    const line = { ...ledgerLine(unit, run, at, "noted", prepareMs), ...sentinelOf(false, saysComplete(run.message)) };
    const said = `${unit.id}, ${role}: ${summary}`;
    await research.fold({ ...head, message: said, changes: [], ledger: { ...line, kept_sha256 } });
    await workspaces.remove(iteration);
    return { outcome: "noted", summary };
  }
  const reasons = "reasons" in judged ? judged.reasons : await vetoes(accepting, state, unit, run, judged);
  const line = {
    ...ledgerLine(unit, run, at, "reasons" in judged || reasons.length > 0 ? "refused" : "accepted", prepareMs),
    ...sentinelOf(isLastUnit(state, unit) && reasons.length === 0, saysComplete(run.message)),
  };
  if ("reasons" in judged || reasons.length > 0) {
    const outcome: Outcome = { outcome: "refused", reasons: [...reasons] };
    const observation = await observed(unit, run, outcome, accepting);
    requireSpace(workspace);
    // A repair would send a kept one to the model again.
    if (redacted) await workspaces.remove(iteration);
    else {
      const message = `The refused result of iteration ${iteration} is kept in ${await workspaces.keep(iteration)}.`;
      await tell({ type: "notice", level: "info", message });
    }
    await research.fold({
      ...head,
      message: `${unit.id}: refused`,
      changes: [refusalOf(state, unit, { ...head, reasons: [...reasons] }, material), ...observation],
      ledger: { ...line, reasons: [...reasons] },
    });
    return outcome;
  }

  if (dropped.length > 0)
    await warn(
      `The result of ${run.agent} for ${unit.id} has fields that nobody asked for (${dropped.slice(0, 5).join(", ")}${dropped.length > 5 ? ", …" : ""}); they were dropped.`,
    );
  const outcome: Outcome = { outcome: "accepted", summary: judged.summary, ...gradeOf(unit, judged) };
  const whole = { ...line, ...(dropped.length === 0 ? {} : { dropped: dropped.slice(0, maxDropped) }) };
  const fold = foldOf(
    unit,
    {
      ...judged,
      files: [...(judged.files ?? []), ...(await documentsFor(accepting, state.ledger, judged, whole, at))],
    },
    whole,
  );
  await research.fold({ ...fold, changes: [...fold.changes, ...(await observed(unit, run, outcome, accepting))] });
  if (judged.notice !== undefined) await tell({ type: "notice", ...judged.notice });
  if (line.sentinel === "false-claim")
    await warn(`${run.agent} said that all is done while work is left; the run goes on.`);
  for (const past of [...refusalsOf(state, unit), run]) await workspaces.remove(past.iteration);
  return outcome;
}

/** What people read of a result, made of the state as it will be. */
async function documentsFor(
  { research, memory, render }: Pick<Accepting, "research" | "memory" | "render">,
  before: readonly LedgerLine[],
  { shows }: Acceptable,
  line: LedgerLine,
  at: Date,
): ReturnType<RenderDocuments> {
  if (shows === undefined) return [];
  const ledger = [...before, line];
  return render({ folder: research.folder, ...shows, rrd: derive(shows.rrd, ledger, memory), ledger, at });
}

const grades = { presented: "high", insights_extracted: "middle", rejected: "low" } as const;

/** What the decision on a paper says of it; nothing of any other unit. */
function gradeOf(
  { id }: ResearchUnit,
  { changes }: Acceptable,
): Pick<Extract<Outcome, { outcome: "accepted" }>, "grade"> {
  const status = changes.find((change) => change.in === "papers_pool" && change.id === id)?.set["status"];
  const grade = Object.entries(grades).find(([name]) => name === status)?.[1];
  return given({ grade });
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
  unit: ResearchUnit,
  { iteration, brief: { workspace } }: AgentRun,
  { summary }: Acceptable,
): Promise<string[]> {
  const { id, phase, title } = unit;
  const completes = isLastUnit(state, unit);
  const reasons = await veto({ iteration, unit: id, phase, title, summary, workspace, completes });
  return reasons.map((reason) => `a hook vetoed it: ${reason}`);
}

const foldOf = ({ id }: Unit, judged: Acceptable, line: LedgerLine): Fold => ({
  iteration: line.iteration,
  at: line.at,
  message: `${id}: ${judged.summary}`,
  changes: [...judged.changes],
  progress: `---\n\n${judged.progress.trimEnd()}\n\nIteration: ${line.iteration}\n\n`,
  ledger: { ...line, ...judged.ledger },
  ...(judged.files === undefined ? {} : { files: [...judged.files] }),
});

function refusalOf(
  { rrd }: ResearchState,
  { id }: ResearchUnit,
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
type Judged = (Acceptable | Unacceptable) & { readonly redacted: boolean; readonly dropped: readonly string[] };

const told = ({ redacted = false, dropped = [] }: Heard) => ({ redacted, dropped });

/** What several agents that screened a batch, each alone, come to. */
const acceptReaders = (
  { rrd }: ResearchState,
  { id }: ResearchUnit,
  { batch = { candidates: [], sources: [], duplicates: [] } }: Material,
  combined: Combined,
  judging: Judging,
): Acceptable | Unacceptable =>
  acceptDiscovery(
    rrd,
    id,
    combined.result,
    { ...batch, candidates: combined.candidates },
    judging,
    combined.answers,
    combined,
  );

/** Judges what an agent left in its workspace: first the schema, then the rules of the unit. Changes nothing. */
export async function judge(
  state: ResearchState,
  unit: ResearchUnit,
  workspace: string,
  material: Material,
  { redact: takeOut, ...judging }: Judging & Pick<Accepting, "redact">,
): Promise<Judged> {
  const redact = (text: string): string => takeOut(text, material.text?.text);
  // The agent of a repair has not seen the paper: what nobody found fault with stays as it was read.
  const read = await readChecked(schemaOf[unit.kind], join(workspace, resultName), redact, material.kept);
  if ("reasons" in read) return read;
  const { redacted, dropped, value } = read;
  return { redacted, dropped, ...(await judgeValid(state, unit, value, material, { ...judging, redacted })) };
}

async function judgeValid(
  { rrd }: ResearchState,
  unit: ResearchUnit,
  value: unknown,
  material: Material,
  judging: Judging,
): Promise<Acceptable | Unacceptable> {
  switch (unit.kind) {
    case "discovery": {
      const batch = material.batch ?? { candidates: [], sources: [], duplicates: [] };
      const result = value as DiscoveryResult;
      return acceptDiscovery(rrd, unit.id, result, batch, judging, await checkedAnswers(rrd, result, batch));
    }
    case "report":
      return acceptReport(rrd, value as ReportResult, judging, material.retraction);
    case "ideas":
      return acceptIdeas(rrd, value as IdeationResult, judging);
    case "paper": {
      const paper = paperOf(rrd, unit.id);
      if (paper === undefined) return { reasons: [`the paper ${unit.id} is no longer in the pool`] };
      const reading = value as AnalysisResult;
      const { evidence, results } = reading;
      const search = await searchUntrusted("checkReading", evidence, results, material.text, paper.abstract);
      const checked = "cut" in search ? uncheckedReading(evidence, search.cut) : search.value;
      const criteria = askedCriteria(rrd, paper);
      const answers = await checkFullText(criteria, reading.criteria, material.text, paper);
      return acceptPaper(rrd, paper, reading, material, judging, checked, answers);
    }
  }
}
