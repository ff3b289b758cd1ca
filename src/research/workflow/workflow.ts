import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Paper } from "../generated/rrd.js";
import { isVerdict, type Tell, type Unit, type Verdict, type Workflow } from "../../engine/loop/types.js";
import { removeOldNotes } from "../../engine/storage/agent-notes.js";
import { pauseName } from "../../engine/lib/layout.js";
import type { Guard, Suspect } from "../../engine/storage/guard/guard.js";
import type { AcceptOptions, BriefBasis } from "./accept.js";
import { accountOf, type Experience } from "./forecast.js";
import { loadWithInstructions } from "./steering/apply-steering.js";
import { nextUnit, statusOf, withoutChecker, withPart } from "./next-unit.js";
import type { JudgingContext } from "../units/judged-result.js";
import { isWanted, kindOf, kindOfLine, kinds, workBasisHash } from "../units/kinds.js";
import { loadAgentNotes } from "../units/shared-unit.js";
import type { Library, Material, ResearchState, ServeTools, Sharing, UnitWork } from "../units/unit-kind.js";
import { withErrorVerdict, createNoticeOnce } from "../../engine/loop/in-workflows.js";
import { learnPatterns } from "../project-files/lessons.js";
import { readPatterns } from "../project-files/progress-log.js";
import { memoryOf } from "../derived/observations.js";
import type { PreparedUnit } from "./prepare.js";
import { openRefusals, paperOf, progressOf } from "../derived/status.js";
import type { Clock } from "../../engine/lib/clock.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { withSummary } from "../../engine/loop/history/summarise.js";

interface ResearchWorkflowOptions extends AcceptOptions {
  /** The folder with AGENTS.md. */
  readonly root: string;
  /** Whether learned patterns are written to AGENTS.md at once. */
  readonly learn: boolean;
  /** Opened when the first unit is prepared. */
  readonly library: () => Promise<Library>;
  /** If the text of a paper is not available now, read its abstract instead of waiting. */
  readonly abstracts?: boolean;
  /** Waits for a text that is not available now. */
  readonly sleep: Clock["sleep"];
  /** The basis of forecasts until the project has its own figures. */
  readonly experience: Experience;
  /** Present if the agent can use tools. */
  readonly tools?: () => Promise<ServeTools>;
  /** Whether agents run in a sandbox. */
  readonly isSandboxed?: boolean;
  /** Saves the files around an unconfined agent, and restores them after it has ended. */
  readonly guardFiles?: (iteration: number) => Promise<Guard>;
  /** Closes the project at the end of the run. */
  readonly close: (verdict?: Verdict) => Promise<void>;
}

/** What is known at the time of a brief and needed again to judge the result. */
interface BriefContext extends BriefBasis {
  /** The unit's record at the time of the brief. */
  readonly paper?: Paper;
  /** Restores files that an unconfined agent has changed. */
  readonly guard?: Guard;
}

type BaseWorkflow = Workflow<ResearchState, Unit, PreparedUnit, BriefContext>;
export type ResearchWorkflow = BaseWorkflow & Required<Pick<BaseWorkflow, "prepare">>;

/**
 * A project from DISCOVERY to COMPLETE: phases over rrd.json. `next-unit.ts` decides which unit is
 * next; `engine/storage/state/fold.ts` writes what was accepted.
 */
