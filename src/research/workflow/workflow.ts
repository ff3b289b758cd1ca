import { join } from "node:path";
import type { Paper, Refusal } from "../generated/rrd.js";
import type { redactFor } from "../../engine/lib/redact.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { nothingSpent, plus } from "../../engine/loop/guards/budget.js";
import type { AgentRun, Brief, Notes, Outcome, Tell, Verdict, Workflow } from "../../engine/loop/types.js";
import type { TamperGuard } from "../folder/tamper/tamper-guard.js";
import type { Change, Fold, Research } from "../folder/research.js";
import type { Acceptable } from "./result/accepted-result.js";
import { accountOf } from "./derived/account.js";
import { judge } from "./result/judge-result.js";
import { keepAnswer } from "./result/answer-file.js";
import { type ServeTools, writeBrief } from "./brief/brief.js";
import { acceptRetractedPaper } from "./analysis/retracted-paper.js";
import { acceptEmptyBatch } from "./discovery/empty-batch.js";
import type { Experience } from "./derived/forecast.js";
import type { Material } from "./brief/material.js";
import { loadSteered } from "./apply-steering.js";
import { ledgerLine } from "./result/ledger-line.js";
import { isLastUnit, nextUnit } from "./decisions/next-unit.js";
import { orVerdict } from "../../engine/loop/or-verdict.js";
import { memoryOf, observed, withSummary } from "./derived/observations.js";
import { learnPatterns, readPatterns } from "./derived/lessons.js";
import { isStale, type PreparedUnit, prepareUnit } from "./prepare.js";
import type { Prompt } from "./brief/prompt.js";
import { repairFor } from "./analysis/repair.js";
import { saysComplete } from "../../engine/loop/sentinel.js";
import { openRefusals, progressOf, statusOf, timesTooFull } from "./decisions/status.js";
import { type Library, paperOf, refusalsOf, type ResearchState, type ResearchUnit } from "./derived/state.js";
import { type Workspaces, requireSpace } from "./workspace.js";
import type { Clock } from "../../engine/lib/clock.js";
import { resultName } from "../folder/layout.js";
import { given } from "../../engine/lib/given.js";

interface ResearchWorkflowOptions {
  readonly research: Research;
  readonly library: Library;
  readonly workspaces: Workspaces;
  readonly prompt: Prompt;
  /** Where AGENTS.md lies. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How to wait for a text that can't be had just now. */
  readonly sleep: Clock["sleep"];
  readonly tell: Tell;
  /** Move learned patterns into AGENTS.md as they come. */
  readonly learn: boolean;
  /** What forecasts rest on until the project has its own. */
  readonly experience?: Experience;
  /** Set where the agent takes tools. */
  readonly tools?: ServeTools;
  /** Set where nothing confines the agent: remembers the files around it, to be put back once it has ended. */
  readonly guardFiles?: (iteration: number) => Promise<TamperGuard>;
  /** Takes the user's secrets out of what an agent left. */
  readonly redact?: ReturnType<typeof redactFor>;
  /** Puts the project away at the end of the run. */
  readonly close?: (verdict?: Verdict) => Promise<void>;
  /** Asked before an acceptable result is folded in; every reason it gives refuses the result. */
  readonly veto?: (proposal: Proposal) => Promise<readonly string[]>;
}

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

/** What a brief knew, wanted again when its result is judged. */
interface BriefContext {
  readonly material: Material;
  /** The unit's record as it was then. */
  readonly paper?: Paper;
  /** Puts back what an agent that nothing confines has changed around it. */
  readonly tamperGuard?: TamperGuard;
}

type Phases = Workflow<ResearchState, ResearchUnit, PreparedUnit, BriefContext>;
export type ResearchWorkflow = Phases & Required<Pick<Phases, "prepare">>;

