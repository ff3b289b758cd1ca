import { basename } from "node:path";
import { type Agents, hasProgram, isUnconfined, summarisingAgent, warningsOf } from "./agents.js";
import { recordEnd, type Run } from "./drive.js";
import { experienceFor, isFresh, workerOf } from "./forecast-basis.js";
import { projectFiles, userFiles } from "../engine/config/config-file.js";
import type { ResolvedConfig } from "./config.js";
import { lockFile } from "../engine/lib/layout.js";
import { noCommitsReason } from "../engine/storage/checkpoints.js";
import { isHeld } from "../engine/storage/lock.js";
import { isUpToDate } from "../engine/storage/state/output-files.js";
import { messageOf } from "../engine/lib/errors.js";
import { shellWord } from "../engine/lib/sanitise.js";
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
import {
  isStateChangedByEnd,
  resetStagnation,
  withEnd,
  iterationsWithoutResult,
} from "../research/derived/observations.js";
import { changesSinceReport } from "../research/derived/since-report.js";
import { changedCriteriaSentences } from "../research/screening/eligibility/eligibility.js";
import { derive, deriveBetween } from "../research/workflow/derive.js";
import type { Proposal } from "../research/workflow/accept.js";
import type { Library } from "../research/units/unit-kind.js";
import { type ResearchWorkflow, researchWorkflow } from "../research/workflow/workflow.js";
import { hasSpace, workspacesOf } from "../research/workflow/workspace.js";
import { checkPlanOf, checkWishOf, sharingOf } from "./sharing.js";

/** Options for the work on a project. */
interface ProjectOptions {
  /** Show at the start what the remaining work will take. */
  readonly forecast?: boolean;
  /** The user wants to continue even if earlier runs had no result. */
  readonly force?: boolean;
  /** If the text of a paper is not available now, its abstract is read. */
  readonly abstracts?: boolean;
}

/** Takes a project's lock and prepares it for agents that each work in a separate workspace. */
export async function openProject(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  run: Run,
  projectOptions: ProjectOptions = {},
): Promise<ResearchWorkflow> {
  const { everyone, tell, points, redact, ending } = run;
  const historian = summarisingAgent(config, io, run.settings);
  const historians = historian === undefined || everyone.some(({ name }) => name === historian.name) ? [] : [historian];
  const root = rootOf(folder, io.cwd);
  const configs = [...projectFiles(root), ...userFiles(homeOf(io.env))];
  const { stateDir } = config;
  const requests = new AbortController();
  const signal = AbortSignal.any([ending, requests.signal]);
  let library: Promise<Library> | undefined;
  for (const message of await unusedPrompt(root, stateDir)) await tell({ type: "notice", level: "warning", message });
  const workflow = await openLocked(
    folder,
    config,
    io,
    run,
    [...everyone, ...historians],
    projectOptions,
    false,
    (project) =>
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
        abstracts: projectOptions.abstracts,
        learn: config.learn === "auto",
        sharing: sharingOf(config),
        check: checkWishOf(config),
        isSandboxed: run.settings.sandbox !== undefined,
        render: async (documents) => (await import("../research/report/documents/documents.js")).renderFor(documents),
        ...(everyone.every(({ takesTools }) => takesTools === true)
          ? { tools: async () => (await import("./tools.js")).toolsOf([folder], config, io.env) }
          : {}),
        ...(everyone.some(isUnconfined) ? { guardFiles: guardOpener({ folder, root, configs, stateDir }, io) } : {}),
        ...(points.canChangeOutput() ? { addPluginFields: points.changeOutput } : {}),
        veto: async ({ completes, ...proposal }: Proposal) => {
          const { vetoes, notices } = await points.ask(completes ? ["accepted", "complete"] : ["accepted"], proposal);
          for (const notice of notices) await tell(notice);
          return vetoes;
        },
      }),
  );
  return withAbortedRequests(workflow, requests);
}

/**
 * Returns a function that saves copies of the project's files before an agent starts. If this process is killed, the
 * next start finds the copies.
 */
function guardOpener(project: GuardedProject, io: Io): (iteration: number) => Promise<Guard> {
  const memory: FileMemory = new Map();
  return (iteration) => guardProject(project, guardsRoot(io.env), iteration, memory);
}

