import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import type { AgentSettings } from "../engine/agents/definition.js";
import { installedAgents } from "../engine/agents/adapters.js";
import { readAddress, type RedisAddress } from "../fleet/address.js";
import { type Fleet, createFleet } from "../fleet/fleet.js";
import { readRegularText } from "../engine/storage/regular-file.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { checkAgent, createAgent, isRemote } from "../engine/agents/registry.js";
import type { ResolvedConfig } from "./config.js";
import { storeTrust, storedValue, type TrustedPart, findUntrusted } from "../engine/config/trust.js";
import { variableOf } from "../engine/config/keys.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ledgerName, projectIdFile, transcriptsFolder } from "../engine/lib/layout.js";
import { type Redact, redactFor } from "../engine/lib/redact.js";
import { askForSummary, maxSummaryMs, summaryEnv } from "../engine/loop/history/ask-model.js";
import { type Summariser, createSummariser } from "../engine/loop/history/summarise.js";
import type { Roles } from "../engine/loop/rules-of-run.js";
import type { Agent, Tell } from "../engine/loop/types.js";
import { homeOf, type Io } from "../engine/ui/io.js";
import { inSandbox, sandboxFor } from "./sandbox.js";
import { rustupVariables } from "../task/place/toolchains.js";
import { baseline } from "../research/baseline-agent/definition.js";
import { readResearch } from "../research/project-files/research.js";

/** Agents to use, the first choice first. */
export type Agents = readonly [Agent, ...Agent[]];

/** The agents of a config. @throws ExpectedError (exit code 2) if an agent is unknown or not allowed. */
const agentsFor = (config: ResolvedConfig, settings: AgentSettings): Agents => [
  createAgent(config.agent, settings),
  ...config.fallbacks.map((name) => createAgent(name, settings)),
];

/** The names of agents by their role in a unit, the first choice first. */
export type RoleNames = Readonly<Record<string, readonly string[]>>;

/** All agents that may work in a run. */
interface Crew {
  /** They do work without a role, and the roles that have no agents in `roles`. */
  readonly agents: Agents;
  readonly roles: Roles;
  /** The agents of both fields, each name once, the first choice first. */
  readonly everyone: Agents;
}

/** The agents of a config and of these roles. Throws like agentsFor. */
export function crewFor(config: ResolvedConfig, settings: AgentSettings, roleNames: RoleNames = {}): Crew {
  const agents = agentsFor(config, settings);
  const agentsByName = new Map(agents.map((agent) => [agent.name, agent]));
  const getAgent = (name: string): Agent => {
    const agent = agentsByName.get(name) ?? createAgent(name, settings);
    agentsByName.set(agent.name, agent);
    return agent;
  };
  const roles = Object.fromEntries(Object.entries(roleNames).map(([role, names]) => [role, names.map(getAgent)]));
  const [first, ...otherAgents] = agentsByName.values();
  return { agents, roles, everyone: [first ?? agents[0], ...otherAgents] };
}

/** Settings that all agents of a run share, also agents on other machines. */
export interface RunSettings extends AgentSettings {
  readonly fleet: Fleet;
}

/** What the agents of a run are used for. */
interface AgentUse {
  /** The project's folder, where transcripts are stored. */
  readonly folder?: string;
  readonly classic?: boolean;
  /** The agents change the files of a folder. An agent that only answers about papers can't do that. */
  readonly changes?: boolean;
}

