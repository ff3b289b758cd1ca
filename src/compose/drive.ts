import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type Agents,
  crewFor,
  isUnconfined,
  type RoleNames,
  redactorFor,
  settingsFor,
  summariserFor,
  agentNamesIn,
  insecureNotice,
  connectFleet,
  type RunSettings,
  summarisingAgent,
} from "./agents.js";
import { inSandbox, sandboxFor, type SandboxNeeds } from "./sandbox.js";
import type { ResolvedConfig } from "./config.js";
import { extensionsIn } from "./extensions/extensions.js";
import { timeoutSignal, timeoutReason } from "../engine/lib/clock.js";
import { isRemote } from "../engine/agents/registry.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { inboxFolder, pauseName, stopName } from "../engine/lib/layout.js";
import type { Redact } from "../engine/lib/redact.js";
import { stopWhenStuck } from "../engine/loop/stop-conditions/stuck.js";
import { unlimitedAgentsWarning } from "../engine/loop/stop-conditions/budget.js";
import { withHistory } from "../engine/loop/history/keep-history.js";
import { rulesFor } from "../engine/loop/rules-of-run.js";
import { runLoop } from "../engine/loop/run-loop.js";
import {
  type Agent,
  isVerdict,
  type Tell,
  type Unit,
  type Verdict,
  type Words,
  type Workflow,
} from "../engine/loop/types.js";
import { type Participant, type Points, combineParticipants, withAddedBriefs } from "../engine/points/points.js";
import { shellHooks } from "../engine/points/shell-hooks.js";
import type { Io } from "../engine/ui/io.js";
import { pageOf } from "../research/project-files/layout.js";
import { researchWords } from "../research/project-files/words.js";
import { listenForSignals } from "../engine/ui/signals.js";
import { createSink } from "../engine/ui/sink-for.js";
import type { Questions } from "../engine/ui/terminal/questions.js";
import { recordRunningUnits } from "../engine/storage/running-units.js";
import { createTell } from "../engine/ui/event-delivery.js";

/** How a run works. */
interface Drive {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  /** Maximum number of iterations of this run. */
  readonly iterations: number;
  /** True if another part tells the user which agents the budget can't limit. */
  readonly isBudgetTold?: boolean;
  /** The project's folder: the run obeys its PAUSE and STOP files, names it to hooks, and stores transcripts in it. */
  readonly folder?: string;
  /** True if `folder` is removed after the run; then no event names it. */
  readonly isTemporary?: boolean;
  /** The folder that agents work in, if it is not `folder`. */
  readonly work?: string;
  /** One agent works in the folder itself, without workspaces. */
  readonly classic?: boolean;
  /** The agents change the files of a folder. */
  readonly changes?: boolean;
  /** Questions that may wait for a person's answer during the run. */
  readonly questions?: Questions;
  /** The phrases for this kind of work; absent: those for a research project. */
  readonly words?: Words;
  /** The run ends after so many iterations in a row without an accepted result. */
  readonly maxWithoutResult?: number;
  /** Roles that have agents of their own. */
  readonly roles?: RoleNames;
  /** Called before the first program starts, if programs run on the host. Throws if that is not allowed. */
  readonly onHost?: () => Promise<void>;
  /** What the work needs of the agents' sandbox; absent: the needs of a research project. */
  readonly sandbox?: SandboxNeeds;
  /** True if the work has run before: then notices of the level "info" are not shown again. */
  readonly hasRun?: boolean;
}

/** Objects that are made once for a run. */
export interface Run {
  readonly agents: Agents;
  /** All agents, also those of roles. */
  readonly everyone: Agents;
  /** The settings that the agents were made with. */
  readonly settings: RunSettings;
  readonly tell: Tell;
  readonly points: Points;
  /** Removes the user's secrets from a text. */
  readonly redact: Redact;
  /** Aborted when the user ends the run at once. */
  readonly abort: AbortSignal;
  /** Aborted when no more units may be prepared: the run ends after the running iterations, or at once. */
  readonly ending: AbortSignal;
}

