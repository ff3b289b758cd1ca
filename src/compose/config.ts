import { assistantKeys } from "../assistant/config-keys.js";
import type { AssistantConfig } from "../assistant/generated/config.js";
import type { CodeConfig } from "../code/generated/config.js";
import { codeKeys } from "../code/project-files/config-keys.js";
import { agentsIn, gatherConfig, type GatheredConfig, type ConfigRequest } from "../engine/config/gather.js";
import { engineKeys, joinKeys } from "../engine/config/keys.js";
import { ExpectedError } from "../engine/lib/errors.js";
import type { HistoryLimits } from "../engine/lib/history-limits.js";
import { researchKeys } from "../research/project-files/config-keys.js";
import { taskKeys } from "../task/project-files/config-keys.js";
import { addExtensions } from "./extensions/extensions.js";
import type { ExtensionConfig } from "./extensions/extension.js";
import type { WrittenConfig } from "./written-config.js";

/** The keys of all parts of the configuration: engine, research, tasks, code and assistant. */
export const configKeys = joinKeys([engineKeys, researchKeys, taskKeys, codeKeys, assistantKeys]);

/** Keys that have no flag. */
type KeysWithoutFlag =
  | "agents"
  | "sources"
  | "lookups"
  | "hooks"
  | "plugins"
  | "think"
  | "check"
  | keyof CodeConfig
  | keyof AssistantConfig;

/** The flags of the command line, under their keys in the config. Undefined: not given. */
export type ConfigFlags = Omit<WrittenConfig, KeysWithoutFlag> & {
  /** The model of the chosen agent. */
  readonly model?: string;
  /** The user trusts the settings in the folder. */
  readonly trust?: boolean;
};

/** The settings of one command: with defaults, absolute paths, and times in milliseconds. */
export interface ResolvedConfig {
  /** The first choice, as the user wrote it: a name or `cmd:<command>`. */
  readonly agent: string;
  /** Agents to fall back on, in this order. */
  readonly fallbacks: readonly string[];
  /** Maximum number of agents that work at the same time. */
  readonly jobs: number;
  /** Budget of a run. */
  readonly budget: { readonly usd?: number; readonly tokens?: number };
  /** From a config of the original program; it has no effect, because every iteration has a fresh context. */
  readonly context_reset_frequency?: number;
  /** The target of a new project. `origins.papers` tells whether the user chose it. */
  readonly papers: number;
  /** Maximum number of iterations of a run; undefined: 1.5 × the papers of the project + 6. */
  readonly iterations?: number;
  /** Maximum wall time of a run; undefined: no limit. */
  readonly maxMs?: number;
  readonly iterationMs: number;
  /** Maximum time without output of an agent; 0: no limit. */
  readonly idleMs: number;
  readonly patienceMs: number;
  readonly unconfined: boolean;
  /** Whether traces are sent. */
  readonly otel: boolean;
  /** Undefined: each agent's default. */
  readonly sandbox?: NonNullable<WrittenConfig["sandbox"]>;
  /** The image of a docker sandbox. */
  readonly sandbox_image?: string;
  /** Names of variables that programs in a sandbox get, separated by commas. */
  readonly sandbox_env?: string;
  /** The address of the Redis server that connects agents on other machines. It may hold a password. */
  readonly redis?: string;
  /** Whether Redis on another machine may be used without TLS. */
  readonly insecure_redis: boolean;
  /** For a worker: the public keys of the runs that it works for, separated by commas. */
  readonly worker_accepts?: string;
  readonly git: boolean;
  /**
   * `every`: the history is summarised after so many iterations (0: never). `agent` does that; absent: code does.
   * `limits`: how much is remembered.
   */
  readonly history: { readonly every: number; readonly agent?: string; readonly limits: HistoryLimits };
  /** This critic comments on every unit in at most `rounds` rounds; absent: no critic. */
  readonly think?: { readonly critic: string; readonly rounds: number };
  /**
   * The folder in which the agents of a task work, and the names of the files that are written there from its state.
   */
  readonly task: {
    readonly workspace: string;
    readonly views: { readonly plan: string; readonly record: string; readonly current: string };
  };
  /** The roles of a team. */
  readonly code?: NonNullable<CodeConfig["code"]>;
  readonly models?: NonNullable<CodeConfig["models"]>;
  /** Two or three agents that screen the same records independently; absent: one agent screens. */
  readonly screening?: { readonly readers: readonly string[]; readonly conflicts: "include" | "third" | "person" };
  /** The agent that fills in the form of each paper a second time, independently; absent: no second reader. */
  readonly secondReader?: string;
  /** The agents that check sentences of reports; absent: no check. */
  readonly check?: Check;
  readonly hooks: NonNullable<WrittenConfig["hooks"]>;
  readonly plugins: NonNullable<WrittenConfig["plugins"]>;
  readonly learn: "ask" | "auto";
  readonly stateDir: string;
  readonly contact?: string;
  /** Services are asked about papers of the user's own files. */
  readonly lookups: boolean;
  readonly agents: NonNullable<WrittenConfig["agents"]>;
  /** The addresses of models in the assistant's settings. */
  readonly modelAddresses: readonly string[];
  /** Settings of scholarly services by the name in the file. */
  readonly sources: NonNullable<WrittenConfig["sources"]>;
  readonly origins: Readonly<Partial<Record<keyof WrittenConfig, string>>>;
}

