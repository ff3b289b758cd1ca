import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Paper } from "../generated/rrd.js";
import { isVerdict, type Tell, type Unit, type Verdict, type Workflow } from "../../engine/loop/types.js";
import { removeOldNotes } from "../../engine/storage/agent-notes.js";
import { pauseName } from "../../engine/lib/layout.js";
import type { Guard, Suspect } from "../../engine/storage/guard/guard.js";
import type { Accepting, Briefed } from "./accept.js";
import { accountOf, type Experience } from "./forecast.js";
import { loadSteered } from "./steering/apply-steering.js";
import { nextUnit, withoutOne, withPart } from "./next-unit.js";
import type { JudgingContext } from "../units/judged-result.js";
import { isWanted, kindOf, kindOfLine, kinds, workBasis } from "../units/kinds.js";
import { loadAgentNotes } from "../units/shared-unit.js";
import type { Library, Material, ResearchState, ServeTools, Sharing, UnitWork } from "../units/unit-kind.js";
import { orVerdict, makeNoticeOnce } from "../../engine/loop/in-workflows.js";
import { learnPatterns } from "../project-files/lessons.js";
import { readPatterns } from "../project-files/progress-log.js";
import { memoryOf } from "../derived/observations.js";
import type { PreparedUnit } from "./prepare.js";
import { openRefusals, paperOf, progressOf } from "../derived/status.js";
import { statusOf } from "./next-unit.js";
import type { Clock } from "../../engine/lib/clock.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { withSummary } from "../../engine/loop/history/summarise.js";

interface ResearchWorkflowOptions extends Accepting {
  /** Where AGENTS.md lies. */
  readonly root: string;
  /** Move learned patterns into AGENTS.md as they come. */
  readonly learn: boolean;
  /** Opened by the first unit that is prepared. */
  readonly library: () => Promise<Library>;
  /** Read abstracts of papers whose text can't be had now, instead of waiting for it. */
  readonly abstracts?: boolean;
  /** How to wait for a text that can't be had just now. */
  readonly sleep: Clock["sleep"];
  /** What forecasts rest on until the project has its own. */
  readonly experience: Experience;
  /** Set where the agent takes tools. */
  readonly tools?: () => Promise<ServeTools>;
  /** Agents run in a sandbox. */
  readonly isHoused?: boolean;
  /** Remembers the files around an agent that nothing confines, to be put back once it has ended. */
  readonly guardFiles?: (iteration: number) => Promise<Guard>;
  /** Puts the project away at the end of the run. */
  readonly close: (verdict?: Verdict) => Promise<void>;
}

/** What a brief knew, wanted again when its result is judged. */
interface BriefContext extends Briefed {
  /** The unit's record as it was then. */
  readonly paper?: Paper;
  /** Puts back what an agent that nothing confines has changed around it. */
  readonly guard?: Guard;
}

type Phases = Workflow<ResearchState, Unit, PreparedUnit, BriefContext>;
export type ResearchWorkflow = Phases & Required<Pick<Phases, "prepare">>;

/**
 * A project from DISCOVERY to COMPLETE: phases over rrd.json. `next-unit.ts` decides which unit is
 * next; `engine/storage/state/fold.ts` writes what was accepted.
 */