/** Runs a workflow to its verdict: shows progress, keeps the limits, and ends on signals. */
export async function drive<State, U extends Unit, P, C>(
  config: ResolvedConfig,
  io: Io,
  options: Drive,
  open: (run: Run) => Promise<Workflow<State, U, P, C>>,
): Promise<Verdict> {
  const { folder, iterations, json, quiet, verbose = false, words = researchWords, maxWithoutResult } = options;
  const { maxMs, patienceMs, budget, hooks: configuredHooks } = config;
  const { clock } = io;
  const hostSettings = settingsFor(config, io, options);
  const sandboxOfRun = await sandboxFor(config, io, hostSettings, agentNamesIn(config, options.roles), options.sandbox);
  if (sandboxOfRun.sandbox === undefined) await options.onHost?.();
  const settings = inSandbox(hostSettings, sandboxOfRun);
  const { agents, roles, everyone } = crewFor(config, settings, options.roles);
  const historian = summarisingAgent(config, io, settings);
  // Releases what agents hold on other machines, however the run ends.
  const closeAgents = () =>
    Promise.all([...everyone, ...(historian === undefined ? [] : [historian])].map((agent) => agent.close?.()));
  const redact = redactorFor(config, io);
  const signals = listenForSignals(io);
  const { finish } = signals;
  const timeUp = new AbortController();
  const abort = AbortSignal.any([signals.abort, timeUp.signal]);
  const hookContext = { cwd: io.cwd, env: io.env, redact, folder };
  const participants: Participant[] = [shellHooks({ ...hookContext, hooks: configuredHooks, signal: abort })];
  const points = combineParticipants(() => participants);
  const names = agents.map(({ name }) => name).join(", ");
  const userSink = createSink(io, {
    json,
    quiet,
    verbose,
    agent: names,
    finish,
    questions: options.questions,
    maxIterations: Number.isFinite(iterations) ? iterations : undefined,
    name: folder === undefined ? undefined : basename(folder),
    isNumbered: folder !== undefined,
  });
  const traces = config.otel
    ? (await import("../engine/traces/traces.js")).withTraces(userSink, io.env, (event) => void tell(event))
    : undefined;
  const sink = traces ?? userSink;
  const tellEveryone = createTell({ sink, points, redact, now: clock.now });
  const tellWithFolder =
    folder === undefined || options.isTemporary === true ? tellEveryone : withFolder(folder, tellEveryone);
  const tell = folder === undefined ? tellEveryone : recordRunningUnits(folder, tellWithFolder, clock.now);
  const stopWatching = folder === undefined ? () => undefined : announceMessages(folder, tell);
  let limit: ReturnType<typeof timeoutSignal> | undefined;
  try {
    const ending = AbortSignal.any([finish, abort]);
    const startableNames = agentNamesIn(config, options.roles);
    const jobs = await connectFleet(startableNames, config, settings);
    for (const notice of [sandboxOfRun.notice, startableNames.some(isRemote) ? insecureNotice(config) : undefined])
      if (notice !== undefined && (notice.level === "warning" || options.hasRun !== true))
        void tell({ type: "notice", ...notice });
    participants.push(...(await extensionsIn(config, io, { ...foldersOf(options), tell, redact, signal: abort })));
    const workflow = await open({ agents, everyone, settings, tell, points, redact, abort: signals.abort, ending });
    if (maxMs !== undefined) {
      // The timer is a little late, so that the stop condition sees that the time is over.
      limit = timeoutSignal(maxMs + 100, clock);
      limit.signal.addEventListener("abort", () => timeUp.abort(timeoutReason));
    }
    const rules = rulesFor({
      agents,
      roles,
      iterations,
      budget,
      patienceMs,
      words,
      more: [settings.fleet.stopCondition, stopWhenStuck(words)],
      folder,
      maxMs,
      maxWithoutResult,
    });
    const workflowWithHistory = withHistory(
      withAddedBriefs(
        options.isBudgetTold === true ? workflow : withBudgetNotice(workflow, budget, everyone),
        points,
        tell,
      ),
      summariserFor(config, io, { tell, redact, signal: abort, startSettings: settings }),
    );
    return await runLoop(workflowWithHistory, agents[0], {
      ...rules,
      tell,
      jobs: everyone.some(isUnconfined) ? 1 : jobs,
      clock,
      finish,
      abort,
    });
  } catch (error) {
    // If the user ends the run while the project is being opened, an error of that is not a failure.
    if (!(error instanceof ExpectedError) || !finish.aborted) throw error;
    return { verdict: "interrupted", reason: "The run was interrupted before it began.", signal: finish.reason };
  } finally {
    limit?.clear();
    stopWatching();
    signals.stop();
    await closeAgents();
    await traces?.sendRemaining();
    sink.close();
    await sandboxOfRun.sandbox?.close();
  }
}