/** A project from DISCOVERY to COMPLETE: phases over rrd.json. */
export function researchWorkflow(options: ResearchWorkflowOptions): ResearchWorkflow {
  const { research, library, workspaces, root, tell } = options;
  let swept = false;
  let beside = nothingSpent;
  /** Until then a busy host is not waited for: with the network away every paper would cost the waits, not only the first. */
  let impatientUntil = 0;

  return {
    name: "research",
    load: () =>
      orVerdict(async () => {
        const { rrd, ledger } = await loadSteered(research, options);
        if (!swept) await workspaces.keepOnly(openRefusals(ledger));
        swept = true;
        return { rrd, ledger, status: statusOf(rrd, ledger) };
      }),
    next: (state, busy, later) => nextUnit(state, busy, later, research.folder),
    progress: ({ rrd }) => progressOf(rrd),
    account: ({ rrd, ledger }) => ({ ...accountOf(rrd, ledger, options.experience), beside }),
    memory: ({ rrd, ledger }) => memoryOf(rrd, ledger),
    remember: async (compression) => {
      beside = plus(beside, { ...nothingSpent, tokens: compression.tokens, usd: compression.cost_usd ?? 0 });
      await research.edit((rrd) => withSummary(rrd, compression), true);
    },
    close: options.close,

    prepare: (state, unit, work) =>
      orVerdict(async () => {
        const { now, sleep } = options;
        const outside = { library, workspaces, now, sleep, isPatient: now() >= impatientUntil };
        const prepared = await prepareUnit(outside, state, unit, work);
        if ("later" in prepared && !work.signal.aborted) impatientUntil = prepared.later.until;
        return prepared;
      }),

    brief: (state, unit, prepared, notes) =>
      orVerdict(async () => {
        if (isStale(state, unit, prepared)) return "stale";
        const paper = unit.kind === "paper" ? paperOf(state.rrd, unit.id) : undefined;
        const iteration = research.nextIteration();
        const workspace = await workspaces.create(iteration);
        const where = { ...options, folder: research.folder, root, services: library.services };
        const { brief, material } = await briefFor(where, state, unit, prepared.material, notes, iteration, workspace);
        // Last, as the brief itself fills the folder of texts.
        const tamperGuard = await options.guardFiles?.(iteration);
        const context = { material, ...given({ paper, tamperGuard }) };
        return { brief, context };
      }),

    accept: (state, unit, done, work) =>
      orVerdict(async () => {
        if ("prepared" in done) {
          if (isStale(state, unit, done.prepared)) return "stale";
          const { batch, check } = done.prepared.material;
          if (unit.kind === "paper")
            return await acceptRetractedPaper(options, state, unit, check, done.prepareMs, work);
          if (batch === undefined) throw new Error(`${unit.id} was settled without a batch`);
          return await acceptEmptyBatch(options, state, unit, batch, done.prepareMs, work);
        }
        const { run, context, prepareMs } = done;
        for (const message of (await context.tamperGuard?.undoTampering(run.agent)) ?? [])
          await tell({ type: "notice", level: "warning", message });
        return await acceptRun(options, asBriefed(state, context.paper), unit, run, context.material, prepareMs);
      }),
  };
}

/**
 * The state with one record as it was when its brief was written. While others were folded in, a person may have changed it, and that
 * is to be seen as a change.
 */
function asBriefed(state: ResearchState, paper: Paper | undefined): ResearchState {
  const { rrd } = state;
  if (paper === undefined || paperOf(rrd, paper.id) === undefined) return state;
  return {
    ...state,
    rrd: { ...rrd, papers_pool: rrd.papers_pool.map((each) => (each.id === paper.id ? paper : each)) },
  };
}

/** The brief of one iteration, written into `workspace`. Reads the disk and nothing else. Also what `research-ralph brief` prints. */
export async function briefFor(
  where: {
    folder: string;
    root: string;
    prompt: Prompt;
    services: Library["services"];
    workspaces: Pick<Workspaces, "kept" | "path">;
    tools?: ServeTools;
  },
  state: ResearchState,
  unit: ResearchUnit,
  material: Material,
  notes: Notes,
  iteration: number,
  workspace: string,
): Promise<{ brief: Brief; material: Material }> {
  const reasons = notes.refusal ?? refusalsOf(state, unit).at(-1)?.reasons;
  const repair = await repairFor(where.workspaces, state, unit, material.text);
  const context = { ...where, patterns: await readPatterns(where.folder) };
  const resultFile = join(where.workspaces.path(iteration), resultName);
  const parts = await writeBrief(context, state, unit, {
    workspace,
    resultFile,
    material,
    ...given({ repair, reasons }),
    notes,
    smaller: timesTooFull(state.ledger, unit.id),
  });
  const access = { web: parts.web, read: parts.read, everything: false, ...given({ tools: parts.tools }) };
  return {
    brief: { iteration, text: parts.text, tokens: estimateTokens(parts.text), workspace, access },
    material: parts.material,
  };
}

