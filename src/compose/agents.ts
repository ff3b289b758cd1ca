import { join } from "node:path";
import type { AgentSettings } from "../engine/agents/definition.js";
import { createAgent } from "../engine/agents/registry.js";
import type { ResolvedConfig } from "./config.js";
import { given } from "../engine/lib/given.js";
import { transcriptsFolder } from "../engine/lib/layout.js";
import { type Redact, redactFor } from "../engine/lib/redact.js";
import { askForSummary, maxSummaryMs, summaryEnv } from "../engine/loop/history/ask-model.js";
import { type Summariser, summariser } from "../engine/loop/history/summarise.js";
import type { Roles } from "../engine/loop/rules.js";
import type { Agent, Tell } from "../engine/loop/types.js";
import type { Io } from "../engine/ui/io.js";
import { housed, sandboxFor } from "./sandbox.js";
import { rustupIn } from "./toolchains.js";
import { baseline } from "../research/baseline-agent/definition.js";

/** Agents to use, the first choice first. */
export type Agents = readonly [Agent, ...Agent[]];

/** The agents of a config. Throws ExpectedError (exit code 2) for one that is not known or not allowed. */
export const agentsFor = (config: ResolvedConfig, settings: AgentSettings): Agents => [
  createAgent(config.agent, settings),
  ...config.fallbacks.map((name) => createAgent(name, settings)),
];

/** Names of agents by the role that they have in a unit, the first choice first. */
export type RoleNames = Readonly<Record<string, readonly string[]>>;

/** Everyone who may be at work in a run. */
interface Crew {
  /** Who does whatever has no role, and roles without agents of their own. */
  readonly agents: Agents;
  readonly roles: Roles;
  /** All of them, each name once, the first choice first. */
  readonly everyone: Agents;
}

/** The agents of a config, and those of these roles. Throws as agentsFor. */
export function crewFor(config: ResolvedConfig, settings: AgentSettings, named: RoleNames = {}): Crew {
  const agents = agentsFor(config, settings);
  const known = new Map(agents.map((agent) => [agent.name, agent]));
  const made = (name: string): Agent => {
    const agent = known.get(name) ?? createAgent(name, settings);
    known.set(agent.name, agent);
    return agent;
  };
  const roles = Object.fromEntries(Object.entries(named).map(([role, names]) => [role, names.map(made)]));
  const [first, ...others] = known.values();
  return { agents, roles, everyone: [first ?? agents[0], ...others] };
}

/** What all agents of a run have in common. `folder`: the project's, which keeps their transcripts. */
export function settingsFor(
  config: ResolvedConfig,
  io: Io,
  { folder, classic = false }: { readonly folder?: string; readonly classic?: boolean } = {},
): AgentSettings {
  const transcript = (iteration: number) =>
    folder === undefined ? undefined : join(transcriptsFolder(folder), `${iteration}.jsonl`);
  return {
    iterationMs: config.iterationMs,
    idleMs: config.idleMs,
    unconfined: config.unconfined,
    classic,
    stateDir: config.stateDir,
    transcript,
    adapters: [baseline],
    agents: config.agents,
    cwd: io.cwd,
    exec: io.runProgram,
    env: { ...io.env, ...rustupIn(io.env) },
    secrets: secretsIn(config, io),
  };
}

/** Where the agents of a run are started. */
export type House = Pick<AgentSettings, "exec" | "sandbox">;

/** The names of every agent that a run may start. */
export const namesIn = ({ agent, fallbacks, history }: ResolvedConfig, roles: RoleNames = {}): string[] => [
  ...new Set([
    agent,
    ...fallbacks,
    ...Object.values(roles).flat(),
    ...(history.agent === undefined ? [] : [history.agent]),
  ]),
];

/** Throws as agentsFor where an agent of the config can't be used, in the sandbox that the config asks for. */
export async function requireAgents(
  config: ResolvedConfig,
  io: Io,
  classic = false,
  roles: RoleNames = {},
): Promise<void> {
  const settings = settingsFor(config, io, { classic });
  const housing = await sandboxFor(config, io, settings, namesIn(config, roles));
  crewFor(config, housed(settings, housing), roles);
  await housing.sandbox?.close();
}

export const isUnconfined = ({ confinement }: Agent): boolean => confinement === "unconfined";

/** What a person has to know of an agent before it starts. */
export const warningsOf = (agent: Agent): string[] =>
  isUnconfined(agent) ? [`${agent.name} runs unconfined: it can read, change and send whatever you can.`] : [];

/** Takes out of a text what the environment and the config hold of secrets. */
export const redactorFor = (config: ResolvedConfig, io: Io): Redact => redactFor(...secretsIn(config, io));

/** The environments that may hold the user's secrets. A source's key is one whatever its variable is called. */
function secretsIn({ agents, hooks, sources }: ResolvedConfig, io: Io): NodeJS.ProcessEnv[] {
  const keys = Object.values(sources).flatMap(({ key_variable: name }) =>
    name === undefined ? [] : [{ SOURCE_KEY: io.env[name] }],
  );
  return [io.env, ...keys, ...[...Object.values(agents), ...hooks].map(({ env = {} }) => env)];
}

/** The agent that summarises the history; undefined where code does it, or nobody. `house`: as of the run's agents. */
export function summarisingAgent(config: ResolvedConfig, io: Io, house: House): Agent | undefined {
  const { every, agent: name } = config.history;
  if (name === undefined || every === 0) return undefined;
  const settings = { ...settingsFor(config, io), ...given({ exec: house.exec, sandbox: house.sandbox }) };
  return createAgent(name, {
    ...settings,
    iterationMs: Math.min(settings.iterationMs, maxSummaryMs),
    env: { ...settings.env, ...summaryEnv },
  });
}

/** Summarises the history as the config says: by an agent or by code. Aborting `signal` ends the agent. */
export function summariserFor(
  config: ResolvedConfig,
  io: Io,
  {
    tell,
    redact,
    signal,
    house,
  }: { readonly tell: Tell; readonly redact: Redact; readonly signal: AbortSignal; readonly house: House },
): Summariser {
  const { every } = config.history;
  const agent = summarisingAgent(config, io, house);
  const { now } = io.clock;
  if (agent === undefined) return summariser({ every, tell, now });
  const { stateDir } = config;
  const run = (text: string) => askForSummary(agent, text, { stateDir, clock: io.clock, signal, redact });
  return summariser({ every, tell, now, ask: { name: agent.name, run } });
}
