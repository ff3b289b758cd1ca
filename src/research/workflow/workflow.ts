import { join } from "node:path";
import type { Paper, Refusal } from "../generated/rrd.js";
import { redactFor } from "../../engine/lib/redact.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { nothingSpent, plus } from "../../engine/loop/guards/budget.js";
import type { AgentRun, Brief, Notes, Notice, Outcome, Workflow } from "../../engine/loop/types.js";
import type { Protection } from "../folder/tamper/tamper-guard.js";
import type { Change, Fold, Research } from "../folder/research.js";
import type { Acceptable } from "./result/acceptance.js";
import { accountOf } from "./records/account.js";
import { judge } from "./accept.js";
import { keepAnswer } from "./result/answer-file.js";
import { type ServeTools, writeBrief } from "./brief/brief.js";
import { deferrals } from "./analysis/deferrals.js";
import type { Experience } from "./records/forecast.js";
import type { Material } from "./brief/material.js";
import { heedMessages } from "./apply-steering.js";
import { ledgerLine } from "./result/ledger-line.js";
import { isLastUnit, nextUnit } from "./records/next.js";
import { orVerdict } from "../../engine/loop/or-verdict.js";
import { memoryOf, observed, withSummary } from "./records/observations.js";
import { learnPatterns, readPatterns } from "./records/lessons.js";
import type { Prompt } from "./brief/prompt.js";
import { repairOf } from "./analysis/repair.js";
import { saysComplete } from "../../engine/loop/sentinel.js";
import { searchedAlone } from "./discovery/empty-batch.js";
import { openRefusals, progressOf, standingOf, timesTooFull, unitRefusals } from "./records/status.js";
import { type Library, paperOf, type ResearchState, type ResearchUnit } from "./records/state.js";
import { type Workspaces, requireSpace } from "./workspace.js";
import type { Clock } from "../../engine/lib/clock.js";
import { resultName } from "../folder/layout.js";

interface ResearchWorkflowOptions {
  readonly research: Research;
  readonly library: Library;
  readonly workspaces: Workspaces;
  readonly prompt: Prompt;
  /** Where AGENTS.md lies. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How to wait for a text that can't be had just now; aborting `signal` ends the wait. */
  readonly sleep: Clock["sleep"];
  readonly signal: AbortSignal;
  /** Move learned patterns into AGENTS.md as they come. */
  readonly learn: boolean;
  /** What forecasts rest on until the research has its own. */
  readonly experience?: Experience;
  /** Set where the agent takes tools. */
  readonly tools?: ServeTools;
  /** Filled by whoever opened the research; handed on to the loop. */
  readonly notices: Omit<Notice, "type" | "at">[];
  /** Set where nothing confines the agent: remembers the files around it, to be put back once it has ended. */
  readonly protect?: (iteration: number) => Promise<Protection>;
  /** Takes the user's secrets out of what an agent left. */
  readonly redact?: ReturnType<typeof redactFor>;
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
  /** Whether the research is complete with it. */
  readonly completes: boolean;
}

