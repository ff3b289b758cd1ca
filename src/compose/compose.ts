import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { experienceFor } from "./forecast-basis.js";
import { libraryFor } from "./library.js";
import { liveLine, type Tell } from "./live.js";
import { toolsOf } from "./tool-server.js";
import type { AgentSettings } from "../engine/agents/definition.js";
import { createAgent, modelOf } from "../engine/agents/registry.js";
import type { ResolvedConfig } from "../engine/config/resolve.js";
import { abortedAt } from "../engine/lib/clock.js";
import { redactFor } from "../engine/lib/redact.js";
import { askHistorian, historianEnv, mostHistorianMs } from "../engine/loop/history/ask-model.js";
import { type Historian, historian } from "../engine/loop/history/summarise.js";
import { keepHistory } from "../engine/loop/history/keep-history.js";
import { rulesFor } from "../engine/loop/rules.js";
import { runLoop } from "../engine/loop/run-loop.js";
import { stopWhenStuck, stopWithoutResult } from "../engine/loop/guards/loop-detection.js";
import type { Agent, LoopEvent, Notice, Verdict, Workflow } from "../engine/loop/types.js";
import { withoutHistory } from "../engine/storage/checkpoints.js";
import { protect } from "../research/folder/tamper/tamper-guard.js";
import { openResearch, type Research } from "../research/folder/research.js";
import { follow, withoutSecrets } from "../engine/ui/sink.js";
import { hooksOf } from "../engine/ui/hooks.js";
import type { Io } from "../engine/ui/io.js";
import { sinkFor } from "../engine/ui/sink-for.js";
import { listenForSignals } from "../engine/ui/signals.js";
import { wholeForecast } from "../engine/ui/terminal/tally.js";
import { classicWorkflow } from "../research/workflow/classic.js";
import { type Experience, forecastOf } from "../research/workflow/records/forecast.js";
import { loadPrompt, rootOf } from "../research/workflow/brief/prompt.js";
import type { ResearchState } from "../research/workflow/records/state.js";
import { derive } from "../research/workflow/records/statistics.js";
import { actedUpon, fruitless } from "../research/workflow/records/stagnation.js";
import { researchWorkflow } from "../research/workflow/workflow.js";
import { workspacesOf } from "../research/workflow/workspace.js";
import { baseline } from "../research/baseline-agent/definition.js";
import { transcriptsFolder } from "../engine/lib/layout.js";
import { rescuedFolder } from "../research/folder/layout.js";

export function settingsFor(
  config: ResolvedConfig,
  io: Io,
  transcripts: string | undefined,
  classic: boolean,
): AgentSettings {
  return {
    iterationMs: config.iterationMs,
    idleMs: config.idleMs,
    unconfined: config.unconfined,
    classic,
    stateDir: config.stateDir,
    runProgram: io.runProgram,
    transcript: (iteration) => (transcripts === undefined ? undefined : join(transcripts, `${iteration}.jsonl`)),
    adapters: [baseline],
    agents: config.agents,
    cwd: io.cwd,
    env: io.env,
    secrets: secretsIn(config, io),
  };
}

type Telling = Omit<Notice, "type" | "at">;

const isUnconfined = ({ confinement }: Agent): boolean => confinement === "unconfined";

const overridden = ({ context_reset_frequency: every }: ResolvedConfig): Telling[] => {
  if (every === undefined) return [];
  const message = `context_reset_frequency (${every}) has no effect: every iteration has a fresh context, and an iteration that fills it too far is closed.`;
  return [{ level: "info", message }];
};

const oneAtATime = ({ jobs }: ResolvedConfig, agents: Agents): Telling[] => {
  const [free] = agents.filter(isUnconfined);
  if (jobs === 1 || free === undefined) return [];
  const message = `Papers are read one at a time, because nothing confines ${free.name}: its changes to files could not be put back safely while other agents work.`;
  return [{ level: "warning", message }];
};

/** The environments that may hold the user's secrets. A source's key is one whatever its variable is called. */
function secretsIn({ agents, hooks, sources }: ResolvedConfig, io: Io): NodeJS.ProcessEnv[] {
  const keys = Object.values(sources).flatMap(({ key_variable: name }) =>
    name === undefined ? [] : [{ SOURCE_KEY: io.env[name] }],
  );
  return [io.env, ...keys, ...[...Object.values(agents), ...hooks].map(({ env = {} }) => env)];
}

/** Takes out of a text what the environment and the config hold of secrets. */
export const redactorFor = (config: ResolvedConfig, io: Io): ReturnType<typeof redactFor> =>
  redactFor(...secretsIn(config, io));

