import { basename } from "node:path";
import { type Agents, isUnconfined, summarisingAgent, warningsOf } from "./agents.js";
import { keepEnd, type Run } from "./drive.js";
import { experienceFor, workerOf } from "./forecast-basis.js";
import { projectFiles, userFiles } from "../engine/config/config-file.js";
import type { ResolvedConfig } from "./config.js";
import { lockFile } from "../engine/lib/layout.js";
import { withoutHistory } from "../engine/storage/checkpoints.js";
import { isHeld } from "../engine/storage/lock.js";
import { isWritten } from "../engine/storage/state/output-files.js";
import { messageOf } from "../engine/lib/errors.js";
import type { HistoryLimits } from "../engine/lib/history-limits.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Verdict } from "../engine/loop/types.js";
import { type Io, homeOf } from "../engine/ui/io.js";
import { forecastSentence } from "../engine/ui/terminal/tally.js";
import type { Guard } from "../engine/storage/guard/guard.js";
import type { Edit } from "../engine/storage/guard/held-edits.js";
import { guardsRoot } from "../engine/config/state-dir.js";
import {
  type FileMemory,
  type GuardedProject,
  guardProject,
  waitingEdits,
} from "../research/project-files/guarded/guarded-files.js";
import { pageName } from "../research/project-files/layout.js";
import { type Research, openResearch } from "../research/project-files/research.js";
import { signState } from "../research/project-files/guarded/signed-state.js";
import { rootOf, unusedPrompt } from "../research/workflow/brief/prompt-file.js";
import type { ClassicWorkflow } from "../research/workflow/classic.js";
import { type Experience, forecastOf } from "../research/workflow/forecast.js";
import { isNews, resetStagnation, withEnd, withoutResult } from "../research/derived/observations.js";
import { sinceReport } from "../research/derived/since-report.js";
import { derive, deriveBetween } from "../research/workflow/derive.js";
import type { Proposal } from "../research/workflow/accept.js";
import type { Library } from "../research/units/unit-kind.js";
import { type ResearchWorkflow, researchWorkflow } from "../research/workflow/workflow.js";
import { hasSpace, workspacesOf } from "../research/workflow/workspace.js";
import { checkPlanOf, checkWishOf, sharingOf } from "./sharing.js";

/** How a project is worked on. */
interface Manner {
  /** Tell at the start what the rest will take. */
  readonly forecast?: boolean;
  /** The person wants to go on, whatever earlier runs brought. */
  readonly force?: boolean;
  /** Papers whose text can't be had now are read by their abstracts. */
  readonly abstracts?: boolean;
}

/** Takes a project's lock and makes it ready to be worked on by agents in workspaces of their own. */
export async function openProject(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  run: Run,
  manner: Manner = {},
): Promise<ResearchWorkflow> {
  const { everyone, tell, points, redact, ending } = run;
  const summarises = summarisingAgent(config, io, run.settings);
  const others = summarises === undefined || everyone.some(({ name }) => name === summarises.name) ? [] : [summarises];
  const root = rootOf(folder, io.cwd);
  const configs = [...projectFiles(root), ...userFiles(homeOf(io.env))];
  const { stateDir } = config;
  const requests = new AbortController();
  const signal = AbortSignal.any([ending, requests.signal]);
  let library: Promise<Library> | undefined;
  for (const message of await unusedPrompt(root, stateDir)) await tell({ type: "notice", level: "warning", message });
  const workflow = await opened(folder, config, io, run, [...everyone, ...others], manner, false, (project) =>
    researchWorkflow({
      ...project,
      library: () => {
        library ??= import("./library.js").then(({ libraryFor }) =>
          libraryFor(folder, root, config, io.env, signal, tell),
        );
        return library;
      },
      root,
      redact,
      ...io.clock,
      abstracts: manner.abstracts,
      learn: config.learn === "auto",
      sharing: sharingOf(config),
      check: checkWishOf(config),
      isHoused: run.settings.sandbox !== undefined,
      render: async (shown) => (await import("../research/report/documents/documents.js")).renderFor(shown),
      ...(everyone.every(({ takesTools }) => takesTools === true)
        ? { tools: async () => (await import("./tools.js")).toolsOf([folder], config, io.env) }
        : {}),
      ...(everyone.some(isUnconfined) ? { guardFiles: guarding({ folder, root, configs, stateDir }, io) } : {}),
      ...(points.remakes() ? { remake: points.remake } : {}),
      veto: async ({ completes, ...proposal }: Proposal) => {
        const { vetoes, told } = await points.ask(completes ? ["accepted", "complete"] : ["accepted"], proposal);
        for (const each of told) await tell(each);
        return vetoes;
      },
    }),
  );
  return endingRequests(workflow, requests);
}