/** How a command was started: its environment, the folder from which it searches for files, and whom it may ask. */
type Place = Omit<ConfigRequest, "flags"> & {
  /** Called with a sentence for each plugin that can't be used. */
  readonly sayOfPlugins?: (sentence: string) => void;
};

type Defaults = typeof engineKeys.defaults & typeof researchKeys.defaults & typeof taskKeys.defaults;
/** The values under their keys in the config, with defaults, and the origin of each value. */
interface Settings {
  readonly values: WrittenConfig & Required<Pick<WrittenConfig, keyof Defaults | "state_dir">>;
  readonly origins: ResolvedConfig["origins"];
  /** The files with settings of the assistant, the nearest first. */
  readonly assistant: readonly { readonly path: string; readonly text: string; readonly values: WrittenConfig }[];
  readonly partsToTrust: GatheredConfig["partsToTrust"];
}

/** `gatherConfig` with all keys. Every file has been checked against the schema. */
export async function settingsIn(place: Place, flags: ConfigFlags = {}): Promise<Settings> {
  const {
    values,
    origins,
    filesWithFileOnlyKeys: assistant,
    partsToTrust,
  } = await gatherConfig(configKeys, { ...place, flags });
  return { values: values as unknown as Settings["values"], origins, partsToTrust, assistant };
}

/**
 * The settings of a command that starts no agent. Of the settings that need trust, it uses only the keys in `uses`, so
 * the user need not trust the others. Throws like resolveConfig.
 */
export const configToRead = (
  place: Place,
  flags?: ConfigFlags,
  uses: readonly (keyof WrittenConfig)[] = [],
): Promise<ResolvedConfig> => resolveConfig({ ...place, usedKeys: uses }, flags);

/**
 * The settings of a command, after the user has trusted the folder's settings. @throws ExpectedError: exit code 2 for a
 * wrong flag or if trust is missing, 1 for a wrong file or variable.
 */
