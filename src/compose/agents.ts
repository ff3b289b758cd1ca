import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import type { AgentSettings } from "../engine/agents/definition.js";
import { installedAgents } from "../engine/agents/adapters.js";
import { addressOf, type RedisAddress } from "../fleet/address.js";
import { type Fleet, fleetOf } from "../fleet/fleet.js";
import { readRegularText } from "../engine/storage/regular-file.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { createAgent, isRemote } from "../engine/agents/registry.js";
import type { ResolvedConfig } from "./config.js";
import { keepTrust, type TrustedPart, untrusted } from "../engine/config/trust.js";
import { variableOf } from "../engine/config/keys.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ledgerName, projectIdFile, transcriptsFolder } from "../engine/lib/layout.js";
import { type Redact, redactFor } from "../engine/lib/redact.js";
import { askForSummary, maxSummaryMs, summaryEnv } from "../engine/loop/history/ask-model.js";
import { type Summariser, summariser } from "../engine/loop/history/summarise.js";
import type { Roles } from "../engine/loop/rules-of-run.js";
import type { Agent, Tell } from "../engine/loop/types.js";
import { homeOf, type Io } from "../engine/ui/io.js";
import { housed, sandboxFor } from "./sandbox.js";
import { rustupIn } from "../task/place/toolchains.js";
import { baseline } from "../research/baseline-agent/definition.js";
import { readResearch } from "../research/project-files/research.js";

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

/** What the agents of a run have in common, those on other machines too. */
export interface RunSettings extends AgentSettings {
  readonly fleet: Fleet;
}

/** What the agents of a run are for. */
interface Surroundings {
  /** The project's, which keeps their transcripts. */
  readonly folder?: string;
  readonly classic?: boolean;
  /** They change the files of a folder: an agent that only answers about papers can't do that. */
  readonly changes?: boolean;
}

/** What all agents of a run have in common. */
export function settingsFor(
  config: ResolvedConfig,
  io: Io,
  { folder, classic = false, changes = false }: Surroundings = {},
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
    env: { ...withoutRedis(io.env), ...rustupIn(io.env) },
    secrets: secretsIn(config, io),
    fleet: fleetFor(config, io, folder),
  };
}