/** Remembers the project's files before each agent, where a start after a kill finds it. */
function guarding(project: GuardedProject, io: Io): (iteration: number) => Promise<Guard> {
  const memory: FileMemory = new Map();
  return (iteration) => guardProject(project, guardsRoot(io.env), iteration, memory);
}

/**
 * The workflow with `requests` aborted as soon as one of its preparations is. The loop aborts a preparation only if
 * the run is over, after a bug too, so nobody needs the answer of any request under way.
 */
export const endingRequests = (workflow: ResearchWorkflow, requests: AbortController): ResearchWorkflow => ({
  ...workflow,
  prepare: async (state, unit, work) => {
    const { signal } = work;
    const end = () => requests.abort(signal.reason);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    try {
      return await workflow.prepare(state, unit, work);
    } finally {
      signal.removeEventListener("abort", end);
    }
  },
});

/** The same for an agent that works on the folder itself, with this prompt. */
export async function openClassicProject(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  run: Run,
  prompt: string,
  manner: Manner,
): Promise<ClassicWorkflow> {
  const { everyone, redact } = run;
  const root = rootOf(folder, io.cwd);
  const { classicWorkflow } = await import("../research/workflow/classic.js");
  return await opened(folder, config, io, run, everyone, manner, true, (project) =>
    classicWorkflow({
      ...project,
      prompt,
      root,
      now: io.clock.now,
      redact,
      guardFiles: guarding({ folder, root, configs: [], stateDir: config.stateDir, classic: true }, io),
    }),
  );
}

/** What both ways of working have in common. */
interface OpenProject {
  readonly research: Research;
  readonly workspaces: ReturnType<typeof workspacesOf>;
  readonly experience: Experience;
  readonly memory: HistoryLimits;
  close(verdict?: Verdict): Promise<void>;
}

/**
 * Opens the project and says what a person has to know before anything is begun; `warned`: every agent that may be
 * started.
 */
