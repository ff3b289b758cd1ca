import type { EngineConfig } from "../generated/config.js";
import type { Reach, ToolRelay } from "../process/reach.js";
import type { Exec } from "../process/run-process.js";
import type { Agent, AgentEvent, Billing, Brief, Failure } from "../loop/types.js";

/** What a config says about one agent: model, command, more arguments and environment. */
export type AgentOptions = NonNullable<EngineConfig["agents"]>[string];

/** All that the agents of one run have in common. Times are milliseconds. */
export interface AgentSettings {
  /** Most wall time of one iteration. */
  readonly iterationMs: number;
  /** Silence on stdout and stderr after which an agent is taken for hung; 0 turns it off. */
  readonly idleMs: number;
  /** Its agents change the files of a folder and run programs there. */
  readonly works?: true;
  /** Another agent of the run takes over where one has reached a limit. */
  readonly hasFallback?: true;
  /** The user allowed agents that nothing confines. */
  readonly unconfined: boolean;
  /**
   * The agent works on the user's own tree, unconfined by nature; every brief of the run then has `access.everything`.
   */
  readonly classic: boolean;
  /** Absolute path of a folder of research-ralph outside the user's tree, for what a CLI needs between iterations. */
  readonly stateDir: string;
  /** Starts the agent's program: `runProcess`, or that of a sandbox. */
  readonly exec: Exec;
  /** The sandbox whose `exec` that is; absent: none. `toolRelay`: reaches a tool server outside, from inside. */
  readonly sandbox?: {
    readonly name: "bubblewrap" | "docker";
    readonly toolRelay: ToolRelay;
    /** Names of the user's variables that stay outside. */
    readonly outside: readonly string[];
  };
  /** Where the raw stdout of an iteration is kept; undefined keeps none. */
  transcript(iteration: number): string | undefined;
  /** Adapters of the wings above, besides the engine's own. */
  readonly adapters: readonly AgentDefinition[];
  /** Agents by name, as configured. */
  readonly agents: NonNullable<EngineConfig["agents"]>;
  /** The user's folder, against which the relative program of `cmd:./x` is resolved. Absolute. */
  readonly cwd: string;
  /** The user's environment, handed on to the agent: its login depends on it. */
  readonly env: NodeJS.ProcessEnv;
  /** Addresses of models that the user's files name for the assistant, in full. */
  readonly modelAddresses?: readonly string[];
  /** Makes agents whose processes run on other machines; absent where there can be none. */
  readonly fleet?: { agent(named: DistantAgent): Agent };
  /** Further environments whose secrets an agent may come across, such as those of other agents and of hooks. */
  readonly secrets: readonly NodeJS.ProcessEnv[];
}

/** An agent whose process runs on another machine. */
export interface DistantAgent {
  /** As the user wrote it, such as `fleet:claude`. */
  readonly name: string;
  /** Its name there. */
  readonly spec: string;
  readonly free?: true;
  readonly takesTemperature?: true;
}

/** What a definition is given: the name the user chose, what the config says about it, and the run's settings. */
export interface AgentContext {
  readonly name: string;
  readonly options: AgentOptions;
  readonly settings: AgentSettings;
}

/**
 * A file that must be there before the agent starts; written or linked only where it is not so already. Absolute paths.
 */
export type PreparedFile =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly linkTo: string };

