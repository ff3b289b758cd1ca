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
   * Address of this schema, for editors.
   */
  $schema?: string;
  /**
   * Agent: claude, codex, amp, ralph, baseline, acp:<name>, a name under 'agents', or 'cmd:<command>'. 'claude,codex' uses the first that can work.
   */
  agent?: string;
  /**
   * Agents at work at the same time; at most 16 unless all are on other machines (fleet:<agent>).
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
   * Maximum tokens of a run, in and out, including cached ones. No limit by default. In a file that sets 'api_url': of one answer of ralph; -1 sets none.
   */
  max_tokens?: number;
  /**
   * Of the original. It has no effect: every iteration has a fresh context.
   */
  context_reset_frequency?: number;
  /**
   * Maximum wall time of one iteration, in minutes.
   */
  iteration_minutes?: number;
  /**
   * Kill an agent after this many minutes without output; 0: never.
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
   * Where agents run. auto: bubblewrap, otherwise docker, otherwise the host. By default agents that confine themselves run on the host, others as with auto.
   */
  sandbox?: "auto" | "host" | "bubblewrap" | "docker";
  /**
   * Image of a docker sandbox. Default: node:20, python:3.11 or rust:1.75, by the files of the folder.
   */
  sandbox_image?: string;
  /**
   * More environment variables for programs in a sandbox, separated by commas. An agent can read a key among them.
   */
  sandbox_env?: string;
  /**
   * Redis server of agents on other machines, such as rediss://user:password@queue.lab:6379; for fleet:<agent> and worker. The password is never shown.
   */
  redis?: string;
  /**
   * Allow a Redis server on another machine without TLS (redis:// instead of rediss://).
   */
  insecure_redis?: boolean;
  /**
   * Of a worker: public keys of the runs that it works for, as 'research-ralph worker --key' prints them there. Without it: its own user's, over a queue of its own machine.
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
   * Iterations between two summaries of the history; 0: no summaries.
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
   * End the run as stuck after this many repetitions in a row since you last acted. At two you are warned.
   */
  stagnation_limit?: number;
  /**
   * Newest iterations in which repetitions are looked for.
   */
  stagnation_window?: number;
  /**
   * Agent that summarises the history, a name as for 'agent'. By default code does it at no cost. If the agent fails, code does it too.
   */
  historian?: string;
  /**
   * Have a critic name what is wrong with each draft of a unit, and the agent answer. A unit costs up to 1 + 2 × rounds iterations. Not set: no critic.
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
       * claude, codex, amp, ralph, acp (Agent Client Protocol) or command. Default: the adapter of the same name, otherwise command.
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
   * At 'accepted' or 'complete': the hook is asked before the result is kept. To veto, exit 0 and print 'veto: <reason>'.
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
   * A path that begins with './', '../' or '/' to a file or a folder with a package.json; otherwise a package in node_modules.
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
