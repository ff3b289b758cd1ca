import { rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { AgentSettings } from "./agents/definition.js";
import { createAgent } from "./agents/registry.js";
import type { ResolvedConfig } from "./config/resolve.js";
import { systemClock } from "./lib/clock.js";
import { packageFile } from "./lib/package-root.js";
import { redactFor } from "./lib/redact.js";
import { heedSignals, limitIterations, limitWallTime, watchFiles, withinWallTime } from "./loop/guards.js";
import { heedFailures } from "./loop/retry.js";
import { runLoop } from "./loop/run-loop.js";
import type { Agent, Guard, LoopEvent, Notice, Verdict, Workflow } from "./loop/types.js";
import { listFolder, listSamples } from "./sources/folder.js";
import { politeHttp, type PoliteHttpOptions } from "./sources/polite-http.js";
import { readPaper } from "./sources/read-paper.js";
import { allServices } from "./sources/registry.js";
import { serviceOf } from "./sources/source-settings.js";
import type { Http } from "./sources/source.js";
import { protect } from "./store/protect.js";
import { openResearch } from "./store/research.js";
import { follow } from "./ui/follow.js";
import type { Io } from "./ui/io.js";
import { sinkFor } from "./ui/sink-for.js";
import { listenForSignals } from "./ui/signals.js";
import { classicWorkflow } from "./workflows/research/classic.js";
import type { ServeTools } from "./workflows/research/brief.js";
import { loadPrompt, rootOf } from "./workflows/research/prompt.js";
import type { Library, ResearchState } from "./workflows/research/state.js";
import { derive } from "./workflows/research/statistics.js";
import { researchWorkflow } from "./workflows/research/workflow.js";
import { workspacesOf } from "./workflows/research/workspace.js";

/** Where papers come from: folders of the user's, the packaged samples, and the reader for everything an agent found. */
export function libraryFor(folder: string, root: string, contact: string | undefined, signal: AbortSignal): Library {
  return {
    serves: (source) => source === "samples" || source.startsWith("folder:"),
    candidates: async (source) => {
      if (source === "samples") return listSamples(signal);
      const documents = await listFolder(resolve(root, source.slice("folder:".length)), signal);
      return documents.map((document) => ({ ...document, source }));
    },
    text: async (paper) => {
      const answer = await readPaper(paper, { cacheDir: join(folder, ".ralph", "texts"), signal, ...(contact === undefined ? {} : { contact }) });
      if (answer.status === "ok") return { text: answer.text };
      return { unavailable: answer.reason, ...(answer.transient === undefined ? {} : { transient: answer.transient }) };
    },
  };
}

/** Polite access to the network, with what the configuration says of sources and who asks. */
export function httpFor(
  config: Pick<ResolvedConfig, "sources" | "stateDir" | "contact">,
  signal: AbortSignal,
  how: Pick<PoliteHttpOptions, "cacheDir" | "record" | "typed" | "patienceMs"> = {},
): Http {
  const { sources, stateDir, contact } = config;
  const services = allServices.map((source) => serviceOf(source, sources));
  return politeHttp({ signal, stateDir, services, ...(contact === undefined ? {} : { contact }), ...how });
}

export function settingsFor(config: ResolvedConfig, io: Io, transcripts: string | undefined, classic: boolean): AgentSettings {
  return {
    iterationMs: config.iterationMs,
    idleMs: config.idleMs,
    unconfined: config.unconfined,
    classic,
    stateDir: config.stateDir,
    transcript: (iteration) => (transcripts === undefined ? undefined : join(transcripts, `${iteration}.jsonl`)),
    agents: config.agents,
    cwd: io.cwd,
    env: io.env,
  };
}

/** How the CLI of an agent starts our own program to serve tools for this research. */
export const toolsOf =
  (folder: string): ServeTools =>
  (names, paper) => ({
    command: process.execPath,
    args: [
      ...[packageFile("dist", "cli.js"), "mcp", "--research", folder, "--tools", names.join(",")],
      // An id comes from outside and may begin with a dash.
      ...(paper === undefined ? [] : [`--paper=${paper}`]),
    ],
    names,
    env: [],
  });

type Telling = Omit<Notice, "type" | "at">;

/** What a person has to know of an agent before it starts. */
export const warnings = ({ name, confinement }: Agent): Telling[] =>
  confinement === "unconfined" ? [{ level: "warning", message: `${name} runs unconfined: it can read, change and send whatever you can.` }] : [];

/** A research made ready to be worked on. */
export interface OpenedResearch {
  readonly workflow: Workflow<ResearchState>;
  readonly agent: Agent;
  close(): Promise<void>;
}

/** Takes the research's lock and puts workflow and agent together. `classicPrompt` set: the agent works on the folder itself. */
export async function openForWork(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  signal: AbortSignal,
  classicPrompt?: string,
): Promise<OpenedResearch> {
  const root = rootOf(folder, io.cwd);
  const agent = createAgent(config.agent, settingsFor(config, io, join(folder, ".ralph", "transcripts"), classicPrompt !== undefined));
  const notices: Telling[] = [];
  notices.push(...warnings(agent));
  const prompt = await loadPrompt(root);
  const workspaces = workspacesOf(config.stateDir, folder);
  const research = await openResearch(folder, { derive, git: config.git, notify: (level, message) => notices.push({ level, message }) });
  await workspaces.sweep();
  const { now, sleep } = systemClock;
  const rescue = join(config.stateDir, "rescued");
  const guarded = agent.confinement === "unconfined" ? { protect: (iteration: number) => protect({ folder, root, rescue, iteration }) } : {};
  const redact = redactFor(Object.assign({}, io.env, ...Object.values(config.agents).map(({ env }) => env)));
  const library = libraryFor(folder, root, config.contact, signal);
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
          ...(agent.takesTools === true ? { tools: toolsOf(folder) } : {}),
          notices,
          redact,
          ...guarded,
        })
      : classicWorkflow({ research, prompt: classicPrompt, root, now, notices });
  const close = async () => {
    await research.close();
    // Not where refused work is kept for people to look at.
    await rmdir(workspaces.root).catch(() => undefined);
  };
  return { workflow, agent, close };
}

