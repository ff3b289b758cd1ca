import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { WrittenConfig } from "../generated/config.js";
import { ExpectedError } from "../lib/errors.js";
import { checkValue, projectFiles, readConfigFile, userFiles } from "./file.js";
import {
  assistantKeys,
  defaults,
  commandKeys,
  wholeKeys,
  namedKeys,
  type NamedKey,
  readScalar,
  type ScalarKey,
  scalarKeys,
  scalarKinds,
  variableOf,
} from "./keys.js";
import { stateNames } from "../lib/layout.js";
import type { MemoryLimits } from "../lib/memory-limits.js";
import { given } from "../lib/given.js";

/** What the command line said, in the spelling of the config. Undefined: not given. */
export type ConfigFlags = Pick<WrittenConfig, ScalarKey> & {
  /** Model of the chosen agent. */
  readonly model?: string;
};

/** Where a value comes from: a flag, a variable, the path of a file, or `default`. */
type Origin = string;

/** The settings of one command: everything filled in, paths absolute, times in milliseconds. */
export interface ResolvedConfig {
  /** As the user wrote it: a name or `cmd:<command>`. The first choice. */
  readonly agent: string;
  /** Agents to fall back on, in this order. */
  readonly fallbacks: readonly string[];
  /** Agents at work at the same time. */
  readonly jobs: number;
  /** Budget of a run. */
  readonly budget: { readonly usd?: number; readonly tokens?: number };
  /** From a config of the original's; every iteration has a fresh context anyway. */
  readonly context_reset_frequency?: number;
  /** Target of a new research. Whether somebody chose it says `origins.papers`. */
  readonly papers: number;
  /** Most iterations of a run; undefined: the papers of the project + 6. */
  readonly iterations?: number;
  /** Most wall time of a run; undefined: no limit. */
  readonly maxMs?: number;
  readonly iterationMs: number;
  /** 0: an agent may be silent forever. */
  readonly idleMs: number;
  readonly patienceMs: number;
  readonly unconfined: boolean;
  /** Undefined: what each agent asks for. */
  readonly sandbox?: NonNullable<WrittenConfig["sandbox"]>;
  /** Of a docker sandbox. */
  readonly sandbox_image?: string;
  readonly git: boolean;
  /**
   * How often the history is summarised, in iterations (0: never), by which agent where not by code, and how much is
   * remembered.
   */
  readonly history: { readonly every: number; readonly agent?: string; readonly limits: MemoryLimits };
  /** Every unit is thought over, by this critic, in at most so many rounds; absent: by nobody. */
  readonly think?: { readonly critic: string; readonly rounds: number };
  /** Where the agents of a task work, and how the files are called there that are written from its state. */
  readonly task: {
    readonly workspace: string;
    readonly views: { readonly plan: string; readonly record: string; readonly current: string };
  };
  /** Agents that screen the same records, each alone: two, or three; absent: one agent screens. */
  readonly screening?: { readonly readers: readonly string[]; readonly conflicts: "include" | "third" | "person" };
  readonly hooks: NonNullable<WrittenConfig["hooks"]>;
  readonly learn: "ask" | "auto";
  readonly stateDir: string;
  readonly contact?: string | undefined;
  readonly agents: NonNullable<WrittenConfig["agents"]>;
  /** Settings of scholarly services by the name that was written. */
  readonly sources: NonNullable<WrittenConfig["sources"]>;
  readonly origins: Readonly<Partial<Record<keyof WrittenConfig, Origin>>>;
}

export interface Surroundings {
  readonly flags?: ConfigFlags;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The user's folder; by default that of the environment or of the system. */
  readonly home?: string;
}

/** Values in the config's own spelling, with defaults filled in, and where each comes from. */
interface GatheredConfig {
  readonly values: WrittenConfig & Required<Pick<WrittenConfig, keyof typeof defaults | "state_dir">>;
  readonly origins: ResolvedConfig["origins"];
  /**
   * The nearest file that speaks of the assistant. It counts whole: a key must not be sent to the address of another
   * file.
   */
  readonly assistant?: { readonly path: string; readonly text: string; readonly written: WrittenConfig };
}

interface Layer {
  readonly written: WrittenConfig;
  originOf(key: keyof WrittenConfig): Origin;
  /** Folder that relative paths refer to. */
  readonly base: string;
}