export async function resolveConfig(place: Place, flags?: ConfigFlags): Promise<ResolvedConfig> {
  const { values, origins, assistant } = await settingsIn(place, flags);
  const {
    agent: agentSetting,
    max_usd: usd,
    max_tokens: tokens,
    max_minutes,
    iteration_minutes,
    idle_minutes,
    patience_minutes,
    state_dir,
    agents = {},
    sources = {},
    hooks = [],
    plugins = [],
    think,
    check,
    screeners,
    screening_conflicts,
    second_reader,
    history_every,
    historian,
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
    ...unchanged
  } = values;
  const limits: HistoryLimits = {
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
  if (place.isOnlyShown !== true && (place.usedKeys?.includes("sources") ?? true))
    await addConfiguredPlugins({ ...unchanged, plugins }, place);
  const [agent = agentSetting, ...fallbacks] = agentsIn(agentSetting);
  const toMs = (minutes: number) => Math.round(minutes * 60_000);
  return {
    ...unchanged,
    agent,
    fallbacks,
    budget: { usd, tokens },
    agents,
    modelAddresses: assistant.flatMap(({ values: { api_url, openai_api_url } }) =>
      [api_url ?? "", openai_api_url ?? ""].filter((address) => address !== ""),
    ),
    sources,
    hooks,
    plugins,
    ...(think === undefined ? {} : { think: { rounds: defaultRounds, ...think } }),
    ...(check === false || check === "false" ? {} : { check: checkOf(check) }),
    ...(screeners === undefined
      ? {}
      : { screening: { readers: readersIn(screeners, origins.screeners), conflicts: screening_conflicts } }),
    ...(second_reader === undefined ? {} : { secondReader: requireOneAgent(second_reader, origins.second_reader) }),
    history: { every: history_every, limits, agent: historian },
    task: {
      workspace: task_workspace,
      views: { plan: task_plan_file, record: task_record_file, current: task_current_file },
    },
    stateDir: state_dir,
    ...(max_minutes === undefined ? {} : { maxMs: toMs(max_minutes) }),
    iterationMs: toMs(iteration_minutes),
    idleMs: toMs(idle_minutes),
    patienceMs: toMs(patience_minutes),
    origins,
  };
}

/** Registers what plugins add, such as sources, in this process. */
async function addConfiguredPlugins(config: ExtensionConfig, { sayOfPlugins, ...place }: Place): Promise<void> {
  for (const { ok, detail } of await addExtensions(config, place)) if (!ok) sayOfPlugins?.(detail);
}

/** The settings for the check of sentences in reports. */
interface Check {
  /** One or two agents that the user named; empty: another agent than the writer, if there is one. */
  readonly agents: readonly string[];
  /** Whether every claim of a reading and every answer to a question is checked too. */
  readonly all: boolean;
}

/** The settings that a value of `check` stands for. */
export function checkOf(value: Exclude<WrittenConfig["check"], false | "false">): Check {
  const { agent, agents, all = value === "all" } = typeof value === "object" ? value : {};
  return { agents: agents ?? (agent === undefined ? [] : [agent]), all };
}

/** Default of `think.rounds`: the maximum number of comments of the critic on a unit. */
const defaultRounds = 2;

/** The two or three agents that screen. @throws ExpectedError for another number; exit code 2 if a flag gave it. */
function readersIn(screeners: string, origin = "screeners"): readonly string[] {
  const readers = agentsIn(screeners);
  if (readers.length === 2 || readers.length === 3) return readers;
  const [onlyReader = ""] = readers.length === 1 ? readers : [];
  const comma = onlyReader.lastIndexOf(",");
  if (comma !== -1)
    throw new ExpectedError(
      `${origin} names only one agent, the command ${onlyReader}: the comma is part of the command; name the other agents first: ${onlyReader.slice(comma + 1).trim()},${onlyReader.slice(0, comma)}.`,
      origin.startsWith("--") ? 2 : 1,
    );
  throw new ExpectedError(
    `${origin} names ${readers.length === 1 ? `only ${onlyReader}` : `${readers.length} agents`}; two different agents screen, such as claude,codex, and a third one may settle conflicts.`,
    origin.startsWith("--") ? 2 : 1,
  );
}

/** The agent in `setting`. @throws ExpectedError if there are several; exit code 2 if a flag gave them. */
function requireOneAgent(setting: string, origin = "second_reader"): string {
  const [first, ...otherAgents] = agentsIn(setting);
  if (first !== undefined && otherAgents.length === 0) return first;
  throw new ExpectedError(
    `${origin} names ${otherAgents.length + 1} agents; one fills in the form a second time, such as codex.`,
    origin.startsWith("--") ? 2 : 1,
  );
}