/** The workflow; before its first unit, a notice names the agents that the budgets of run and project can't limit. */
function withBudgetNotice<State, U extends Unit, P, C>(
  workflow: Workflow<State, U, P, C>,
  budget: ResolvedConfig["budget"],
  agents: readonly Agent[],
): Workflow<State, U, P, C> {
  let isTold = false;
  return {
    ...workflow,
    async load(tell, isBusy) {
      const state = await workflow.load(tell, isBusy);
      if (isTold || isVerdict(state)) return state;
      isTold = true;
      const allBudgets = { ...budget, ...workflow.account?.(state).budget };
      const message = unlimitedAgentsWarning(allBudgets, agents);
      if (message !== undefined) await tell({ type: "notice", level: "warning", message });
      return state;
    },
  };
}

/** Adds the folder to the first and the last event of a run, and to the last one the report, if there is one. */
const withFolder =
  (folder: string, tell: Tell): Tell =>
  (event) => {
    if (event.type === "run-started") return tell({ ...event, folder });
    return tell(event.type === "run-ended" ? { ...event, folder, report: pageOf(folder) } : event);
  };

/** The folders that participants of a run may read. */
const foldersOf = ({ folder, work, changes = false }: Drive) => ({
  folders: [...new Set([folder, work].filter((path) => path !== undefined))],
  research: changes ? undefined : folder,
});

/** Records how a run ended. If the state can't be written, does nothing: the verdict says so already. */
export async function recordEnd<Loaded>(
  store: { load(): Promise<Loaded> },
  write: (loaded: Loaded) => Promise<unknown>,
): Promise<void> {
  try {
    await write(await store.load());
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** Interval between two checks for messages of the user, in milliseconds. */
const messagePollMs = 1_000;

/**
 * Confirms at once that the run has seen a request from another terminal: a pause, a stop or a message. The run acts
 * on it before its next iteration.
 */
function announceMessages(folder: string, tell: Tell): () => void {
  const requests = [
    { path: join(folder, pauseName), text: "Paused: the run ends before its next iteration." },
    { path: join(folder, stopName), text: "Stopped: the run ends before its next iteration." },
  ];
  const announced = new Set(requests.filter(({ path }) => existsSync(path)).map(({ path }) => path));
  const timer = setInterval(() => {
    for (const { path, text } of requests) {
      if (!existsSync(path)) announced.delete(path);
      else if (!announced.has(path)) {
        announced.add(path);
        void tell({ type: "notice", level: "warning", message: text });
      }
    }
    for (const name of existsSync(inboxFolder(folder)) ? readdirSync(inboxFolder(folder)) : []) {
      if (name.startsWith(".") || announced.has(name)) continue;
      announced.add(name);
      void tell({
        type: "notice",
        level: "info",
        message: "A message has arrived; it is read before the next iteration.",
      });
    }
  }, messagePollMs);
  timer.unref();
  return () => clearInterval(timer);
}
