import type { EngineConfig } from "../generated/config.js";
import type { ProcessAccess, ToolRelay } from "../process/access.js";
import type { Exec } from "../process/run-process.js";
import type { Agent, AgentEvent, Billing, Brief, Failure } from "../loop/types.js";

/** The config of one agent: model, command, more arguments and environment. */
export type AgentOptions = NonNullable<EngineConfig["agents"]>[string];

/** The settings that all agents of one run share. Times are milliseconds. */
export interface AgentSettings {
  /** Maximum wall time of one iteration. */
  readonly iterationMs: number;
  /** After so much time without output on stdout and stderr, an agent is considered hung; 0 turns this off. */
  readonly idleMs: number;
  /** True: the agents change the user's files in a folder and run programs there. */
  readonly works?: true;
  /** True: another agent of the run takes over if one has reached a limit. */
  readonly hasFallback?: true;
  /** True: the user allows agents without confinement. */
  readonly unconfined: boolean;
  /**
   * True: the agent works in the user's own folder without confinement. Every brief of the run then has
   * `access.everything`.
   */
  readonly classic: boolean;
  /**
   * Absolute path of a folder of research-ralph outside the user's folder, for files that a CLI needs between
   * iterations.
   */
  readonly stateDir: string;
  /** Starts the program of the agent: `runProcess`, or the same function of a sandbox. */
  readonly exec: Exec;
  /** The sandbox of `exec`; absent: none. `toolRelay` connects a program inside to a tool server outside. */
  readonly sandbox?: {
    readonly name: "bubblewrap" | "docker";
    readonly toolRelay: ToolRelay;
    /** Names of the user's variables that are not set in the sandbox. */
    readonly hiddenVariables: readonly string[];
  };
  /** Path of the file for the raw stdout of an iteration; undefined: none is written. */
  transcript(iteration: number): string | undefined;
  /** Adapters from outside the engine, in addition to the engine's own. */
  readonly adapters: readonly AgentDefinition[];
  /** Agents by name, as configured. */
  readonly agents: NonNullable<EngineConfig["agents"]>;
  /** The user's folder, absolute. The relative program of `cmd:./x` is resolved against it. */
  readonly cwd: string;
  /** The user's environment, passed to the agent: its login depends on it. */
  readonly env: NodeJS.ProcessEnv;
  /** Full addresses of the model services that the user's files set for the assistant. */
  readonly modelAddresses?: readonly string[];
  /** Creates agents whose processes run on other machines; absent if that is not possible. */
  readonly fleet?: { agent(remoteAgent: RemoteAgent): Agent };
  /** More environments with secrets that an agent may see, such as those of other agents and of hooks. */
  readonly secrets: readonly NodeJS.ProcessEnv[];
}

/** An agent whose process runs on another machine. */
export interface RemoteAgent {
  /** As the user wrote it, such as `fleet:claude`. */
  readonly name: string;
  /** Its name on the other machine. */
  readonly spec: string;
  readonly free?: true;
  readonly takesTemperature?: true;
}

/**
 * The input of a definition's functions: the name that the user chose, the config of that agent, and the settings of
 * the run.
 */
export interface AgentContext {
  readonly name: string;
  readonly options: AgentOptions;
  readonly settings: AgentSettings;
}

/** A file that must exist before the agent starts. It is written or linked only if it differs. Paths are absolute. */
export type PreparedFile =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly linkTo: string };