const hooksFor = (config: ResolvedConfig, io: Io, folder: string | undefined, signal: AbortSignal) =>
  hooksOf({
    signal,
    hooks: config.hooks,
    cwd: io.cwd,
    env: io.env,
    redact: redactorFor(config, io),
    ...(folder === undefined ? {} : { folder }),
  });

/** The agent that summarises the history; undefined where code does or nobody. */
function historianAgent(config: ResolvedConfig, io: Io): Agent | undefined {
  const { every, agent: name } = config.history;
  if (name === undefined || every === 0) return undefined;
  const settings = settingsFor(config, io, undefined, false);
  const limited = {
    ...settings,
    iterationMs: Math.min(settings.iterationMs, mostHistorianMs),
    env: { ...settings.env, ...historianEnv },
  };
  return createAgent(name, limited);
}

function historianFor(config: ResolvedConfig, io: Io, signal: AbortSignal): Historian {
  const { every } = config.history;
  const now = io.clock.now;
  const agent = historianAgent(config, io);
  if (agent === undefined) return historian({ every, now });
  return historian({
    every,
    now,
    ask: {
      name: agent.name,
      run: (text) =>
        askHistorian(agent, text, {
          stateDir: config.stateDir,
          clock: io.clock,
          signal,
          redact: redactorFor(config, io),
        }),
    },
  });
}

/** What a person has to know of an agent before it starts. */
export const warnings = ({ name, confinement }: Agent): Telling[] =>
  confinement === "unconfined"
    ? [{ level: "warning", message: `${name} runs unconfined: it can read, change and send whatever you can.` }]
    : [];

/** What the whole will take, said before anything is begun. */
async function forecastNow(research: Pick<Research, "load">, experience: Experience): Promise<Telling[]> {
  const { rrd, ledger } = await research.load();
  const forecast = forecastOf(rrd, ledger, experience);
  return forecast === undefined ? [] : [{ level: "info", message: wholeForecast(forecast) }];
}

/** Begins the count of iterations without a result anew where a person wants so, or has chosen agents that had no part in them. */
async function heedPerson(research: Pick<Research, "load" | "edit">, force: boolean, agents: Agents): Promise<void> {
  const { rrd, ledger } = await research.load();
  const row = fruitless(rrd, ledger);
  const areOthers = row.every(({ agent }) => !agents.some(({ name }) => name === agent));
  if (row.length > 0 && (force || areOthers))
    await research.edit((current) => actedUpon(current, ledger.at(-1)?.iteration));
}

/** A research made ready to be worked on. */
interface OpenedResearch {
  readonly workflow: Workflow<ResearchState>;
  readonly agents: Agents;
  close(): Promise<void>;
}

/** Agents to use, the first choice first. */
export type Agents = readonly [Agent, ...Agent[]];

/** The agents of a config. Throws ExpectedError (exit code 2) for one that is not known or not allowed. */
export const agentsFor = (config: ResolvedConfig, settings: AgentSettings): Agents => [
  createAgent(config.agent, settings),
  ...config.fallbacks.map((name) => createAgent(name, settings)),
];

/** How a research is worked on. */
interface Manner {
  /** Set: the agent works on the folder itself, with this prompt. */
  readonly classic?: string;
  /** Tell at the start what the rest will take. */
  readonly forecast?: boolean;
  /** The person wants it gone on with, whatever earlier runs brought. */
  readonly force?: boolean;
  /** Told at once of what happens between two events of the loop. */
  readonly tell?: Tell;
}