export function researchWorkflow(options: ResearchWorkflowOptions): ResearchWorkflow {
  const { research, library, workspaces } = options;
  let isCleanedUp = false;
  // The guards of running unconfined agents. Such an agent may write into the inbox, so it is not read while they run.
  const guards = new Map<Guard, Suspect>();
  // Called before files are read that such an agent could have changed.
  const checkGuards = async (): Promise<void> => {
    for (const [guard, suspect] of guards) await guard.check(suspect);
  };
  // Set while results are being accepted: messages of the user are applied after that.
  let isAccepting = false;
  // A result was accepted, and its patterns are not in AGENTS.md yet.
  let hasLearned = false;
  // Until this time, texts are not waited for: without a network, only the first paper should cost the waiting time.
  let impatientUntil = 0;
  const noticeOnce = createNoticeOnce();
  // If one of two checkers fails, it is removed from this.
  let sharing = options.sharing ?? {};
  const stateOf = async (
    { rrd, ledger }: Pick<ResearchState, "rrd" | "ledger">,
    tell: Tell,
  ): Promise<ResearchState> => {
    const { agentNotes, lostLines } = await loadAgentNotes(research.folder, ledger, (line) =>
      workBasisHash(rrd, kindOfLine(line), line.unit),
    );
    for (const line of lostLines) await noticeOnce(lostNoteText(line), tell);
    return { rrd, ledger, status: statusOf(rrd, ledger), agentNotes };
  };

  return {
    name: "research",
    load: (tell) =>
      withErrorVerdict(async () => {
        await checkGuards();
        const { rrd, ledger } = await (guards.size > 0 || isAccepting
          ? research.load()
          : loadWithInstructions(research, options, tell));
        if (!isCleanedUp) {
          await workspaces.keepOnly(openRefusals(ledger));
          await removeOldNotes(research.folder, ledger);
        }
        isCleanedUp = true;
        return stateOf({ rrd, ledger }, tell);
      }),
    next: (state, busy, later) => {
      const unit = nextUnit(state, busy, later, research.folder);
      return unit === "wait" || "until" in unit || isVerdict(unit) ? unit : withPart(unit, state, sharing);
    },
    together: (work) =>
      withErrorVerdict(async () => {
        isAccepting = true;
        try {
          await research.together(work);
        } finally {
          isAccepting = false;
        }
        if (hasLearned) await learnPatterns(options.root, await readPatterns(research.folder, workspaces.stateDir));
        hasLearned = false;
      }),
    progress: ({ rrd }) => progressOf(rrd),
    isOptional: (unit) => kindOf(unit).isOptional === true,
    account: ({ rrd, ledger }) => accountOf(rrd, ledger, options.experience),
    memory: ({ rrd, ledger }) => memoryOf(rrd, ledger, options.memory),
    remember: async (compression) => {
      await research.edit((rrd) => withSummary(rrd, compression), true);
    },
    async concede(verdict, tell, about) {
      const loadState = async () => stateOf(await research.load(), tell);
      const outcome = await withErrorVerdict(async () => {
        const fewerCheckers = await withFewerCheckers(options, sharing, loadState, verdict, tell, about);
        sharing = fewerCheckers ?? sharing;
        return fewerCheckers === undefined ? closeOptionalUnit(options, loadState, verdict, tell, about) : "again";
      });
      // If the state can't be read or written any more, the run ends with the verdict that it had.
      return outcome === "again" || outcome?.verdict === "complete" ? outcome : undefined;
    },
    close: options.close,

    prepare: (state, unit, { signal }) =>
      withErrorVerdict(async () => {
        const { prepareUnit } = await importOnce();
        const isPatient = options.now() >= impatientUntil;
        const preparationContext = { ...options, library: await library(), folder: research.folder, isPatient };
        const prepared = await prepareUnit(preparationContext, state, unit, signal);
        if ("later" in prepared && unit.kind === "paper" && !signal.aborted) impatientUntil = prepared.later.until;
        return prepared;
      }),

    brief: (state, unit, prepared, notes) =>
      withErrorVerdict(async () => {
        const { isStale, briefFor } = await importOnce();
        if (isStale(state, unit, prepared)) return "stale";
        const { tools: toolsFor, ...rest } = options;
        const [{ services }, tools] = await Promise.all([library(), toolsFor?.()]);
        const briefOptions = { ...rest, folder: research.folder, services, ...withoutUndefined({ tools }) };
        const paper = paperOf(state.rrd, unit.id);
        const iteration = research.nextIteration();
        const workspace = await workspaces.create(iteration);
        const { brief, ...briefBasis } = await briefFor(
          briefOptions,
          state,
          unit,
          prepared.material,
          notes,
          iteration,
          workspace,
        );
        // After the brief, because the brief writes into the folder of texts.
        const { name = "", confinement } = notes.agent ?? {};
        const guard = confinement === "unconfined" ? await options.guardFiles?.(iteration) : undefined;
        if (guard !== undefined) guards.set(guard, suspectFor(name));
        return { brief, context: { ...briefBasis, ...withoutUndefined({ paper, guard }) } };
      }),

    accept: (state, unit, done, { tell }) =>
      withErrorVerdict(async () => {
        const { isStale, acceptRun, acceptSettled } = await importOnce();
        if ("prepared" in done) {
          const { prepared, prepareMs } = done;
          await checkGuards();
          if (isStale(state, unit, prepared)) return "stale";
          const settled = await acceptSettled(
            options,
            state,
            unit,
            (work, judging) => work.completeByCode?.(state.rrd, unit, prepared.material, judging),
            prepareMs,
            tell,
          );
          if (settled === undefined) throw new Error(`${unit.id} was settled, and its kind can't do that`);
          return settled;
        }
        const { run, context, prepareMs } = done;
        const { guard } = context;
        if (guard !== undefined) {
          guards.delete(guard);
          const guardMessages = await guard.end(suspectFor(run.agent));
          for (const message of guardMessages) await tell({ type: "notice", level: "warning", message });
        }
        const stateAtBrief = stateAtBriefOf(state, context.paper);
        const outcome = await acceptRun({ ...options, sharing }, stateAtBrief, unit, run, context, prepareMs, tell);
        hasLearned ||= options.learn && outcome.outcome === "accepted";
        return outcome;
      }),
  };
}