export interface Drive {
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
  open: (signal: AbortSignal) => Promise<{ workflow: Workflow<State>; agent: Agent; close(): Promise<void> }>,
): Promise<Verdict> {
  const signals = listenForSignals(io);
  try {
    const { workflow, agent, ...opened } = await open(signals.abort);
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= opened.close());
    try {
      const guards: Guard[] = [
        heedSignals(signals.finish),
        ...(how.folder === undefined ? [] : [watchFiles(how.folder)]),
        config.maxMs === undefined ? heedFailures(config.patienceMs) : withinWallTime(config.maxMs, heedFailures(config.patienceMs)),
        limitIterations(how.iterations),
        ...(config.maxMs === undefined ? [] : [limitWallTime(config.maxMs)]),
      ];
      const sink = sinkFor(io, { json: how.json, quiet: how.quiet, agent: agent.name, most: how.iterations, finish: signals.finish });
      // The limit of wall time ends an agent at work too; a little late, so that the guard then sees that the time is up.
      const abort = config.maxMs === undefined ? signals.abort : AbortSignal.any([signals.abort, AbortSignal.timeout(config.maxMs + 100)]);
      const events = runLoop(workflow, agent, { guards, clock: systemClock, finish: signals.finish, abort });
      return await follow(closedBeforeTheEnd(events, workflow, close), sink);
    } finally {
      await close();
    }
  } finally {
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
): AsyncGenerator<LoopEvent, Verdict> {
  for (;;) {
    const step = await events.next();
    if (step.done === true) return step.value;
    if (step.value.type === "run-ended") {
      await close();
      const at = new Date(systemClock.now()).toISOString();
      for (const notice of workflow.notices()) yield { ...notice, type: "notice", at };
    }
    yield step.value;
  }
}