/** How to start the agent. It always runs in the workspace of the brief, with the text of the brief on stdin. */
export interface Invocation {
  readonly command: string;
  readonly args: readonly string[];
  /** Overrides `settings.env`, and is overridden by the config's `env`; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: readonly PreparedFile[];
}

/** What the program of the agent may access in a sandbox, in addition to its own files and the workspace. */
export interface AgentAccess extends Omit<ProcessAccess, "tools" | "variables"> {
  /** Variables with paths and addresses that are valid in the sandbox; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The result of a reader so far. */
export interface Answer {
  /** The final message. Undefined until the CLI reports, in its own protocol, that it ended well. */
  readonly message?: string;
  /**
   * The error that the CLI reported in its own protocol. Never derived from text of the model or the result of a tool.
   */
  readonly failure?: Failure;
}

/** Reads the stdout of one run, line by line. An unknown line is not an error, because protocols grow. */
export interface Reader {
  /** The events of a line. Never an `end` event: run-agent.ts adds that. */
  line(line: string): readonly AgentEvent[];
  /**
   * Whether the CLI has reported its end; it then gets a short time to exit. Always false for a protocol without such
   * an event.
   */
  isFinished(): boolean;
  /** The result at the end. Called only if neither a timeout nor the user ended the run. */
  answer(): Answer;
  /** The last line of a program without a protocol. If the program failed, the line may contain the reason. */
  lastLine?(): string;
}

/** The report of `doctor` on an agent. Never contains a key. */
export interface AgentCheck {
  /** Whether a run will probably start and log in. */
  readonly ok: boolean;
  readonly version?: string;
  /** Program, version and login, in one sentence. */
  readonly detail: string;
  /** What the user should do, if something is wrong. */
  readonly fix?: string;
  /** Its model costs nothing. */
  readonly free?: true;
  /** Its model and where that is, such as "qwen3:8b at 127.0.0.1:11434 (this machine)", if known. */
  readonly model?: string;
}

/** A known agent of a kind; its full name is `<kind>:<name>`. */
export interface KnownAgent extends Pick<AgentDefinition, "families" | "settingVariables" | "keyVariables"> {
  readonly name: string;
  readonly program: string;
}

/** The known agent of a kind that a name, or the configured command, refers to. */
export function knownOf<Known extends KnownAgent>(
  { name: kind, knownAgents = [] }: { readonly name: string; readonly knownAgents?: readonly Known[] },
  { name, options }: Pick<AgentContext, "name" | "options">,
): Known | undefined {
  const agentName = name.startsWith(`${kind}:`) ? name.slice(kind.length + 1).trim() : name;
  return knownAgents.find((agent) => agent.name === (options.command ?? agentName));
}

/**
 * Everything specific to one agent CLI: how to build its command, and how to read its output.
 * The rest (processes, clocks, limits, failures) is shared in run-agent.ts.
 */
export interface AgentDefinition {
  readonly name: string;
  /** The program that a user installs. Absent: it is part of this package, or the user names a command. */
  readonly program?: string;
  /**
   * Set if this is a kind of agent: the agents of that kind that are known by name. `<kind>:<command line>` is any
   * other agent of the kind.
   */
  readonly knownAgents?: readonly KnownAgent[];
  /**
   * Confinement without a sandbox. `workspace`: the flags of `invoke` keep it in the workspace. `unconfined`: nothing
   * does.
   */
  readonly confinement: "workspace" | "unconfined";
  /** Set if nothing confines the agent when it works on the files of a folder without a sandbox. */
  readonly unconfinedAtWork?: true;
  /** Set if the agent understands only briefs of research-ralph, and not the prompts of classic mode. */
  readonly briefsOnly?: true;
  /** Set if the agent uses no model: then it has no usage to report. */
  readonly free?: true;
  /** Set if the agent never reports its usage: a budget in dollars or tokens cannot limit it. */
  readonly reportsNoUsage?: true;
  /** Set if `invoke` passes the brief's `access.tools` to the CLI. */
  readonly takesTools?: true;
  /** Set if `invoke` passes the temperature of the brief to the program. */
  readonly takesTemperature?: true;
  /** First words of the names of its models, if they all come from one provider. */
  readonly families?: readonly string[];
  /** The oldest tested version, and the command that installs a newer one. */
  readonly oldestTested?: { readonly version: string; readonly updateCommand: string };
  /**
   * Names of the environment variables that configure its program. A sandbox passes them on, except those with a key.
   */
  readonly settingVariables?: RegExp;
  /** Environment variables that may contain its key; the first that is set counts. Without a key, it uses a login. */
  readonly keyVariables?: readonly string[];
  /** The model, if the output does not name it; for the ledger and the cost estimate. Undefined: unknown. */
  modelOf?(context: AgentContext): string | undefined;
  /** Models that it chooses by itself if none is set: the forecast gives the range of their prices. */
  readonly usualModels?: readonly string[];
  /**
   * The version of its program, if the output does not name it. Called once for each run, while the program works.
   * Undefined: unknown. Never throws.
   */
  version?(context: AgentContext, signal: AbortSignal): Promise<string | undefined>;
  /** How its use is paid for, if the output does not say. Undefined: unknown. */
  billing?(context: AgentContext): Billing | undefined;
  /**
   * The command for this brief, or the failure that prevents it (a missing key, for example). Starts nothing, writes
   * nothing. `maxUsd`: the cost limit, for a CLI that can enforce it.
   */
  invoke(brief: Brief, context: AgentContext, maxUsd?: number): Invocation | Failure;
  /** What it may access in a sandbox. Starts nothing, writes nothing. */
  processAccess(context: AgentContext, access: Brief["access"]): AgentAccess;
  /** A reader for one run. */
  reader(): Reader;
  /** The checks of `doctor`: the program, its version, and a key or a login. Never throws. */
  check(context: AgentContext): Promise<AgentCheck>;
}

/** The confinement of an agent without a sandbox. */
export const confinementWithoutSandbox = (
  { confinement, unconfinedAtWork }: Pick<AgentDefinition, "confinement" | "unconfinedAtWork">,
  { works }: Pick<AgentSettings, "works">,
): AgentDefinition["confinement"] => (works === true && unconfinedAtWork === true ? "unconfined" : confinement);

export const isFailure = (value: Invocation | Failure): value is Failure => "kind" in value;
