import { assistantKeys } from "../assistant/config-keys.js";
import type { AssistantConfig } from "../assistant/generated/config.js";
import type { CodeConfig } from "../code/generated/config.js";
import { codeKeys } from "../code/project-files/config-keys.js";
import { agentsIn, gatherConfig, type GatheredConfig, type Surroundings } from "../engine/config/gather.js";
import { engineKeys, joinKeys } from "../engine/config/keys.js";
import { ExpectedError } from "../engine/lib/errors.js";
import type { HistoryLimits } from "../engine/lib/history-limits.js";
import { researchKeys } from "../research/project-files/config-keys.js";
import { taskKeys } from "../task/project-files/config-keys.js";
import { addExtensions } from "./extensions/extensions.js";
import type { ExtensionConfig } from "./extensions/extension.js";
import type { WrittenConfig } from "./written-config.js";

/** The keys of all wings. */
export const configKeys = joinKeys([engineKeys, researchKeys, taskKeys, codeKeys, assistantKeys]);

/** Keys that a flag does not give. */
type NotFlags =
  | "agents"
  | "sources"
  | "hooks"
  | "plugins"
  | "think"
  | "check"
  | keyof CodeConfig
  | keyof AssistantConfig;

/** What the command line said, in the spelling of the config. Undefined: not given. */
export type ConfigFlags = Omit<WrittenConfig, NotFlags> & {
  /** Model of the chosen agent. */
  readonly model?: string;
  /** The user trusts what stands in the folder. */
  readonly trust?: boolean;
};

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
  /** Maximum number of iterations of a run; undefined: 1.5 × the papers of the project + 6. */
  readonly iterations?: number;
  /** Most wall time of a run; undefined: no limit. */
  readonly maxMs?: number;
  readonly iterationMs: number;
  /** 0: an agent may be silent forever. */
  readonly idleMs: number;
  readonly patienceMs: number;
  readonly unconfined: boolean;
  /** Traces are sent. */
  readonly otel: boolean;
  /** Undefined: what each agent asks for. */
  readonly sandbox?: NonNullable<WrittenConfig["sandbox"]>;
  /** Of a docker sandbox. */
  readonly sandbox_image?: string;
  /** Names of variables that programs in a sandbox are given, with commas. */
  readonly sandbox_env?: string;
  /** Address of the Redis server over which agents on other machines are reached. It may hold a password. */
  readonly redis?: string;
  /** It may be on another machine without TLS. */
  readonly insecure_redis: boolean;
  /** Of a worker: the public keys, with commas, of the runs that it works for. */
  readonly worker_accepts?: string;
  readonly git: boolean;
  /**
   * How often the history is summarised, in iterations (0: never), by which agent where not by code, and how much is
   * remembered.
   */
  readonly history: { readonly every: number; readonly agent?: string; readonly limits: HistoryLimits };
  /** Every unit is thought over, by this critic, in at most so many rounds; absent: by nobody. */
  readonly think?: { readonly critic: string; readonly rounds: number };
  /** Where the agents of a task work, and how the files are called there that are written from its state. */
  readonly task: {
    readonly workspace: string;
    readonly views: { readonly plan: string; readonly record: string; readonly current: string };
  };
  /** Who does what in a team. */
  readonly code?: NonNullable<CodeConfig["code"]>;
  readonly models?: NonNullable<CodeConfig["models"]>;
  /** Agents that screen the same records, each alone: two, or three; absent: one agent screens. */
  readonly screening?: { readonly readers: readonly string[]; readonly conflicts: "include" | "third" | "person" };
  /** Fills in the form of each paper a second time, alone; absent: nobody. */
  readonly secondReader?: string;
  /** Who checks sentences of reports: one agent or two, the first choice first for one; absent: nobody. */
  readonly check?: Check;
  readonly hooks: NonNullable<WrittenConfig["hooks"]>;
  readonly plugins: NonNullable<WrittenConfig["plugins"]>;
  readonly learn: "ask" | "auto";
  readonly stateDir: string;
  readonly contact?: string;
  readonly agents: NonNullable<WrittenConfig["agents"]>;
  /** Addresses of models that files name for the assistant. */
  readonly modelAddresses: readonly string[];
  /** Settings of scholarly services by the name that was written. */
  readonly sources: NonNullable<WrittenConfig["sources"]>;
  readonly origins: Readonly<Partial<Record<keyof WrittenConfig, string>>>;
}

/** Where a command is started: its environment, the folder it looks for files from, and whom it may ask. */
type Place = Omit<Surroundings, "flags"> & {
  /** Told of each plugin that can't be used, a sentence. */
  readonly sayOfPlugins?: (sentence: string) => void;
};