/**
 * Flag, environment, ./ralph.config.*, ~/.local/ralph/config.*, default: the first that says something counts, key by
 * key.
 */
export async function gatherConfig({
  flags = {},
  env,
  cwd,
  home = env["HOME"] ?? homedir(),
}: Surroundings): Promise<GatheredConfig> {
  const { model, ...written } = flags;
  const files = [await readConfigFile(projectFiles(cwd)), await readConfigFile(userFiles(home))].filter(
    (file) => file !== undefined,
  );
  const layers: Layer[] = [
    { written: fromFlags(written), originOf: (key) => flagOf(key), base: cwd },
    { written: fromEnvironment(env), originOf: (key) => variableOf(key as ScalarKey), base: cwd },
    ...files.map((file) => ({ written: ofRuns(file.written), originOf: () => file.path, base: dirname(file.path) })),
    { written: { ...defaults, state_dir: defaultStateDir(env, home) }, originOf: () => "default", base: cwd },
  ];
  const values: Record<string, unknown> = {};
  const origins: Partial<Record<keyof WrittenConfig, Origin>> = {};
  for (const key of scalarKeys) {
    const layer = layers.find((candidate) => candidate.written[key] !== undefined);
    if (layer === undefined) continue;
    const value = layer.written[key];
    values[key] = key === "state_dir" ? absolute(String(value), layer.base, home) : value;
    origins[key] = layer.originOf(key);
  }
  for (const key of namedKeys) {
    const merged = mergedByName(layers, key);
    if (Object.keys(merged).length === 0) continue;
    values[key] = merged;
    origins[key] = layers
      .flatMap((layer) => (layer.written[key] === undefined ? [] : [layer.originOf(key)]))
      .join(", ");
  }
  for (const key of wholeKeys) {
    const layer = layers.find((candidate) => candidate.written[key] !== undefined);
    if (layer === undefined) continue;
    if (commandKeys.includes(key)) forbidInResearch(key, layer.base, layer.originOf(key));
    values[key] = layer.written[key];
    origins[key] = layer.originOf(key);
  }
  if (model !== undefined)
    values["agents"] = withModel(mergedByName(layers, "agents"), agentsIn(String(values["agent"]))[0] ?? "", model);
  const assistant = files.find(({ written }) => assistantKeys.some((key) => written[key] !== undefined));
  return { values: values as unknown as GatheredConfig["values"], origins, ...given({ assistant }) };
}

/**
 * The settings of a command. Throws ExpectedError (exit code 2) for a wrong flag, (exit code 1) for a wrong file or
 * variable.
 */
export async function resolveConfig(surroundings: Surroundings): Promise<ResolvedConfig> {
  const { values, origins } = await gatherConfig(surroundings);
  const {
    agent: named,
    max_usd: usd,
    max_tokens: tokens,
    max_minutes,
    iteration_minutes,
    idle_minutes,
    patience_minutes,
    ...more
  } = values;
  const { state_dir, agents = {}, sources = {}, hooks = [], think, screeners, screening_conflicts, ...rest } = more;
  const { history_every, historian, ...others } = rest;
  const {
    history_observations,
    history_recent,
    history_observation_chars,
    history_summary_chars,
    stagnation_limit,
    stagnation_window,
    task_workspace,
    task_plan_file,
    task_record_file,
    task_current_file,
    ...same
  } = others;
  const limits: MemoryLimits = {
    observations: history_observations,
    recent: history_recent,
    observationChars: history_observation_chars,
    summaryChars: history_summary_chars,
    stagnation: stagnation_limit,
    window: stagnation_window,
  };
  if (limits.stagnation > limits.window)
    throw new ExpectedError(
      `stagnation_limit (${limits.stagnation}) is larger than stagnation_window (${limits.window}), so no run would ever end as stuck; make the limit smaller or the window larger.`,
    );
  const [agent = named, ...fallbacks] = agentsIn(named);
  const ms = (minutes: number) => Math.round(minutes * 60_000);
  return {
    ...same,
    agent,
    fallbacks,
    budget: { ...given({ usd, tokens }) },
    agents,
    sources,
    hooks,
    ...(think === undefined ? {} : { think: { rounds: defaultRounds, ...think } }),
    ...(screeners === undefined
      ? {}
      : { screening: { readers: readersIn(screeners, origins.screeners), conflicts: screening_conflicts } }),
    history: { every: history_every, limits, ...given({ agent: historian }) },
    task: {
      workspace: task_workspace,
      views: { plan: task_plan_file, record: task_record_file, current: task_current_file },
    },
    stateDir: state_dir,
    ...(max_minutes === undefined ? {} : { maxMs: ms(max_minutes) }),
    iterationMs: ms(iteration_minutes),
    idleMs: ms(idle_minutes),
    patienceMs: ms(patience_minutes),
    origins,
  };
}