type ConcedeOptions = Pick<ResearchWorkflowOptions, "research" | "now" | "render" | "memory">;

/**
 * The unit of an optional kind that is next when a run ends; undefined if the run is complete or the user ended it.
 * `isCause`: whether the run ends because this unit can't be done.
 */
function dueOptionalUnit(
  { research }: Pick<ConcedeOptions, "research">,
  state: ResearchState,
  { verdict }: Verdict,
  about: string | undefined,
): { readonly unit: Unit; readonly isCause: boolean } | undefined {
  if (verdict === "complete" || verdict === "interrupted" || existsSync(join(research.folder, pauseName)))
    return undefined;
  const openKind = kinds[state.status.done.length];
  if (openKind?.isOptional !== true) return undefined;
  const unit = { kind: openKind.name, id: openKind.name, phase: openKind.phase, title: openKind.name };
  const isRefused = isVerdict(nextUnit(state, [], [], research.folder));
  return { unit, isCause: verdict !== "limit" && verdict !== "stuck" && (about === unit.id || isRefused) };
}

/** The sharing without a checker that failed, if there is another checker. Its earlier verdicts stay. */
async function withFewerCheckers(
  options: ConcedeOptions,
  sharing: Sharing,
  loadState: () => Promise<ResearchState>,
  verdict: Verdict,
  tell: Tell,
  about: string | undefined,
): Promise<Sharing | undefined> {
  const state = await loadState();
  const due = dueOptionalUnit(options, state, verdict, about);
  const fewerCheckers = due?.isCause === true ? withoutChecker(due.unit, state, sharing) : undefined;
  if (due === undefined || fewerCheckers === undefined) return undefined;
  const { acceptSettled } = await importOnce();
  const { folder } = options.research;
  await acceptSettled(
    options,
    state,
    due.unit,
    (work, judging) => work.continueWithFewer?.(folder, state, due.unit, verdict.reason, judging),
    0,
    tell,
  );
  await tell({ type: "notice", level: "warning", message: `One checker goes on alone: ${verdict.reason}` });
  return fewerCheckers;
}

/**
 * If a run ends because an optional unit can't be done, or if only optional units remain, the open part of the unit is
 * closed. Then the work continues or is complete.
 */
async function closeOptionalUnit(
  options: ConcedeOptions,
  loadState: () => Promise<ResearchState>,
  verdict: Verdict,
  tell: Tell,
  about: string | undefined,
): Promise<Verdict | "again" | undefined> {
  const { research } = options;
  const state = await loadState();
  const optionalUnit = dueOptionalUnit(options, state, verdict, about);
  const remainingKinds = kinds.slice(state.status.done.length);
  const areAllOptional = remainingKinds.every((kind) => kind.isOptional === true || !isWanted(kind, state));
  if (optionalUnit === undefined || !(optionalUnit.isCause || areAllOptional)) return undefined;
  const { acceptSettled } = await importOnce();
  const judge = (work: UnitWork<Material, unknown>, judging: JudgingContext) =>
    work.closeUnfinished?.(research.folder, state.rrd, verdict.reason, judging);
  await acceptSettled(options, state, optionalUnit.unit, judge, 0, tell);
  const next = nextUnit(await loadState(), [], [], research.folder);
  if (isVerdict(next)) return next;
  return optionalUnit.isCause ? "again" : undefined;
}

const suspectFor = (agent: string): Suspect => ({ agent, during: `${agent} ran unconfined` });

/**
 * The modules that do units. They are imported together with the first unit, so that an update of the package during
 * the run changes nothing. A run without work does not import them.
 */
const importOnce = async () => (imported ??= await importParts());

let imported: Awaited<ReturnType<typeof importParts>> | undefined;

async function importParts() {
  const [{ prepareUnit, isStale }, { briefFor }, { acceptRun, acceptSettled }] = await Promise.all([
    import("./prepare.js"),
    import("./brief/write-brief.js"),
    import("./accept.js"),
    ...kinds.map((kind) => kind.load()),
  ]);
  return { prepareUnit, isStale, briefFor, acceptRun, acceptSettled };
}

const lostNoteText = ({ iteration, unit, role = "" }: LedgerLine): string =>
  `The result of iteration ${iteration} (${role}) for ${unit} can't be used any more, because its file is missing or was changed, or its input was changed; it is done again.`;

/**
 * The state with one record as it was at the time of its brief. If the user has changed the record since then, the
 * comparison with it shows that.
 */
function stateAtBriefOf(state: ResearchState, paper: Paper | undefined): ResearchState {
  const { rrd } = state;
  if (paper === undefined || paperOf(rrd, paper.id) === undefined) return state;
  return {
    ...state,
    rrd: { ...rrd, papers_pool: rrd.papers_pool.map((candidate) => (candidate.id === paper.id ? paper : candidate)) },
  };
}
