// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * When a hook runs: before or after an iteration, when its result is accepted or refused, when the phase changes, when a check of a task has found failing tests, when a run ends with a verdict.
 */
export type HookPoint =
  | "before-iteration"
  | "after-iteration"
  | "accepted"
  | "refused"
  | "phase-changed"
  | "tests-failed"
  | "complete"
  | "limit"
  | "stuck"
  | "blocked"
  | "failed"
  | "interrupted";

/**
 * Keys of ralph.config.* that the wing 'engine' reads.
 */
export interface EngineConfig {
  /**
   * Address of this schema, by which an editor checks the file and completes what you type. It has no effect otherwise.
   */
  $schema?: string;
  /**
   * Agent to use: claude, codex, amp, ralph, baseline, acp:<name>, a name under 'agents', or 'cmd:<command>'. Several names, separated by commas, give fallbacks: 'claude,codex' uses the first that can work.
   */
  agent?: string;
  /**
   * Number of agents that work at the same time, each on a unit of its own; at most 16 unless all of them are on other machines (fleet:<agent>).
   */
  jobs?: number;
  /**
   * Maximum iterations of a run. The default follows from the work that is left.
   */
  iterations?: number;
  /**
   * Maximum wall time of a run, in minutes. No limit by default.
   */
  max_minutes?: number;
  /**
   * Maximum cost of a run, in US dollars. No limit by default. Set a budget for all runs under 'budget' in the file of the project or task.
   */
  max_usd?: number;
  /**
   * Maximum tokens of a run, in and out, including cached ones. No limit by default. In a file that sets 'api_url' it is the maximum length of one answer of ralph instead; -1 sets none.
   */
  max_tokens?: number;
  /**
   * A setting of the original: the number of iterations after which an agent's context was emptied. It has no effect: every iteration has a fresh context, and an iteration that fills its context too far is closed.
   */
  context_reset_frequency?: number;
  /**
   * Maximum wall time of one iteration, in minutes.
   */
  iteration_minutes?: number;
  /**
   * Kill an agent after this many minutes without output; 0: never. Agents print nothing while they think.
   */
  idle_minutes?: number;
  /**
   * Minutes to wait for a network or a model service that does not answer.
   */
  patience_minutes?: number;
  /**
   * Allow agents that nothing confines (amp, command agents).
   */
  unconfined?: boolean;
  /**
   * Where agents run. bubblewrap and docker hold them to what they need. auto: bubblewrap, otherwise docker, otherwise the host. By default agents that confine themselves run on the host, others as with auto.
   */
  sandbox?: "auto" | "host" | "bubblewrap" | "docker";
  /**
   * Image of a docker sandbox. Default: node:20, python:3.11 or rust:1.75, by the files of the folder.
   */
  sandbox_image?: string;
  /**
   * Names of environment variables that programs in a sandbox are given, separated by commas, besides those of the language, the terminal and the tools of programming languages. A key among them is in the reach of what an agent writes.
   */
  sandbox_env?: string;
  /**
   * Address of the Redis server over which agents on other machines are reached, such as rediss://user:password@queue.lab:6379; for fleet:<agent>, worker and fleet. The password is never shown.
   */
  redis?: string;
  /**
   * Allow a Redis server on another machine without TLS (redis:// instead of rediss://).
   */
  insecure_redis?: boolean;
  /**
   * Of a worker: public keys of the runs that it works for, separated by commas, as 'research-ralph worker --key' prints them there. Without it a worker works for its own user alone, over a queue of its own machine.
   */
  worker_accepts?: string;
  /**
   * Send traces of runs by OTLP over HTTP to where OTEL_EXPORTER_OTLP_ENDPOINT says.
   */
  otel?: boolean;
  /**
   * Commit the project folder after every accepted iteration.
   */
  git?: boolean;
  /**
   * Folder for workspaces, rate limits and shared caches. Default: $XDG_STATE_HOME/research-ralph or ~/.local/state/research-ralph.
   */
  state_dir?: string;
  /**
   * Number of iterations between two summaries of the history; 0: no summaries. At most ten iterations are remembered by default, so a larger number would lose some.
   */
  history_every?: number;
  /**
   * Iterations whose details are remembered before older ones are shortened.
   */
  history_observations?: number;
  /**
   * Newest iterations that keep their details once a summary covers the older ones.
   */
  history_recent?: number;
  /**
   * Maximum characters remembered of one iteration.
   */
  history_observation_chars?: number;
  /**
   * Maximum characters of the summary of the history, which is part of every brief.
   */
  history_summary_chars?: number;
  /**
   * End the run as stuck after this many repetitions in a row, over all runs since you last acted. At two you are warned, and the next brief gives advice.
   */
  stagnation_limit?: number;
  /**
   * Number of newest iterations in which repetitions are looked for. Answers that take turns by five need ten.
   */
  stagnation_window?: number;
  /**
   * Agent that summarises the history, a name as for 'agent'. By default code does it at no cost. If the agent fails, code does it too.
   */
  historian?: string;
  /**
   * Think every unit of a research over: an agent drafts it, the critic names what is wrong with it against the material, and the first answers. Each of them is an iteration of its own, so a unit costs up to 1 + 2 × rounds iterations. Not set: nobody thinks units over.
   */
  think?: {
    /**
     * Agent that criticises, a name as for 'agent'.
     */
    critic: string;
    /**
     * Maximum critiques of a unit. A critic that finds nothing ends it earlier.
     */
    rounds?: number;
  };
  /**
   * Your own commands, run at points of a run, with the event as JSON on stdin. Ten seconds each.
   */
  hooks?: Hook[];
  /**
   * Modules that take part in runs at the same points as hooks, each in a sandbox of its own. See docs/plugins.md.
   */
  plugins?: Plugin[];
  /**
   * Your own agents by name, or settings for the known ones.
   */
  agents?: {
    [k: string]: {
      /**
       * The adapter: claude, codex, amp, ralph, acp or command. acp: an agent that speaks the Agent Client Protocol. Default: the adapter of the same name, otherwise command.
       */
      type?: string;
      /**
       * The program to run: a shell command line for 'command' and 'acp', a path for the others.
       */
      command?: string;
      /**
       * Model, in the form that the CLI expects.
       */
      model?: string;
      /**
       * More arguments for the program.
       */
      args?: string[];
      /**
       * More environment variables.
       */
      env?: {
        [k: string]: string;
      };
      /**
       * In a sandbox: more network services that the agent may reach, each as 'host:port'.
       */
      hosts?: string[];
      /**
       * In a sandbox: more files and folders that the agent may read, as absolute paths.
       */
      read?: string[];
      /**
       * Let the CLI load your own settings, instructions and servers.
       */
      user_settings?: boolean;
    };
  };
}
export interface Hook {
  /**
   * The points at which the hook runs.
   *
   * @minItems 1
   */
  on: HookPoint[];
  /**
   * A shell command line. It runs in the folder where you started.
   */
  run: string;
  /**
   * Only at 'accepted' or 'complete': the hook is asked before the result is folded in. To veto, exit 0 and print 'veto: <reason>'. A hook that fails or takes too long does not veto anything.
   */
  veto?: boolean;
  /**
   * More environment variables.
   */
  env?: {
    [k: string]: string;
  };
  /**
   * false: the hook does not run.
   */
  enabled?: boolean;
}
export interface Plugin {
  /**
   * The module: a path that begins with './', '../' or '/', relative to the folder where you start, to a file or to a folder with a package.json; otherwise the name of a package in the node_modules of that folder.
   */
  name: string;
  /**
   * false: the plugin is not loaded.
   */
  enabled?: boolean;
  /**
   * Settings that the plugin defines. It gets them with each call.
   */
  config?: {
    [k: string]: unknown;
  };
  /**
   * What the plugin may reach besides the files of the project.
   */
  allow?: {
    /**
     * Network services that the plugin may reach, each as 'host:port'.
     */
    hosts?: string[];
  };
}