type Defaults = typeof engineKeys.defaults & typeof researchKeys.defaults & typeof taskKeys.defaults;
/** Values in the config's own spelling, with defaults filled in, and where each comes from. */
interface Settings {
  readonly values: WrittenConfig & Required<Pick<WrittenConfig, keyof Defaults | "state_dir">>;
  readonly origins: ResolvedConfig["origins"];
  /** The files that speak of the assistant, the nearest first. */
  readonly assistant: readonly { readonly path: string; readonly text: string; readonly written: WrittenConfig }[];
  readonly needTrust: GatheredConfig["needTrust"];
}

/** `gatherConfig` with the keys of all wings. Every file has been checked against the schema. */
export async function settingsIn(place: Place, flags: ConfigFlags = {}): Promise<Settings> {
  const { values, origins, apart, needTrust } = await gatherConfig(configKeys, { ...place, flags });
  return { values: values as unknown as Settings["values"], origins, needTrust, assistant: apart };
}

/**
 * The settings of a command that starts no agent: of those in the folder that need trust it works by `uses` alone, and
 * nobody has to trust the others for it. Throws as resolveConfig.
 */
export const configToRead = (
  place: Place,
  flags?: ConfigFlags,
  uses: readonly (keyof WrittenConfig)[] = [],
): Promise<ResolvedConfig> => resolveConfig({ ...place, uses }, flags);

/**
 * The settings of a command, once the user trusts those of the folder. Throws ExpectedError (exit code 2) for a wrong
 * flag and where that trust is missing, (exit code 1) for a wrong file or variable.
 */
export async function resolveConfig(place: Place, flags?: ConfigFlags): Promise<ResolvedConfig> {
  const { values, origins, assistant } = await settingsIn(place, flags);
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
  const {
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
    ...rest
  } = more;
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
  if (place.onlyShown !== true && (place.uses?.includes("sources") ?? true)) await extend({ ...same, plugins }, place);
  const [agent = named, ...fallbacks] = agentsIn(named);
  const ms = (minutes: number) => Math.round(minutes * 60_000);
  return {
    ...same,
    agent,
    fallbacks,
    budget: { usd, tokens },
    agents,
    modelAddresses: assistant.flatMap(({ written: { api_url, openai_api_url } }) =>
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
    ...(second_reader === undefined ? {} : { secondReader: oneAgent(second_reader, origins.second_reader) }),
    history: { every: history_every, limits, agent: historian },
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

/** What extensions add, such as sources, can be named from now on, in this process. */
async function extend(config: ExtensionConfig, { sayOfPlugins, ...place }: Place): Promise<void> {
  for (const { ok, detail } of await addExtensions(config, place)) if (!ok) sayOfPlugins?.(detail);
}

/** Who checks the sentences of reports. */
interface Check {
  /** As the person names them, one or two; empty: another agent than the writer, where there is one. */
  readonly agents: readonly string[];
  /** Every claim of a reading is checked, and every answer to a question. */
  readonly all: boolean;
}

/** What is meant by `check`, of those who want one. */
export function checkOf(written: Exclude<WrittenConfig["check"], false | "false">): Check {
  const { agent, agents, all = written === "all" } = typeof written === "object" ? written : {};
  return { agents: agents ?? (agent === undefined ? [] : [agent]), all };
}

/** Most critiques of a unit that is thought over, where the file does not say. */
const defaultRounds = 2;

/** Two readers, or three. Throws ExpectedError for another number; exit code 2 where it is a flag's. */
function readersIn(screeners: string, origin = "screeners"): readonly string[] {
  const readers = agentsIn(screeners);
  if (readers.length === 2 || readers.length === 3) return readers;
  const [only = ""] = readers.length === 1 ? readers : [];
  const comma = only.lastIndexOf(",");
  if (comma !== -1)
    throw new ExpectedError(
      `${origin} names one command, ${only}, which takes the comma as its own; name other agents first: ${only.slice(comma + 1).trim()},${only.slice(0, comma)}.`,
      origin.startsWith("--") ? 2 : 1,
    );
  throw new ExpectedError(
    `${origin} names ${readers.length === 1 ? `only ${only}` : `${readers.length} agents`}; two different agents screen, such as claude,codex, and a third one may settle conflicts.`,
    origin.startsWith("--") ? 2 : 1,
  );
}

/** @throws ExpectedError for several; exit code 2 where they are a flag's. */
function oneAgent(named: string, origin = "second_reader"): string {
  const [first, ...others] = agentsIn(named);
  if (first !== undefined && others.length === 0) return first;
  throw new ExpectedError(
    `${origin} names ${others.length + 1} agents; one fills in the form a second time, such as codex.`,
    origin.startsWith("--") ? 2 : 1,
  );
}