/** How to start the agent. It always runs in the brief's workspace with the brief's text on stdin. */
export interface Invocation {
  readonly command: string;
  readonly args: readonly string[];
  /** On top of `settings.env` and below the config's `env`; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: readonly PreparedFile[];
}

/** What the agent's program has to reach besides its own files and the workspace, where a sandbox holds it to that. */
export interface AgentReach extends Omit<Reach, "tools" | "variables"> {
  /** Variables of its environment that say where things are inside; undefined removes a variable. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a reader has understood so far. */
export interface Answer {
  /** The final message. Undefined until the CLI has said, in its own protocol, that it ended well. */
  readonly message?: string;
  /** The error the CLI reported in its own protocol. Never derived from the model's prose or a tool's result. */
  readonly failure?: Failure;
}

/** Reads one run's stdout, line by line. A line it can't read is not an error: protocols grow. */
export interface Reader {
  /** What the line says. Never an `end` event: that is for run-agent.ts to say. */
  line(line: string): readonly AgentEvent[];
  /**
   * Whether the CLI has said that it is done; it then gets a short time to exit. False for protocols where the exit
   * says so.
   */
  finished(): boolean;
  /** The judgement at the end. It is asked only when neither our clock nor the user ended the run. */
  answer(): Answer;
  /** What a program that speaks no protocol printed last: of one that failed, it may be why. */
  lastLine?(): string;
}

/** What `doctor` says about an agent. Never contains a key. */
export interface AgentCheck {
  /** Whether a run can be expected to start and to be let in. */
  readonly ok: boolean;
  readonly version?: string;
  /** What was found: program, version, login. One sentence. */
  readonly detail: string;
  /** What to do about it, where something is wrong. */
  readonly fix?: string;
}

/** One of the agents of a kind, known by its name behind the kind's: `<kind>:<name>`. */
export interface KnownAgent extends Pick<AgentDefinition, "families" | "setBy" | "keyVariables"> {
  readonly name: string;
  readonly program: string;
}

/** The known agent of a kind that a name stands for, or its command, where that is the name of one alone. */
export function knownOf<Known extends KnownAgent>(
  { name: kind, known = [] }: { readonly name: string; readonly known?: readonly Known[] },
  { name, options }: Pick<AgentContext, "name" | "options">,
): Known | undefined {
  const agentName = name.startsWith(`${kind}:`) ? name.slice(kind.length + 1).trim() : name;
  return known.find((one) => one.name === (options.command ?? agentName));
}

/**
 * All there is to know about one agent CLI: a command builder and a line parser.
 * Everything else (processes, clocks, limits, failures) is shared in run-agent.ts.
 */
export interface AgentDefinition {
  readonly name: string;
  /** The program that a user installs for it; absent: it comes with this package, or the user names a command. */
  readonly program?: string;
  /**
   * Set where it is a kind of agent: those that are known by name. `<kind>:<command line>` is any other of the kind.
   */
  readonly known?: readonly KnownAgent[];
  /** Outside of a sandbox. `workspace`: the flags of `invoke` keep it in the workspace. `unconfined`: nothing does. */
  readonly confinement: "workspace" | "unconfined";
  /** Set where nothing of its own confines it once it works on the files of a folder. */
  readonly looseAtWork?: true;
  /**
   * Set where it answers research-ralph's briefs alone and can't work on a folder by a prompt of the original's kind.
   */
  readonly briefsOnly?: true;
  /** Set where it has no model: then nothing of its use is missing. */
  readonly free?: true;
  /** Its invocation hands the brief's `access.tools` to the CLI. */
  readonly takesTools?: true;
  /** Its invocation hands the brief's temperature to its program. */
  readonly takesTemperature?: true;
  /** First words of its models' names, where it has those of one maker alone. */
  readonly families?: readonly string[];
  /** The oldest version that it was tested with, and how to get a newer one. */
  readonly oldest?: { readonly version: string; readonly update: string };
  /** Names of the variables that its program is set by, given to it in a sandbox; a key among them stays outside. */
  readonly setBy?: RegExp;
  /** Environment variables that may hold its key, the first that is set counts; without one it uses a login. */
  readonly keyVariables?: readonly string[];
  /**
   * The model it uses, where its stream does not name it; for the ledger and the estimate of what it costs. Undefined:
   * not known.
   */
  modelOf?(context: AgentContext): string | undefined;
  /** Models that it chooses between by itself, where its settings name none: a forecast lies between their prices. */
  readonly usualModels?: readonly string[];
  /**
   * The version of its program, where its stream does not name it; asked once a run, while the program works.
   * Undefined: it does not say. Never throws.
   */
  version?(context: AgentContext, signal: AbortSignal): Promise<string | undefined>;
  /** How its use is paid for, where its stream does not say. Undefined: not known. */
  billing?(context: AgentContext): Billing | undefined;
  /**
   * The command for this brief, or why there can't be one (no key, say). Starts nothing, writes nothing. `maxUsd`: what
   * it may cost, for CLIs that can keep to it.
   */
  invoke(brief: Brief, context: AgentContext, maxUsd?: number): Invocation | Failure;
  /** What it has to reach in a sandbox. Starts nothing, writes nothing. */
  reach(context: AgentContext, access: Brief["access"]): AgentReach;
  /** A reader for one run. */
  reader(): Reader;
  /** For `doctor`: is the program there, which version, is there a key or a login. Never throws. */
  check(context: AgentContext): Promise<AgentCheck>;
}

/** What holds an agent outside of a sandbox. */
export const ownConfinement = (
  { confinement, looseAtWork }: Pick<AgentDefinition, "confinement" | "looseAtWork">,
  { works }: Pick<AgentSettings, "works">,
): AgentDefinition["confinement"] => (works === true && looseAtWork === true ? "unconfined" : confinement);

export const isFailure = (value: Invocation | Failure): value is Failure => "kind" in value;