/** Judges what an agent left, and folds or refuses it. */
async function acceptRun(
  options: ResearchWorkflowOptions,
  state: ResearchState,
  unit: ResearchUnit,
  run: AgentRun,
  material: Material,
  prepareMs: number | undefined,
): Promise<Outcome> {
  const { research, workspaces, tell } = options;
  const at = new Date(options.now());
  const { workspace } = run.brief;

  if (run.failure !== undefined) {
    const { kind, message } = run.failure;
    const outcome: Outcome = { outcome: "failed", failure: run.failure };
    await research.fold({
      iteration: run.iteration,
      at: at.toISOString(),
      message: `${unit.id}: ${kind}`,
      later: true,
      changes: await observed(unit, run, outcome, options.redact),
      ledger: { ...ledgerLine(unit, run, at, "failed", prepareMs), failure: kind, reasons: [message] },
    });
    await workspaces.remove(run.iteration);
    return outcome;
  }

  await keepAnswer(workspace, run.message);
  const patterns = await readPatterns(research.folder);
  const { redact } = options;
  const judged = await judge(state, unit, workspace, material, patterns, {
    iteration: run.iteration,
    agent: run.agent,
    at,
    redact,
  });
  if (judged.redacted) await tell({ type: "notice", level: "warning", message: secretFound(unit, run) });
  const reasons = "reasons" in judged ? [...judged.reasons] : await vetoed(options, state, unit, run, judged);
  if ("reasons" in judged || reasons.length > 0) {
    const outcome: Outcome = { outcome: "refused", reasons };
    const observation = await observed(unit, run, outcome, redact);
    await requireSpace(workspace);
    // A repair would send a kept one to the model again.
    if (judged.redacted) await workspaces.remove(run.iteration);
    else {
      const kept = await workspaces.keep(run.iteration);
      await tell({
        type: "notice",
        level: "info",
        message: `The refused result of iteration ${run.iteration} is kept in ${kept}.`,
      });
    }
    await research.fold({
      iteration: run.iteration,
      at: at.toISOString(),
      message: `${unit.id}: refused`,
      changes: [
        refusalChange(state, unit, { iteration: run.iteration, at: at.toISOString(), reasons }),
        ...observation,
      ],
      ledger: { ...ledgerLine(unit, run, at, "refused", prepareMs), reasons },
    });
    return outcome;
  }

  const outcome: Outcome = { outcome: "accepted", summary: judged.summary };
  const fold = accepted(state, unit, run, judged, at, prepareMs);
  await research.fold({ ...fold, changes: [...fold.changes, ...(await observed(unit, run, outcome, redact))] });
  if (options.learn) await learnPatterns(options.root, await readPatterns(research.folder));
  for (const { iteration } of [...refusalsOf(state, unit), run]) await workspaces.remove(iteration);
  return outcome;
}

/** Why the user's own hooks refuse what would be accepted. */
async function vetoed(
  options: ResearchWorkflowOptions,
  state: ResearchState,
  unit: ResearchUnit,
  run: AgentRun,
  { summary }: Acceptable,
): Promise<string[]> {
  const { id, phase, title } = unit;
  const { iteration, brief } = run;
  const vetoes = await options.veto?.({
    iteration,
    unit: id,
    phase,
    title,
    summary,
    workspace: brief.workspace,
    completes: isLastUnit(state, unit),
  });
  return (vetoes ?? []).map((reason) => `a hook vetoed it: ${reason}`);
}

const secretFound = (unit: ResearchUnit, { agent }: AgentRun): string =>
  `The result of ${agent} for ${unit.id} contained what looks like a secret of yours. It was removed, but change that secret: the agent may have sent it elsewhere.`;

function accepted(
  state: ResearchState,
  unit: ResearchUnit,
  run: AgentRun,
  judged: Acceptable,
  at: Date,
  prepareMs: number | undefined,
): Fold {
  const isLast = isLastUnit(state, unit);
  const said = saysComplete(run.message);
  const sentinel = isLast ? (said ? "seen" : "absent") : said ? "false-claim" : undefined;
  return {
    iteration: run.iteration,
    at: at.toISOString(),
    message: `${unit.id}: ${judged.summary}`,
    changes: [...judged.changes],
    progress: `---\n\n${judged.progress.trimEnd()}\n\nIteration: ${run.iteration}\n\n`,
    ledger: {
      ...ledgerLine(unit, run, at, "accepted", prepareMs),
      ...judged.ledger,
      ...(sentinel === undefined ? {} : { sentinel }),
    },
    ...(judged.files === undefined ? {} : { files: [...judged.files] }),
  };
}

function refusalChange({ rrd }: ResearchState, unit: ResearchUnit, refusal: Refusal): Change {
  const paper = unit.kind === "paper" ? paperOf(rrd, unit.id) : undefined;
  if (paper !== undefined) return { in: "papers_pool", id: paper.id, set: {}, was: {}, add: { refusals: [refusal] } };
  return { in: "rrd", set: {}, was: {}, add: { refusals: [{ unit: unit.id, ...refusal }] } };
}