export function researchWorkflow(options: ResearchWorkflowOptions): ResearchWorkflow {
  const { research, library, workspaces } = options;
  let swept = false;
  /** Of agents at work that nothing confines. What stands in the inbox may be theirs until the guard has ended. */
  const guards = new Map<Guard, Suspect>();
  /** Before files are read that such an agent could have forged. */
  const look = async (): Promise<void> => {
    for (const [guard, suspect] of guards) await guard.check(suspect);
  };
  /** Results are being accepted: what a person says meanwhile is heard once they are written. */
  let isAccepting = false;
  /** A result was accepted, and what it taught is not in AGENTS.md yet. */
  let hasLearned = false;
  /**
   * Until then a busy host is not waited for: with the network away every paper would cost the waits, not only the
   * first.
   */
  let impatientUntil = 0;
  const sayOnce = makeNoticeOnce();
  /** Less one of two checkers, once that one can't be had. */
  let sharing = options.sharing ?? {};
  const stateOf = async (
    { rrd, ledger }: Pick<ResearchState, "rrd" | "ledger">,
    tell: Tell,
  ): Promise<ResearchState> => {
    const { agentNotes, lost } = await loadAgentNotes(research.folder, ledger, (line) =>
      workBasis(rrd, kindOfLine(line), line.unit),
    );
    for (const line of lost) await sayOnce(lostText(line), tell);
    return { rrd, ledger, status: statusOf(rrd, ledger), agentNotes };
  };

  return {
    name: "research",
    load: (tell) =>
      orVerdict(async () => {
        await look();
        const { rrd, ledger } = await (guards.size > 0 || isAccepting
          ? research.load()
          : loadSteered(research, options, tell));
        if (!swept) {
          await workspaces.keepOnly(openRefusals(ledger));
          await removeOldNotes(research.folder, ledger);
        }
        swept = true;
        return stateOf({ rrd, ledger }, tell);
      }),
    next: (state, busy, later) => {
      const unit = nextUnit(state, busy, later, research.folder);
      return unit === "wait" || "until" in unit || isVerdict(unit) ? unit : withPart(unit, state, sharing);
    },
    together: (work) =>
      orVerdict(async () => {
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
      const stateNow = async () => stateOf(await research.load(), tell);
      const conceded = await orVerdict(async () => {
        const fewer = await withFewerCheckers(options, sharing, stateNow, verdict, tell, about);
        sharing = fewer ?? sharing;
        return fewer === undefined ? withoutOptional(options, stateNow, verdict, tell, about) : "again";
      });
      // Where the state can't be read or written any more, the run ends as it would have.
      return conceded === "again" || conceded?.verdict === "complete" ? conceded : undefined;
    },
    close: options.close,

    prepare: (state, unit, { signal }) =>
      orVerdict(async () => {
        const { prepareUnit } = await parts();
        const isPatient = options.now() >= impatientUntil;
        const outside = { ...options, library: await library(), folder: research.folder, isPatient };
        const prepared = await prepareUnit(outside, state, unit, signal);
        if ("later" in prepared && unit.kind === "paper" && !signal.aborted) impatientUntil = prepared.later.until;
        return prepared;
      }),

    brief: (state, unit, prepared, notes) =>
      orVerdict(async () => {
        const { isStale, briefFor } = await parts();
        if (isStale(state, unit, prepared)) return "stale";
        const { tools: toolsFor, ...rest } = options;
        const [{ services }, tools] = await Promise.all([library(), toolsFor?.()]);
        const where = { ...rest, folder: research.folder, services, ...withoutUndefined({ tools }) };
        const paper = paperOf(state.rrd, unit.id);
        const iteration = research.nextIteration();
        const workspace = await workspaces.create(iteration);
        const { brief, ...briefed } = await briefFor(
          where,
          state,
          unit,
          prepared.material,
          notes,
          iteration,
          workspace,
        );
        // Last, as the brief itself fills the folder of texts.
        const { name = "", confinement } = notes.agent ?? {};
        const guard = confinement === "unconfined" ? await options.guardFiles?.(iteration) : undefined;
        if (guard !== undefined) guards.set(guard, whoIs(name));
        return { brief, context: { ...briefed, ...withoutUndefined({ paper, guard }) } };
      }),

    accept: (state, unit, done, { tell }) =>
      orVerdict(async () => {
        const { isStale, acceptRun, acceptSettled } = await parts();
        if ("prepared" in done) {
          const { prepared, prepareMs } = done;
          await look();
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
          const undone = await guard.end(whoIs(run.agent));
          for (const message of undone) await tell({ type: "notice", level: "warning", message });
        }
        const before = asBriefed(state, context.paper);
        const outcome = await acceptRun({ ...options, sharing }, before, unit, run, context, prepareMs, tell);
        hasLearned ||= options.learn && outcome.outcome === "accepted";
        return outcome;
      }),
  };
}

type Conceding = Pick<ResearchWorkflowOptions, "research" | "now" | "render" | "memory">;

/** The optional kind that is due, where a run ends for want of it and not because a person wants it to. */
function dueOf(
  { research }: Pick<Conceding, "research">,
  state: ResearchState,
  { verdict }: Verdict,
  about: string | undefined,
): { readonly unit: Unit; readonly isFor: boolean } | undefined {
  if (verdict === "complete" || verdict === "interrupted" || existsSync(join(research.folder, pauseName)))
    return undefined;
  const open = kinds[state.status.done.length];
  if (open?.isOptional !== true) return undefined;
  const unit = { kind: open.name, id: open.name, phase: open.phase, title: open.name };
  const isRefused = isVerdict(nextUnit(state, [], [], research.folder));
  return { unit, isFor: verdict !== "limit" && verdict !== "stuck" && (about === unit.id || isRefused) };
}

/** The sharing without a checker that can't be had, where there is another one; what that one said is kept. */
async function withFewerCheckers(
  options: Conceding,
  sharing: Sharing,
  stateNow: () => Promise<ResearchState>,
  verdict: Verdict,
  tell: Tell,
  about: string | undefined,
): Promise<Sharing | undefined> {
  const state = await stateNow();
  const due = dueOf(options, state, verdict, about);
  const fewer = due?.isFor === true ? withoutOne(due.unit, state, sharing) : undefined;
  if (due === undefined || fewer === undefined) return undefined;
  const { acceptSettled } = await parts();
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
  return fewer;
}

/**
 * Where a run ends for want of an optional unit, or with such units alone left: what is open of it ends, and the work
 * goes on or is complete.
 */
async function withoutOptional(
  options: Conceding,
  stateNow: () => Promise<ResearchState>,
  verdict: Verdict,
  tell: Tell,
  about: string | undefined,
): Promise<Verdict | "again" | undefined> {
  const { research } = options;
  const state = await stateNow();
  const due = dueOf(options, state, verdict, about);
  const left = kinds.slice(state.status.done.length);
  const isAllLeft = left.every((kind) => kind.isOptional === true || !isWanted(kind, state));
  if (due === undefined || !(due.isFor || isAllLeft)) return undefined;
  const { acceptSettled } = await parts();
  const judge = (work: UnitWork<Material, unknown>, judging: JudgingContext) =>
    work.closeUnfinished?.(research.folder, state.rrd, verdict.reason, judging);
  await acceptSettled(options, state, due.unit, judge, 0, tell);
  const next = nextUnit(await stateNow(), [], [], research.folder);
  if (isVerdict(next)) return next;
  return due.isFor ? "again" : undefined;
}

const whoIs = (agent: string): Suspect => ({ agent, during: `${agent} ran unconfined` });

/**
 * What works on a unit. A run that has nothing left to do loads none of it; one that has loads all of it with its first
 * unit, so that an update of the package hours later changes nothing of what it does.
 */
const parts = async () => (loaded ??= await load());

let loaded: Awaited<ReturnType<typeof load>> | undefined;

async function load() {
  const [{ prepareUnit, isStale }, { briefFor }, { acceptRun, acceptSettled }] = await Promise.all([
    import("./prepare.js"),
    import("./brief/write-brief.js"),
    import("./accept.js"),
    ...kinds.map((kind) => kind.load()),
  ]);
  return { prepareUnit, isStale, briefFor, acceptRun, acceptSettled };
}

const lostText = ({ iteration, unit, role = "" }: LedgerLine): string =>
  `What iteration ${iteration} (${role}) left for ${unit} can't be used any more: its file is gone or was changed, or what it rests on was; it is done again.`;

/**
 * The state with one record as it was when its brief was written. While others were folded in, a person may have
 * changed it, and that is to be seen as a change.
 */
function asBriefed(state: ResearchState, paper: Paper | undefined): ResearchState {
  const { rrd } = state;
  if (paper === undefined || paperOf(rrd, paper.id) === undefined) return state;
  return {
    ...state,
    rrd: { ...rrd, papers_pool: rrd.papers_pool.map((each) => (each.id === paper.id ? paper : each)) },
  };
}