/** The environment of agents: none of them has any business with the queue. */
const withoutRedis = ({ [redisVariable]: _, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => env;

const redisVariable = variableOf("redis");

/** The agents of a run on other machines. Nobody is asked before the first of them is started. */
const fleetFor = (config: ResolvedConfig, io: Io, folder: string | undefined): Fleet =>
  fleetOf({
    address: () => redisOf(config),
    project: folder === undefined ? "no project" : basename(folder),
    iterationMs: config.iterationMs,
    patienceMs: config.patienceMs,
    home: homeOf(io.env),
    now: io.clock.now,
    paths: new Map([
      ...(folder === undefined ? [] : [[folder, basename(folder)] as const]),
      [config.stateDir, "the state folder"],
    ]),
    // Made when there is something to take out: most runs have no agent on another machine.
    redact: (text) => redactorFor(config, io)(text),
    projectId: folder === undefined ? undefined : () => idOf(folder),
  });

/** The address of Redis. Throws ExpectedError (exit code 2) where it is missing, or one that is not taken. */
export function redisOf({ redis, insecure_redis }: Pick<ResolvedConfig, "redis" | "insecure_redis">): RedisAddress {
  if (redis !== undefined) return addressOf(redis, insecure_redis);
  throw new ExpectedError(
    `Agents on other machines are reached over Redis, whose address is not set; add --redis rediss://queue.lab:6379, or set redis in your configuration or ${redisVariable}.`,
    2,
  );
}

/** What a person is told whose agents are reached without TLS, as they allowed. Throws as redisOf. */
export function insecureNotice(
  config: Pick<ResolvedConfig, "redis" | "insecure_redis">,
): { readonly level: "warning"; readonly message: string } | undefined {
  const { tls, shown } = redisOf(config);
  if (tls || !config.insecure_redis) return undefined;
  return {
    level: "warning",
    message: `${shown} is reached without TLS: anyone on the network between can read briefs and write results.`,
  };
}

/** The random id of a project, made when it is first asked for. */
async function idOf(folder: string): Promise<string> {
  const path = projectIdFile(folder);
  const known = await readRegularText(path).catch(() => "");
  if (/^[0-9a-f]{32}$/.test(known.trim())) return known.trim();
  const id = randomBytes(16).toString("hex");
  await writeFileAtomic(path, `${id}\n`);
  return id;
}

/**
 * Throws an ExpectedError (exit code 2) for an agent that can't change the files of this folder. `work`: "a task";
 * `named`: where the configuration names the agent, such as `/code/roles/critic/agent`.
 */
export function requireHere(name: string, { agents }: ResolvedConfig, work: string, named?: string): void {
  const where = named === undefined ? "" : `${named}: `;
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
 * Reaches Redis where an agent on another machine may be started; answers with how many agents may work at the same
 * time. Throws as Fleet.connect, and (exit code 2) where more are asked for on this machine than it can bear.
 */
export async function readyFleet(
  names: readonly string[],
  { jobs, origins }: ResolvedConfig,
  { fleet }: RunSettings,
): Promise<number> {
  const here = names.find((name) => !isRemote(name));
  if (here !== undefined && jobs > mostHere && origins.jobs === "--jobs")
    throw new ExpectedError(
      `--jobs ${jobs} is more than one machine can run: at most ${mostHere} agents work on this one, and ${here} does; name agents on other machines alone (fleet:${here}), or use --jobs ${mostHere}.`,
      2,
    );
  if (names.some(isRemote)) await fleet.connect();
  return here === undefined ? jobs : Math.min(jobs, mostHere);
}

/** Agents at work at the same time on this machine. */
const mostHere = 16;

/** Where the agents of a run are started. */
export type House = Pick<RunSettings, "exec" | "sandbox" | "fleet">;

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
  const { everyone } = crewFor(config, housed(settings, housing), roles);
  if (everyone.some(({ name }) => isRemote(name))) redisOf(config);
  await housing.sandbox?.close();
}

export const isUnconfined = ({ confinement }: Agent): boolean => confinement === "unconfined";

/** What a person has to know of an agent before it starts. */
export const warningsOf = (agent: Agent): string[] =>
  isUnconfined(agent) ? [`${agent.name} runs unconfined: it can read, change and send whatever you can.`] : [];

/** Takes out of a text what the environment and the config hold of secrets. */
export const redactorFor = (config: ResolvedConfig, io: Io): Redact => redactFor(...secretsIn(config, io));

/** The environments that may hold the user's secrets. A source's key is one whatever its variable is called. */
function secretsIn({ agents, hooks, sources, redis }: ResolvedConfig, io: Io): NodeJS.ProcessEnv[] {
  const keys = Object.values(sources).flatMap(({ key_variable: name }) =>
    name === undefined ? [] : [{ SOURCE_KEY: io.env[name] }],
  );
  // The password of its address, whatever the variable is called that it was given in.
  return [
    io.env,
    ...(redis === undefined ? [] : [{ REDIS: redis }]),
    ...keys,
    ...[...Object.values(agents), ...hooks].map(({ env = {} }) => env),
  ];
}

/** The agent that summarises the history; undefined if code does it, or nobody. `house`: as of the run's agents. */
export function summarisingAgent(config: ResolvedConfig, io: Io, house: House): Agent | undefined {
  const { every, agent: name } = config.history;
  if (name === undefined || every === 0) return undefined;
  const settings = {
    ...settingsFor(config, io),
    fleet: house.fleet,
    ...withoutUndefined({ exec: house.exec, sandbox: house.sandbox }),
  };
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

/**
 * The settings for a project, with the agent that did its last accepted work if the user chose none. A project may come
 * from somebody else, so a command is used again only if the user typed it for this project.
 */
export async function withLastAgent(
  config: ResolvedConfig,
  folder: string | undefined,
  { env }: Pick<Io, "env">,
): Promise<ResolvedConfig> {
  if (config.origins.agent !== "default" || folder === undefined) return config;
  const agent = (await readResearch(folder)).ledger.findLast((line) => line.outcome === "accepted")?.agent;
  if (agent === undefined || agent === config.agent) return config;
  const isKnown = knownAgents(config, env).has(agent) || untrusted([typedAgent(folder, agent)], env).length === 0;
  return isKnown ? { ...config, agent, fallbacks: [] } : config;
}

/** Remembers the commands that the user typed for a project as agents. */
export async function rememberAgent(config: ResolvedConfig, folder: string, { env }: Pick<Io, "env">): Promise<void> {
  if (config.origins.agent !== "--agent") return;
  const known = knownAgents(config, env);
  const typed = [config.agent, ...config.fallbacks].filter((name) => !known.has(name));
  if (typed.length === 0) return;
  try {
    await keepTrust(
      typed.map((name) => typedAgent(folder, name)),
      env,
    );
  } catch (error) {
    // The run itself says what is wrong with a state folder that can't be written.
    if (!(error instanceof ExpectedError)) throw error;
  }
}

/** Agents that start no command of a project: those of this program, the installed ones, and those of the settings. */
const knownAgents = ({ agents }: ResolvedConfig, env: NodeJS.ProcessEnv): ReadonlySet<string> =>
  new Set(["ralph", "baseline", ...installedAgents(env), ...Object.keys(agents)]);

const typedAgent = (folder: string, agent: string): TrustedPart => ({
  file: join(folder, ledgerName),
  key: "agent",
  value: agent,
});