async function opened<Opened>(
  folder: string,
  config: ResolvedConfig,
  { clock, cwd }: Io,
  { agents, everyone, settings, tell, abort }: Run,
  warned: Agents | readonly Agents[0][],
  { forecast = false, force = false }: Manner,
  classic: boolean,
  workflowOf: (project: OpenProject) => Opened,
): Promise<Opened> {
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  const warn = (message: string) => notify("warning", message);
  const inform = (message: string) => notify("info", message);
  for (const message of warned.flatMap(warningsOf)) warn(message);
  for (const message of overridden(config, classic)) inform(message);
  for (const message of oneAtATime(config, everyone)) warn(message);
  const workspaces = workspacesOf(config.stateDir, folder);
  const { limits: memory } = config.history;
  type Derived = Parameters<typeof derive>;
  const options = {
    derive: (...[rrd, ledger]: Derived) => derive(rrd, ledger, memory),
    deriveBetween: (...[rrd, ledger]: Derived) => deriveBetween(rrd, ledger, memory),
    git: config.git,
    notify,
    abort,
    unconfined: classic || everyone.some(isUnconfined),
  };
  if (!classic) {
    const { bringBackFiles } = await import("../research/report/documents/lost-files.js");
    await bringBackFiles(folder, { ...options, now: clock.now }, warn);
  }
  const research = await openResearch(folder, options).catch(async (error: unknown) => {
    // On a full disk not even the lock can be written, and what fills it may be our own.
    if (hasSpace(folder) || (await isHeld(lockFile(folder)))) throw error;
    await workspaces.sweep();
    return openResearch(folder, options);
  });
  const close = async (verdict?: Verdict) => {
    if (verdict !== undefined)
      await keepEnd(research, async ({ rrd, ledger }) => {
        if (isNews(rrd, ledger, verdict))
          await research.edit((current) => withEnd(current, verdict, clock.now()), true);
      });
    if (verdict?.verdict === "complete") await leavePage(research, clock.now(), warn);
    await signState(folder, config.stateDir);
    await research.close();
    await workspaces.close();
  };
  try {
    const none = config.git ? await withoutHistory(folder) : undefined;
    if (none !== undefined) inform(none);
    await workspaces.sweep();
    const worker = workerOf(agents[0], config.agent, settings);
    const names = agents.map(({ name }) => name);
    for (const edit of await waitingEdits(folder, rootOf(folder, cwd), config.stateDir)) warn(waitsStill(edit, folder));
    const experience = {
      ...(await experienceFor(folder, worker, classic)),
      agents: names,
      ...withoutUndefined({ checks: checkPlanOf(config, worker), second: sharingOf(config).second }),
    };
    await countAnew(research, force, everyone);
    for (const message of await olderReport(research)) inform(message);
    if (forecast) for (const message of await forecastNow(research, experience, rootOf(folder, cwd))) inform(message);
    return workflowOf({ research, workspaces, experience, memory, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Leaves report.html of a finished project, unless it stands there already. What keeps it from being written is no
 * reason for a run to fail.
 */
async function leavePage(research: Research, now: number, warn: (message: string) => void): Promise<void> {
  try {
    const { hashOfInputs } = await import("../research/report/read-report.js");
    const madeOf = await hashOfInputs(research.folder);
    if (await isWritten(research.folder, { name: pageName, madeOf })) return;
    const { writePage } = await import("../research/report/documents/page-file.js");
    await writePage(research, madeOf, now);
  } catch (error) {
    warn(`${pageName} could not be written: ${messageOf(error)}`);
  }
}

const waitsStill = ({ path, agent }: Edit, folder: string): string =>
  `${path} changed while ${agent} ran, and briefs use the earlier text until you approve the change: research-ralph trust ${basename(folder)} --edits; --reject undoes it.`;

const overridden = ({ context_reset_frequency: every, think }: ResolvedConfig, classic: boolean): string[] => [
  ...(every === undefined
    ? []
    : [
        `context_reset_frequency (${every}) has no effect: every iteration has a fresh context, and an iteration that fills it too far is closed.`,
      ]),
  ...(classic && think !== undefined ? ["think has no effect in classic mode: one agent does each unit."] : []),
];

function oneAtATime({ jobs }: ResolvedConfig, agents: Agents): string[] {
  const free = agents.find(isUnconfined);
  return jobs === 1 || free === undefined
    ? []
    : [
        `Papers are read one at a time, because nothing confines ${free.name}: its changes to files could not be put back safely while other agents work.`,
      ];
}

/** That the report is written again, and why. */
async function olderReport(research: Pick<Research, "load">): Promise<string[]> {
  const { rrd, ledger } = await research.load();
  const since = sinceReport(rrd, ledger);
  return since === undefined ? [] : [`The report is older than ${since}, so it is written again.`];
}

/** What the whole will take, said before anything is begun. */
async function forecastNow(research: Pick<Research, "load">, experience: Experience, root: string): Promise<string[]> {
  const { rrd, ledger } = await research.load();
  // Later batches say by themselves how many wait.
  const isFresh = (rrd.statistics?.discovery_metrics?.batches ?? 0) === 0 && rrd.phase === "DISCOVERY";
  const records = isFresh ? await (await import("./library.js")).countBrought(rrd, root) : undefined;
  const forecast = forecastOf(rrd, ledger, { ...experience, ...withoutUndefined({ records }) });
  return forecast === undefined ? [] : [forecastSentence(forecast)];
}

/**
 * Counts iterations without a result and repetitions from now on where a person wants so, or has chosen agents that had
 * no part in them. A reset ends the first count, not what the loop remembers.
 */
async function countAnew(research: Pick<Research, "load" | "edit">, force: boolean, agents: Agents): Promise<void> {
  const { rrd, ledger } = await research.load();
  const last = Math.max(rrd.loop?.iteration ?? 0, ...ledger.map(({ iteration }) => iteration));
  const row = withoutResult(rrd, ledger);
  const areOthers = row.length > 0 && row.every(({ agent }) => !agents.some(({ name }) => name === agent));
  if (last > 0 && (force || areOthers)) await research.edit((current) => resetStagnation(current, last));
}