/** A research from DISCOVERY to COMPLETE: phases over rrd.json. */
export function researchWorkflow(options: ResearchWorkflowOptions): Workflow<ResearchState> {
  const { research, library, workspaces, prompt, root } = options;
  const materials = new Map<number, Material>();
  const protections = new Map<number, Protection>();
  const briefed = new Map<number, Paper>();
  const later = deferrals(options);
  let swept = false;
  let beside = nothingSpent;

  return {
    name: "research",
    load: () =>
      orVerdict(async () => {
        const loaded = await research.load();
        const heard = await heedMessages(research, options.now, options.redact ?? redactFor({}));
        options.notices.push(...heard);
        const { rrd, ledger } = heard.length === 0 ? loaded : await research.load();
        if (!swept) await workspaces.keepOnly(openRefusals(ledger));
        swept = true;
        return { rrd, ledger, standing: standingOf(rrd, ledger), deferred: later.current() };
      }),
    next: (state, inFlight) => nextUnit(state, inFlight, research.folder),
    progress: ({ rrd }) => progressOf(rrd),
    account: ({ rrd, ledger }) => ({ ...accountOf(rrd, ledger, options.experience), beside }),
    memory: ({ rrd, ledger }) => memoryOf(rrd, ledger),
    remember: async (compression) => {
      beside = plus(beside, { ...nothingSpent, tokens: compression.tokens, usd: compression.costUsd ?? 0 });
      await research.edit((rrd) => withSummary(rrd, compression), true);
    },
    notices: () => options.notices.splice(0),

    brief: (state, unit, notes) =>
      orVerdict(async () => {
        const paper = unit.kind === "paper" ? paperOf(state.rrd, unit.id) : undefined;
        const answer = paper === undefined ? undefined : await later.text(library, paper);
        if (answer === "later") {
          const reason = later.current().find(({ id }) => id === unit.id)?.reason;
          if (reason !== undefined)
            options.notices.push({ level: "warning", message: `"${unit.title}" is read later: ${reason}` });
          return answer;
        }
        const iteration = research.nextIteration();
        const workspace = await workspaces.create(iteration);
        const fetched: Library = answer === undefined ? library : { ...library, text: async () => answer };
        const { brief, material } = await briefFor(
          { folder: research.folder, root, prompt, library: fetched, workspaces, tools: options.tools },
          state,
          unit as ResearchUnit,
          notes,
          iteration,
          workspace,
        );
        // What was asked for it may be cut short when a run is ended. The guards then say why.
        if (
          options.signal.aborted ||
          (await searchedAlone(options, state, unit as ResearchUnit, material.batch, iteration))
        ) {
          await workspaces.remove(iteration);
          return "later";
        }
        materials.set(iteration, material);
        if (paper !== undefined) briefed.set(iteration, paper);
        // Last, as the brief itself fills the folder of texts.
        const protection = await options.protect?.(iteration);
        if (protection !== undefined) protections.set(iteration, protection);
        return brief;
      }),

    accept: (state, unit, run) =>
      orVerdict(async () => {
        const material = materials.get(run.iteration) ?? {};
        materials.delete(run.iteration);
        const paper = briefed.get(run.iteration);
        briefed.delete(run.iteration);
        for (const message of (await protections.get(run.iteration)?.putBack(run.agent)) ?? [])
          options.notices.push({ level: "warning", message });
        protections.delete(run.iteration);
        return settle(options, asBriefed(state, paper), unit as ResearchUnit, run, material);
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

/** The brief of one iteration, written into `workspace`. Also what `research-ralph brief` prints. */
export async function briefFor(
  where: { folder: string; root: string; prompt: Prompt; library: Library; workspaces: Workspaces; tools?: ServeTools },
  state: ResearchState,
  unit: ResearchUnit,
  notes: Notes,
  iteration: number,
  workspace: string,
): Promise<{ brief: Brief; material: Material }> {
  const last = refusalsOf(state, unit).at(-1);
  const reasons = notes.refusal ?? last?.reasons;
  const paper = unit.kind === "paper" ? paperOf(state.rrd, unit.id) : undefined;
  // The first refusal is answered by a short repair; a refused repair by the whole brief once more.
  const isFirst = refusalsOf(state, unit).length === 1;
  const answer = paper === undefined ? undefined : await where.library.text(paper);
  if (answer !== undefined && "unavailable" in answer && answer.transient === true)
    throw new ExpectedError(`${answer.unavailable} The paper is read later.`, 5);
  const text = answer !== undefined && "text" in answer ? answer.text : undefined;
  const repair =
    isFirst && last !== undefined
      ? await repairOf(where.workspaces.kept(last.iteration), last.reasons, text)
      : undefined;
  const context = { ...where, patterns: await readPatterns(where.folder) };
  const resultFile = join(where.workspaces.path(iteration), resultName);
  const parts = await writeBrief(context, state, unit, {
    workspace,
    resultFile,
    ...(answer === undefined ? {} : { answer }),
    ...(repair === undefined ? {} : { repair }),
    ...(reasons === undefined ? {} : { reasons }),
    notes,
    smaller: timesTooFull(state.ledger, unit.id),
  });
  const access = {
    web: parts.web,
    read: parts.read,
    everything: false,
    ...(parts.tools === undefined ? {} : { tools: parts.tools }),
  };
  return {
    brief: { iteration, text: parts.text, tokens: estimateTokens(parts.text), workspace, access },
    material: parts.material,
  };
}

const refusalsOf = ({ rrd, ledger }: ResearchState, unit: ResearchUnit): readonly Refusal[] =>
  unit.kind === "paper" ? (paperOf(rrd, unit.id)?.refusals ?? []) : unitRefusals(rrd, ledger, unit.id);

async function settle(
  options: ResearchWorkflowOptions,
  state: ResearchState,
  unit: ResearchUnit,
  run: AgentRun,
  material: Material,
): Promise<Outcome> {
  const { research, workspaces } = options;
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
      ledger: { ...ledgerLine(unit, run, at, "failed"), failure: kind, reasons: [message] },
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
  if (judged.redacted) options.notices.push({ level: "warning", message: secretFound(unit, run) });
  const reasons = "reasons" in judged ? [...judged.reasons] : await vetoed(options, state, unit, run, judged);
  if ("reasons" in judged || reasons.length > 0) {
    const outcome: Outcome = { outcome: "refused", reasons };
    const observation = await observed(unit, run, outcome, redact);
    await requireSpace(workspace);
    // A repair would send a kept one to the model again.
    if (judged.redacted) await workspaces.remove(run.iteration);
    else {
      const kept = await workspaces.keep(run.iteration);
      options.notices.push({
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
      ledger: { ...ledgerLine(unit, run, at, "refused"), reasons },
    });
    return outcome;
  }

  const outcome: Outcome = { outcome: "accepted", summary: judged.summary };
  const fold = accepted(state, unit, run, judged, at);
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

function accepted(state: ResearchState, unit: ResearchUnit, run: AgentRun, judged: Acceptable, at: Date): Fold {
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
      ...ledgerLine(unit, run, at, "accepted"),
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