/** Most critiques of a unit that is thought over, where the file does not say. */
const defaultRounds = 2;

/** The agents of a list with commas. A command may hold commas itself, so it is the last. */
function agentsIn(list: string): string[] {
  const at = list.search(/(?:^|,)\s*cmd:/);
  const names = (at === -1 ? list : list.slice(0, at)).split(",").map((name) => name.trim());
  const command = at === -1 ? [] : [list.slice(at).replace(/^,/, "").trim()];
  return [...new Set([...names, ...command].filter((name) => name !== ""))];
}

/** What a file says about runs: beside an address of a model, `max_tokens` is the length of one answer. */
function ofRuns({ max_tokens: tokens, ...written }: WrittenConfig): WrittenConfig {
  return tokens === undefined || tokens < 0 || written.api_url !== undefined
    ? written
    : { ...written, max_tokens: tokens };
}

/** Two readers, or three. Throws ExpectedError for another number; exit code 2 where it is a flag's. */
function readersIn(screeners: string, origin = "screeners"): readonly string[] {
  const readers = agentsIn(screeners);
  if (readers.length === 2 || readers.length === 3) return readers;
  throw new ExpectedError(
    `${origin} names ${readers.length === 1 ? `only ${readers[0]}` : `${readers.length} agents`}; two different agents screen, such as claude,codex, and a third one may settle conflicts.`,
    origin.startsWith("--") ? 2 : 1,
  );
}

/** Where workspaces and bug reports live unless somebody says otherwise. */
export const defaultStateDir = (env: NodeJS.ProcessEnv, home: string): string =>
  join(
    env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : join(home, ".local", "state"),
    "research-ralph",
  );

const flagOf = (key: keyof WrittenConfig): string =>
  key === "git" ? "--no-git" : `--${key.replaceAll("_", "-").replace("patience-minutes", "patience")}`;

function fromFlags(written: WrittenConfig): WrittenConfig {
  for (const key of scalarKeys) if (written[key] !== undefined) checkValue(key, written[key], flagOf(key), 2);
  return written;
}

function fromEnvironment(env: NodeJS.ProcessEnv): WrittenConfig {
  const written: Record<string, unknown> = {};
  for (const key of scalarKeys) {
    const name = variableOf(key);
    const text = env[name];
    // An empty variable is how a shell unsets one for a command.
    if (text === undefined || text === "") continue;
    written[key] = readScalar(scalarKinds[key], text, name, 1);
    checkValue(key, written[key], name, 1);
  }
  return written;
}

function absolute(path: string, base: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return resolve(base, path);
}

/**
 * Commands of the user's run from the user's own config only: agents write into research folders, and projects come
 * from other people.
 */
function forbidInResearch(key: string, folder: string, path: string): void {
  if (!stateNames.some((name) => existsSync(join(folder, name)))) return;
  throw new ExpectedError(
    `${path} is in a project folder, where '${key}' is not allowed; move it to ~/.local/ralph/config.yaml.`,
  );
}

/** What stands under names; where two files speak of one name, the nearer file counts, option by option. */
function mergedByName<Key extends NamedKey>(layers: readonly Layer[], key: Key): NonNullable<WrittenConfig[Key]> {
  const merged: Record<string, object> = {};
  for (const { written } of layers.toReversed()) {
    for (const [name, options] of Object.entries<object>(written[key] ?? {}))
      merged[name] = { ...merged[name], ...options };
  }
  return merged as NonNullable<WrittenConfig[Key]>;
}

function withModel(
  agents: NonNullable<WrittenConfig["agents"]>,
  agent: string,
  model: string,
): NonNullable<WrittenConfig["agents"]> {
  if (agent.startsWith("cmd:"))
    throw new ExpectedError("--model has no effect on a command agent; put the model into its command.", 2);
  return { ...agents, [agent]: { ...agents[agent], model } };
}