/** Takes the research's lock and puts workflow and agent together. */
export async function openForWork(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  signal: AbortSignal,
  { classic: classicPrompt, forecast = false, force = false, tell }: Manner = {},
): Promise<OpenedResearch> {
  const root = rootOf(folder, io.cwd);
  const settings = settingsFor(config, io, transcriptsFolder(folder), classicPrompt !== undefined);
  const agents = agentsFor(config, settings);
  const notices: Telling[] = [];
  const scribe = classicPrompt === undefined ? historianAgent(config, io) : undefined;
  const others = scribe === undefined || agents.some(({ name }) => name === scribe.name) ? [] : [scribe];
  notices.push(...[...agents, ...others].flatMap(warnings), ...overridden(config), ...oneAtATime(config, agents));
  const prompt = await loadPrompt(root);
  const workspaces = workspacesOf(config.stateDir, folder);
  const notify = (level: Telling["level"], message: string) => void notices.push({ level, message });
  const research = await openResearch(folder, { derive, git: config.git, notify, abort: signal });
  const none = config.git ? await withoutHistory(folder) : undefined;
  if (none !== undefined) notices.push({ level: "info", message: none });
  await workspaces.sweep();
  const { now, sleep } = io.clock;
  const rescue = rescuedFolder(config.stateDir);
  const guarded = agents.some(isUnconfined)
    ? { protect: (iteration: number) => protect({ folder, root, rescue, iteration }) }
    : {};
  const redact = redactorFor(config, io);
  const hooks = hooksFor(config, io, folder, signal);
  const worker = { ...agents[0], model: modelOf(config.agent, settings) };
  const experience = {
    ...(await experienceFor(folder, worker, classicPrompt !== undefined)),
    agents: agents.map(({ name }) => name),
  };
  await heedPerson(research, force, agents);
  if (forecast) notices.push(...(await forecastNow(research, experience)));
  const library = libraryFor(folder, root, config, io.env, signal, tell);
  const workflow =
    classicPrompt === undefined
      ? researchWorkflow({
          research,
          library,
          workspaces,
          prompt,
          root,
          now,
          sleep,
          signal,
          learn: config.learn === "auto",
          experience,
          ...(agents.every(({ takesTools }) => takesTools === true) ? { tools: toolsOf(folder, config, io.env) } : {}),
          notices,
          redact,
          veto: async ({ completes, ...proposal }) => {
            const { vetoes, problems } = await hooks.ask(completes ? ["accepted", "complete"] : ["accepted"], proposal);
            notices.push(...problems.map((message): Telling => ({ level: "warning", message })));
            return vetoes;
          },
          ...guarded,
        })
      : classicWorkflow({ research, prompt: classicPrompt, root, now, notices, redact, experience });
  const close = async () => {
    await research.close();
    // Not where refused work is kept for people to look at.
    await rmdir(workspaces.root).catch(() => undefined);
  };
  return { workflow, agents, close };
}

interface Drive {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Most iterations of this run. */
  readonly iterations: number;
  /** Whose PAUSE and STOP files count. */
  readonly folder?: string;
}

/** Runs a workflow to its verdict while a person or a program watches, heeding limits, failures and signals. */
export async function drive<State>(
  config: ResolvedConfig,
  io: Io,
  how: Drive,
  open: (
    signal: AbortSignal,
    tell: Tell,
  ) => Promise<{ workflow: Workflow<State>; agents: Agents; close(): Promise<void> }>,
): Promise<Verdict> {
  const signals = listenForSignals(io);
  const live = liveLine(redactorFor(config, io), io.clock.now);
  let limit: ReturnType<typeof abortedAt> | undefined;
  try {
    const { workflow, agents, ...opened } = await open(signals.abort, live.tell);
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= opened.close());
    try {
      const { maxMs, patienceMs, budget } = config;
      const jobs = agents.some(isUnconfined) ? 1 : config.jobs;
      const more = [stopWhenStuck, stopWithoutResult];
      const rules = rulesFor({
        ...how,
        agents,
        budget,
        patienceMs,
        finish: signals.finish,
        more,
        ...(maxMs === undefined ? {} : { maxMs }),
      });
      const names = agents.map(({ name }) => name).join(", ");
      const sink = sinkFor(io, {
        json: how.json,
        quiet: how.quiet,
        agent: names,
        most: how.iterations,
        finish: signals.finish,
      });
      live.to(sink);
      // The limit of wall time ends an agent at work too; a little late, so that the guard then sees that the time is up.
      if (maxMs !== undefined) limit = abortedAt(io.clock.now() + maxMs + 100, io.clock, signals.abort);
      const abort = limit?.signal ?? signals.abort;
      const events = runLoop(workflow, agents[0], {
        ...rules,
        jobs,
        clock: io.clock,
        finish: signals.finish,
        abort,
      });
      const whole = closedBeforeTheEnd(
        keepHistory(events, workflow, historianFor(config, io, abort)),
        workflow,
        close,
        io.clock.now,
      );
      return await follow(
        hooksFor(config, io, how.folder, abort).follow(withoutSecrets(whole, redactorFor(config, io))),
        sink,
      );
    } finally {
      await close();
    }
  } finally {
    limit?.clear();
    signals.stop();
  }
}

/**
 * Holds the last event back until everything is put away: what goes wrong only then, such as the commit of a finished research,
 * would be told to nobody.
 */
async function* closedBeforeTheEnd(
  events: AsyncGenerator<LoopEvent, Verdict>,
  workflow: Pick<Workflow<unknown>, "notices">,
  close: () => Promise<void>,
  now: () => number,
): AsyncGenerator<LoopEvent, Verdict> {
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    if (step.value.type === "run-ended") {
      await close();
      const at = new Date(now()).toISOString();
      for (const notice of workflow.notices()) yield { ...notice, type: "notice", at };
    }
    yield step.value;
  }
}
