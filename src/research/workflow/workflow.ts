import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Paper } from "../generated/rrd.js";
import { isVerdict, type Tell, type Unit, type Verdict, type Workflow } from "../../engine/loop/types.js";
import { sweepNoted } from "../../engine/storage/noted.js";
import { pauseName } from "../../engine/lib/layout.js";
import type { Guard, Who } from "../../engine/storage/guard/guard.js";
import type { Accepting, Briefed } from "./accept.js";
import { accountOf, type Experience } from "./forecast.js";
import { loadSteered } from "./steering/apply-steering.js";
import { nextUnit, withPart } from "./next-unit.js";
import { kindOfLine, kinds, workBasis } from "../units/kinds.js";
import { loadNoted } from "../units/shared-unit.js";
import type { Library, ResearchState, ServeTools } from "../units/unit-kind.js";
import { orVerdict, sayingOnce } from "../../engine/loop/in-workflows.js";
import { learnPatterns } from "../project-files/lessons.js";
import { readPatterns } from "../project-files/progress-log.js";
import { memoryOf } from "../derived/observations.js";
import type { PreparedUnit } from "./prepare.js";
import { openRefusals, paperOf, progressOf } from "../derived/status.js";
import { statusOf } from "./next-unit.js";
import type { Clock } from "../../engine/lib/clock.js";
import { given } from "../../engine/lib/given.js";
import { withSummary } from "../../engine/loop/history/summarise.js";

interface ResearchWorkflowOptions extends Accepting {
  /** Where AGENTS.md lies. */
  readonly root: string;
  /** Move learned patterns into AGENTS.md as they come. */
  readonly learn: boolean;
  /** Opened by the first unit that is prepared. */
  readonly library: () => Promise<Library>;
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
  const guards = new Map<Guard, Who>();
  /** Before files are read that such an agent could have forged. */
  const look = async (): Promise<void> => {
    for (const [guard, who] of guards) await guard.look(who);
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
  const sayOnce = sayingOnce();

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
          await sweepNoted(research.folder, ledger);
        }
        swept = true;
        const { noted, lost } = await loadNoted(research.folder, ledger, (line) =>
          workBasis(rrd, kindOfLine(line), line.unit),
        );
        for (const line of lost) await sayOnce(lostText(line), tell);
        return { rrd, ledger, status: statusOf(rrd, ledger), noted };
      }),
    next: (state, busy, later) => {
      const unit = nextUnit(state, busy, later, research.folder);
      return unit === "wait" || "until" in unit || isVerdict(unit)
        ? unit
        : withPart(unit, state, options.sharing ?? {});
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
    account: ({ rrd, ledger }) => accountOf(rrd, ledger, options.experience),
    memory: ({ rrd, ledger }) => memoryOf(rrd, ledger, options.memory),
    remember: async (compression) => {
      await research.edit((rrd) => withSummary(rrd, compression), true);
    },
    async concede(verdict, tell) {
      const conceded = await orVerdict(() => withoutOptional(options, verdict, tell));
      // Where the state can't be read or written any more, the run ends as it would have.
      return conceded?.verdict === "complete" ? conceded : undefined;
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
        const where = { ...rest, folder: research.folder, services, ...given({ tools }) };
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
        return { brief, context: { ...briefed, ...given({ paper, guard }) } };
      }),

    accept: (state, unit, done, { tell }) =>
      orVerdict(async () => {
        const { isStale, acceptRun, acceptSettled } = await parts();
        if ("prepared" in done) {
          const { prepared, prepareMs } = done;
          await look();
          if (isStale(state, unit, prepared)) return "stale";
          return await acceptSettled(options, state, unit, prepared.material, prepareMs, tell);
        }
        const { run, context, prepareMs } = done;
        const { guard } = context;
        if (guard !== undefined) {
          guards.delete(guard);
          const undone = await guard.end(whoIs(run.agent));
          for (const message of undone) await tell({ type: "notice", level: "warning", message });
        }
        const before = asBriefed(state, context.paper);
        const outcome = await acceptRun(options, before, unit, run, context, prepareMs, tell);
        hasLearned ||= options.learn && outcome.outcome === "accepted";
        return outcome;
      }),
  };
}

/**
 * Where a run ends with optional units alone left, and not because a person wants it to: the project is complete, and
 * says why it was not had.
 */
async function withoutOptional(
  options: Pick<ResearchWorkflowOptions, "research" | "now" | "render" | "memory">,
  { verdict, reason }: Verdict,
  tell: Tell,
): Promise<Verdict | undefined> {
  const { research } = options;
  if (verdict === "complete" || verdict === "interrupted" || existsSync(join(research.folder, pauseName)))
    return undefined;
  const stateNow = async (): Promise<ResearchState> => {
    const { rrd, ledger } = await research.load();
    return { rrd, ledger, status: statusOf(rrd, ledger), noted: new Map() };
  };
  const state = await stateNow();
  const open = kinds[state.status.done.length];
  if (open?.isOptional !== true) return undefined;
  const { acceptSettled } = await parts();
  const unit = { kind: open.name, id: open.name, phase: open.phase, title: open.name };
  await acceptSettled(options, state, unit, {}, 0, tell, reason);
  const next = nextUnit(await stateNow(), [], [], research.folder);
  return isVerdict(next) ? next : undefined;
}

const whoIs = (agent: string): Who => ({ agent, during: `${agent} ran unconfined` });

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