/**
 * The workflow, which aborts `requests` as soon as one of its preparations is aborted. The loop aborts a preparation
 * only at the end of the run, so running requests are no longer needed.
 */
export const withAbortedRequests = (workflow: ResearchWorkflow, requests: AbortController): ResearchWorkflow => ({
  ...workflow,
  prepare: async (state, unit, work) => {
    const { signal } = work;
    const abortRequests = () => requests.abort(signal.reason);
    signal.addEventListener("abort", abortRequests);
    if (signal.aborted) abortRequests();
    try {
      return await workflow.prepare(state, unit, work);
    } finally {
      signal.removeEventListener("abort", abortRequests);
    }
  },
});

/** Like openProject, for classic mode: one agent works in the folder itself with this prompt. */
export async function openClassicProject(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  run: Run,
  prompt: string,
  projectOptions: ProjectOptions,
): Promise<ClassicWorkflow> {
  const { everyone, redact } = run;
  const root = rootOf(folder, io.cwd);
  const { classicWorkflow } = await import("../research/workflow/classic.js");
  return await openLocked(folder, config, io, run, everyone, projectOptions, true, (project) =>
    classicWorkflow({
      ...project,
      prompt,
      root,
      now: io.clock.now,
      redact,
      guardFiles: guardOpener({ folder, root, configs: [], stateDir: config.stateDir, classic: true }, io),
    }),
  );
}

/** An opened project, for both modes. */
interface OpenProject {
  readonly research: Research;
  readonly workspaces: ReturnType<typeof workspacesOf>;
  readonly experience: Experience;
  readonly memory: HistoryLimits;
  close(verdict?: Verdict): Promise<void>;
}

/**
 * Opens the project and shows what the user must know before the work begins. `startableAgents`: all agents that may
 * be started.
 */