/** The settings that all agents of a run share. */
export function settingsFor(
  config: ResolvedConfig,
  io: Io,
  { folder, classic = false, changes = false }: AgentUse = {},
): RunSettings {
  const transcript = (iteration: number) =>
    folder === undefined ? undefined : join(transcriptsFolder(folder), `${iteration}.jsonl`);
  return {
    iterationMs: config.iterationMs,
    idleMs: config.idleMs,
    unconfined: config.unconfined,
    classic,
    stateDir: config.stateDir,
    transcript,
    adapters: changes ? [] : [baseline],
    ...(changes ? { works: true as const } : {}),
    ...(config.fallbacks.length > 0 ? { hasFallback: true as const } : {}),
    agents: config.agents,
    modelAddresses: config.modelAddresses,
    cwd: io.cwd,
    exec: io.runProgram,
    env: { ...withoutRedis(io.env), ...rustupVariables(io.env) },
    secrets: secretsIn(config, io),
    fleet: fleetFor(config, io, folder),
  };
}

/** The environment of agents, without the address of the queue: no agent needs it. */
const withoutRedis = ({ [redisVariable]: _, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => env;

const redisVariable = variableOf("redis");

/** The agents of a run on other machines. Connects to Redis only when the first of them starts. */
const fleetFor = (config: ResolvedConfig, io: Io, folder: string | undefined): Fleet =>
  createFleet({
    address: () => redisOf(config),
    project: folder === undefined ? "no project" : basename(folder),
    maxIterationMs: config.iterationMs,
    maxWaitMs: config.patienceMs,
    home: homeOf(io.env),
    now: io.clock.now,
    replacedPaths: new Map([
      ...(folder === undefined ? [] : [[folder, basename(folder)] as const]),
      [config.stateDir, "the state folder"],
    ]),
    // Made at the first use: most runs have no agent on another machine.
    redact: (text) => redactorFor(config, io)(text),
    projectId: folder === undefined ? undefined : () => projectIdOf(folder),
  });

/** The address of Redis. @throws ExpectedError (exit code 2) if it is missing or not allowed. */
export function redisOf({ redis, insecure_redis }: Pick<ResolvedConfig, "redis" | "insecure_redis">): RedisAddress {
  if (redis !== undefined) return readAddress(redis, insecure_redis);
  throw new ExpectedError(
    `Agents on other machines are reached over Redis, whose address is not set; add --redis rediss://queue.lab:6379, or set redis in your configuration or ${redisVariable}.`,
    2,
  );
}

/** A warning if Redis is reached without TLS, which the user allowed. Throws like redisOf. */
export function insecureNotice(
  config: Pick<ResolvedConfig, "redis" | "insecure_redis">,
): { readonly level: "warning"; readonly message: string } | undefined {
  const { tls, publicText } = redisOf(config);
  if (tls || !config.insecure_redis) return undefined;
  return {
    level: "warning",
    message: `${publicText} is reached without TLS: anyone on the network between can read briefs and write results.`,
  };
}

/** The random id of a project. The first call makes and stores it. */
async function projectIdOf(folder: string): Promise<string> {
  const path = projectIdFile(folder);
  const storedId = (await readRegularText(path).catch(() => "")).trim();
  if (/^[0-9a-f]{32}$/.test(storedId)) return storedId;
  const id = randomBytes(16).toString("hex");
  await writeFileAtomic(path, `${id}\n`);
  return id;
}

/**
 * @throws ExpectedError (exit code 2) if the agent can't change the files of this folder. `work`: the kind of work in
 * words, such as "a task". `settingPath`: the setting that names the agent, such as `/code/roles/critic/agent`.
 */
export function requireHere(name: string, { agents }: ResolvedConfig, work: string, settingPath?: string): void {
  const where = settingPath === undefined ? "" : `${settingPath}: `;
  if (isRemote(name))
    throw new ExpectedError(
      `${where}${name} works on another machine, where the files of ${work} are not; name an agent of this one with --agent.`,
      2,
    );
  if ((agents[name]?.type ?? name) === baseline.name)
    throw new ExpectedError(
      `${where}${name} only extracts sentences from papers, and ${work} needs an agent that works on files; name one with --agent.`,
      2,
    );
}

/**
 * Connects to Redis if an agent on another machine may be started. Returns how many agents may work at the same time.
 * Throws like Fleet.connect, and an ExpectedError (exit code 2) if --jobs asks for too many agents on this machine.
 */
export async function connectFleet(
  names: readonly string[],
  { jobs, origins }: ResolvedConfig,
  { fleet }: RunSettings,
): Promise<number> {
  const localAgent = names.find((name) => !isRemote(name));
  if (localAgent !== undefined && jobs > maxLocalJobs && origins.jobs === "--jobs")
    throw new ExpectedError(
      `--jobs ${jobs} is more than one machine can run: at most ${maxLocalJobs} agents work on this one, and ${localAgent} does; name agents on other machines alone (fleet:${localAgent}), or use --jobs ${maxLocalJobs}.`,
      2,
    );
  if (names.some(isRemote)) await fleet.connect();
  return localAgent === undefined ? jobs : Math.min(jobs, maxLocalJobs);
}

/** Maximum number of agents that work at the same time on this machine. */
const maxLocalJobs = 16;

/** How the agents of a run are started: on the host, in a sandbox or on other machines. */
export type StartSettings = Pick<RunSettings, "exec" | "sandbox" | "fleet">;

/** The names of all agents that a run may start. */
export const agentNamesIn = ({ agent, fallbacks, history }: ResolvedConfig, roles: RoleNames = {}): string[] => [
  ...new Set([
    agent,
    ...fallbacks,
    ...Object.values(roles).flat(),
    ...(history.agent === undefined ? [] : [history.agent]),
  ]),
];

/** Throws like agentsFor if an agent of the config can't be used in the sandbox that the config asks for. */
export async function requireAgents(
  config: ResolvedConfig,
  io: Io,
  classic = false,
  roles: RoleNames = {},
): Promise<void> {
  const settings = settingsFor(config, io, { classic });
  const sandboxOfRun = await sandboxFor(config, io, settings, agentNamesIn(config, roles));
  const { everyone } = crewFor(config, inSandbox(settings, sandboxOfRun), roles);
  if (everyone.some(({ name }) => isRemote(name))) redisOf(config);
  await sandboxOfRun.sandbox?.close();
}

export const isUnconfined = ({ confinement }: Agent): boolean => confinement === "unconfined";

/**
 * The warning about unconfined agents before they start; empty if all agents are confined. `isReadingSlowed`: the user
 * asked for several papers at the same time, which unconfined agents may not read.
 */
export function warningsOf(agents: readonly Agent[], isReadingSlowed = false): string[] {
  const names = [...new Set(agents.filter(isUnconfined).map(({ name }) => name))];
  const [run, subject] = names.length === 1 ? ["runs", "it"] : ["run", "they"];
  const slowedText = isReadingSlowed ? ", so papers are read one at a time" : "";
  return names.length === 0
    ? []
    : [`${names.join(" and ")} ${run} unconfined: ${subject} can read, change and send whatever you can${slowedText}.`];
}

/** Removes the secrets of the environment and of the config from a text. */
export const redactorFor = (config: ResolvedConfig, io: Io): Redact => redactFor(...secretsIn(config, io));

/** The environments that may hold the user's secrets. The key of a source is a secret under any variable name. */
function secretsIn({ agents, hooks, sources, redis }: ResolvedConfig, io: Io): NodeJS.ProcessEnv[] {
  const keys = Object.values(sources).flatMap(({ key_variable: name }) =>
    name === undefined ? [] : [{ SOURCE_KEY: io.env[name] }],
  );
  // The address of Redis may hold a password, and its variable may have any name.
  return [
    io.env,
    ...(redis === undefined ? [] : [{ REDIS: redis }]),
    ...keys,
    ...[...Object.values(agents), ...hooks].map(({ env = {} }) => env),
  ];
}

/** The agent that summarises the history; undefined if code does that or there is no summary. */
export function summarisingAgent(config: ResolvedConfig, io: Io, startSettings: StartSettings): Agent | undefined {
  const { every, agent: name } = config.history;
  if (name === undefined || every === 0) return undefined;
  const settings = {
    ...settingsFor(config, io),
    fleet: startSettings.fleet,
    ...withoutUndefined({ exec: startSettings.exec, sandbox: startSettings.sandbox }),
  };
  return createAgent(name, {
    ...settings,
    iterationMs: Math.min(settings.iterationMs, maxSummaryMs),
    env: { ...settings.env, ...summaryEnv },
  });
}

/** The summariser that the config asks for: an agent or code. Aborting `signal` ends the agent. */
export function summariserFor(
  config: ResolvedConfig,
  io: Io,
  {
    tell,
    redact,
    signal,
    startSettings,
  }: {
    readonly tell: Tell;
    readonly redact: Redact;
    readonly signal: AbortSignal;
    readonly startSettings: StartSettings;
  },
): Summariser {
  const { every } = config.history;
  const agent = summarisingAgent(config, io, startSettings);
  const { now } = io.clock;
  if (agent === undefined) return createSummariser({ every, tell, now });
  const { stateDir } = config;
  const run = (text: string) => askForSummary(agent, text, { stateDir, clock: io.clock, signal, redact });
  return createSummariser({ every, tell, now, ask: { name: agent.name, run } });
}

/**
 * The settings for a project, with the agent that did its last accepted work if the user chose none. If nothing was
 * accepted yet, the one that was tried last, or else the one that the user typed for it last. A project may come from
 * somebody else, so a command is used again only if the user typed it for this project.
 */
export async function withLastAgent(
  config: ResolvedConfig,
  folder: string | undefined,
  { env }: Pick<Io, "env">,
): Promise<ResolvedConfig> {
  if (config.origins.agent !== "default" || folder === undefined) return config;
  const { ledger } = await readResearch(folder);
  // Work that code did alone has no agent.
  const lines = ledger.filter((line) => line.agent !== undefined);
  const agent =
    (lines.findLast((line) => line.outcome === "accepted") ?? lines.at(-1))?.agent ??
    storedValue(join(folder, ledgerName), "agent", env);
  if (typeof agent !== "string" || agent === config.agent) return config;
  const isKnown = knownAgents(config, env).has(agent) || findUntrusted([typedAgent(folder, agent)], env).length === 0;
  return isKnown ? { ...config, agent, fallbacks: [] } : config;
}

/** Remembers the agents that the user typed for a project, so that their commands are used again. */
export async function rememberAgent(config: ResolvedConfig, folder: string, { env }: Pick<Io, "env">): Promise<void> {
  if (config.origins.agent !== "--agent") return;
  const known = knownAgents(config, env);
  const fallbacks = config.fallbacks.filter((name) => !known.has(name));
  try {
    await storeTrust(
      [
        ...fallbacks.map((name) => typedAgent(folder, name)),
        { ...typedAgent(folder, config.agent), isValueStored: true },
      ],
      env,
    );
  } catch (error) {
    // If the state folder can't be written, the run reports that later.
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** Agents that need no command from a project's files: built-in, installed and configured agents. */
const knownAgents = ({ agents }: ResolvedConfig, env: NodeJS.ProcessEnv): ReadonlySet<string> =>
  new Set(["ralph", "baseline", ...installedAgents(env), ...Object.keys(agents)]);

/**
 * Whether the program of the run's first agent is installed. Also true if that is unknown, such as on another machine.
 */
export async function hasProgram(config: ResolvedConfig, io: Io): Promise<boolean> {
  const { agent } = config;
  if (isRemote(agent) || config.sandbox === "docker" || knownAgents(config, io.env).has(agent)) return true;
  const check = await checkAgent(agent, settingsFor(config, io));
  return check.ok || check.version !== undefined;
}

const typedAgent = (folder: string, agent: string): TrustedPart => ({
  file: join(folder, ledgerName),
  key: "agent",
  value: agent,
});