async function openLocked<Opened>(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  { agents, everyone, settings, tell, abort }: Run,
  startableAgents: Agents | readonly Agents[0][],
  { forecast = false, force = false }: ProjectOptions,
  isClassic: boolean,
  makeWorkflow: (project: OpenProject) => Opened,
): Promise<Opened> {
  const { clock, cwd } = io;
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  const warn = (message: string) => notify("warning", message);
  const inform = (message: string) => notify("info", message);
  const isSlowed = config.jobs > 1 && everyone.some(isUnconfined);
  for (const message of warningsOf(startableAgents, isSlowed)) warn(message);
  for (const message of ineffectiveSettings(config, isClassic)) inform(message);
  const workspaces = workspacesOf(config.stateDir, folder);
  const { limits: memory } = config.history;
  type Derived = Parameters<typeof derive>;
  const options = {
    derive: (...[rrd, ledger]: Derived) => derive(rrd, ledger, memory),
    deriveBetween: (...[rrd, ledger]: Derived) => deriveBetween(rrd, ledger, memory),
    git: config.git,
    notify,
    abort,
    unconfined: isClassic || everyone.some(isUnconfined),
  };
  if (!isClassic) {
    const { restoreLostFiles } = await import("../research/report/documents/lost-files.js");
    await restoreLostFiles(folder, { ...options, now: clock.now }, warn);
  }
  const research = await openResearch(folder, options).catch(async (error: unknown) => {
    // If the disk is full, the lock can't be written either. Deleting old workspaces may make space.
    if (hasSpace(folder) || (await isHeld(lockFile(folder)))) throw error;
    await workspaces.sweep();
    return openResearch(folder, options);
  });
  const close = async (verdict?: Verdict) => {
    if (verdict !== undefined)
      await recordEnd(research, async ({ rrd, ledger }) => {
        if (isStateChangedByEnd(rrd, ledger, verdict))
          await research.edit((current) => withEnd(current, verdict, clock.now()), true);
      });
    if (verdict?.verdict === "complete") await writeMissingPage(research, clock.now(), warn);
    await signState(folder, config.stateDir);
    await research.close();
    await workspaces.close();
  };
  try {
    const hasRun = (await research.load()).ledger.length > 0;
    const historyNotice = config.git ? await noCommitsReason(folder, { hasRun }) : undefined;
    if (historyNotice !== undefined) inform(historyNotice);
    await workspaces.sweep();
    const worker = workerOf(agents[0], config.agent, settings);
    const names = agents.map(({ name }) => name);
    for (const edit of await waitingEdits(folder, rootOf(folder, cwd), config.stateDir))
      warn(waitingEditText(edit, folder));
    const { rrd } = await research.load();
    const userRecords = await (await import("./library.js")).userRecordsOf(rrd, rootOf(folder, cwd));
    const experience = {
      ...(await experienceFor(folder, worker, isClassic, userRecords?.textTokens)),
      agents: names,
      ...withoutUndefined({ checks: checkPlanOf(config, worker), second: sharingOf(config).second }),
    };
    await restartCounts(research, force, everyone);
    for (const message of await oldReportNotices(research)) inform(message);
    const name = shellWord(basename(folder));
    for (const message of changedCriteriaSentences((await research.load()).rrd, name)) warn(message);
    // If the agent can't be started, the first iteration reports that.
    if (forecast && (await hasProgram(config, io)))
      for (const message of await forecastNotices(research, experience, userRecords?.records)) inform(message);
    return makeWorkflow({ research, workspaces, experience, memory, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Writes report.html of a finished project if it is missing or older than its inputs. An error is only a warning: the
 * run does not fail for it.
 */
async function writeMissingPage(research: Research, now: number, warn: (message: string) => void): Promise<void> {
  try {
    const { hashOfInputs } = await import("../research/report/read-report.js");
    const madeOf = await hashOfInputs(research.folder);
    if (await isUpToDate(research.folder, { name: pageName, inputsHash: madeOf })) return;
    const { writePage } = await import("../research/report/documents/page-file.js");
    await writePage(research, madeOf, now);
  } catch (error) {
    warn(`${pageName} could not be written: ${messageOf(error)}`);
  }
}

const waitingEditText = ({ path, agent }: Edit, folder: string): string =>
  `${path} changed while ${agent} ran, and briefs use the earlier text until you approve the change: research-ralph trust ${basename(folder)} --edits; --reject undoes it.`;

const ineffectiveSettings = (
  { context_reset_frequency: frequency, think }: ResolvedConfig,
  isClassic: boolean,
): string[] => [
  ...(frequency === undefined
    ? []
    : [
        `context_reset_frequency (${frequency}) has no effect: every iteration has a fresh context, and an iteration that fills it too far is closed.`,
      ]),
  ...(isClassic && think !== undefined ? ["think has no effect in classic mode: one agent does each unit."] : []),
];

/** A notice if the report will be written again, with the reason. */
async function oldReportNotices(research: Pick<Research, "load">): Promise<string[]> {
  const { rrd, ledger } = await research.load();
  const changesText = changesSinceReport(rrd, ledger);
  return changesText === undefined ? [] : [`The report is older than ${changesText}, so it is written again.`];
}

/** A notice at the start that says what the work will take. */
async function forecastNotices(
  research: Pick<Research, "load">,
  experience: Experience,
  ownRecords: number | undefined,
): Promise<string[]> {
  const { rrd, ledger } = await research.load();
  const records = isFresh(rrd) ? ownRecords : undefined;
  const forecast = forecastOf(rrd, ledger, { ...experience, ...withoutUndefined({ records }) });
  return forecast === undefined ? [] : [forecastSentence(forecast)];
}

/**
 * Restarts the counts of iterations without a result and of repetitions, if the user wants that or has chosen other
 * agents than those of the counted iterations. `reset` restarts only the first count.
 */
async function restartCounts(research: Pick<Research, "load" | "edit">, force: boolean, agents: Agents): Promise<void> {
  const { rrd, ledger } = await research.load();
  const last = Math.max(rrd.loop?.iteration ?? 0, ...ledger.map(({ iteration }) => iteration));
  const idleIterations = iterationsWithoutResult(rrd, ledger);
  const haveOtherAgents =
    idleIterations.length > 0 && idleIterations.every(({ agent }) => !agents.some(({ name }) => name === agent));
  if (last > 0 && (force || haveOtherAgents)) await research.edit((current) => resetStagnation(current, last));
}
